//! Loads of processes at random, over a device of constant times.

use std::fmt::Write as _;

/// Random numbers of the cases themselves: SplitMix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    fn pick(&mut self, from: &[f64]) -> f64 {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A distribution by its name and its numbers.
#[derive(Clone, Debug)]
pub struct Drawn(pub &'static str, pub Vec<f64>);

impl Drawn {
    fn text(&self) -> String {
        let keys: &[&str] = match self.0 {
            "uniform" => &["min", "max"],
            "normal" => &["mean", "deviation"],
            "exponential" | "poisson" => &["base", "mean"],
            _ => &["usual", "other", "share"],
        };
        let keys = keys.iter().zip(&self.1);
        let keys: Vec<String> = keys
            .map(|(key, value)| format!("{key} = {value:?}"))
            .collect();
        format!("{{ {} = {{ {} }} }}", self.0, keys.join(", "))
    }
}

/// A generator.
#[derive(Clone, Debug)]
pub struct Generator {
    pub unit: u64,
    pub capacity: u64,
    pub sequential: f64,
    pub local: f64,
    pub reads: f64,
    pub critical: f64,
    pub limited: f64,
    pub limit: Drawn,
    pub gap: Drawn,
    pub sequential_gap: Drawn,
    pub local_gap: Drawn,
    pub distance: Drawn,
    pub size: Drawn,
}

/// A load and its device.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub later_seed: u64,
    pub requests: u64,
    pub duration_ms: Option<u64>,
    pub processors: usize,
    pub resumed: bool,
    pub time_scale: f64,
    pub outstanding: Option<usize>,
    pub read_us: u64,
    pub write_us: u64,
    pub parallel: usize,
    pub generators: Vec<Generator>,
}

/// Times around some ms: some of them always the same, so that instants coincide.
fn time(dice: &mut Dice, ms: f64) -> Drawn {
    let share = dice.pick(&[0.0, 0.2, 1.0]);
    match dice.below(7) {
        0 => Drawn("uniform", vec![-ms, 3.0 * ms]),
        1 => Drawn("normal", vec![ms, 2.0 * ms]),
        2 | 3 => Drawn("exponential", vec![0.0, ms]),
        4 => Drawn("poisson", vec![0.0, ms]),
        5 => Drawn("two-value", vec![ms, 4.0 * ms, share]),
        _ => Drawn("two-value", vec![0.0, ms, share]),
    }
}

fn blocks(dice: &mut Dice, most: f64) -> Drawn {
    match dice.below(4) {
        0 => Drawn("uniform", vec![1.0, most]),
        1 => Drawn("exponential", vec![0.0, most / 3.0]),
        2 => Drawn("poisson", vec![1.0, most / 4.0]),
        _ => Drawn("two-value", vec![1.0, most, 0.3]),
    }
}

fn generator(dice: &mut Dice) -> Generator {
    let unit = 1 << dice.below(4);
    let mean = dice.pick(&[0.0, 0.5, 3.0, 10.0]);
    let sequential = dice.pick(&[0.0, 0.3, 0.6]);
    let critical = dice.pick(&[0.0, 0.2, 0.6, 1.0]);
    let far = dice.pick(&[10.0, 400.0]);
    Generator {
        unit,
        capacity: unit * (60 + dice.below(2_000)) + dice.below(unit),
        sequential,
        local: dice.pick(&[0.0, 0.4]),
        reads: dice.pick(&[0.0, 0.66, 1.0]),
        critical,
        limited: (1.0 - critical) * dice.pick(&[0.0, 0.5, 1.0]),
        limit: time(dice, 0.7 * mean),
        gap: time(dice, mean),
        sequential_gap: time(dice, mean),
        local_gap: time(dice, 0.5 * mean),
        distance: Drawn("normal", vec![0.0, far]),
        size: blocks(dice, 8.0 * unit as f64),
    }
}

pub fn case(number: u64) -> Case {
    let dice = &mut Dice(number);
    let count = 1 + dice.below(5);
    Case {
        seed: dice.below(1_000),
        later_seed: if dice.chance(50) {
            1_000_003
        } else {
            dice.below(1_000)
        },
        requests: 1 + dice.below(250),
        duration_ms: dice.chance(20).then(|| 1 + dice.below(500)),
        processors: 1 + dice.below(5) as usize,
        resumed: dice.chance(30),
        time_scale: dice.pick(&[1.0, 1.0, 0.5, 2.0]),
        outstanding: dice.chance(30).then(|| 1 + dice.below(4) as usize),
        read_us: 200 + dice.below(8) * 1_000,
        write_us: 200 + dice.below(8) * 1_000,
        parallel: 1 + dice.below(3) as usize,
        generators: (0..count).map(|_| generator(dice)).collect(),
    }
}

impl Case {
    /// The case as a spec.
    pub fn spec(&self) -> String {
        let mut text = format!("seed = {}\n", self.seed);
        if let Some(most) = self.outstanding {
            let _ = writeln!(text, "[host]\noutstanding = {most}");
        }
        let _ = writeln!(
            text,
            "[workload.processes]\nrequests = {}\nprocessors = {}\nidle_processors = {:?}\ntime_scale = {:?}\nlater_seed = {}",
            self.requests,
            self.processors,
            if self.resumed { "resumed" } else { "lost" },
            self.time_scale,
            self.later_seed,
        );
        if let Some(ms) = self.duration_ms {
            let _ = writeln!(text, "duration = \"{ms} ms\"");
        }
        for one in &self.generators {
            let _ = writeln!(
                text,
                "[[workload.processes.generator]]\nunit = \"{} blocks\"\ncapacity = \"{} blocks\"\nsequential = {:?}\nlocal = {:?}\nreads = {:?}\ncritical = {:?}\nlimited = {:?}",
                one.unit,
                one.capacity,
                one.sequential,
                one.local,
                one.reads,
                one.critical,
                one.limited,
            );
            for (key, of) in [
                ("limit_ms", &one.limit),
                ("gap_ms", &one.gap),
                ("sequential_gap_ms", &one.sequential_gap),
                ("local_gap_ms", &one.local_gap),
                ("distance_blocks", &one.distance),
                ("size_blocks", &one.size),
            ] {
                let _ = writeln!(text, "{key} = {}", of.text());
            }
        }
        let _ = writeln!(
            text,
            "[device.simple]\ncapacity = \"32 MiB\"\nread = \"{} us\"\nwrite = \"{} us\"\nparallel = {}",
            self.read_us, self.write_us, self.parallel
        );
        text
    }
}
