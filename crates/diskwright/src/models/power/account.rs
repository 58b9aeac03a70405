//! The time and the energy of each state.

use serde_json::{Map, Value, json};

use super::figures::PowerState;
use super::picture::PowerPicture;
use crate::base::units::Time;
use crate::base::units::power::{FEMTOJOULES, Power};

/// A time in a state, and its energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The state.
    pub state: PowerState,
    /// From when to when.
    pub from: Time,
    /// See [`from`](Self::from).
    pub to: Time,
    /// Its energy, fJ.
    pub energy: u128,
}

impl Span {
    /// The energy of what lies between two instants, in proportion, fJ.
    fn within(&self, from: Time, to: Time) -> (Time, u128) {
        let (from, to) = (self.from.max(from), self.to.min(to));
        if to <= from {
            return (Time::ZERO, 0);
        }
        let (part, whole) = ((to - from).ns(), (self.to - self.from).ns());
        let energy = match part == whole {
            true => self.energy,
            false => {
                // The product of all three might not fit.
                let (part, whole) = (u128::from(part), u128::from(whole));
                self.energy / whole * part + self.energy % whole * part / whole
            }
        };
        (to - from, energy)
    }
}

/// What an access takes beyond idle power.
#[derive(Clone, Copy, Debug)]
struct Work {
    from: Time,
    to: Time,
    /// fJ; less than idle takes, where negative.
    extra: i128,
}

impl Work {
    /// What of it falls after an instant.
    fn after(&self, at: Time) -> i128 {
        if at <= self.from {
            return self.extra;
        }
        let left = self.to.saturating_sub(at).ns();
        let whole = (self.to - self.from).ns().max(1);
        self.extra * i128::from(left) / i128::from(whole)
    }
}

/// What a state has come to.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    time: Time,
    energy: u128,
    entries: u64,
}

impl Sum {
    fn add(&mut self, (time, energy): (Time, u128)) {
        self.time += time;
        self.energy += energy;
    }

    fn remove(&mut self, (time, energy): (Time, u128)) {
        self.time -= time;
        self.energy -= energy;
    }
}

/// A state that was entered.
#[derive(Clone, Copy, Debug)]
struct Entry {
    state: PowerState,
    at: Time,
}

/// What may lie outside the time that counts: which states there were, which were entered, and when heads were unloaded.
#[derive(Clone, Debug, Default)]
struct Apart {
    spans: Vec<Span>,
    entries: Vec<Entry>,
    unloads: Vec<Time>,
}

impl Apart {
    /// Forgets all, but for the memory.
    fn clear(&mut self) {
        self.spans.clear();
        self.entries.clear();
        self.unloads.clear();
    }
}

/// A state, from an instant on.
#[derive(Clone, Copy, Debug)]
struct Change {
    state: PowerState,
    at: Time,
    /// What it draws; of a transition its energy at a constant power.
    draws: Draws,
}

/// How the energy of a state follows from its time.
#[derive(Clone, Copy, Debug)]
pub enum Draws {
    /// A constant power.
    Power(Power),
    /// So much energy, fJ, over so long.
    Way(Time, u128),
}

/// The time and the energy of each state, from an instant on.
pub struct PowerAccount {
    /// What the device draws at rest.
    idle: Power,
    /// From when on it counts; time zero, until it is told.
    origin: Time,
    is_told: bool,
    sums: [Sum; PowerState::COUNT],
    /// The state of now, and the one that follows it at a known instant, unless another one begins before.
    open: Change,
    next: Option<Change>,
    /// The state before that of now.
    before: PowerState,
    /// Energy of accesses beyond idle power, fJ.
    extra: i128,
    /// Accesses that may not be over.
    works: Vec<Work>,
    /// What was before the first access, while nothing says from when on to count.
    before_work: Apart,
    has_worked: bool,
    /// What has been since the last access: a run may end before all of that.
    since_work: Apart,
    spin_ups: u64,
    head_unloads: u64,
    picture: Option<Box<PowerPicture>>,
}

impl PowerAccount {
    /// An account of a device that is at rest at time zero, where it draws `idle`.
    pub fn new(idle: Power) -> PowerAccount {
        PowerAccount {
            idle,
            origin: Time::ZERO,
            is_told: false,
            sums: [Sum::default(); PowerState::COUNT],
            open: Change {
                state: PowerState::Idle,
                at: Time::ZERO,
                draws: Draws::Power(idle),
            },
            next: None,
            before: PowerState::Idle,
            extra: 0,
            works: Vec::new(),
            before_work: Apart::default(),
            has_worked: false,
            since_work: Apart::default(),
            spin_ups: 0,
            head_unloads: 0,
            picture: None,
        }
    }

