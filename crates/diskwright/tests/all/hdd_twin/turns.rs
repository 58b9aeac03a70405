//! When a sector passes a head, as docs/model/rotation.md defines it.

use super::places::Place;
use super::specs::Rotation;

/// Platters that turn: `speed` of the `turn` units of a revolution pass in a nanosecond.
pub struct Turns {
    turn: i128,
    speed: i128,
    /// How far they have turned at time zero.
    start: i128,
}

/// When a sector begins to pass and when it has passed, each rounded up to the nanosecond once.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    pub begins: u64,
    pub ends: u64,
}

impl Turns {
    /// `angle` is in 64ths of a turn.
    pub fn new(rotation: Rotation, angle: u64) -> Turns {
        let (turn, speed) = match rotation {
            Rotation::Rpm(rpm) => (60_000_000_000, i128::from(rpm)),
            Rotation::Period(ps) => (i128::from(ps), 1000),
        };
        Turns {
            turn,
            speed,
            start: (i128::from(angle) * turn + 32).div_euclid(64),
        }
    }

    /// The same platters as a head sees them that stands at `angle`, in 64ths of a turn, from the first arm's, the way they turn.
    pub fn seen_from(&self, angle: u64) -> Turns {
        let ahead = (i128::from(angle) * self.turn + 32).div_euclid(64);
        Turns {
            start: (self.start - ahead).rem_euclid(self.turn),
            ..*self
        }
    }

    /// The leading edge of a slot in the first revolution, in units.
    fn edge(&self, slot: u64, slots: u64) -> i128 {
        (i128::from(slot) * self.turn + i128::from(slots) - 1).div_euclid(i128::from(slots))
    }

    /// The first whole nanosecond at which the platters have turned so far.
    fn instant(&self, units: i128) -> i128 {
        (units - self.start + self.speed - 1).div_euclid(self.speed)
    }

    /// The first pass of a sector for which a head waits from an instant on.
    pub fn pass(&self, place: &Place, from: u64) -> Pass {
        let (begins, ends) = (
            self.edge(place.slot, place.slots),
            self.edge(place.slot + 1, place.slots),
        );
        let turned = self.start + i128::from(from) * self.speed;
        let turns = turned.div_euclid(self.turn) - 1..;
        let mut instants = turns.map(|turn| turn * self.turn);
        let caught = instants.find(|base| self.instant(base + begins) >= i128::from(from));
        let base = caught.expect("it comes round again");
        Pass {
            begins: self.instant(base + begins) as u64,
            ends: self.instant(base + ends) as u64,
        }
    }
}
