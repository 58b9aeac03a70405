//! Where the requests of a measured profile go: places that were there before, found by their depth in the LRU stack, and new
//! ones; and among several that would do, those that the profile's distances and regions still lack.

use foldhash::quality::FixedState;
use hashbrown::HashMap;

use crate::base::order_statistics::NumberedLruStack;
use crate::base::random::Stream;
use crate::metrics::histogram::LogHistogram;
use crate::workload::extents::Extents;
use crate::workload::profile::{ALIGNMENTS, Profile};

use super::super::urn_sampler::{Numbers, UrnSampler};

/// The number of places that are drawn for a choice of one.
const CANDIDATES: usize = 32;
/// The number of places drawn for a run that has to find its way.
const MOST_CANDIDATES: usize = 128;
/// The number of a run's requests that are looked ahead.
const MOST_STEPS: u64 = 16;
/// A place that leads nowhere, where a run is to go on, is so much less likely.
const LEADS_NOWHERE: f64 = 1e-6;

/// The places that have been first blocks, and what the profile wants of the next ones.
pub struct Places {
    known: HashMap<u64, u32, FixedState>,
    /// First block of each place, and the size of the last request there.
    members: Vec<(u64, u32)>,
    stack: NumberedLruStack,
    touched: Extents,
    end: u64,
    threshold: u64,
    /// Distances in the stack of random requests.
    distances: Numbers,
    bin_blocks: u64,
    /// Requests that each region still lacks, and how many it is to have.
    regions: Quotas,
    /// New first blocks that each region still lacks.
    new_regions: UrnSampler,
    /// Jumps from the end of the request before, backward ones first.
    jumps: Quotas,
    forward: Vec<u64>,
    backward: Vec<u64>,
    jump_numbers: Numbers,
    jump_kinds: Vec<Jump>,
    alignments: UrnSampler,
    /// New first blocks and new blocks that are wanted in all.
    working_set: (u64, u64),
    /// Whether no request has ended at the last block yet.
    is_end_open: bool,
    stream: Stream,
}

/// A jump of at least a number of blocks, forwards or backwards.
#[derive(Clone, Copy, Debug)]
enum Jump {
    On,
    Back,
}

/// What is still wanted of each kind, as a share of what is wanted in all.
struct Quotas {
    all: Vec<u64>,
    left: Vec<u64>,
}

impl Quotas {
    fn new(all: Vec<u64>) -> Quotas {
        let left = all.clone();
        Quotas { all, left }
    }

    /// 0 where nothing is wanted, and where what was wanted is there.
    fn share(&self, kind: Option<usize>) -> f64 {
        let of = |list: &[u64], kind: usize| list.get(kind).copied().unwrap_or(0) as f64;
        kind.map_or(0.0, |kind| {
            of(&self.left, kind) / of(&self.all, kind).max(1.0)
        })
    }

    fn take(&mut self, kind: Option<usize>) {
        if let Some(left) = kind.and_then(|kind| self.left.get_mut(kind)) {
            *left = left.saturating_sub(1);
        }
    }
}

/// A place for a request.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first block.
    pub lbn: u64,
    /// The size of the last request there, where there was one.
    pub size: Option<u32>,
}

