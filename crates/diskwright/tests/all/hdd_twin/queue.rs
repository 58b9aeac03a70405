//! What waits in the drive, and which of it is next: the rules of docs/schedulers.md, by looking at all that waits.

use diskwright::engine::request::Op;

use super::specs::{By, Scheduler};

/// The wait after which `fcfs` promotes a request, where nothing is said.
const FCFS_TIMEOUT: u64 = 2_000_000_000;

/// A request in the queue, or several that have become one.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The requests that it is made of: that which entered first, then as they joined.
    pub parts: Vec<usize>,
    /// Since when the first of them is in the queue, ns; those that came in one instant are in their order.
    pub since: u64,
    pub op: Op,
    pub fua: bool,
    pub lbn: u64,
    pub blocks: u64,
    /// The cylinder of its first block.
    pub cylinder: u64,
}

impl Waiting {
    pub fn end(&self) -> u64 {
        self.lbn + self.blocks
    }

    pub fn is_write(&self) -> bool {
        self.op != Op::Read
    }
}

/// What a scheduler sees of the drive.
pub struct View<'a> {
    pub now: u64,
    /// The arm's cylinder, and the first and the last that it reaches.
    pub cylinder: u64,
    pub edges: (u64, u64),
    /// The drive's cylinders.
    pub cylinders: u64,
    pub blocks: u64,
    /// How long the drive would take to the first sector of a request.
    pub positioning: &'a dyn Fn(&Waiting) -> u64,
}

/// What the drive does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The request at this place of the queue.
    Serve(usize),
    /// A motion of the arm to this cylinder, after which it asks again.
    Travel(u64),
}

pub struct Queue {
    scheduler: Scheduler,
    /// In their order: that in which they came, but for those that have fallen back.
    pub waiting: Vec<Waiting>,
    /// The block after the previous request, and where that began: its first block and cylinder.
    pub end: u64,
    start: u64,
    start_cylinder: u64,
    is_upwards: bool,
    /// Of an elevator that turns at edges: it has turned there, and nothing was chosen since.
    leg: Leg,
    /// Which side is next where two are as near.
    is_lower_next: bool,
    /// The requests of the present batch, by their first parts.
    batch: Vec<usize>,
    deadline: Deadline,
    /// Picks because of a timeout, of `fcfs` and `ncq`.
    pub promotions: u64,
}

/// How far an elevator that turns at edges has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    Sweep,
    /// An arm has moved to the edge ahead, or was there.
    Turned,
    /// An arm has moved back to the lower one.
    Back,
}

/// The batches of the deadline scheduler; reads are number 0, writes number 1.
struct Deadline {
    begun: [u64; 2],
    kind: usize,
    served: u64,
    starved: u64,
}

/// The first of the places with the least key: of equals, the one that has waited longest.
fn least<K: Ord>(waiting: &[Waiting], mut key: impl FnMut(&Waiting) -> Option<K>) -> Option<usize> {
    let keyed = waiting.iter().enumerate();
    let keyed = keyed.filter_map(|(place, waiting)| Some((key(waiting)?, place)));
    keyed.min().map(|(_, place)| place)
}

impl Queue {
    pub fn new(scheduler: Scheduler) -> Queue {
        Queue {
            scheduler,
            waiting: Vec::new(),
            end: 0,
            start: 0,
            start_cylinder: 0,
            is_upwards: true,
            leg: Leg::Sweep,
            is_lower_next: false,
            batch: Vec::new(),
            deadline: Deadline {
                begun: [0; 2],
                kind: 1,
                served: 0,
                starved: 0,
            },
            promotions: 0,
        }
    }

    /// Takes a request out.
    pub fn remove(&mut self, place: usize) -> Waiting {
        let removed = self.waiting.remove(place);
        self.batch.retain(|&request| request != removed.parts[0]);
        removed
    }

    /// Takes a request out for service.
    pub fn take(&mut self, place: usize) -> Waiting {
        let taken = self.remove(place);
        self.start = taken.lbn;
        self.start_cylinder = taken.cylinder;
        self.end = taken.end();
        taken
    }

    /// The one that has waited longest, if it has for a timeout.
    fn late(&self, now: u64, timeout: u64) -> Option<usize> {
        let longest = least(&self.waiting, |waiting| Some(waiting.since))?;
        (timeout > 0 && now - self.waiting[longest].since >= timeout).then_some(longest)
    }

