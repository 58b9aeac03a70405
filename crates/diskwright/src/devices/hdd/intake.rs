//! Where requests come into a disk: the slots of its queue, and what waits for one.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::base::units::Time;
use crate::engine::request::RequestId;
use crate::models::queue::Clustering;
use crate::models::queue::clustering::Slots;

/// The slots of a disk's queue, and the requests that wait for one.
pub(super) struct Intake {
    /// How many slots there are.
    pub depth: usize,
    /// How waiting requests are merged, if they are.
    pub clustering: Option<Clustering>,
    /// Issued to the drive, but without a slot yet.
    pub outside: VecDeque<RequestId>,
    /// Requests that have entered the queue and are not complete.
    pub queued: usize,
    /// Flushes and trims that the controller works on.
    pub in_controller: usize,
    /// Slots that the host's requests have taken, where a pool gives them.
    pub of_host: usize,
    /// Requests of which several groups of arms serve a share each.
    pub shared: HashMap<RequestId, Shared, FixedState>,
}

/// A request of which several groups of arms serve a share each.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    /// How many shares are not done, and how many of those not begun.
    pub left: usize,
    pub unbegun: usize,
    /// When the last of those begun will be done.
    pub end: Time,
    /// The number of the service in the arm trace, if it is shown there.
    pub number: Option<u64>,
}

impl Intake {
    pub fn new(depth: u32, clustering: Option<Clustering>) -> Intake {
        Intake {
            depth: depth as usize,
            clustering,
            outside: VecDeque::new(),
            queued: 0,
            in_controller: 0,
            of_host: 0,
            shared: HashMap::default(),
        }
    }

    /// Whether the drive has taken requests that are not complete.
    pub fn is_serving(&self) -> bool {
        self.queued + self.in_controller > 0
    }

    /// Whether requests that were merged have one slot together.
    pub fn shares_slots(&self) -> bool {
        self.clustering
            .is_some_and(|clustering| clustering.slots == Slots::Merged)
    }

    /// A request has `shares` shares, each for a group of arms of its own.
    pub fn divide(&mut self, request: RequestId, shares: usize) {
        if shares > 1 {
            let shared = Shared {
                left: shares,
                unbegun: shares,
                end: Time::ZERO,
                number: None,
            };
            self.shared.insert(request, shared);
        }
    }

    /// A share of a request has begun, to end at `end`: whether it ends last of those that have begun.
    #[inline]
    pub fn begins(&mut self, request: RequestId, end: Time) -> bool {
        self.shared.is_empty() || self.share_begins(request, end)
    }

    #[cold]
    fn share_begins(&mut self, request: RequestId, end: Time) -> bool {
        match self.shared.get_mut(&request) {
            Some(shared) => {
                let is_last = end >= shared.end;
                shared.end = shared.end.max(end);
                shared.unbegun -= 1;
                is_last
            }
            None => true,
        }
    }

    /// A share of a request is done: whether all are.
    #[inline]
    pub fn ends(&mut self, request: RequestId) -> bool {
        self.shared.is_empty() || self.share_ends(request)
    }

    #[cold]
    fn share_ends(&mut self, request: RequestId) -> bool {
        let Some(shared) = self.shared.get_mut(&request) else {
            return true;
        };
        shared.left -= 1;
        let has_all = shared.left == 0;
        if has_all {
            self.shared.remove(&request);
        }
        has_all
    }
}
