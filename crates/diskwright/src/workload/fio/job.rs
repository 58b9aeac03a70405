//! One job of a job file becomes one synthetic load, or as many as it has clones.

use std::collections::BTreeSet;

use crate::error::{InputError, suggestion, unknown_name};
use crate::units::{BLOCK_BYTES, Lbn, Share, Size, Time};
use crate::workload::synthetic::{
    AddressSpec, ArrivalsSpec, ClosedParams, LoadSpec, SequentialParams, SizeByOperation,
    SizeShare, SizeSpec, StreamsParams, StridedParams, ThinkSpec, UniformParams,
};

use super::distribution;
use super::ini::{Job, JobFile, Setting};
use super::options::{NO_MEANING, NOT_MODELLED, REFUSED, SYNCHRONOUS, UNDERSTOOD, names};
use super::values::{Amount, Base, amount, number, per_direction, percent, time, weighted};

/// Reads, writes and trims, in fio's order.
const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;

/// More clones than this are a mistake.
const MOST_CLONES: u64 = 1 << 16;

/// A job being understood.
pub struct Reading<'a> {
    /// The file, for places.
    pub file: &'a JobFile,
    job: &'a Job,
    capacity: u64,
    /// What `k` stands for in the job.
    pub base: Base,
    /// Line numbers and what to say of them; once each, whatever the number of jobs.
    warnings: &'a mut BTreeSet<(usize, String)>,
}

/// What a job asks for, and whether at random.
struct Pattern {
    random: bool,
    shares: [f64; 3],
    /// What follows the colon of `rw=randread:8`.
    modifier: Option<u64>,
}

/// The part of the drive that a job uses.
#[derive(Clone, Copy)]
pub struct Range {
    /// First block.
    pub from: u64,
    /// Number of blocks.
    pub blocks: u64,
}

/// Sizes of one direction and their shares.
type Table = Vec<(u64, f64)>;