    /// What is next; something waits.
    pub fn next(&mut self, view: &View<'_>) -> Next {
        match self.scheduler {
            Scheduler::Scan(by) => self.scan(by, view),
            Scheduler::CScan(by) => self.c_scan(by, view),
            _ => Next::Serve(self.choose(view)),
        }
    }

    fn choose(&mut self, view: &View<'_>) -> usize {
        let found = match self.scheduler {
            Scheduler::Fcfs { timeout } => {
                let late = self.late(view.now, timeout.unwrap_or(FCFS_TIMEOUT));
                let late = late.unwrap_or(0);
                self.promotions += u64::from(late > 0);
                Some(late)
            }
            Scheduler::Sstf { by, alternate } => self.sstf(by, alternate, view),
            Scheduler::Look(by) => self.look(by, view),
            Scheduler::CLook { by, from_start } => self.c_look(by, from_start, view),
            Scheduler::VScan { sixteenths, by } => self.v_scan(sixteenths, by, view),
            Scheduler::Satf => least(&self.waiting, |waiting| Some((view.positioning)(waiting))),
            Scheduler::Aged(weight) => least(&self.waiting, |waiting| {
                let waited = i128::from(view.now - waiting.since) * i128::from(weight);
                Some(i128::from((view.positioning)(waiting)) * 1024 - waited)
            }),
            Scheduler::Weighted { window } => least(&self.waiting, |waiting| {
                let left = match window {
                    0 => 1,
                    _ => window.saturating_sub(view.now - waiting.since),
                };
                Some(u128::from((view.positioning)(waiting)) * u128::from(left))
            }),
            Scheduler::Batch => {
                if self.batch.is_empty() {
                    self.batch = self.waiting.iter().map(|other| other.parts[0]).collect();
                }
                least(&self.waiting, |waiting| {
                    let is_in = self.batch.contains(&waiting.parts[0]);
                    is_in.then(|| (view.positioning)(waiting))
                })
            }
            Scheduler::Ncq { timeout } => {
                let late = self.late(view.now, timeout);
                self.promotions += u64::from(late.is_some());
                late.or_else(|| least(&self.waiting, |other| Some((view.positioning)(other))))
            }
            Scheduler::Deadline {
                read_expire,
                write_expire,
                batch,
                starved,
            } => Some(self.deadline(view.now, [read_expire, write_expire], batch, starved)),
            Scheduler::Scan(_) | Scheduler::CScan(_) => None,
        };
        found.expect("something waits")
    }

    fn here(&self, by: By, view: &View<'_>) -> u64 {
        match by {
            By::Lbn => self.end,
            By::Cylinder => view.cylinder,
        }
    }

    fn sstf(&mut self, by: By, alternate: bool, view: &View<'_>) -> Option<usize> {
        let here = self.here(by, view);
        let distance = |waiting: &Waiting| waiting.at(by).abs_diff(here);
        let nearest = self.waiting.iter().map(distance).min()?;
        let side = |is_below: bool| {
            self.waiting.iter().position(|waiting| {
                distance(waiting) == nearest && (waiting.at(by) < here) == is_below
            })
        };
        match (side(false), side(true)) {
            (Some(above), Some(below)) if alternate => {
                let is_below = self.is_lower_next;
                self.is_lower_next = !is_below;
                Some(if is_below { below } else { above })
            }
            _ => least(&self.waiting, |waiting| Some(distance(waiting))),
        }
    }

    /// The nearest request from a place on in the arm's direction.
    fn ahead(&self, by: By, here: u64) -> Option<usize> {
        least(&self.waiting, |waiting| {
            let at = waiting.at(by);
            (by.is_above(at, here) == self.is_upwards || by.is_here(at, here))
                .then(|| at.abs_diff(here))
        })
    }

    fn look(&mut self, by: By, view: &View<'_>) -> Option<usize> {
        let here = self.here(by, view);
        self.ahead(by, here).or_else(|| {
            self.is_upwards = !self.is_upwards;
            self.ahead(by, here)
        })
    }

