//! Synthetic clones of measured profiles.
//!
//! What a profile counts is drawn without replacement, so that it comes up as often as it was counted: random requests to new
//! and to known places, lengths of runs, directions, sizes, distances in the LRU stack, gaps, bursts. Where a draw leaves a
//! choice of places, the choice goes to what other counts still lack. Memory grows with the working set.

mod arrivals;
mod places;

use crate::base::random::Stream;
use crate::base::units::Lbn;
use crate::engine::request::Op;
use crate::metrics::histogram::LogHistogram;
use crate::workload::profile::{Class, Profile, SizeProfile};
use crate::workload::record::Record;

use super::urn_sampler::{Numbers, UrnSampler};

use self::arrivals::Arrivals;
use self::places::Places;

/// A synthetic clone of a measured profile, being told.
pub struct Load {
    arrivals: Arrivals,
    /// Transfers, flushes and trims that are left.
    operations: [u64; 3],
    /// Lengths of runs, by the direction of the first request and by whether it goes to a new place or to a known one.
    runs: [[Numbers; 2]; 2],
    /// Of these: which of them begins next.
    novelty: [UrnSampler; 2],
    /// Directions by class and by the direction before.
    directions: [[UrnSampler; 2]; 2],
    /// Sizes by class and direction.
    sizes: [[Numbers; 2]; 2],
    trims: Numbers,
    /// How far behind the end of the one before a sequential request begins.
    ahead: Numbers,
    /// How often a place gets a request as large as the one before it there: as counted, and so far.
    same_size: Share,
    /// How often a sequential request goes to a new place.
    new_sequential: Share,
    places: Places,
    end: u64,
    draws: Stream,
    /// Requests of the current run that are still to come.
    run: u64,
    was_write: bool,
    /// The end of the last transfer.
    before: Option<u64>,
}

/// The number of sizes that are drawn for one that leads where the run is to go.
const TRIES: usize = 8;
const NEW: usize = 0;
const KNOWN: usize = 1;

/// A share that is to be kept.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    wanted: f64,
    of: u64,
    have: u64,
}

impl Share {
    fn new(part: u64, whole: u64) -> Share {
        Share {
            wanted: part as f64 / whole.max(1) as f64,
            of: 0,
            have: 0,
        }
    }

    fn add(&mut self, is: bool) {
        self.of += 1;
        self.have += u64::from(is);
    }

    /// Whether the share is too small so far.
    fn lacks(&self) -> bool {
        (self.have as f64) < self.wanted * self.of as f64
    }
}

impl Load {
    /// As measured, from a seed.
    pub fn new(profile: &Profile, seed: u64) -> Load {
        let classes = &profile.classes;
        let references = &profile.references;
        let by_class = [
            [classes.random_reads, classes.random_writes],
            [classes.sequential_reads, classes.sequential_writes],
        ];
        let [random, sequential] =
            by_class.map(|class| class[0].requests.saturating_add(class[1].requests));
        let transfers = random.saturating_add(sequential);
        let sizes = &profile.sizes;
        let profiles = [
            [&sizes.random_reads, &sizes.random_writes],
            [&sizes.sequential_reads, &sizes.sequential_writes],
        ];
        let again = references.distance_objects.total();
        let runs = &profile.runs;
        // The lengths within a bin are those with which all runs have all requests.
        let all = Numbers::new(&profile.run_requests).with_sum(transfers as f64);
        let of = |runs: &LogHistogram| Numbers::new(runs).with_skew(all.skew());
        let novelty = [
            [runs.first_reads.total(), runs.again_reads.total()],
            [runs.first_writes.total(), runs.again_writes.total()],
        ];
        let ahead = profile.space.forward_blocks.bins();
        let ahead = ahead.filter(|(from, _)| *from <= profile.threshold_blocks);
        let class_sizes = |profile: &SizeProfile, class: Class| {
            Numbers::of_bins(size_bins(profile)).with_sum(class.blocks as f64)
        };
        let sizes = std::array::from_fn(|c| {
            std::array::from_fn(|d| class_sizes(profiles[c][d], by_class[c][d]))
        });
        let directions = [profile.directions.random, profile.directions.sequential];
        Load {
            arrivals: Arrivals::new(
                &profile.arrivals,
                profile.duration_s,
                profile.requests,
                seed,
            ),
            operations: [transfers, profile.flushes, profile.trims],
            runs: [
                [of(&runs.first_reads), of(&runs.again_reads)],
                [of(&runs.first_writes), of(&runs.again_writes)],
            ],
            novelty: novelty.map(|counts| UrnSampler::new(counts.to_vec())),
            directions: directions.map(|class| class.map(|after| UrnSampler::new(after.to_vec()))),
            sizes,
            trims: Numbers::of_bins(size_bins(&profile.sizes.trims)),
            ahead: Numbers::of_bins(ahead).with_most(profile.threshold_blocks),
            same_size: Share::new(references.same_size, again),
            new_sequential: Share::new(
                references.first.saturating_sub(references.random_first),
                sequential,
            ),
            places: Places::new(profile, seed),
            end: profile.end_lbn,
            draws: Stream::new(seed, "look-alike.draws"),
            run: 0,
            was_write: false,
            before: None,
        }
    }

