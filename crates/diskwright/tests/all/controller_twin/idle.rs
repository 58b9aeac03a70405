//! What is written because the devices have been idle for long enough.

use super::instants::Alarm;
use super::model::Model;
use super::specs::Cache;

impl Model<'_> {
    /// Whether the devices that have the controller's blocks are idle.
    pub fn rests(&self) -> bool {
        let mut queues = self.queues[..self.case.devices.len()].iter();
        queues.all(|queue| queue.is_idle())
    }

    /// Whether the cache device is idle as well.
    fn all_rest(&self) -> bool {
        self.queues.iter().all(|queue| queue.is_idle())
    }

    fn has_dirty(&self) -> bool {
        match self.case.cache {
            Cache::Memory(_) => self.next_dirty(0, 1).is_some(),
            _ => self.is_dirty.contains(&true),
        }
    }

    pub fn look_for_idleness(&mut self) {
        let delay = match self.case.cache {
            Cache::None => None,
            Cache::Memory(memory) => memory.idle_flush,
            Cache::Device(device) => device.idle_flush,
        };
        let Some(delay) = delay else {
            return;
        };
        let mut alarms = self.alarms.iter();
        let is_set = alarms.any(|(_, alarm)| *alarm == Alarm::Idle);
        if is_set || self.idle.work.is_some() || !self.rests() || !self.has_dirty() {
            return;
        }
        if self.idle.waits_for_cache && !self.all_rest() {
            return;
        }
        self.idle.waits_for_cache = false;
        let of_rest = self.idle.since.map(|since| since + delay);
        let at = of_rest.filter(|&at| at > self.now);
        self.meet(
            "what becomes dirty late",
            of_rest.is_some() && at.is_none() && delay > 0,
        );
        self.alarm(at.unwrap_or(self.now + delay), Alarm::Idle);
    }

    pub fn idle_for_long(&mut self) {
        match self.all_rest() {
            true => self.write_one(),
            false => {
                self.meet("a cache device that is busy then", true);
                self.idle.waits_for_cache = true;
            }
        }
    }

    fn write_one(&mut self) {
        self.idle.work = match self.case.cache {
            Cache::Memory(_) => self.write_first_back(),
            _ => self.begin_to_settle(),
        };
        self.add("idle_write_backs", u64::from(self.idle.work.is_some()));
    }

    /// Work of the controller's own is over: if it was what was written because of idleness, the next run follows.
    pub fn idle_work_ended(&mut self, work: usize) {
        if self.idle.work != Some(work) {
            return;
        }
        self.idle.work = None;
        if self.all_rest() && self.has_dirty() {
            self.meet("a run after another", true);
            self.write_one();
        }
    }
}