    fn scan(&mut self, by: By, view: &View<'_>) -> Next {
        if self.leg == Leg::Sweep {
            if let Some(place) = self.ahead(by, self.here(by, view)) {
                return Next::Serve(place);
            }
            let (first, last) = view.edges;
            let edge = if self.is_upwards { last } else { first };
            self.is_upwards = !self.is_upwards;
            self.leg = Leg::Turned;
            if view.cylinder != edge {
                return Next::Travel(edge);
            }
        }
        self.leg = Leg::Sweep;
        let edge = if self.is_upwards { 0 } else { u64::MAX };
        Next::Serve(self.ahead(by, edge).expect("all are on this side"))
    }

    fn c_look(&mut self, by: By, from_start: bool, view: &View<'_>) -> Option<usize> {
        let here = match (from_start, by) {
            (false, _) => self.here(by, view),
            (true, By::Lbn) => self.start,
            (true, By::Cylinder) => self.start_cylinder,
        };
        self.ahead(by, here).or_else(|| self.ahead(by, 0))
    }

    fn c_scan(&mut self, by: By, view: &View<'_>) -> Next {
        let (first, last) = view.edges;
        if self.leg == Leg::Sweep {
            if let Some(place) = self.ahead(by, self.here(by, view)) {
                return Next::Serve(place);
            }
            self.leg = Leg::Turned;
            if view.cylinder != last {
                return Next::Travel(last);
            }
        }
        if self.leg == Leg::Turned {
            self.leg = Leg::Back;
            if view.cylinder != first {
                return Next::Travel(first);
            }
        }
        self.leg = Leg::Sweep;
        Next::Serve(self.ahead(by, 0).expect("all are above"))
    }

    fn v_scan(&mut self, sixteenths: u64, by: By, view: &View<'_>) -> Option<usize> {
        let here = self.here(by, view);
        let size = match by {
            By::Lbn => view.blocks,
            By::Cylinder => view.cylinders,
        };
        let penalty = (sixteenths * size + 8) / 16;
        let is_upwards = self.is_upwards;
        let found = least(&self.waiting, |waiting| {
            let at = waiting.at(by);
            let is_against = by.is_above(at, here) != is_upwards && !by.is_here(at, here);
            Some(at.abs_diff(here) + if is_against { penalty } else { 0 })
        })?;
        let at = self.waiting[found].at(by);
        if !by.is_here(at, here) {
            self.is_upwards = by.is_above(at, here);
        }
        Some(found)
    }

    fn deadline(&mut self, now: u64, expire: [u64; 2], batch: u64, starved: u64) -> usize {
        let of = |kind: usize| move |waiting: &Waiting| usize::from(waiting.is_write()) == kind;
        let oldest = |kind: usize| self.waiting.iter().position(|other| of(kind)(other));
        let above = |kind: usize| {
            let from = self.deadline.begun[kind];
            least(&self.waiting, |other| {
                (of(kind)(other) && other.lbn >= from).then_some(other.lbn)
            })
        };
        let state = &self.deadline;
        let going_on = above(state.kind).filter(|_| state.served < batch);
        let (kind, place, is_new) = match going_on {
            Some(place) => (state.kind, place, false),
            None => {
                let kind = match (oldest(0), oldest(1)) {
                    (Some(_), None) => 0,
                    (Some(_), Some(_)) if state.starved < starved => 0,
                    _ => 1,
                };
                let oldest = oldest(kind).expect("one of this kind waits");
                let is_late = now - self.waiting[oldest].since >= expire[kind];
                let place = above(kind).filter(|_| !is_late).unwrap_or(oldest);
                (kind, place, true)
            }
        };
        let writes_wait = oldest(1).is_some();
        let lbn = self.waiting[place].lbn;
        let state = &mut self.deadline;
        if is_new {
            state.served = 0;
            state.kind = kind;
            match kind {
                0 => state.starved += u64::from(writes_wait),
                _ => state.starved = 0,
            }
        }
        state.served += 1;
        state.begun[kind] = lbn;
        place
    }
}

impl Waiting {
    fn at(&self, by: By) -> u64 {
        match by {
            By::Lbn => self.lbn,
            By::Cylinder => self.cylinder,
        }
    }
}

impl By {
    /// Whether a place is above the present one. The block after the previous request is, when the arm goes by LBN.
    fn is_above(self, at: u64, here: u64) -> bool {
        at > here || (self == By::Lbn && at == here)
    }

    /// Whether a place needs no motion in any direction.
    fn is_here(self, at: u64, here: u64) -> bool {
        self == By::Cylinder && at == here
    }
}
