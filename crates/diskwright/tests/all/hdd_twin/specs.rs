//! What both programs are given: a small drive, its queue, and requests.

use std::fmt::Write as _;

pub use crate::support::twins::Asked;
use crate::support::twins::{load, trace};

/// A drive, its settings and a load.
#[derive(Clone, Debug)]
pub struct Case {
    pub drive: Drive,
    /// Where the platters are at the start, in 64ths of a turn.
    pub angle: u64,
    pub depth: u64,
    pub scheduler: Scheduler,
    pub clustering: Option<Clustering>,
    pub cache: Option<BlockCache>,
    /// Requests outstanding in a closed load.
    pub users: Option<u64>,
    pub requests: Vec<Asked>,
}

/// A block cache in front of the queue.
#[derive(Clone, Copy, Debug)]
pub struct BlockCache {
    /// How many frames it has, and blocks of a frame.
    pub frames: u64,
    pub block: u64,
    pub policy: Policy,
    pub is_write_back: bool,
    /// Time of the controller for what the cache serves, ns; else the drive's.
    pub hit_overhead: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub enum Policy {
    Lru,
    Fifo,
    Lifo,
    Lfu,
}

/// Which requests of a queue become one.
#[derive(Clone, Copy, Debug)]
pub struct Clustering {
    pub join: Join,
    /// What is one takes one slot.
    pub shares_slots: bool,
}

/// Which requests of a queue join others.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    pub reads: bool,
    pub writes: bool,
    /// The most blocks of a joined request.
    pub most: u64,
    /// It has the place of its newest part, not that of its oldest.
    pub is_newest: bool,
}

/// A drive's file. Times are ns.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Blocks of a physical sector.
    pub sector: u64,
    pub rotation: Rotation,
    pub head_switch: u64,
    pub write_settle: i64,
    pub seek: Seek,
    pub write_seek: Option<Seek>,
    pub overhead: Overhead,
    pub interface: Interface,
    pub layout: Layout,
    pub buffer: Option<Buffer>,
}

/// A segmented buffer; sizes in blocks, times in ns.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub segments: u64,
    pub size: u64,
    pub keeps_data: bool,
    pub hits_written_data: bool,
    pub hit_after_read: u64,
    pub hit_after_write: u64,
    pub until: Until,
    pub most: Option<u64>,
    pub over_requested: bool,
    pub stops_within_sector: bool,
    pub complete: Complete,
    pub buffered_after_read: u64,
    pub buffered_after_write: u64,
    pub own_segment: bool,
    pub least_seek: u64,
}

/// Up to where a read is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    None,
    Track,
    Cylinder,
    Segment,
    StreamTrack,
}

/// When a write is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complete {
    OnMedium,
    BufferedAlone,
    Buffered,
}

#[derive(Clone, Copy, Debug)]
pub enum Rotation {
    Rpm(u64),
    /// The time of a revolution, ps.
    Period(u64),
}

/// A seek curve. Times under names without a unit are ns.
#[derive(Clone, Debug)]
pub enum Seek {
    Table {
        points_ms: Vec<(u64, f64)>,
    },
    Linear {
        single: u64,
        full: u64,
    },
    Slope {
        single: u64,
        slope_ns: f64,
    },
    Hp {
        boundary: u64,
        short_ms: (f64, f64),
        long_ms: (f64, f64),
        first_ms: Vec<f64>,
    },
    Lee {
        single: u64,
        average: u64,
        full: u64,
    },
    Constant(u64),
}

/// The controller's times; those before a command by its kind and the kind of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overhead {
    pub read_after_read: u64,
    pub read_after_write: u64,
    pub write_after_read: u64,
    pub write_after_write: u64,
    pub completion_read: u64,
    pub completion_write: u64,
}

/// The time of a block on the interface, ns: to the host, and to the drive.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    pub block: u64,
    pub write_block: u64,
    pub overlapped: bool,
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub surfaces: u64,
    pub cylinders: u64,
    pub ranges: u64,
    pub order: Order,
    /// Where the address space ends before the zones do.
    pub sectors: Option<u64>,
    pub zones: Vec<Zone>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Alternating,
    AlternatingInZone,
}

#[derive(Clone, Debug)]
pub struct Zone {
    pub first: u64,
    pub last: u64,
    pub per_track: u64,
    pub offset: u64,
    pub front: u64,
    pub track_skew: u64,
    pub cylinder_skew: u64,
    pub spares: Option<Spares>,
    pub slipped: Vec<u64>,
    pub slipped_tracks: Vec<u64>,
    pub remapped: Vec<(u64, u64)>,
    pub remapped_tracks: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Spares {
    pub per: Per,
    pub sectors: u64,
    pub tracks: u64,
    pub at_front: bool,
    pub slips_cost_capacity: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    Track,
    Cylinder,
    Cylinders(u64),
    Zone,
}

/// What a scheduler that goes by places calls one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Lbn,
    Cylinder,
}

