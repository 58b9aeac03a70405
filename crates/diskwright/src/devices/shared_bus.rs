//! A bus that several drives share: one of them owns it at a time, and they get it in the order in which they ask for it.
//!
//! Source: the exclusive bus (`type = 1`) of DiskSim 4.0, but for the order, which is by slot there (`Arbitration type = 1`).

use std::sync::{Arc, Mutex, PoisonError};

use crate::base::units::Time;

/// The bus as one of its drives has it.
#[derive(Clone, Debug, Default)]
pub struct SharedBus {
    /// When it is free of all that have asked for it so far.
    free: Arc<Mutex<Time>>,
}

impl SharedBus {
    /// Takes the bus for a time: from when on. How long each keeps it is known when it asks, so that the order of asking settles it all.
    pub fn take(&self, now: Time, length: Time) -> Time {
        // The drives of a run are in one thread: nobody else has the lock.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let from = now.max(*free);
        *free = from + length;
        from
    }

    /// Whoever has asked last keeps it until `end`, if that is later.
    pub fn keep(&self, end: Time) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = end.max(*free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_taken_in_turn() {
        let ms = Time::from_ms;
        let (bus, other) = (SharedBus::default(), SharedBus::default());
        let same = bus.clone();
        assert_eq!(bus.take(ms(1), ms(3)), ms(1));
        assert_eq!(same.take(ms(2), ms(2)), ms(4));
        assert_eq!(bus.take(ms(2), Time::ZERO), ms(6));
        assert_eq!(same.take(ms(7), ms(1)), ms(7));
        bus.keep(ms(10));
        bus.keep(ms(9));
        assert_eq!(same.take(ms(8), ms(1)), ms(10));
        assert_eq!(other.take(ms(2), ms(1)), ms(2));
    }
}