impl<'a> Reading<'a> {
    /// Looks at every option of `job`.
    ///
    /// # Errors
    /// One that is unknown or stands for a load that cannot be had.
    pub fn new(
        file: &'a JobFile,
        job: &'a Job,
        capacity: u64,
        warnings: &'a mut BTreeSet<(usize, String)>,
    ) -> Result<Reading<'a>, InputError> {
        let mut reading = Reading {
            file,
            job,
            capacity,
            base: Base::Swapped,
            warnings,
        };
        for setting in &job.settings {
            reading.classify(setting)?;
        }
        if let Some(setting) = reading.last(&["kb_base"]) {
            reading.base = match setting.value.as_deref() {
                Some("1000") => Base::Si,
                Some("1024") => Base::Swapped,
                _ => return Err(file.wrong_value(setting, "1000 or 1024")),
            };
        }
        Ok(reading)
    }

    fn classify(&mut self, setting: &Setting) -> Result<(), InputError> {
        let name = setting.name.as_str();
        let told = |list: &[(&'static str, &'static str)]| {
            list.iter().find(|(n, _)| *n == name).map(|(_, why)| *why)
        };
        if UNDERSTOOD.contains(&name) {
            return Ok(());
        }
        if NO_MEANING.contains(&name) {
            self.warn(
                setting,
                &format!("{} has no meaning in a simulation", setting.shown()),
            );
        } else if let Some(instead) = told(NOT_MODELLED) {
            self.not_modelled(setting, instead);
        } else if let Some(help) = told(REFUSED) {
            if !(name == "zonemode" && setting.value.as_deref() == Some("none")) {
                let message = format!("{} makes a load that cannot be simulated", setting.shown());
                return Err(self.file.wrong_name(setting, message).help(help));
            }
        } else {
            let mut error = unknown_name("fio option", name, UNDERSTOOD);
            if let Some(near) = suggestion(name, names()) {
                error.help = Some(format!(
                    "did you mean {near:?}? what shapes the load: {}",
                    UNDERSTOOD.join(", ")
                ));
            }
            let place = self.file.wrong_name(setting, "").place;
            return Err(InputError { place, ..error });
        }
        Ok(())
    }

    /// Adds a warning about an option.
    pub fn warn(&mut self, setting: &Setting, message: &str) {
        self.warnings
            .insert((setting.line, self.file.warning(setting, message)));
    }

    /// Adds a warning about an option that is not followed.
    pub fn not_modelled(&mut self, setting: &Setting, instead: &str) {
        self.warn(
            setting,
            &format!("not modelled: {}: {instead}", setting.shown()),
        );
    }

    /// The option of one of these names that counts.
    pub fn last(&self, names: &[&str]) -> Option<&'a Setting> {
        let mut settings = self.job.settings.iter().rev();
        settings.find(|setting| names.contains(&setting.name.as_str()))
    }

    /// A whole number, with or without a suffix.
    fn count(&self, names: &[&str], least: u64) -> Result<Option<u64>, InputError> {
        let Some(setting) = self.last(names) else {
            return Ok(None);
        };
        let read = setting
            .value
            .as_deref()
            .and_then(|text| number(text, self.base));
        let fits = read.filter(|value| *value >= least);
        let expected = || {
            self.file
                .wrong_value(setting, &format!("a whole number, {least} or more"))
        };
        fits.map(Some).ok_or_else(expected)
    }

    fn time(&self, names: &[&str], unit: Time) -> Result<Option<Time>, InputError> {
        let Some(setting) = self.last(names) else {
            return Ok(None);
        };
        let read = setting.value.as_deref().and_then(|text| time(text, unit));
        let expected = || {
            self.file
                .wrong_value(setting, "a time such as 10s, 5ms or 100us")
        };
        read.map(Some).ok_or_else(expected)
    }

    /// An option that is on when it stands alone or is 1.
    pub fn flag(&self, names: &[&str]) -> Result<bool, InputError> {
        match self.last(names) {
            None => Ok(false),
            Some(setting) => match setting.value.as_deref() {
                None | Some("1" | "true") => Ok(true),
                Some("0" | "false") => Ok(false),
                _ => Err(self.file.wrong_value(setting, "1 or 0")),
            },
        }
    }

    fn amount(&self, names: &[&str]) -> Result<Option<(&'a Setting, Amount)>, InputError> {
        let Some(setting) = self.last(names) else {
            return Ok(None);
        };
        let read = setting
            .value
            .as_deref()
            .and_then(|text| amount(text, self.base));
        let expected = || self.file.wrong_value(setting, "a size such as 4g or 20%");
        Ok(Some((setting, read.ok_or_else(expected)?)))
    }

    /// Whole blocks.
    fn blocks(&self, setting: &Setting, bytes: u64) -> Result<u64, InputError> {
        if bytes.is_multiple_of(BLOCK_BYTES) {
            return Ok(bytes / BLOCK_BYTES);
        }
        let expected = format!("whole blocks of {BLOCK_BYTES} bytes");
        Err(self.file.wrong_value(setting, &expected))
    }

    /// The loads that the job is.
    ///
    /// # Errors
    /// A value that makes no sense, with its place.
    pub fn loads(mut self) -> Result<Vec<LoadSpec>, InputError> {
        let mut pattern = self.pattern()?;
        let tables = self.sizes()?;
        let align = self.alignment()?;
        let smallest = tables
            .iter()
            .flatten()
            .map(|(blocks, _)| *blocks)
            .min()
            .unwrap_or(1);
        let arrivals = self.arrivals(&mut pattern)?;
        let clones = self.count(&["numjobs"], 1)?.unwrap_or(1);
        if let Some(setting) = self.last(&["numjobs"])
            && clones > MOST_CLONES
        {
            return Err(self
                .file
                .wrong_value(setting, &format!("{MOST_CLONES} at most")));
        }
        let mut loads = Vec::new();
        for clone in 0..clones {
            let range = self.range(smallest, clone)?;
            let requests = self.requests(&pattern, &tables, range, &arrivals)?;
            let mut load = LoadSpec::new(requests, arrivals.clone());
            load.reads = share(pattern.shares[READ]);
            load.trims = share(pattern.shares[TRIM]);
            load.size = sizes_of(&tables, &pattern.shares);
            if pattern.shares[WRITE] > 0.0 {
                self.durability(&mut load)?;
            }
            load.address = self.address(&pattern, &load.size, align, range)?;
            loads.push(load);
        }
        Ok(loads)
    }

    fn pattern(&mut self) -> Result<Pattern, InputError> {
        let setting = self.last(&["rw", "readwrite"]);
        let text = setting
            .map_or(Some("read"), |s| s.value.as_deref())
            .unwrap_or("");
        let (name, modifier) = match text.split_once(':') {
            Some((name, modifier)) => (name, Some(number(modifier, self.base))),
            None => (text, None),
        };
        let mut reads = 0.5;
        for setting in &self.job.settings {
            let set = matches!(setting.name.as_str(), "rwmixread" | "rwmixwrite");
            if set {
                let read = setting.value.as_deref().and_then(percent);
                let part = read
                    .ok_or_else(|| self.file.wrong_value(setting, "a number from 0 to 100"))?
                    / 100.0;
                reads = if setting.name == "rwmixread" {
                    part
                } else {
                    1.0 - part
                };
            }
        }
        let (random, shares) = match name {
            "read" => (false, [1.0, 0.0, 0.0]),
            "write" => (false, [0.0, 1.0, 0.0]),
            "trim" => (false, [0.0, 0.0, 1.0]),
            "rw" | "readwrite" => (false, [reads, 1.0 - reads, 0.0]),
            "randread" => (true, [1.0, 0.0, 0.0]),
            "randwrite" => (true, [0.0, 1.0, 0.0]),
            "randtrim" => (true, [0.0, 0.0, 1.0]),
            "randrw" => (true, [reads, 1.0 - reads, 0.0]),
            _ => (false, [0.0; 3]),
        };
        let wrong = shares == [0.0; 3] || modifier == Some(None);
        if let Some(setting) = setting
            && wrong
        {
            return Err(self.file.wrong_value(
                setting,
                "one of read, write, randread, randwrite, rw, readwrite, randrw, trim and randtrim, perhaps with a number as in randread:8",
            ));
        }
        let mut random = random;
        if let Some(setting) = self.last(&["percentage_random"])
            && random
        {
            match setting.value.as_deref().and_then(percent) {
                Some(100.0) => {}
                Some(0.0) => random = false,
                Some(_) => self.not_modelled(setting, "all requests are random"),
                None => return Err(self.file.wrong_value(setting, "one number from 0 to 100")),
            }
        }
        Ok(Pattern {
            random,
            shares,
            modifier: modifier.flatten(),
        })
    }

    /// The sizes of each direction, in blocks.
    fn sizes(&self) -> Result<[Table; 3], InputError> {
        let mut tables: [Table; 3] = std::array::from_fn(|_| vec![(4096 / BLOCK_BYTES, 1.0)]);
        if let Some(setting) = self.last(&["bs", "blocksize"]) {
            let text = setting.value.as_deref().unwrap_or("");
            for (table, size) in tables.iter_mut().zip(per_direction(text)) {
                if let Some(size) = size {
                    *table = vec![(self.size(setting, size)?, 1.0)];
                }
            }
            if text.is_empty() {
                return Err(self.file.wrong_value(setting, "a size such as 4k"));
            }
        }
        if let Some(setting) = self.last(&["bssplit"]) {
            let split = per_direction(setting.value.as_deref().unwrap_or(""));
            for (table, split) in tables.iter_mut().zip(split) {
                if let Some(split) = split {
                    *table = self.split(setting, split)?;
                }
            }
        }
        Ok(tables)
    }

    fn size(&self, setting: &Setting, text: &str) -> Result<u64, InputError> {
        let expected = || {
            self.file.wrong_value(
                setting,
                "sizes above 0, such as 4k, or 4k,64k for reads and writes",
            )
        };
        let bytes = number(text, self.base)
            .filter(|bytes| *bytes > 0)
            .ok_or_else(expected)?;
        self.blocks(setting, bytes)
    }

    /// `4k/10:64k/50:32k/`: what is left of 100 goes to those that say nothing, in equal parts.
    fn split(&self, setting: &Setting, text: &str) -> Result<Table, InputError> {
        let expected = || {
            let what = "sizes and percentages that make 100, such as 4k/60:64k/40";
            self.file.wrong_value(setting, what)
        };
        let mut table = Vec::new();
        let (mut given, mut open) = (0.0, 0usize);
        for (size, share) in weighted(text) {
            let share = share
                .map(|share| percent(share).ok_or_else(expected))
                .transpose()?;
            given += share.unwrap_or(0.0);
            open += usize::from(share.is_none());
            table.push((self.size(setting, size)?, share));
        }
        let left = 100.0 - given;
        if left < -1e-9 || (open == 0 && left > 1e-9) {
            return Err(expected());
        }
        let each = left.max(0.0) / open.max(1) as f64;
        Ok(table
            .into_iter()
            .map(|(size, share)| (size, share.unwrap_or(each) / 100.0))
            .collect())
    }

    fn alignment(&self) -> Result<Option<Size>, InputError> {
        let Some(setting) = self.last(&["ba", "blockalign"]) else {
            return Ok(None);
        };
        let text = setting.value.as_deref().unwrap_or("");
        let [Some(first), second, third] = per_direction(text) else {
            return Err(self.file.wrong_value(setting, "a size such as 4k"));
        };
        if second.is_some_and(|s| s != first) || third.is_some_and(|t| t != first) {
            return Err(self
                .file
                .wrong_value(setting, "one size for reads, writes and trims"));
        }
        self.size(setting, first)
            .map(|blocks| Some(Size::from_blocks(blocks)))
    }

    fn arrivals(&mut self, pattern: &mut Pattern) -> Result<ArrivalsSpec, InputError> {
        if let Some(setting) = self.last(&["rate_iops"]) {
            return self.rated(setting, pattern);
        }
        let users = self.count(&["iodepth"], 1)?.unwrap_or(1);
        let think = self
            .time(&["thinktime"], Time::from_us(1))?
            .unwrap_or(Time::ZERO);
        if let Some(setting) = self.last(&["iodepth"])
            && users > 1
        {
            let engine = self
                .last(&["ioengine"])
                .and_then(|s| s.value.as_deref())
                .unwrap_or("psync");
            if SYNCHRONOUS.contains(&engine) {
                let message = format!(
                    "{} is {users} users here; fio's engine {engine} would have 1 request outstanding",
                    setting.shown()
                );
                self.warn(setting, &message);
            } else if think > Time::ZERO {
                let message = format!(
                    "{} is {users} users who think here; fio would have 1 request outstanding",
                    setting.shown()
                );
                self.warn(setting, &message);
            }
            if u32::try_from(users).is_err() {
                return Err(self.file.wrong_value(setting, "4294967295 at most"));
            }
        }
        if let Some(setting) = self.last(&["ioengine"]) {
            self.warn(
                setting,
                &format!("{} has no meaning in a simulation", setting.shown()),
            );
        }
        Ok(ArrivalsSpec::Closed(ClosedParams {
            users: u32::try_from(users).ok(),
            think: ThinkSpec::Constant(think),
        }))
    }

    /// The rates of the directions that there are add up; of both reads and writes they decide the mix.
    fn rated(
        &mut self,
        setting: &Setting,
        pattern: &mut Pattern,
    ) -> Result<ArrivalsSpec, InputError> {
        let expected = || {
            self.file.wrong_value(
                setting,
                "a number of requests a second above 0 for every direction there is",
            )
        };
        let mut rates = [0.0; 3];
        for (direction, rate) in per_direction(setting.value.as_deref().unwrap_or(""))
            .into_iter()
            .enumerate()
        {
            if pattern.shares[direction] > 0.0 {
                let rate = rate
                    .and_then(|rate| number(rate, self.base))
                    .filter(|rate| *rate > 0);
                rates[direction] = rate.ok_or_else(expected)? as f64;
            }
        }
        let total: f64 = rates.iter().sum();
        let gap = Time::from_ns_f64(1e9 / total)
            .filter(|gap| *gap > Time::ZERO)
            .ok_or_else(expected)?;
        let process = self.last(&["rate_process"]);
        let arrivals = match process.map(|p| p.value.as_deref()) {
            None | Some(Some("linear")) => ArrivalsSpec::Constant(gap),
            Some(Some("poisson")) => ArrivalsSpec::Poisson(gap),
            Some(_) => {
                return Err(self
                    .file
                    .wrong_value(process.expect("it was matched"), "linear or poisson"));
            }
        };
        let mix = rates.map(|rate| rate / total);
        if mix
            .iter()
            .zip(pattern.shares)
            .any(|(mix, share)| (mix - share).abs() > 1e-9)
        {
            let [reads, writes, _] = mix.map(|part| part * 100.0);
            self.warn(
                setting,
                &format!(
                    "{} gives each direction its rate: reads are {reads} % and writes {writes} %",
                    setting.shown()
                ),
            );
        }
        pattern.shares = mix;
        self.warn(
            setting,
            &format!(
                "{} is a rate of arrivals here, kept whatever the drive does; fio's is a limit",
                setting.shown()
            ),
        );
        for names in [&["iodepth"], &["thinktime"], &["ioengine"]] {
            if let Some(other) = self.last(names) {
                self.warn(
                    other,
                    &format!(
                        "{} changes nothing where rate_iops makes requests arrive",
                        other.shown()
                    ),
                );
            }
        }
        Ok(arrivals)
    }

    /// Where the clone of number `clone` works.
    fn range(&self, smallest: u64, clone: u64) -> Result<Range, InputError> {
        let of_drive = |percent: f64| libm::round(self.capacity as f64 * percent / 100.0) as u64;
        // A percentage begins at a multiple of the smallest block size.
        let start = |names: &[&str]| -> Result<u64, InputError> {
            Ok(match self.amount(names)? {
                None => 0,
                Some((setting, Amount::Bytes(bytes))) => self.blocks(setting, bytes)?,
                Some((_, Amount::Percent(percent))) => of_drive(percent).next_multiple_of(smallest),
            })
        };
        let step = start(&["offset_increment"])?.saturating_mul(clone);
        let from = start(&["offset"])?.saturating_add(step);
        let room = self.capacity.checked_sub(from).filter(|room| *room > 0).ok_or_else(|| {
            let setting = self.last(&["offset", "offset_increment"]).expect("it is past the end");
            self.file.wrong_value(setting, &format!("an offset on the drive, which has {} blocks; job {clone} begins at block {from}", self.capacity))
        })?;
        let blocks = match self
            .amount(&["filesize"])?
            .map_or_else(|| self.amount(&["size"]), |given| Ok(Some(given)))?
        {
            None => room,
            Some((_, Amount::Percent(percent))) => of_drive(percent).clamp(1, room),
            Some((setting, Amount::Bytes(bytes))) => {
                let blocks = self.blocks(setting, bytes)?;
                if blocks == 0 || blocks > room {
                    let expected = format!(
                        "1 to {room} blocks of {BLOCK_BYTES} bytes, as many as the drive has after block {from}"
                    );
                    return Err(self.file.wrong_value(setting, &expected));
                }
                blocks
            }
        };
        Ok(Range { from, blocks })
    }

    /// How many requests fio would make: as many as carry the job's bytes, and the flushes among them.
    fn requests(
        &mut self,
        pattern: &Pattern,
        tables: &[Table; 3],
        range: Range,
        arrivals: &ArrivalsSpec,
    ) -> Result<u64, InputError> {
        let names: &[&str] = if self.last(&["io_size", "io_limit"]).is_some() {
            &["io_size", "io_limit"]
        } else {
            &["size"]
        };
        let bytes = match self.amount(names)? {
            // What a percentage of the drive leaves of its range was cut above.
            Some((_, Amount::Bytes(bytes))) => bytes as f64,
            Some((_, Amount::Percent(percent))) if names.len() > 1 => {
                self.capacity as f64 * percent / 100.0 * BLOCK_BYTES as f64
            }
            _ => range.blocks as f64 * BLOCK_BYTES as f64,
        };
        let mean_of = |table: &Table| {
            table
                .iter()
                .map(|(blocks, share)| *blocks as f64 * share)
                .sum::<f64>()
        };
        let mean: f64 = tables
            .iter()
            .zip(pattern.shares)
            .map(|(table, share)| share * mean_of(table))
            .sum();
        let mut transfers = (bytes / (mean * BLOCK_BYTES as f64) + 1e-9) as u64;
        if let (false, Some(holes)) = (pattern.random, pattern.modifier) {
            // A sequential job ends where its file does, and holes bring it there sooner.
            let stride = mean + holes as f64 / BLOCK_BYTES as f64;
            transfers = transfers.min(((range.blocks as f64 - mean).max(0.0) / stride) as u64 + 1);
        }
        transfers = transfers.saturating_mul(self.count(&["loops"], 1)?.unwrap_or(1));
        if let Some(most) = self.count(&["number_ios"], 1)? {
            transfers = transfers.min(most);
        }
        let transfers = self.timed(transfers.max(1), arrivals)?;
        let flushes = match self.flush_every()? {
            Some(every) => (transfers as f64 * pattern.shares[WRITE]) as u64 / every,
            None => 0,
        };
        Ok(transfers.saturating_add(flushes))
    }

    /// `runtime` counts where the rate is known.
    fn timed(&mut self, transfers: u64, arrivals: &ArrivalsSpec) -> Result<u64, InputError> {
        let names = ["runtime", "timeout"];
        let runtime = self
            .time(&names, Time::from_s(1))?
            .filter(|time| *time > Time::ZERO);
        let forever = self.flag(&["time_based"])?;
        let (Some(runtime), Some(setting)) = (runtime, self.last(&names)) else {
            return Ok(transfers);
        };
        match arrivals {
            ArrivalsSpec::Constant(gap) | ArrivalsSpec::Poisson(gap) => {
                let arrive = (runtime.ns() / gap.ns()).max(1);
                Ok(if forever {
                    arrive
                } else {
                    arrive.min(transfers)
                })
            }
            _ => {
                let instead = "the load ends after its requests, which number_ios and io_size set; measure.duration ends a run in time";
                self.not_modelled(setting, instead);
                if let Some(setting) = self.last(&["time_based"]) {
                    self.not_modelled(setting, instead);
                }
                Ok(transfers)
            }
        }
    }

    fn flush_every(&self) -> Result<Option<u64>, InputError> {
        let every = |name| Ok(self.count(&[name], 0)?.filter(|every| *every > 0));
        let (fsync, fdatasync): (Option<u64>, Option<u64>) = (every("fsync")?, every("fdatasync")?);
        Ok(match (fsync, fdatasync) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        })
    }

    /// Flushes and writes that are forced to the medium.
    fn durability(&self, load: &mut LoadSpec) -> Result<(), InputError> {
        load.flush_every = self.flush_every()?;
        let sync = match self.last(&["sync"]) {
            None => false,
            Some(setting) => match setting.value.as_deref() {
                Some("none" | "0") => false,
                None | Some("sync" | "dsync" | "1") => true,
                _ => return Err(self.file.wrong_value(setting, "none, sync or dsync")),
            },
        };
        if sync || self.flag(&["writefua"])? {
            load.fua = share(1.0);
        }
        Ok(())
    }

    fn address(
        &mut self,
        pattern: &Pattern,
        size: &SizeSpec,
        align: Option<Size>,
        range: Range,
    ) -> Result<AddressSpec, InputError> {
        let (from, blocks) = (Lbn(range.from), Some(range.blocks));
        let only = match size {
            SizeSpec::One(size) => Some(*size),
            _ => None,
        };
        if let Some(modifier) = pattern.modifier {
            let setting = self.last(&["rw", "readwrite"]).expect("it has a modifier");
            let identical = self
                .last(&["rw_sequencer"])
                .and_then(|s| s.value.as_deref())
                == Some("identical");
            match only {
                Some(size) if pattern.random && !identical && modifier > 0 => {
                    let blocks_of_run = size
                        .blocks()
                        .checked_mul(modifier)
                        .filter(|run| *run <= range.blocks);
                    let expected = || {
                        self.file
                            .wrong_value(setting, "runs that the job's size has room for")
                    };
                    return Ok(AddressSpec::Streams(StreamsParams {
                        count: 1,
                        run: Size::from_blocks(blocks_of_run.ok_or_else(expected)?),
                        from,
                        blocks,
                        align: Some(align.unwrap_or(size)),
                        ..StreamsParams::default()
                    }));
                }
                Some(size) if !pattern.random && modifier > 0 => {
                    return Ok(AddressSpec::Strided(StridedParams {
                        stride: Size::from_blocks(
                            size.blocks()
                                .saturating_add(self.blocks(setting, modifier)?),
                        ),
                        shift: Some(Size::from_blocks(0)),
                        from,
                        blocks,
                    }));
                }
                _ if modifier == 0 => {}
                _ => self.not_modelled(setting, "every request has an address of its own"),
            }
        }
        if !pattern.random {
            return Ok(AddressSpec::Sequential(SequentialParams { from, blocks }));
        }
        if let Some(setting) = self.last(&["random_distribution"])
            && let Some(address) = distribution::address(self, setting, align, range)?
        {
            return Ok(address);
        }
        let mapped = !self.flag(&["norandommap"])? && align.is_none();
        if mapped
            && only.is_none()
            && let Some(setting) = self.last(&["bssplit", "bs", "blocksize"])
        {
            self.not_modelled(
                setting,
                "with several sizes blocks may be met more than once, as with norandommap",
            );
        }
        Ok(AddressSpec::Uniform(UniformParams {
            from,
            blocks,
            align,
            once: mapped && only.is_some(),
        }))
    }
}

/// A share, whatever rounding did to it.
fn share(value: f64) -> Share {
    Share::new(value.clamp(0.0, 1.0)).expect("it was clamped")
}

/// The sizes of the directions that there are.
fn sizes_of(tables: &[Table; 3], shares: &[f64; 3]) -> SizeSpec {
    let of = |direction: usize| match tables[direction].as_slice() {
        [(blocks, _)] => SizeSpec::One(Size::from_blocks(*blocks)),
        table => SizeSpec::Several(
            table
                .iter()
                .map(|(blocks, share)| SizeShare {
                    size: Size::from_blocks(*blocks),
                    share: *share,
                })
                .collect(),
        ),
    };
    let there: Vec<usize> = (READ..=TRIM).filter(|d| shares[*d] > 0.0).collect();
    let first = there.first().copied().unwrap_or(READ);
    if there
        .iter()
        .all(|direction| tables[*direction] == tables[first])
    {
        return of(first);
    }
    // Only reads and writes are ever mixed.
    SizeSpec::ByOperation(Box::new(SizeByOperation {
        reads: of(READ),
        writes: of(WRITE),
        trims: None,
    }))
}