    /// The next request; `None` after the last one, or past the end of time.
    pub fn next(&mut self) -> Option<Record> {
        let left = self
            .operations
            .iter()
            .fold(0u64, |sum, &n| sum.saturating_add(n));
        if left == 0 {
            return None;
        }
        let at = self.draws.below(left);
        let [transfers, flushes, _] = self.operations;
        let kind = match () {
            () if at < transfers => 0,
            () if at < transfers.saturating_add(flushes) => 1,
            () => 2,
        };
        self.operations[kind] -= 1;
        let (op, lbn, blocks) = match kind {
            0 => self.transfer(),
            1 => (Op::Flush, 0, 0),
            _ => self.trim(),
        };
        Some(Record {
            arrival: self.arrivals.next()?,
            device: 0,
            op,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
            recorded: None,
        })
    }

    fn trim(&mut self) -> (Op, u64, u32) {
        let lbn = self.places.any().unwrap_or(0);
        let blocks = self.trims.draw(&mut self.draws).unwrap_or(1);
        (Op::Trim, lbn, Record::clamp_blocks(blocks))
    }

    fn transfer(&mut self) -> (Op, u64, u32) {
        let next = match self.before {
            Some(before) if self.run > 0 => {
                let ahead = self.ahead.draw(&mut self.draws).unwrap_or(0);
                Some(before.saturating_add(ahead)).filter(|lbn| *lbn < self.end)
            }
            _ => None,
        };
        let (write, lbn, blocks) = match next {
            Some(lbn) => {
                self.run -= 1;
                let write = self.direction(1);
                let size = self.places.at(lbn).size;
                self.new_sequential.add(size.is_none());
                // A run goes on as it did before, unless too many of its places are known ones.
                let alike = !self.new_sequential.lacks() || self.same_size.lacks();
                let leads = self.leads();
                (write, lbn, self.size((1, write), lbn, size, alike, leads))
            }
            None => self.random(),
        };
        // What would reach past the last block that was touched ends there.
        let room = self.end.saturating_sub(lbn).max(1);
        let blocks = Record::clamp_blocks(u64::from(blocks).min(room));
        self.places
            .request(lbn, blocks, self.before, next.is_none());
        self.was_write = write;
        self.before = Some(lbn.saturating_add(blocks.into()));
        (if write { Op::Write } else { Op::Read }, lbn, blocks)
    }