impl Places {
    /// As measured.
    pub fn new(profile: &Profile, seed: u64) -> Places {
        let stream = Stream::new(seed, "look-alike.places");
        let space = &profile.space;
        let bins = |histogram: &LogHistogram| histogram.bins().collect::<Vec<_>>();
        // Those of sequential requests are not jumps.
        let forward: Vec<_> = bins(&space.forward_blocks)
            .into_iter()
            .filter(|(from, _)| *from > profile.threshold_blocks)
            .collect();
        let backward = bins(&space.backward_blocks);
        let both = || backward.iter().chain(&forward).copied();
        let kinds = backward.iter().map(|_| Jump::Back);
        Places {
            known: HashMap::default(),
            members: Vec::new(),
            stack: NumberedLruStack::default(),
            touched: Extents::default(),
            end: profile.end_lbn,
            threshold: profile.threshold_blocks,
            distances: Numbers::new(&profile.references.random_distance_objects),
            bin_blocks: space.bin_blocks.max(1),
            regions: Quotas::new(space.bin_requests.clone()),
            new_regions: UrnSampler::new(space.bin_first.clone()),
            jumps: Quotas::new(both().map(|(_, count)| count).collect()),
            jump_kinds: kinds.chain(forward.iter().map(|_| Jump::On)).collect(),
            jump_numbers: Numbers::of_bins(both()),
            forward: forward.iter().map(|(from, _)| *from).collect(),
            backward: backward.iter().map(|(from, _)| *from).collect(),
            alignments: UrnSampler::new(space.alignment.clone()),
            working_set: (profile.working_set_requests, profile.working_set_blocks),
            is_end_open: true,
            stream,
        }
    }

    /// How many places there are.
    pub fn len(&self) -> u64 {
        self.stack.len()
    }

    /// What is known of a place.
    pub fn at(&self, lbn: u64) -> Place {
        let member = self.known.get(&lbn);
        Place {
            lbn,
            size: member.map(|member| self.members[*member as usize].1),
        }
    }

    /// Any place that is known.
    pub fn any(&mut self) -> Option<u64> {
        let len = self.len();
        (len > 0).then(|| self.members[self.stream.below(len) as usize].0)
    }

    /// A place that is known, for a request at random after one that ended at `before`. `fit` weighs the size of the last
    /// request there, and `steps` how many more requests of a run, of the sizes there were, are to find known places.
    /// `None` where the distances that are drawn lead past the bottom of the stack, unless that is forced.
    pub fn again(
        &mut self,
        before: Option<u64>,
        steps: u64,
        force: bool,
        fit: impl Fn(u32) -> f64,
    ) -> Option<Place> {
        let len = self.len();
        if len == 0 {
            return None;
        }
        let tries = if steps > 0 {
            MOST_CANDIDATES
        } else {
            CANDIDATES
        };
        let mut found = [(0.0, 0u64); MOST_CANDIDATES];
        let mut bins = [None; MOST_CANDIDATES];
        let found = &mut found[..tries];
        for ((weight, lbn), drawn) in found.iter_mut().zip(&mut bins) {
            let bin = self.distances.peek(&mut self.stream);
            let (from, width) = bin.map_or((0, 1), |bin| self.distances.bin(bin));
            if from >= len && !force {
                continue;
            }
            let from = from.min(len - 1);
            let depth = from + self.stream.below(width.min(len - from));
            let (first, size) = self.members[self.stack.at(depth) as usize];
            (*lbn, *drawn) = (first, bin);
            let share = self.share_of_steps(first, steps);
            *weight =
                self.weight(first, before) * fit(size) * (libm::pow(share, 4.0) + LEADS_NOWHERE);
        }
        let chosen = self.choose(found)?;
        if let Some(bin) = bins[chosen] {
            self.distances.take(bin);
        }
        Some(self.at(found[chosen].1))
    }

    /// How much of the way a run goes on from a known place leads to known places; 1 for a run that does not go on.
    fn share_of_steps(&self, lbn: u64, steps: u64) -> f64 {
        match steps.min(MOST_STEPS) {
            0 => 1.0,
            steps => self.steps_from(lbn, steps) as f64 / steps as f64,
        }
    }

    /// How many known places follow each other from a known one on, at most `most`.
    fn steps_from(&self, mut lbn: u64, most: u64) -> u64 {
        for step in 0..most {
            let Some(size) = self.at(lbn).size else {
                return step.saturating_sub(1);
            };
            lbn = lbn.saturating_add(size.into());
        }
        most - u64::from(!self.known.contains_key(&lbn))
    }