/// A scheduler with its parameters; times are ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheduler {
    Fcfs {
        /// 2 s where nothing is said.
        timeout: Option<u64>,
    },
    Sstf {
        by: By,
        alternate: bool,
    },
    Look(By),
    Scan(By),
    CLook {
        by: By,
        from_start: bool,
    },
    CScan(By),
    /// The penalty in 16ths of the drive.
    VScan {
        sixteenths: u64,
        by: By,
    },
    Satf,
    /// The weight in 1024ths.
    Aged(u64),
    Weighted {
        window: u64,
    },
    Batch,
    Ncq {
        timeout: u64,
    },
    Deadline {
        read_expire: u64,
        write_expire: u64,
        batch: u64,
        starved: u64,
    },
}

impl Overhead {
    /// The controller's time before a command, by the kind of the one before it.
    pub fn before(&self, write: bool, after_write: bool) -> u64 {
        match (write, after_write) {
            (false, false) => self.read_after_read,
            (false, true) => self.read_after_write,
            (true, false) => self.write_after_read,
            (true, true) => self.write_after_write,
        }
    }
}

impl Seek {
    fn text(&self, name: &str) -> String {
        match self {
            Seek::Table { points_ms } => {
                let points: Vec<String> = points_ms
                    .iter()
                    .map(|(distance, ms)| format!("[{distance}, {ms:?}]"))
                    .collect();
                format!("{name}.table.points_ms = [{}]\n", points.join(", "))
            }
            Seek::Linear { single, full } => {
                format!("{name}.linear = {{ single = \"{single} ns\", full = \"{full} ns\" }}\n")
            }
            Seek::Slope { single, slope_ns } => {
                format!("{name}.linear = {{ single = \"{single} ns\", slope_ns = {slope_ns:?} }}\n")
            }
            Seek::Hp {
                boundary,
                short_ms: (a, b),
                long_ms: (c, e),
                first_ms,
            } => format!(
                "{name}.hp = {{ boundary = {boundary}, short_ms = [{a:?}, {b:?}], long_ms = [{c:?}, {e:?}], first_ms = {first_ms:?} }}\n"
            ),
            Seek::Lee {
                single,
                average,
                full,
            } => format!(
                "{name}.lee = {{ single = \"{single} ns\", average = \"{average} ns\", full = \"{full} ns\" }}\n"
            ),
            Seek::Constant(time) => format!("{name}.constant = \"{time} ns\"\n"),
        }
    }
}

impl Zone {
    fn text(&self) -> String {
        let Zone {
            first,
            last,
            per_track,
            offset,
            front,
            track_skew,
            cylinder_skew,
            ..
        } = self;
        let mut text = format!(
            "[[layout.zone]]\ncylinders = [{first}, {last}]\nsectors_per_track = {per_track}\noffset = {offset}\nfront = {front}\n\
             track_skew = {track_skew}\ncylinder_skew = {cylinder_skew}\n"
        );
        if let Some(spares) = self.spares {
            let per = match spares.per {
                Per::Track => "\"track\"".to_owned(),
                Per::Cylinder => "\"cylinder\"".to_owned(),
                Per::Cylinders(count) => format!("{{ cylinders = {count} }}"),
                Per::Zone => "\"zone\"".to_owned(),
            };
            _ = writeln!(
                text,
                "spares = {{ per = {per}, sectors = {}, tracks = {}, at = \"{}\", slips = \"{}\" }}",
                spares.sectors,
                spares.tracks,
                if spares.at_front { "front" } else { "end" },
                if spares.slips_cost_capacity {
                    "capacity"
                } else {
                    "spare"
                },
            );
        }
        let pairs = |pairs: &[(u64, u64)]| {
            let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("[{a}, {b}]")).collect();
            pairs.join(", ")
        };
        _ = write!(
            text,
            "slipped = {:?}\nslipped_tracks = {:?}\nremapped = [{}]\nremapped_tracks = [{}]\n",
            self.slipped,
            self.slipped_tracks,
            pairs(&self.remapped),
            pairs(&self.remapped_tracks)
        );
        text
    }
}

