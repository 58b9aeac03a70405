//! What both programs are given: a small drive with a pool, and requests.

use std::fmt::Write as _;

use diskwright::devices::hdd::Hardware;
use diskwright::devices::hdd::drive::DriveDescription;

pub use crate::support::twins::Asked;
use crate::support::twins::{load, trace};
/// The parameters of a pool: sizes in blocks, times in ns, shares in sixteenths, which are exact.
#[derive(Clone, Debug)]
pub struct Pool {
    pub frames: u64,
    pub extent: u64,
    pub policy: &'static str,
    pub hit_overhead: u64,
    pub streams: u64,
    pub after: u64,
    pub most: u64,
    pub least: u64,
    pub yields: bool,
    pub share: u64,
    pub high: u64,
    pub low: u64,
    pub idle: u64,
    pub age: u64,
    pub longest: u64,
    /// The size of a persistent memory.
    pub memory: Option<u64>,
    /// Regions that keep it, and slots of each.
    pub region: Option<(u64, u64)>,
}

/// A drive, its settings and a load.
#[derive(Clone, Debug)]
pub struct Case {
    /// The drive's file without its pool.
    pub drive: String,
    pub pool: Pool,
    pub write_cache: bool,
    pub depth: u64,
    pub scheduler: &'static str,
    /// Requests outstanding in a closed load.
    pub users: Option<u64>,
    pub requests: Vec<Asked>,
}

fn share(sixteenths: u64) -> f64 {
    sixteenths as f64 / 16.0
}

impl Pool {
    /// Its tables in a drive's file.
    fn text(&self) -> String {
        let Pool {
            frames,
            extent,
            policy,
            hit_overhead,
            streams,
            after,
            most,
            least,
            yields,
            idle,
            age,
            longest,
            ..
        } = self;
        let [of, high, low] = [self.share, self.high, self.low].map(share);
        let mut text = format!(
            "[pool]\nsize = \"{} blocks\"\nextent = \"{extent} blocks\"\npolicy = \"{policy}\"\nhit_overhead = \"{hit_overhead} ns\"\n\
             [pool.read_ahead]\nstreams = {streams}\nafter = {after}\nmost = \"{most} blocks\"\nleast = \"{least} blocks\"\nyields = {yields}\n\
             [pool.write_cache]\nshare = {of:?}\nhigh = {high:?}\nlow = {low:?}\nidle = \"{idle} ns\"\nage = \"{age} ns\"\n\
             longest = \"{longest} blocks\"\n",
            frames * extent
        );
        if let Some(memory) = self.memory {
            _ = write!(text, "[pool.persistent]\nmemory = \"{memory} blocks\"\n");
            if let Some((count, slots)) = self.region {
                let size = count * slots * extent;
                _ = writeln!(
                    text,
                    "region = {{ count = {count}, size = \"{size} blocks\" }}"
                );
            }
        }
        text
    }
}

impl Case {
    /// The hardware, without what the pool does with it.
    pub fn hardware(&self) -> Hardware {
        let drive: DriveDescription = toml::from_str(&self.drive).expect("a drive");
        drive.hardware().expect("a drive that can be built")
    }

    /// The drive's file.
    pub fn drive_file(&self) -> String {
        format!("{}{}", self.drive, self.pool.text())
    }

    /// The spec, for a drive's file and a trace in these places.
    pub fn spec(&self, drive: &str, trace: &str) -> String {
        let Case {
            write_cache,
            depth,
            scheduler,
            ..
        } = self;
        let load = load(trace, self.users);
        format!(
            "{load}[device.hdd]\ndrive = \"{drive}\"\nbuffer = true\nwrite_cache = {write_cache}\n\
             [device.hdd.queue]\ndepth = {depth}\nscheduler = \"{scheduler}\"\n"
        )
    }

    /// The trace.
    pub fn trace(&self) -> String {
        trace(&self.requests)
    }

    /// All of it, to look into a difference.
    pub fn shown(&self) -> String {
        format!(
            "# drive.toml\n{}\n# spec.toml\n{}\n# trace.csv\n{}",
            self.drive_file(),
            self.spec("drive.toml", "trace.csv"),
            self.trace()
        )
    }
}