    /// A place that is not known, for a request at random of `blocks` blocks. `leads` says whether the block behind them is to be a known
    /// place, `beside` whether it should lie beside a known one, so that later runs find their way.
    pub fn new_place(
        &mut self,
        before: Option<u64>,
        blocks: u32,
        leads: Option<bool>,
        beside: bool,
    ) -> Option<Place> {
        let room = self.end.saturating_sub(blocks.into());
        if self.is_end_open && self.len() > 0 {
            self.is_end_open = false;
            if !self.known.contains_key(&room) && !self.follows(room, before) {
                return Some(self.at(room));
            }
        }
        let is_fresh = self.growth_so_far() <= 1.0;
        let alignment = self.alignments.peek(&mut self.stream);
        let mut found: [(f64, u64); CANDIDATES] = [(0.0, 0); CANDIDATES];
        for (index, (weight, lbn)) in found.iter_mut().enumerate() {
            let place = match (index % 4, is_fresh) {
                (3, _) => self.jump_from(before),
                (2, false) => self.within_touched(),
                (1, _) if beside => self.beside_known(blocks, leads == Some(true)),
                _ => self.in_region(),
            };
            let place = match index % 4 == 1 && beside {
                true => place.min(room),
                false => aligned(place.min(room), alignment),
            };
            *lbn = place;
            if self.known.contains_key(&place) || place > room {
                continue;
            }
            *weight = self.weight(place, before)
                * self.new_share(place)
                * self.growth(place, blocks, is_fresh)
                * self.leads(place, blocks, leads);
        }
        let chosen = self.choose(&found)?;
        Some(self.at(found[chosen].1))
    }

    /// In front of a known place, or behind the last request to one.
    fn beside_known(&mut self, blocks: u32, in_front: bool) -> u64 {
        let len = self.len();
        if len == 0 {
            return 0;
        }
        let (lbn, size) = self.members[self.stream.below(len) as usize];
        match in_front || self.stream.bits() >> 63 == 0 {
            true => lbn.saturating_sub(blocks.into()),
            false => lbn.saturating_add(size.into()),
        }
    }

    /// The blocks that have been touched, as a part of those that as many places should have touched.
    pub fn growth_so_far(&self) -> f64 {
        let (first, blocks) = self.working_set;
        let wanted = blocks as f64 * self.len() as f64 / first.max(1) as f64;
        if wanted > 0.0 {
            self.touched.blocks() as f64 / wanted
        } else {
            1.0
        }
    }

    /// How well a request fits behind which a known place is to lie, or none.
    fn leads(&self, lbn: u64, blocks: u32, leads: Option<bool>) -> f64 {
        match leads {
            Some(leads) if leads != self.is_known(lbn.saturating_add(blocks.into())) => 0.05,
            _ => 1.0,
        }
    }

    /// Whether a block has been a first block.
    pub fn is_known(&self, lbn: u64) -> bool {
        self.known.contains_key(&lbn)
    }

    /// How well a request fits that is to touch new blocks, or old ones.
    fn growth(&self, lbn: u64, blocks: u32, is_fresh: bool) -> f64 {
        let blocks = u64::from(blocks.max(1));
        let held = self.touched.held(lbn, lbn.saturating_add(blocks)) as f64 / blocks as f64;
        let share = if is_fresh { 1.0 - held } else { held };
        share * share + 0.01
    }

    fn new_share(&self, lbn: u64) -> f64 {
        let region = (lbn / self.bin_blocks) as usize;
        match region < self.regions.all.len() && self.new_regions.left_of(region) > 0 {
            true => 1.0,
            false => 1e-3,
        }
    }

    /// Anywhere in a region that still lacks new places.
    fn in_region(&mut self) -> u64 {
        let region = self.new_regions.peek(&mut self.stream).unwrap_or(0) as u64;
        let within = self.stream.below(self.bin_blocks);
        region
            .saturating_mul(self.bin_blocks)
            .saturating_add(within)
    }

    /// As far from the end of the request before as one of the jumps that were counted.
    fn jump_from(&mut self, before: Option<u64>) -> u64 {
        let before = before.unwrap_or(0);
        let Some(bin) = self.jump_numbers.peek(&mut self.stream) else {
            return before;
        };
        let (from, width) = self.jump_numbers.bin(bin);
        let blocks = from + self.stream.below(width.max(1));
        match self.jump_kinds[bin] {
            Jump::On => before.saturating_add(blocks),
            Jump::Back => before.saturating_sub(blocks),
        }
    }