impl Drive {
    /// The drive's file.
    pub fn text(&self) -> String {
        let rotation = match self.rotation {
            Rotation::Rpm(rpm) => format!("{rpm} rpm"),
            Rotation::Period(ps) => format!("{}.{:09} ms", ps / 1_000_000_000, ps % 1_000_000_000),
        };
        let Overhead {
            read_after_read,
            read_after_write,
            write_after_read,
            write_after_write,
            completion_read,
            completion_write,
        } = self.overhead;
        let mut text = format!(
            "name = \"random\"\nrotation = \"{rotation}\"\nsector_size = \"{} blocks\"\n\
             heads = {{ switch = \"{} ns\", write_settle = \"{} ns\" }}\n{}",
            self.sector,
            self.head_switch,
            self.write_settle,
            self.seek.text("seek"),
        );
        if let Some(seek) = &self.write_seek {
            text += &seek.text("write_seek");
        }
        _ = write!(
            text,
            "[overhead]\nread_after_read = \"{read_after_read} ns\"\nread_after_write = \"{read_after_write} ns\"\n\
             write_after_read = \"{write_after_read} ns\"\nwrite_after_write = \"{write_after_write} ns\"\n\
             completion_read = \"{completion_read} ns\"\ncompletion_write = \"{completion_write} ns\"\n\
             [interface]\nblock_time = \"{} ns\"\nwrite_block_time = \"{} ns\"\noverlapped = {}\n",
            self.interface.block, self.interface.write_block, self.interface.overlapped,
        );
        let layout = &self.layout;
        _ = write!(
            text,
            "[layout]\nsurfaces = {}\ncylinders = {}\naccess_ranges = {}\norder = \"{}\"\n",
            layout.surfaces,
            layout.cylinders,
            layout.ranges,
            match layout.order {
                Order::Ascending => "ascending",
                Order::Alternating => "alternating",
                Order::AlternatingInZone => "alternating-in-zone",
            },
        );
        if let Some(sectors) = layout.sectors {
            _ = writeln!(text, "sectors = {sectors}");
        }
        text.extend(layout.zones.iter().map(Zone::text));
        if let Some(buffer) = &self.buffer {
            text += &buffer.text();
        }
        text
    }
}

impl Buffer {
    /// The most blocks of a request that fits a segment beside what is read ahead.
    pub fn longest(&self) -> u64 {
        match self.until {
            Until::StreamTrack => 16,
            _ => self.size - self.most.unwrap_or(0),
        }
    }

    fn text(&self) -> String {
        let Buffer {
            segments,
            size,
            keeps_data,
            hits_written_data,
            hit_after_read,
            hit_after_write,
            over_requested,
            stops_within_sector,
            buffered_after_read,
            buffered_after_write,
            own_segment,
            least_seek,
            ..
        } = self;
        let until = match self.until {
            Until::None => "none",
            Until::Track => "track",
            Until::Cylinder => "cylinder",
            Until::Segment => "segment",
            Until::StreamTrack => "stream-track",
        };
        let complete = match self.complete {
            Complete::OnMedium => "on-medium",
            Complete::BufferedAlone => "buffered-alone",
            Complete::Buffered => "buffered",
        };
        let most = self
            .most
            .map_or(String::new(), |most| format!("most = \"{most} blocks\"\n"));
        format!(
            "[buffer]\nsegments = {segments}\nsegment_size = \"{size} blocks\"\nkeeps_data = {keeps_data}\n\
             [buffer.read]\nhits_written_data = {hits_written_data}\nhit_after_read = \"{hit_after_read} ns\"\nhit_after_write = \"{hit_after_write} ns\"\n\
             [buffer.read_ahead]\nuntil = \"{until}\"\n{most}over_requested = {over_requested}\nstops_within_sector = {stops_within_sector}\n\
             [buffer.write]\ncomplete = \"{complete}\"\nbuffered_after_read = \"{buffered_after_read} ns\"\n\
             buffered_after_write = \"{buffered_after_write} ns\"\nown_segment = {own_segment}\nappends = false\nleast_seek = \"{least_seek} ns\"\n"
        )
    }
}

impl Clustering {
    /// Its keys in the table of a queue.
    pub fn text(self) -> String {
        format!(
            "clustering = \"{} blocks\"\nslots = \"{}\"\nmerged_place = \"{}\"\n",
            self.join.most,
            if self.shares_slots { "merged" } else { "parts" },
            if self.join.is_newest {
                "newest"
            } else {
                "oldest"
            },
        )
    }
}