    /// The first request of a run.
    fn random(&mut self) -> (bool, u64, u32) {
        let write = self.direction(0);
        let own = usize::from(write);
        let kind = self.novelty[own].peek(&mut self.draws).unwrap_or(NEW);
        if kind == KNOWN {
            // The length is drawn once it is known that the run begins at a known place.
            let runs = &mut self.runs[own][KNOWN];
            let bin = runs.peek(&mut self.draws);
            let followers = bin.map_or(0, |bin| runs.bin(bin).0.saturating_sub(1));
            let leads = followers > 0 && !self.new_sequential.lacks();
            let alike = leads || self.same_size.lacks();
            let sizes = &self.sizes[0][own];
            let fit = |size: u32| match alike == sizes.has_number(size.into()) {
                true => 1.0,
                false => 0.01,
            };
            let force = self.novelty[own].left_of(NEW) == 0;
            let steps = if leads { followers } else { 0 };
            if let Some(place) = self.places.again(self.before, steps, force, fit) {
                self.novelty[own].take(KNOWN);
                let length = bin.map(|bin| self.runs[own][KNOWN].draw_from(bin));
                self.run = length.unwrap_or(1).saturating_sub(1);
                let leads = self.leads();
                let blocks = self.size((0, write), place.lbn, place.size, alike, leads);
                return (write, place.lbn, blocks);
            }
        }
        self.novelty[own].take(NEW);
        let length = self.runs[own][NEW].draw(&mut self.draws);
        self.run = length.unwrap_or(1).saturating_sub(1);
        let blocks = self.new_size(own);
        let leads = self.leads();
        let beside = !self.new_sequential.lacks();
        let place = self.places.new_place(self.before, blocks, leads, beside);
        let lbn = place.map(|place| place.lbn).or_else(|| self.places.any());
        (write, lbn.unwrap_or(0), blocks)
    }

    /// The size of a request to a new place: one of several that touches many blocks, where too few have been touched so far,
    /// or few, where too many.
    fn new_size(&mut self, own: usize) -> u32 {
        let sizes = &mut self.sizes[0][own];
        let growth = self.places.growth_so_far();
        let tries = if (growth - 1.0).abs() < 0.01 {
            1
        } else {
            TRIES / 2
        };
        let bin = sizes.extreme(tries, growth < 1.0, &mut self.draws);
        let blocks = bin.map_or(1, |bin| sizes.draw_from(bin));
        Record::clamp_blocks(blocks)
    }

    fn direction(&mut self, class: usize) -> bool {
        let after = usize::from(self.was_write);
        let [reads, writes] = &mut self.directions[class];
        let (own, other) = if after == 0 {
            (reads, writes)
        } else {
            (writes, reads)
        };
        // Where requests after this direction have run out, as after the other one: the totals stay.
        let urn = if own.left() > 0 { own } else { other };
        urn.draw(&mut self.draws).unwrap_or(0) == 1
    }

    /// Where the run goes on: whether it is to go on to a known place.
    fn leads(&self) -> Option<bool> {
        (self.run > 0).then_some(!self.new_sequential.lacks())
    }

    /// The size of a request of a class and direction at `lbn`. Where it is to be alike, that of the one before at the same
    /// place, as long as that is left; else one that leads on to a known place, or to none, where several draws find one.
    fn size(
        &mut self,
        (class, write): (usize, bool),
        lbn: u64,
        before: Option<u32>,
        alike: bool,
        leads: Option<bool>,
    ) -> u32 {
        let sizes = &mut self.sizes[class][usize::from(write)];
        let blocks = match before {
            Some(before) if alike && sizes.take_number(before.into()) => before,
            _ => {
                let mut bin = None;
                for _ in 0..TRIES {
                    bin = sizes.peek(&mut self.draws);
                    let fits = |leads: bool| {
                        let end = bin.map(|bin| lbn.saturating_add(sizes.bin(bin).0));
                        end.is_some_and(|end| self.places.is_known(end) == leads)
                    };
                    if leads.is_none_or(fits) {
                        break;
                    }
                }
                Record::clamp_blocks(bin.map_or(1, |bin| sizes.draw_from(bin)))
            }
        };
        if let Some(before) = before {
            self.same_size.add(before == blocks);
        }
        blocks
    }
}

/// Sizes with how many requests have them: exact ones, and the bins of the others.
fn size_bins(profile: &SizeProfile) -> Vec<(u64, u64, u64)> {
    let exact = profile.exact.iter();
    let exact = exact.map(|size| (u64::from(size.blocks), 1, size.requests));
    let rest = profile.rest_blocks.bins();
    let rest = rest.map(|(from, count)| (from, LogHistogram::bin_width(from), count));
    exact.chain(rest).collect()
}
