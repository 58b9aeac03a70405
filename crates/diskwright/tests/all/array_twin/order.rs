//! The order of requests that want the same places of a row.

use diskwright::engine::request::Op;

use super::model::Model;
use super::specs::{Asked, Layout};

/// A row and a place in its units.
pub type InRow = (u64, u64);

/// What a job keeps for itself, or shares with others that share it.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    pub places: Vec<InRow>,
    pub is_shared: bool,
}

impl Claim {
    fn is_against(&self, other: &Claim) -> bool {
        !(self.is_shared && other.is_shared)
    }
}

impl Model<'_> {
    /// What a request keeps: its places where it stays within a unit, and its whole rows where it does not.
    pub fn claim(&self, asked: &Asked) -> Claim {
        let unit = self.case.unit();
        let mut places = Vec::new();
        let (first, last) = (asked.lbn, asked.lbn + asked.blocks - 1);
        let is_within = first / unit == last / unit;
        let rows = match self.case.layout {
            // Each unit of copies is a row by itself.
            Layout::Raid10 { .. } => (first / unit..=last / unit).collect(),
            _ => self.case.rows_of(asked),
        };
        for row in rows {
            for place in 0..unit {
                if !is_within || (first % unit..=last % unit).contains(&place) {
                    places.push((row, place));
                }
            }
        }
        Claim {
            places,
            is_shared: asked.op == Op::Read,
        }
    }

    /// The last row that a job wants and a claim has, if the job has to wait for that.
    fn waits_for(&self, job: usize, claim: &Claim) -> Option<u64> {
        let mine = self.jobs[job].claim.as_ref()?;
        let common = claim.places.iter();
        let common = common.filter(|place| mine.places.contains(place));
        let last = common.map(|(row, _)| *row).max();
        last.filter(|_| mine.is_against(claim))
    }

    /// Whether a job must wait for one that has come before it.
    fn must_wait(&self, job: usize) -> bool {
        let before = self.claimed.iter().take_while(|&&other| other != job);
        let mut claims = before.filter_map(|&other| self.jobs[other].claim.as_ref());
        claims.any(|claim| self.waits_for(job, claim).is_some())
    }

    /// A job begins as soon as it may.
    pub fn asks(&mut self, job: usize) {
        if self.jobs[job].claim.is_some() {
            self.claimed.push(job);
            if self.must_wait(job) {
                self.met.insert("a request that waits for rows");
                return self.add("waited_for_rows", 1);
            }
        }
        self.jobs[job].is_waiting = false;
        self.ready.push(job);
    }

    /// A job is over: those may begin that have waited for it, by the last row that they had to wait for, then as they came.
    pub fn leaves(&mut self, job: usize) {
        self.claimed.retain(|&other| other != job);
        let Some(claim) = self.jobs[job].claim.take() else {
            return;
        };
        let mut next: Vec<(u64, usize)> = Vec::new();
        for (place, &other) in self.claimed.iter().enumerate() {
            if self.jobs[other].is_waiting && !self.must_wait(other) {
                let row = self.waits_for(other, &claim).expect("it has waited for it");
                next.push((row, place));
            }
        }
        next.sort_unstable();
        for (_, place) in next {
            let other = self.claimed[place];
            self.jobs[other].is_waiting = false;
            self.ready.push(other);
        }
    }
}
