//! What a case is made of, and how it is written for the library.

use std::fmt::Write as _;

use diskwright::engine::request::Op;

/// The seed of every case.
pub const SEED: u64 = 11;

const LEVELS: [&str; 4] = ["channel", "package", "die", "plane"];

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When it arrives, ns.
    pub at: u64,
    pub op: Op,
    pub lbn: u64,
    pub blocks: u64,
    pub fua: bool,
    /// The stream of the load that it is of.
    pub stream: usize,
}

/// How often something fails: percent.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub new: f64,
    pub worn: f64,
    pub erases: u64,
}

/// Programs and erases that fail.
#[derive(Clone, Copy, Debug)]
pub struct Failures {
    pub program: Option<Rate>,
    pub erase: Option<Rate>,
    pub reserve: usize,
}

/// How what the host writes is divided into streams.
#[derive(Clone, Copy, Debug)]
pub enum Separation {
    Single,
    /// The size of cold requests, blocks.
    BySize(u64),
    MultiHash {
        counters: u64,
        hot: u8,
        decay: u64,
    },
}

/// Submission queues.
#[derive(Clone, Debug)]
pub struct Queues {
    pub count: usize,
    pub depth: Option<usize>,
    pub burst: usize,
    /// Of classes high, medium and low.
    pub weights: Option<[usize; 3]>,
    pub classes: Vec<&'static str>,
}

/// Low power states: slumber and devsleep.
#[derive(Clone, Copy, Debug)]
pub struct PowerStates {
    pub states: [Option<LowState>; 2],
    /// Each is entered by the rule of NVMe, where its way back takes at most this, ns; otherwise after its own time.
    pub apst: Option<u64>,
}

/// A low power state: when it is entered, and the ways in and back, ns.
#[derive(Clone, Copy, Debug)]
pub struct LowState {
    pub after: u64,
    pub enter: u64,
    pub leave: u64,
}

/// A map of blocks.
#[derive(Clone, Copy, Debug)]
pub struct LogMap {
    pub scheme: &'static str,
    pub log_blocks: usize,
    pub victim: Option<&'static str>,
}

/// A write buffer.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Units that it has room for.
    pub entries: usize,
    pub has_capacitor: bool,
    /// How long an entry waits for a page full, ns.
    pub hold: u64,
}

/// A link by its standard: times in ns.
#[derive(Clone, Copy, Debug)]
pub enum Link {
    Sata {
        generation: u32,
        handshake: u64,
    },
    Pcie {
        generation: u32,
        lanes: u64,
        payload: u64,
        latency: u64,
    },
}

/// How operations are suspended: times in ns.
#[derive(Clone, Copy, Debug)]
pub struct Suspension {
    pub cost: u64,
    pub resume: u64,
    pub gap: u64,
    pub most: usize,
}

/// How reads are retried: times in ns.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    pub time: u64,
    pub erases: Option<u64>,
    pub age: Option<u64>,
    pub most: u64,
    pub initial_age: u64,
}

/// When blocks are refreshed: times in ns.
#[derive(Clone, Copy, Debug)]
pub struct Refresh {
    pub reads: Option<u64>,
    pub age: Option<u64>,
    pub period: u64,
}

/// An SLC cache: times in ns.
#[derive(Clone, Copy, Debug)]
pub struct Slc {
    pub pages: usize,
    pub fixed: usize,
    pub dynamic: usize,
    pub read: u64,
    pub program: u64,
    pub erase: Option<u64>,
    /// The host waits for folds when the cache is full.
    pub folds_when_full: bool,
    pub fold_after: Option<u64>,
}

