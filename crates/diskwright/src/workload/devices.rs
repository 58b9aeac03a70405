//! The devices a trace speaks of, for errors that list them.

use std::fmt;

/// More devices than this are not listed one by one.
const LISTED: usize = 32;

/// Device numbers with how many records each has.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    seen: Vec<(u32, u64)>,
    more: bool,
}

impl Devices {
    /// Counts a record of `device`.
    #[inline]
    pub fn add(&mut self, device: u32) {
        match self.seen.iter().position(|(seen, _)| *seen == device) {
            Some(i) => self.seen[i].1 += 1,
            None if self.seen.len() < LISTED => self.seen.push((device, 1)),
            None => self.more = true,
        }
    }
    /// Whether there is more than one.
    pub fn several(&self) -> bool {
        self.seen.len() > 1
    }
}

/// By number: `0 (42252 requests), 1 (2267 requests)`.
impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.seen.is_empty() {
            return f.write_str("none");
        }
        let mut seen = self.seen.clone();
        seen.sort_unstable();
        for (i, (device, count)) in seen.into_iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let plural = if count == 1 { "" } else { "s" };
            write!(f, "{comma}{device} ({count} request{plural})")?;
        }
        f.write_str(if self.more { ", and more" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_counted_and_the_list_is_bounded() {
        let mut devices = Devices::default();
        assert_eq!(devices.to_string(), "none");
        for device in [3, 0, 3] {
            devices.add(device);
        }
        assert!(devices.several());
        assert_eq!(devices.to_string(), "0 (1 request), 3 (2 requests)");
        (0..1_000).for_each(|device| devices.add(device));
        assert!(devices.to_string().ends_with("and more"));
        assert_eq!(devices.seen.len(), LISTED);
    }
}