    /// Behind the first block of the last request to some place, within that request.
    fn within_touched(&mut self) -> u64 {
        let len = self.len();
        if len == 0 {
            return 0;
        }
        let (lbn, size) = self.members[self.stream.below(len) as usize];
        lbn.saturating_add(self.stream.below(u64::from(size.max(1))))
    }

    fn follows(&self, lbn: u64, before: Option<u64>) -> bool {
        let ahead = before.and_then(|before| lbn.checked_sub(before));
        ahead.is_some_and(|ahead| ahead <= self.threshold)
    }

    /// How much a random request at a block is wanted; 0 where it would be sequential.
    fn weight(&self, lbn: u64, before: Option<u64>) -> f64 {
        if self.follows(lbn, before) {
            return 0.0;
        }
        let region = self.regions.share(Some((lbn / self.bin_blocks) as usize));
        let jump = match before {
            Some(_) => self.jumps.share(self.jump(lbn, before)),
            None => 1.0,
        };
        // Never 0, so that something is chosen where nothing is wanted.
        let region = region * region;
        (region * region * jump * jump).max(1e-9)
    }

    /// The index of the jump to a block.
    fn jump(&self, lbn: u64, before: Option<u64>) -> Option<usize> {
        let before = before?;
        let (bins, distance, first) = match lbn.checked_sub(before) {
            Some(on) => (&self.forward, on, self.backward.len()),
            None => (&self.backward, before - lbn, 0),
        };
        let at = bins
            .partition_point(|from| *from <= distance)
            .checked_sub(1)?;
        let from = bins[at];
        (distance - from < LogHistogram::bin_width(from)).then_some(first + at)
    }

    /// The index of one of several, by weight; `None` where none has any.
    fn choose(&mut self, found: &[(f64, u64)]) -> Option<usize> {
        let sum: f64 = found.iter().map(|(weight, _)| weight).sum();
        if sum <= 0.0 {
            return None;
        }
        let mut at = self.stream.unit() * sum;
        let chosen = found.iter().position(|(weight, _)| {
            at -= weight;
            at < 0.0
        });
        chosen.or_else(|| found.iter().rposition(|(weight, _)| *weight > 0.0))
    }

    /// A request goes to a place.
    pub fn request(&mut self, lbn: u64, blocks: u32, before: Option<u64>, is_random: bool) {
        let region = (lbn / self.bin_blocks) as usize;
        self.regions.take(Some(region));
        if is_random {
            let jump = self.jump(lbn, before);
            self.jumps.take(jump);
            if let Some(jump) = jump {
                self.jump_numbers.take(jump);
            }
        }
        match self.known.get(&lbn) {
            Some(&member) => {
                self.stack.touch(member);
                self.members[member as usize].1 = blocks;
            }
            None => {
                let member = self.stack.push();
                self.known.insert(lbn, member);
                self.members.push((lbn, blocks));
                self.alignments
                    .take((lbn.trailing_zeros() as usize).min(LARGEST));
                if region < self.regions.all.len() {
                    self.new_regions.take(region);
                }
            }
        }
        let end = lbn.saturating_add(blocks.into());
        self.touched.add(lbn, end);
        self.is_end_open &= end < self.end;
    }
}

/// The nearest block below of which two to this power is the largest that divides it.
fn aligned(lbn: u64, power: Option<usize>) -> u64 {
    let unit = 1u64 << power.unwrap_or(0);
    let index = lbn / unit;
    // The last kind is of all larger powers too.
    let index = if index.is_multiple_of(2) && power.is_some_and(|power| power < LARGEST) {
        index + 1
    } else {
        index
    };
    index.saturating_mul(unit)
}

/// The power of two from which on profiles tell no difference.
const LARGEST: usize = ALIGNMENTS - 1;