/// A drive: sizes in blocks of 512 B, times in ns, the spare share in percent.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Channels, packages, dies and planes.
    pub counts: [usize; 4],
    pub blocks: usize,
    pub pages: usize,
    /// Slots of a page.
    pub units: usize,
    pub unit_blocks: u64,
    pub parallel: &'static str,
    pub order: [usize; 4],
    pub fixed: usize,
    pub reads_allocate: bool,
    pub copy_back: bool,
    pub queue_depth: usize,
    pub read: Vec<u64>,
    pub program: Vec<u64>,
    pub erase: u64,
    pub summary: u64,
    pub read_command: u64,
    pub program_command: u64,
    pub erase_command: u64,
    /// The time of a block on the channel.
    pub block: u64,
    pub start_read: u64,
    pub start_write: u64,
    pub mapping: u64,
    pub read_end: u64,
    pub write_end: u64,
    /// MB/s of the link.
    pub rate: u64,
    /// In place of the rate.
    pub link: Option<Link>,
    pub spare: f64,
    pub reserved: usize,
    pub begin: usize,
    pub stop: usize,
    pub victim: &'static str,
    pub separate: bool,
    pub throttled: bool,
    pub background: bool,
    pub levelling: bool,
    /// Percent.
    pub fill: u64,
    pub buffer: Option<Buffer>,
    pub slc: Option<Slc>,
    pub retry: Option<Retry>,
    pub refresh: Option<Refresh>,
    /// Static wear levelling: the spread, and one of how many erases is for it.
    pub levelled_by: Option<(u64, usize)>,
    /// Map units in memory, if not all are.
    pub map_cache: Option<usize>,
    pub suspend_program: Option<Suspension>,
    pub suspend_erase: Option<Suspension>,
    pub failures: Option<Failures>,
    pub queues: Option<Queues>,
    /// Pages of a stripe.
    pub parity: Option<usize>,
    pub log: Option<LogMap>,
    /// Times of reads of less than half a page.
    pub read_part: Option<Vec<u64>>,
    /// What the frames of a read's end and of a write's command take on the link.
    pub frames: u64,
    pub separation: Separation,
    /// Blocks of a plane that are cleaned side by side.
    pub at_once: usize,
    /// How long a write is delayed for each unit that is moved per unit that is freed, ns.
    pub write_delay: u64,
    /// What each read, and each program, of several planes costs in place of its command.
    pub multi_plane: Option<[u64; 2]>,
    /// After which time an idle drive is cleaned, and up to how many free blocks.
    pub idle: Option<(u64, usize)>,
    pub endurance: Option<u64>,
    /// Pages between checkpoints.
    pub checkpoint: Option<u64>,
    pub power: Option<PowerStates>,
}

/// A drive and a load.
#[derive(Clone, Debug)]
pub struct Case {
    pub drive: Drive,
    pub requests: Vec<Asked>,
    /// When the power fails, ns.
    pub cut: Option<u64>,
}

fn times(list: &[u64]) -> String {
    let each: Vec<String> = list.iter().map(|ns| format!("\"{ns} ns\"")).collect();
    format!("[{}]", each.join(", "))
}

impl Drive {
    fn link_text(&self) -> String {
        match self.link {
            None => format!(
                "rate = \"{} MB/s\"\nframes = \"{} ns\"",
                self.rate, self.frames
            ),
            Some(Link::Sata {
                generation,
                handshake,
            }) => format!(
                "link = {{ sata = {{ generation = {generation}, handshake = \"{handshake} ns\" }} }}"
            ),
            Some(Link::Pcie {
                generation,
                lanes,
                payload,
                latency,
            }) => format!(
                "link = {{ pcie = {{ generation = {generation}, lanes = {lanes}, payload = {payload}, latency = \"{latency} ns\" }} }}"
            ),
        }
    }

