//! One job of a job file becomes one synthetic load, or as many as it has clones.

use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Lbn, Share, Size};
use crate::workload::synthetic::{
    AddressSpec, LoadSpec, PartlyRandomParams, SequentialParams, SizeSpec, StreamsParams,
    StridedParams, UniformParams,
};

use super::distribution;
use super::ini::Setting;
use super::reading::Reading;
use super::sizes::sizes_of;
use super::values::{Amount, number, percent};
use super::zones;

/// Reads, writes and trims, in fio's order.
pub const READ: usize = 0;
/// See [`READ`].
pub const WRITE: usize = 1;
/// See [`READ`].
pub const TRIM: usize = 2;

/// More clones than this are a mistake.
const MOST_CLONES: u64 = 1 << 16;

/// What a job asks for, and whether at random.
pub struct Pattern {
    /// At random or in order.
    pub random: bool,
    /// The shares of reads, writes and trims.
    pub shares: [f64; 3],
    /// What follows the colon of `rw=randread:8`.
    pub modifier: Option<u64>,
    /// Of random reads, writes and trims the shares that are, where some are not.
    pub partly: Option<[f64; 3]>,
}

/// The part of the drive that a job uses.
#[derive(Clone, Copy)]
pub struct Range {
    /// First block.
    pub from: u64,
    /// Number of blocks.
    pub blocks: u64,
}

impl Reading<'_> {
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
        let arrivals = self.arrivals(&mut pattern, &tables)?;
        let schedule = self.schedule()?;
        self.told()?;
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
            let requests = self.requests(&pattern, &tables, range, schedule.is_time_based)?;
            let mut load = LoadSpec::new(0, arrivals.clone());
            load.requests = requests;
            load.start = schedule.start;
            load.duration = schedule.duration;
            load.warmup = schedule.ramp;
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
        let modifier = modifier.flatten();
        let (mut random, mut partly) = (random, None);
        if let Some(setting) = self.last(&["percentage_random"])
            && random
        {
            let parts = self.by_direction(setting)?;
            let used: Vec<f64> = parts
                .into_iter()
                .zip(shares)
                .filter(|(_, share)| *share > 0.0)
                .map(|(part, _)| part)
                .collect();
            if used == [0.0] {
                random = false;
            } else if used.iter().any(|part| *part < 1.0) {
                if modifier.is_some_and(|modifier| modifier > 0) {
                    let expected = "100 beside a number behind rw, which makes runs of its own";
                    return Err(self.file.wrong_value(setting, expected));
                }
                partly = Some(parts);
            }
        }
        Ok(Pattern {
            random,
            shares,
            modifier,
            partly,
        })
    }

    /// Percentages of reads, writes and trims as shares: `20`, or `20,50` where those of the others are the last one.
    fn by_direction(&self, setting: &Setting) -> Result<[f64; 3], InputError> {
        let wrong = || {
            let expected =
                "a number from 0 to 100, or one for each of reads, writes and trims, as in 20,50";
            self.file.wrong_value(setting, expected)
        };
        let texts: Vec<&str> = setting.value.as_deref().unwrap_or("").split(',').collect();
        if texts.len() > 3 {
            return Err(wrong());
        }
        let mut shares = [0.0; 3];
        for (place, share) in shares.iter_mut().enumerate() {
            let text = texts[place.min(texts.len() - 1)];
            *share = percent(text.trim()).ok_or_else(wrong)? / 100.0;
        }
        Ok(shares)
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
        if let Some(address) = zones::address(self, pattern, align, range)? {
            return Ok(address);
        }
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
            if pattern.partly.is_some() {
                let expected = "random beside percentage_random, whose random requests are uniform";
                return Err(self.file.wrong_value(setting, expected));
            }
            return Ok(address);
        }
        if let Some(parts) = pattern.partly {
            return self.partly_random(parts, align, range);
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

impl Reading<'_> {
    /// Requests of which shares of the reads, writes and trims are random.
    fn partly_random(
        &mut self,
        [reads, writes, trims]: [f64; 3],
        align: Option<Size>,
        range: Range,
    ) -> Result<AddressSpec, InputError> {
        if let Some(setting) = self.last(&["percentage_random"])
            && !self.flag(&["norandommap"])?
            && align.is_none()
        {
            self.not_modelled(
                setting,
                "places may be met more than once, as with norandommap",
            );
        }
        let other = |part: f64| (part != reads).then(|| share(part));
        Ok(AddressSpec::PartlyRandom(PartlyRandomParams {
            random: share(reads),
            writes: other(writes),
            trims: other(trims),
            from: Lbn(range.from),
            blocks: Some(range.blocks),
            align,
        }))
    }
}

/// A share, whatever rounding did to it.
fn share(value: f64) -> Share {
    Share::new(value.clamp(0.0, 1.0)).expect("it was clamped")
}
