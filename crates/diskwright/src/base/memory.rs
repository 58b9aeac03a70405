//! How much memory the process has used, and how much a spec may come to need.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use crate::base::error::InputError;

/// The largest resident set of this process so far, MiB; `None` where the system does not tell.
pub fn peak_rss_mib() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// What a machine is taken to have that does not tell.
const UNTOLD: u64 = 8 << 30;

/// The memory of this machine, or of the control group that the process runs in, whichever is less: in bytes. What other processes use
/// of it does not count, so that a machine answers a spec always alike.
fn of_machine() -> u64 {
    let text = |path: &str| fs::read_to_string(Path::new(path)).ok();
    let total = text("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib: u64 = line?.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    });
    let groups = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let group = groups
        .iter()
        .filter_map(|path| text(path)?.trim().parse::<u64>().ok());
    total.into_iter().chain(group).min().unwrap_or(UNTOLD)
}

/// What the devices of a spec may come to need, which is refused where it is more than three quarters of the machine's memory.
#[derive(Debug)]
pub struct Budget {
    machine: u64,
    taken: u64,
}

impl Default for Budget {
    /// Of this machine, with nothing taken.
    fn default() -> Budget {
        Budget::of(of_machine())
    }
}

impl Budget {
    /// The budget of a machine with this number of bytes, with nothing taken.
    pub fn of(machine: u64) -> Budget {
        Budget { machine, taken: 0 }
    }

    /// Takes a number of bytes for something.
    ///
    /// # Errors
    /// Together with what was taken before that is too much: how much it is, how much there is, and `help`.
    pub fn take(&mut self, bytes: u64, what: impl Display, help: &str) -> Result<(), InputError> {
        let taken = self.taken.saturating_add(bytes);
        let most = self.machine / 4 * 3;
        if taken > most {
            let before = match self.taken {
                0 => String::new(),
                taken => format!(", beside {} of other devices", size(taken)),
            };
            let message = format!(
                "{what} may come to need {} of memory{before}: of the {} of this machine a run may have {}",
                size(bytes),
                size(self.machine),
                size(most)
            );
            return Err(InputError::new(message).help(help));
        }
        self.taken = taken;
        Ok(())
    }
}

/// A number of bytes for a reader.
fn size(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1024.0 {
        format!("{mib:.0} MiB")
    } else {
        format!("{:.1} GiB", mib / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_quarters_of_the_machine_can_be_taken() {
        let mut budget = Budget::of(16 << 30);
        budget.take(4 << 30, "a cache", "").expect("a quarter");
        let error = budget.take((8 << 30) + 1, "a log", "a smaller one");
        let error = error.expect_err("too much").to_string();
        for part in [
            "a log may come to need 8.0 GiB",
            "beside 4.0 GiB of other devices",
            "of the 16.0 GiB of this machine a run may have 12.0 GiB",
            "a smaller one",
        ] {
            assert!(error.contains(part), "{error}");
        }
        // What was refused is not taken.
        budget.take(8 << 30, "a log", "").expect("three quarters");
        assert!(budget.take(1, "a byte", "").is_err());
        assert!(budget.take(u64::MAX, "all", "").is_err());
    }

    #[test]
    fn the_machine_has_some() {
        assert!(of_machine() > 1 << 26);
    }
}