    /// The drive's file.
    pub fn text(&self) -> String {
        let order: Vec<String> = self
            .order
            .iter()
            .map(|&i| format!("\"{}\"", LEVELS[i]))
            .collect();
        let mut text = format!(
            "kind = \"ssd\"\nname = \"random\"\nqueue_depth = {}\nparallel = \"{}\"\nreads_allocate = {}\ncopy_back = {}\n",
            self.queue_depth, self.parallel, self.reads_allocate, self.copy_back
        );
        if let Some(stripe) = self.parity {
            _ = writeln!(text, "parity = {{ stripe = {stripe} }}");
        }
        if let Some([read, program]) = self.multi_plane {
            _ = writeln!(
                text,
                "multi_plane = {{ read = \"{read} ns\", program = \"{program} ns\" }}"
            );
        }
        if let Some(pages) = self.checkpoint {
            let blocks = pages * self.unit_blocks * self.units as u64;
            _ = writeln!(text, "recovery = {{ checkpoint = \"{blocks} blocks\" }}");
        }
        let [channels, packages, dies, planes] = self.counts;
        _ = write!(
            text,
            "[flash]\nchannels = {channels}\npackages = {packages}\ndies = {dies}\nplanes = {planes}\nblocks = {}\npages = {}\n\
             page = \"{} blocks\"\nunit = \"{} blocks\"\n",
            self.blocks,
            self.pages,
            self.unit_blocks * self.units as u64,
            self.unit_blocks
        );
        _ = write!(
            text,
            "[timing]\nread = {}\nprogram = {}\nerase = \"{} ns\"\nsummary = \"{} ns\"\nread_command = \"{} ns\"\n\
             program_command = \"{} ns\"\nerase_command = \"{} ns\"\nblock = \"{} ns\"\n",
            times(&self.read),
            times(&self.program),
            self.erase,
            self.summary,
            self.read_command,
            self.program_command,
            self.erase_command,
            self.block
        );
        if let Some(part) = &self.read_part {
            _ = writeln!(text, "read_part = {}", times(part));
        }
        _ = write!(
            text,
            "[interface]\nread = \"{} ns\"\nwrite = \"{} ns\"\nmapping = \"{} ns\"\nread_end = \"{} ns\"\nwrite_end = \"{} ns\"\n{}\n",
            self.start_read,
            self.start_write,
            self.mapping,
            self.read_end,
            self.write_end,
            self.link_text()
        );
        _ = write!(
            text,
            "[spare]\nshare = \"{} %\"\nreserved = {}\n[allocation]\norder = [{}]\nfixed = {}\n",
            self.spare,
            self.reserved,
            order.join(", "),
            self.fixed
        );
        match self.separation {
            Separation::Single => {}
            Separation::BySize(cold) => {
                _ = writeln!(
                    text,
                    "separation = {{ by-size = {{ cold = \"{cold} blocks\" }} }}"
                );
            }
            Separation::MultiHash {
                counters,
                hot,
                decay,
            } => {
                _ = writeln!(
                    text,
                    "separation = {{ multi-hash = {{ counters = {counters}, hot = {hot}, decay = {decay} }} }}"
                );
            }
        }
        _ = write!(
            text,
            "[cleaning]\nbegin = {}\nstop = {}\nat_once = {}\nwrite_delay = \"{} ns\"\nvictim = \"{}\"\nseparate = {}\nthrottled = {}\nbackground = {}\n",
            self.begin,
            self.stop,
            self.at_once,
            self.write_delay,
            self.victim,
            self.separate,
            self.throttled,
            self.background
        );
        if let Some((after, free)) = self.idle {
            _ = writeln!(text, "idle = {{ after = \"{after} ns\", free = {free} }}");
        }
        _ = writeln!(text, "[wear]\nlevelling = {}", self.levelling);
        if let Some(endurance) = self.endurance {
            _ = writeln!(text, "endurance = {endurance}");
        }
        _ = writeln!(text, "[initial]\nfill = \"{} %\"", self.fill);
        if let Some(buffer) = &self.buffer {
            _ = writeln!(
                text,
                "[buffer]\nsize = \"{} blocks\"\ncapacitor = {}\nhold = \"{} ns\"",
                buffer.entries as u64 * self.unit_blocks,
                buffer.has_capacitor,
                buffer.hold
            );
        }
        if let Some(retry) = &self.retry {
            _ = writeln!(
                text,
                "[retry]\ntime = \"{} ns\"\nmost = {}\ninitial_age = \"{} ns\"",
                retry.time, retry.most, retry.initial_age
            );
            if let Some(erases) = retry.erases {
                _ = writeln!(text, "erases = {erases}");
            }
            if let Some(age) = retry.age {
                _ = writeln!(text, "age = \"{age} ns\"");
            }
        }
        if let Some(refresh) = &self.refresh {
            _ = writeln!(text, "[refresh]\nperiod = \"{} ns\"", refresh.period);
            if let Some(reads) = refresh.reads {
                _ = writeln!(text, "reads = {reads}");
            }
            if let Some(age) = refresh.age {
                _ = writeln!(text, "age = \"{age} ns\"");
            }
        }
        if let Some((spread, every)) = self.levelled_by {
            _ = writeln!(text, "[wear.static]\nspread = {spread}\nevery = {every}");
        }
        if let Some(room) = self.map_cache {
            let blocks = room as u64 * self.unit_blocks;
            _ = writeln!(text, "[mapping]\ncache = \"{blocks} blocks\"");
        }
        if let Some(log) = &self.log {
            _ = writeln!(
                text,
                "[mapping]\nscheme = \"{}\"\nlog_blocks = {}",
                log.scheme, log.log_blocks
            );
            if let Some(victim) = log.victim {
                _ = writeln!(text, "victim = \"{victim}\"");
            }
        }
        self.write_failures(&mut text);
        self.write_queues(&mut text);
        for (key, limits) in [
            ("program", self.suspend_program),
            ("erase", self.suspend_erase),
        ] {
            if let Some(limits) = limits {
                _ = writeln!(
                    text,
                    "[suspend.{key}]\ncost = \"{} ns\"\nresume = \"{} ns\"\ngap = \"{} ns\"\nmost = {}",
                    limits.cost, limits.resume, limits.gap, limits.most
                );
            }
        }
        if let Some(slc) = &self.slc {
            _ = writeln!(
                text,
                "[slc]\npages = {}\nfixed = {}\ndynamic = {}\nread = \"{} ns\"\nprogram = \"{} ns\"\nfull = \"{}\"",
                slc.pages,
                slc.fixed,
                slc.dynamic,
                slc.read,
                slc.program,
                if slc.folds_when_full {
                    "fold"
                } else {
                    "direct"
                }
            );
            for (key, time) in [("erase", slc.erase), ("fold_after", slc.fold_after)] {
                if let Some(ns) = time {
                    _ = writeln!(text, "{key} = \"{ns} ns\"");
                }
            }
        }
        text
    }
}