    /// From now on, notes the power over time, too.
    pub fn collect_picture(&mut self) {
        self.picture.get_or_insert_default();
    }

    /// The device is at work from now on, and draws so much beside what [its accesses](Self::works) take. Rest of no time at all was none.
    pub fn becomes_active(&mut self, now: Time, power: Power) {
        self.advance(now);
        let rested = self.open.state == PowerState::Idle && self.open.at == now;
        if rested && self.before == PowerState::Active && now >= self.origin {
            // Counting may have begun anew in between.
            let entries = &mut self.sums[PowerState::Idle as usize].entries;
            *entries = entries.saturating_sub(1);
            self.open.state = PowerState::Active;
        }
        self.enter(PowerState::Active, now, Draws::Power(power));
        self.has_worked = true;
        self.since_work.clear();
    }

    /// The device is at rest from an instant on, now or later: in the latter case unless another state begins before.
    pub fn becomes_idle(&mut self, now: Time, at: Time) {
        let draws = Draws::Power(self.idle);
        match at > now {
            true => self.enter_later(PowerState::Idle, at, draws),
            false => self.enter(PowerState::Idle, at, draws),
        }
    }

    /// A state begins now.
    pub fn enter(&mut self, state: PowerState, now: Time, draws: Draws) {
        self.advance(now);
        self.next = None;
        self.begin(Change {
            state,
            at: now,
            draws,
        });
    }

    /// A state begins at an instant to come, unless another one begins before.
    pub fn enter_later(&mut self, state: PowerState, at: Time, draws: Draws) {
        self.next = Some(Change { state, at, draws });
    }

    /// The state that was to begin at an instant to come does not.
    pub fn stays_until_another(&mut self) {
        self.next = None;
    }

    /// Brings it up to an instant.
    pub fn advance(&mut self, now: Time) {
        if let Some(next) = self.next.take_if(|next| next.at <= now) {
            self.begin(next);
        }
    }

    fn begin(&mut self, change: Change) {
        let closed = self.open_span(change.at);
        self.add(closed);
        if self.open.state != change.state {
            self.count_entry(change.state, change.at);
            self.before = self.open.state;
        }
        self.open = change;
    }

    fn count_entry(&mut self, state: PowerState, at: Time) {
        if at >= self.origin {
            self.count(state, 1);
            if state != PowerState::Active {
                self.since_work.entries.push(Entry { state, at });
            }
            if !self.is_told && !self.has_worked {
                self.before_work.entries.push(Entry { state, at });
            }
        }
    }

    /// Counts entries of a state, or takes them back.
    fn count(&mut self, state: PowerState, entries: i64) {
        let sum = &mut self.sums[state as usize].entries;
        *sum = sum.saturating_add_signed(entries);
        if state == PowerState::SpinUp {
            self.spin_ups = self.spin_ups.saturating_add_signed(entries);
        }
    }

    /// The heads leave the platters at an instant.
    pub fn unloads_heads(&mut self, at: Time) {
        self.head_unloads += u64::from(at >= self.origin);
        self.since_work.unloads.push(at);
        if !self.is_told && !self.has_worked {
            self.before_work.unloads.push(at);
        }
    }

    /// The open state up to an instant.
    fn open_span(&self, to: Time) -> Span {
        let Change { state, at, draws } = self.open;
        let to = to.max(at);
        let energy = match draws {
            Draws::Power(power) => power.over(to - at),
            Draws::Way(time, energy) => {
                let whole = Span {
                    state,
                    from: at,
                    to: at + time,
                    energy,
                };
                whole.within(at, to).1
            }
        };
        Span {
            state,
            from: at,
            to,
            energy,
        }
    }

    fn add(&mut self, span: Span) {
        if span.to == span.from {
            return;
        }
        if let Some(picture) = &mut self.picture {
            picture.drew(span.from, span.to, span.energy as i128);
        }
        self.sums[span.state as usize].add(span.within(self.origin, Time::MAX));
        if !self.is_told && !self.has_worked {
            self.before_work.spans.push(span);
        }
        if span.state != PowerState::Active {
            self.since_work.spans.push(span);
        }
    }

    /// An access takes `extra` femtojoules beyond idle power between two instants.
    pub fn works(&mut self, from: Time, to: Time, extra: i128) {
        if let Some(picture) = &mut self.picture {
            picture.drew(from, to, extra);
        }
        self.works.retain(|work| work.to > from);
        let work = Work { from, to, extra };
        self.extra += work.after(self.origin);
        self.works.push(work);
    }