impl BlockCache {
    /// Its tables in a spec.
    fn text(&self) -> String {
        let BlockCache {
            frames,
            block,
            policy,
            is_write_back,
            hit_overhead,
        } = self;
        let policy = match policy {
            Policy::Lru => "lru",
            Policy::Fifo => "fifo",
            Policy::Lifo => "lifo",
            Policy::Lfu => "lfu",
        };
        let write_policy = match is_write_back {
            true => "write-back",
            false => "write-through",
        };
        let overhead = hit_overhead.map(|ns| format!("hit_overhead = \"{ns} ns\"\n"));
        format!(
            "[device.hdd.cache]\nsize = \"{} blocks\"\nblock_size = \"{block} blocks\"\npolicy = \"{policy}\"\n\
             write_policy = \"{write_policy}\"\n{}",
            frames * block,
            overhead.unwrap_or_default()
        )
    }
}

impl By {
    fn text(self) -> &'static str {
        match self {
            By::Lbn => "lbn",
            By::Cylinder => "cylinder",
        }
    }
}

impl Scheduler {
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Fcfs { .. } => "fcfs",
            Scheduler::Sstf { .. } => "sstf",
            Scheduler::Look(_) => "look",
            Scheduler::Scan(_) => "scan",
            Scheduler::CLook { .. } => "c-look",
            Scheduler::CScan(_) => "c-scan",
            Scheduler::VScan { .. } => "v-scan",
            Scheduler::Satf => "satf",
            Scheduler::Aged(_) => "aged-satf",
            Scheduler::Weighted { .. } => "weighted-satf",
            Scheduler::Batch => "batch-satf",
            Scheduler::Ncq { .. } => "ncq",
            Scheduler::Deadline { .. } => "deadline",
        }
    }

    pub fn text(self) -> String {
        let by = |name: &str, by: By| format!("{{ {name} = {{ by = \"{}\" }} }}", by.text());
        match self {
            Scheduler::Fcfs { timeout: None } => "\"fcfs\"".to_owned(),
            Scheduler::Fcfs {
                timeout: Some(timeout),
            } => format!("{{ fcfs = {{ timeout = \"{timeout} ns\" }} }}"),
            Scheduler::Sstf { by, alternate } => format!(
                "{{ sstf = {{ by = \"{}\", ties = \"{}\" }} }}",
                by.text(),
                if alternate { "alternate" } else { "oldest" }
            ),
            Scheduler::Look(place) => by("look", place),
            Scheduler::Scan(place) => by("scan", place),
            Scheduler::CLook { by, from_start } => format!(
                "{{ c-look = {{ by = \"{}\", from = \"{}\" }} }}",
                by.text(),
                if from_start { "start" } else { "end" }
            ),
            Scheduler::CScan(place) => by("c-scan", place),
            Scheduler::VScan { sixteenths, by } => format!(
                "{{ v-scan = {{ r = {:?}, by = \"{}\" }} }}",
                sixteenths as f64 / 16.0,
                by.text()
            ),
            Scheduler::Satf => "\"satf\"".to_owned(),
            Scheduler::Aged(weight) => format!(
                "{{ aged-satf = {{ weight = {:?} }} }}",
                weight as f64 / 1024.0
            ),
            Scheduler::Weighted { window } => {
                format!("{{ weighted-satf = {{ window = \"{window} ns\" }} }}")
            }
            Scheduler::Batch => "\"batch-satf\"".to_owned(),
            Scheduler::Ncq { timeout } => format!("{{ ncq = {{ timeout = \"{timeout} ns\" }} }}"),
            Scheduler::Deadline {
                read_expire,
                write_expire,
                batch,
                starved,
            } => format!(
                "{{ deadline = {{ read_expire = \"{read_expire} ns\", write_expire = \"{write_expire} ns\", fifo_batch = {batch}, \
                 writes_starved = {starved} }} }}"
            ),
        }
    }
}

impl Case {
    /// Whether requests that are one have one slot.
    pub fn shares_slots(&self) -> bool {
        self.clustering
            .is_some_and(|clustering| clustering.shares_slots)
    }

    /// The spec, for a drive's file and a trace in these places.
    pub fn spec(&self, drive: &str, trace: &str) -> String {
        let load = load(trace, self.users);
        let clustering = self.clustering.map(Clustering::text);
        let cache = self.cache.as_ref().map(BlockCache::text);
        // A cache switches the drive's own memory off, unless that is asked for.
        let buffer = match (&self.cache, &self.drive.buffer) {
            (Some(_), Some(_)) => "buffer = true\n",
            _ => "",
        };
        format!(
            "{load}[device.hdd]\ndrive = \"{drive}\"\nangle = {:?}\n{buffer}\
             [device.hdd.queue]\ndepth = {}\nscheduler = {}\n{}{}",
            self.angle as f64 / 64.0,
            self.depth,
            self.scheduler.text(),
            clustering.unwrap_or_default(),
            cache.unwrap_or_default(),
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
            self.drive.text(),
            self.spec("drive.toml", "trace.csv"),
            self.trace()
        )
    }
}
