//! The choice that changes between data in place with the soonest arm and a log with an arm for reads and one for writes.

use super::specs::Adaptive;

pub struct Modes {
    spec: Adaptive,
    /// Whether it is the second.
    pub is_log: bool,
    pub switches: u64,
    /// Of the window: reads and writes, and what they took together, ns.
    seen: [(u64, u64); 2],
    /// By mode what reads and writes take, ns, as far as that is known.
    known: [[Option<f64>; 2]; 2],
}

impl Modes {
    pub fn new(spec: Adaptive) -> Modes {
        Modes {
            spec,
            is_log: false,
            switches: 0,
            seen: [(0, 0); 2],
            known: [[None; 2]; 2],
        }
    }

    /// A read or a write takes so long.
    pub fn served(&mut self, write: bool, time: u64) {
        let (requests, sum) = &mut self.seen[usize::from(write)];
        *requests += 1;
        *sum += time;
        if self.seen[0].0 + self.seen[1].0 == self.spec.window {
            self.decide();
        }
    }

    fn decide(&mut self) {
        let share = |kind: usize| self.seen[kind].0 as f64 / self.spec.window as f64;
        let here = usize::from(self.is_log);
        for (kind, &(requests, sum)) in self.seen.iter().enumerate() {
            if requests > 0 {
                let mean = sum as f64 / requests as f64;
                let known = self.known[here][kind];
                let new = known.map_or(mean, |old| old + 0.5 * share(kind) * (mean - old));
                self.known[here][kind] = Some(new);
            }
        }
        let cost = |mode: usize| {
            let kinds = (0..2).filter(|&kind| share(kind) > 0.0);
            kinds
                .map(|kind| Some(self.known[mode][kind]? * share(kind)))
                .sum::<Option<f64>>()
        };
        let margin = 1.0 - self.spec.margin as f64 / 64.0;
        let changes = match (cost(here), cost(1 - here)) {
            (Some(here), Some(other)) => other < here * margin,
            _ => true,
        };
        self.seen = [(0, 0); 2];
        self.is_log ^= changes;
        self.switches += u64::from(changes);
    }
}
