//! Which work has which blocks for itself.

/// Blocks that some work has, or waits for.
#[derive(Clone, Copy, Debug)]
struct Lock {
    work: usize,
    from: u64,
    end: u64,
    is_read: bool,
}

impl Lock {
    fn overlaps(&self, other: &Lock) -> bool {
        self.from < other.end && other.from < self.end
    }

    fn conflicts(&self, other: &Lock) -> bool {
        self.overlaps(other) && !(self.is_read && other.is_read)
    }
}

/// Both in the order in which they asked.
pub struct Locks {
    /// Blocks that are locked together.
    grain: u64,
    /// Reads may have the same blocks.
    shares_reads: bool,
    held: Vec<Lock>,
    waiting: Vec<Lock>,
}

impl Locks {
    pub fn new(grain: u64, shares_reads: bool) -> Locks {
        Locks {
            grain,
            shares_reads,
            held: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn lock(&self, work: usize, (from, end): (u64, u64), is_read: bool) -> Lock {
        Lock {
            work,
            from: from / self.grain * self.grain,
            end: end.div_ceil(self.grain) * self.grain,
            is_read: is_read && self.shares_reads,
        }
    }

    /// Who has blocks that are locked with some of a run, or waits for them.
    pub fn owners(&self, run: (u64, u64)) -> Vec<usize> {
        let lock = self.lock(usize::MAX, run, false);
        let all = self.held.iter().chain(&self.waiting);
        let owners = all.filter(|other| other.overlaps(&lock));
        owners.map(|other| other.work).collect()
    }

    /// Who has blocks that are locked with some of a run.
    pub fn holders(&self, run: (u64, u64)) -> Vec<usize> {
        let lock = self.lock(usize::MAX, run, false);
        let holders = self.held.iter().filter(|other| other.overlaps(&lock));
        holders.map(|other| other.work).collect()
    }

    /// Some work has a run at once, before those who wait for it.
    pub fn take(&mut self, work: usize, run: (u64, u64)) {
        self.held.push(self.lock(work, run, false));
    }

    /// Some work asks for blocks; whether it has them at once.
    pub fn ask(&mut self, work: usize, run: (u64, u64), is_read: bool) -> bool {
        let lock = self.lock(work, run, is_read);
        let mut before = self.held.iter().chain(&self.waiting);
        let is_free = !before.any(|other| other.conflicts(&lock));
        match is_free {
            true => self.held.push(lock),
            false => self.waiting.push(lock),
        }
        is_free
    }

    /// Some work gives back what it has; who has what it waits for because of that.
    pub fn free(&mut self, work: usize) -> Vec<usize> {
        self.held.retain(|lock| lock.work != work);
        self.grant()
    }

    /// Some work hands on what it has, to be read by other work; who has what it waits for because of that.
    pub fn hand_over(&mut self, from: usize, to: usize) -> Vec<usize> {
        for lock in &mut self.held {
            if lock.work == from {
                (lock.work, lock.is_read) = (to, self.shares_reads);
            }
        }
        self.grant()
    }

    fn grant(&mut self) -> Vec<usize> {
        let mut granted = Vec::new();
        let mut still: Vec<Lock> = Vec::new();
        for lock in std::mem::take(&mut self.waiting) {
            let mut before = self.held.iter().chain(&still);
            if before.any(|other| other.conflicts(&lock)) {
                still.push(lock);
            } else {
                granted.push(lock.work);
                self.held.push(lock);
            }
        }
        self.waiting = still;
        granted
    }
}
