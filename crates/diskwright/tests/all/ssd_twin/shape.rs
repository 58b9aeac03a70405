//! Where planes, groups and workers are.

use super::specs::{Drive, Separation};

impl Drive {
    /// Whether it looks for old blocks, for ever.
    pub fn patrols(&self) -> bool {
        self.refresh.is_some_and(|refresh| refresh.age.is_some())
    }

    pub fn planes(&self) -> usize {
        self.counts.iter().product()
    }

    /// Units of a block.
    pub fn block_units(&self) -> usize {
        self.pages * self.units
    }

    /// Units of the whole drive, those kept from the host among them.
    pub fn all_units(&self) -> usize {
        let all = self.planes() * self.blocks * self.block_units();
        self.parity.map_or(all, |width| all - all / width)
    }

    /// Units that the host sees.
    pub fn host_units(&self) -> usize {
        let spared = libm::round(self.all_units() as f64 * (self.spare / 100.0));
        self.all_units() - spared as usize
    }

    /// Units of which a map unit has the entries.
    pub fn map_entries(&self) -> usize {
        (self.unit_blocks * 512 / 4) as usize
    }

    /// Units that hold the map.
    pub fn map_units(&self) -> usize {
        let all = self.host_units().div_ceil(self.map_entries());
        self.map_cache.map_or(0, |_| all)
    }

    /// Blocks that are left to cleaning for when others fail.
    pub fn reserve(&self) -> usize {
        self.failures.map_or(0, |failures| failures.reserve)
    }

    /// Streams of the host.
    pub fn streams(&self) -> usize {
        match self.separation {
            Separation::Single => 1,
            Separation::BySize(_) | Separation::MultiHash { .. } => 2,
        }
    }

    /// Blocks of a plane that are kept from data.
    pub fn kept(&self) -> usize {
        self.streams() + 2 + self.slc.map_or(0, |slc| slc.fixed.max(1)) + self.reserve()
    }

    /// Units that a plane with so many blocks that can be used may hold.
    pub fn limit(&self, usable: usize) -> usize {
        let data = usable.saturating_sub(self.kept());
        (data * ((self.pages - 1) * self.units + 1)).saturating_sub(1)
    }

    /// The plane at position `i` of the order of allocation.
    pub fn plane_at(&self, i: usize) -> usize {
        let mut rest = i;
        let mut at = [0; 4];
        for &level in &self.order {
            at[level] = rest % self.counts[level];
            rest /= self.counts[level];
        }
        let numbered = at.iter().zip(&self.counts);
        numbered.fold(0, |number, (&at, &count)| number * count + at)
    }

    /// How many groups of planes there are.
    pub fn groups(&self) -> usize {
        let fixed = self.order.iter().take(self.fixed);
        fixed.map(|&level| self.counts[level]).product()
    }

    pub fn group_of(&self, unit: usize) -> usize {
        (unit / self.units) % self.groups()
    }

    /// The planes of a group, in their turn.
    pub fn group_planes(&self, group: usize) -> Vec<usize> {
        let positions = (group..self.planes()).step_by(self.groups());
        positions.map(|position| self.plane_at(position)).collect()
    }

    /// Planes that share a worker.
    fn planes_of_worker(&self) -> usize {
        match self.parallel {
            "planes" => 1,
            "packages" => self.counts[2] * self.counts[3],
            _ => self.counts[3],
        }
    }

    pub fn workers(&self) -> usize {
        self.planes() / self.planes_of_worker()
    }

    pub fn worker_of(&self, plane: usize) -> usize {
        plane / self.planes_of_worker()
    }

    pub fn channel_of(&self, worker: usize) -> usize {
        worker / (self.workers() / self.counts[0])
    }
}
