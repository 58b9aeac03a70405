//! What a disk sets alarms for.

use crate::engine::Token;
use crate::engine::request::RequestId;

/// What an alarm of a disk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// An arm has done its work.
    ArmDone(u32),
    /// The request that began first of those with the buffer is complete.
    BufferedDone,
    /// The arm may set off for the next request while the one before crosses the interface.
    ArmReleased,
    /// The medium has done with what was buffered.
    MediumFree,
    /// The drive has been idle for as long as its cleaner waits.
    Idle,
    /// The controller has done with a request that needs neither medium nor cache.
    Controller(RequestId),
    /// The cache has served a request.
    CacheServed(RequestId),
    /// The pool has done with a request.
    PoolServed(RequestId),
    /// The pool asks again what is to be done.
    PoolAsks,
    /// A low power state is due, or the medium is back from one.
    Power,
    /// The shared bus brings the command of a request.
    Command(RequestId),
    /// A request needs the shared bus again.
    WantsBus(RequestId),
}

impl Alarm {
    /// The alarm as the timeline keeps it.
    #[inline]
    pub fn token(self) -> Token {
        let (kind, value) = match self {
            Alarm::ArmDone(arm) => (0, arm),
            Alarm::BufferedDone => (1, 0),
            Alarm::ArmReleased => (2, 0),
            Alarm::MediumFree => (3, 0),
            Alarm::Idle => (4, 0),
            Alarm::Controller(request) => (5, request.0),
            Alarm::CacheServed(request) => (6, request.0),
            Alarm::PoolServed(request) => (7, request.0),
            Alarm::PoolAsks => (8, 0),
            Alarm::Power => (9, 0),
            Alarm::Command(request) => (10, request.0),
            Alarm::WantsBus(request) => (11, request.0),
        };
        Token::new(kind, value)
    }

    /// The alarm of a token.
    #[inline]
    pub fn of(token: Token) -> Alarm {
        let value = token.value();
        match token.kind() {
            0 => Alarm::ArmDone(value),
            1 => Alarm::BufferedDone,
            2 => Alarm::ArmReleased,
            3 => Alarm::MediumFree,
            4 => Alarm::Idle,
            5 => Alarm::Controller(token.request()),
            6 => Alarm::CacheServed(token.request()),
            7 => Alarm::PoolServed(token.request()),
            8 => Alarm::PoolAsks,
            9 => Alarm::Power,
            10 => Alarm::Command(token.request()),
            _ => Alarm::WantsBus(token.request()),
        }
    }
}