impl Drive {
    fn write_failures(&self, text: &mut String) {
        let Some(failures) = &self.failures else {
            return;
        };
        _ = writeln!(text, "[failures]\nreserve = {}", failures.reserve);
        for (key, rate) in [("program", failures.program), ("erase", failures.erase)] {
            if let Some(Rate { new, worn, erases }) = rate {
                _ = writeln!(
                    text,
                    "{key} = {{ new = \"{new} %\", worn = \"{worn} %\", erases = {erases} }}"
                );
            }
        }
    }

    fn write_queues(&self, text: &mut String) {
        let Some(queues) = &self.queues else { return };
        _ = writeln!(
            text,
            "[queues]\ncount = {}\nburst = {}",
            queues.count, queues.burst
        );
        if let Some(depth) = queues.depth {
            _ = writeln!(text, "depth = {depth}");
        }
        if let Some([high, medium, low]) = queues.weights {
            _ = writeln!(
                text,
                "weights = {{ high = {high}, medium = {medium}, low = {low} }}\nclasses = {:?}",
                queues.classes
            );
        }
    }
}

impl PowerStates {
    fn text(&self) -> String {
        let states = ["slumber", "devsleep"].into_iter().zip(&self.states);
        let states = states.filter_map(|(name, state)| Some((name, state.as_ref()?)));
        let after = |(name, state): (_, &LowState)| format!("{name} = \"{} ns\"", state.after);
        let policy = match self.apst {
            Some(latency) => format!("{{ apst = {{ max_latency = \"{latency} ns\" }} }}"),
            None => {
                let each: Vec<_> = states.clone().map(after).collect();
                format!("{{ fixed = {{ {} }} }}", each.join(", "))
            }
        };
        let mut text = format!(
            "[device.ssd.power]\npolicy = {policy}\n[device.ssd.power.figures]\nidle = \"1 W\"\n"
        );
        for (name, LowState { enter, leave, .. }) in states {
            _ = writeln!(
                text,
                "{name} = {{ power = \"0.1 W\", enter = {{ time = \"{enter} ns\" }}, leave = {{ time = \"{leave} ns\" }} }}"
            );
        }
        text
    }
}

impl Case {
    /// Whether there is power at an instant, and whatever happens in it.
    pub fn has_power(&self, at: u64) -> bool {
        self.cut.is_none_or(|cut| at < cut)
    }

    /// The spec, for a drive's file and a trace in these places.
    pub fn spec(&self, drive: &str, trace: &str) -> String {
        let fault = self.cut.map_or_else(String::new, |at| {
            format!("[[fault]]\nat = \"{at} ns\"\nkind = \"power-cut\"\n")
        });
        let power = self
            .drive
            .power
            .map_or_else(String::new, |power| power.text());
        format!(
            "seed = {SEED}\n[workload]\ntrace = \"{trace}\"\nformat = \"csv\"\npace = \"recorded\"\ncsv.fua = \"fua\"\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = \"{drive}\"\n{power}{fault}"
        )
    }

    pub fn trace(&self) -> String {
        let mut text = String::from("time_ns,op,lbn,blocks,fua\n");
        for Asked {
            at,
            op,
            lbn,
            blocks,
            fua,
            ..
        } in &self.requests
        {
            _ = writeln!(text, "{at},{},{lbn},{blocks},{}", op.name(), u8::from(*fua));
        }
        text
    }

    /// All of it, to look into a difference.
    pub fn shown(&self) -> String {
        let (spec, trace) = (self.spec("drive.toml", "trace.csv"), self.trace());
        format!(
            "# drive.toml\n{}\n# spec.toml\n{spec}\n# trace.csv\n{trace}",
            self.drive.text()
        )
    }
}
