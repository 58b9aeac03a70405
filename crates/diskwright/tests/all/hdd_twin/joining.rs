//! Which requests of a queue become one: the rules of docs/clustering.md, by looking at all that waits.

use super::queue::{Queue, Waiting};
use super::specs::Join;
use diskwright::engine::request::Op;

impl Waiting {
    fn conflicts(&self, other: &Waiting) -> bool {
        let overlaps = self.lbn < other.end() && other.lbn < self.end();
        overlaps && (self.op != Op::Read || other.op != Op::Read)
    }

    fn continues(&self, other: &Waiting) -> bool {
        self.end() == other.lbn || other.end() == self.lbn
    }

    /// Another becomes a part of this one.
    fn absorb(&mut self, other: &Waiting) {
        self.parts.extend(&other.parts);
        self.since = self.since.min(other.since);
        self.blocks += other.blocks;
        if other.lbn < self.lbn {
            (self.lbn, self.cylinder) = (other.lbn, other.cylinder);
        }
    }
}

impl Queue {
    /// Adds a request behind the others, or joins it with one, as often as that goes on; what rules were met.
    pub fn enter(&mut self, new: Waiting, join: Option<Join>) -> Vec<&'static str> {
        let mut met = Vec::new();
        self.waiting.push(new);
        let mut place = self.waiting.len() - 1;
        let mut joins = 0;
        while let Some(join) = join
            && let Some(other) = self.partner(place, join, &mut met)
        {
            let (older, younger) = (place.min(other), place.max(other));
            let joined = self.remove(younger);
            self.waiting[older].absorb(&joined);
            place = older;
            if join.is_newest {
                if older + 1 < self.waiting.len() {
                    met.push("a joined request that falls back");
                }
                let newest = self.remove(older);
                self.waiting.push(newest);
                place = self.waiting.len() - 1;
            }
            joins += 1;
        }
        match joins {
            0 => (),
            1 => met.push("a request that joins another"),
            _ => met.push("a request that closes a gap"),
        }
        met
    }

    /// Which of the others a request joins: of several the one whose place is first.
    fn partner(&self, place: usize, join: Join, met: &mut Vec<&'static str>) -> Option<usize> {
        let request = &self.waiting[place];
        let is_joined = match request.op {
            Op::Read => join.reads,
            Op::Write => join.writes,
            _ => false,
        };
        let fits = |&other: &usize| {
            let neighbour = &self.waiting[other];
            let is_alike = neighbour.op == request.op && request.continues(neighbour);
            if !is_joined || !is_alike {
                return false;
            }
            if neighbour.fua != request.fua {
                met.push("one that is forced to the medium beside one that is not");
                return false;
            }
            if neighbour.blocks + request.blocks > join.most {
                met.push("two that are too large together");
                return false;
            }
            let moved = match join.is_newest {
                false => &self.waiting[place.max(other)],
                true => &self.waiting[place.min(other)],
            };
            let overlaps = |third: usize| {
                third != place && third != other && self.waiting[third].conflicts(moved)
            };
            let overtakes = (0..self.waiting.len()).any(overlaps);
            if overtakes {
                met.push("one that another overlaps");
            }
            !overtakes
        };
        (0..self.waiting.len())
            .filter(|&other| other != place)
            .find(fits)
    }
}