    /// The idle time since the open state began was spent in these states, one after the other, and in idle after them.
    pub fn replace_idle(&mut self, spans: &[Span]) {
        for span in spans {
            self.count_entry(span.state, span.from);
            if span.state.is_unloaded() {
                self.unloads_heads(span.from);
            }
            self.add(*span);
            self.open.at = span.to;
        }
    }

    /// Counts anew from an instant on.
    pub fn measure_from(&mut self, now: Time) {
        self.advance(now);
        self.origin = now;
        self.is_told = true;
        self.sums = [Sum::default(); PowerState::COUNT];
        (self.spin_ups, self.head_unloads) = (0, 0);
        self.before_work.clear();
        self.since_work.clear();
        self.works.retain(|work| work.to > now);
        self.extra = self.works.iter().map(|work| work.after(now)).sum();
    }

    /// What it comes to up to `end`, or to the end of the last access where that is later: from when on it was told to count, or else from
    /// `from` on, an instant before all accesses. `replaced` are the states in which the open idle time was spent, where it was spent
    /// otherwise.
    pub fn report(&self, from: Time, end: Time, replaced: &[Span]) -> Map<String, Value> {
        let mut whole = self.closed_at(end, replaced);
        for span in std::mem::take(&mut whole.before_work.spans) {
            let sum = &mut whole.sums[span.state as usize];
            sum.remove(span.within(Time::ZERO, from));
        }
        for Entry { state, at } in std::mem::take(&mut whole.before_work.entries) {
            if at < from {
                whole.count(state, -1);
            }
        }
        let end = whole
            .since_work
            .spans
            .first()
            .map_or(end, |span| span.from.max(end));
        let origin = whole
            .origin
            .max(if whole.is_told { Time::ZERO } else { from });
        for span in std::mem::take(&mut whole.since_work.spans) {
            let sum = &mut whole.sums[span.state as usize];
            sum.remove(span.within(end.max(origin), Time::MAX));
        }
        // What was before the origin is taken back already, also where a device was done before the first access.
        let is_late = |at: Time| at > end && at >= origin;
        for Entry { state, at } in std::mem::take(&mut whole.since_work.entries) {
            if is_late(at) {
                whole.count(state, -1);
            }
        }
        let early = whole.before_work.unloads.iter().filter(|&&at| at < from);
        whole.head_unloads -= early.count() as u64;
        let late = whole.since_work.unloads.iter();
        let late = late.filter(|&&at| is_late(at));
        whole.head_unloads -= late.count() as u64;
        let beyond: i128 = self.works.iter().map(|work| work.after(end)).sum();
        let active = &mut whole.sums[PowerState::Active as usize];
        active.energy = active.energy.saturating_add_signed(self.extra - beyond);
        whole.json()
    }

    /// The same with the state of now closed at an instant, or at once where it began later.
    fn closed_at(&self, end: Time, replaced: &[Span]) -> PowerAccount {
        let mut whole = PowerAccount {
            picture: None,
            works: Vec::new(),
            before_work: self.before_work.clone(),
            since_work: self.since_work.clone(),
            ..*self
        };
        whole.advance(end);
        whole.replace_idle(replaced);
        let last = whole.open_span(end);
        whole.add(last);
        whole
    }

    fn json(&self) -> Map<String, Value> {
        let joules = |energy: u128| energy as f64 / FEMTOJOULES;
        let total: u128 = self.sums.iter().map(|sum| sum.energy).sum();
        let states = PowerState::ALL.iter().zip(&self.sums);
        let states = states.filter(|(_, sum)| sum.time > Time::ZERO || sum.entries > 0);
        let states: Map<String, Value> = states
            .map(|(state, sum)| {
                let sum =
                    json!({ "s": sum.time.s(), "j": joules(sum.energy), "entries": sum.entries });
                (state.name().to_owned(), sum)
            })
            .collect();
        let mut report = Map::new();
        report.insert("energy_j".into(), json!(joules(total)));
        report.insert("power_states".into(), states.into());
        report.insert("spin_ups".into(), json!(self.spin_ups));
        report.insert("head_unloads".into(), json!(self.head_unloads));
        report
    }

    /// The power over time, up to `end`, where it was noted.
    pub fn picture(&self, end: Time) -> Option<Value> {
        let mut picture = self.picture.clone()?;
        let until = self.next.map_or(end, |next| next.at.min(end));
        let open = self.open_span(until);
        picture.drew(open.from, open.to, open.energy as i128);
        if until < end {
            picture.drew(until, end, self.idle.over(end - until) as i128);
        }
        Some(picture.json())
    }
}
