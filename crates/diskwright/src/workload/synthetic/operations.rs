//! What the requests of a synthetic load ask for.

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::engine::request::Op;

use super::scope::Scope;
use super::spec::LoadSpec;

/// Draws operations.
pub struct Operations {
    /// A number below the first is a read, below the second a trim, below the third a flush, else a write.
    below: [f64; 3],
    coin: Stream,
    fua: Option<(f64, Stream)>,
    /// The number of writes between two flushes, and the writes since the last flush.
    flush_every: Option<u64>,
    writes: u64,
}

impl Operations {
    /// # Errors
    /// Shares of more than 1 together; a flush after every 0 writes; no writes for what is about them.
    pub fn new(spec: &LoadSpec, scope: &Scope) -> Result<Operations, InputError> {
        let shares = [spec.reads, spec.trims, spec.flushes].map(|share| share.value());
        let sum: f64 = shares.iter().sum();
        // Shares such as 0.7, 0.2 and 0.1 may miss 1 by a rounding.
        if sum > 1.0 + 1e-9 {
            return Err(scope
                .wrong(
                    "reads",
                    format!(
                        ", trims and flushes are {}, {} and {}: expected shares that make 1 at most; writes are the rest",
                        shares[0], shares[1], shares[2]
                    ),
                )
                .help("reads are 1 unless said"));
        }
        if spec.flush_every == Some(0) {
            return Err(scope.wrong(
                "flush_every",
                " is 0: expected 1 or more writes from a flush to the next",
            ));
        }
        let about_writes = [
            ("flush_every", spec.flush_every.is_some()),
            ("fua", spec.fua.value() > 0.0),
        ];
        if sum >= 1.0 - 1e-9
            && let Some((key, _)) = about_writes.into_iter().find(|(_, given)| *given)
        {
            return Err(scope
                .wrong(key, " is about writes, and there are none")
                .help(
                    "writes are what reads, trims and flushes leave of 1; reads are 1 unless said",
                ));
        }
        Ok(Operations {
            below: [
                shares[0],
                shares[0] + shares[1],
                if sum >= 1.0 - 1e-9 { 1.0 } else { sum },
            ],
            coin: scope.stream("reads"),
            fua: (spec.fua.value() > 0.0).then(|| (spec.fua.value(), scope.stream("fua"))),
            flush_every: spec.flush_every,
            writes: 0,
        })
    }

    /// Whether the next operation is a flush that follows a number of writes.
    #[inline]
    pub fn has_flush_next(&self) -> bool {
        self.flush_every == Some(self.writes)
    }

    /// The next operation, and whether it is forced to the medium.
    #[inline]
    pub fn next(&mut self) -> (Op, bool) {
        if self.has_flush_next() {
            self.writes = 0;
            return (Op::Flush, false);
        }
        let drawn = self.coin.unit();
        let [reads, trims, flushes] = self.below;
        if drawn < reads {
            (Op::Read, false)
        } else if drawn < trims {
            (Op::Trim, false)
        } else if drawn < flushes {
            (Op::Flush, false)
        } else {
            self.writes += 1;
            let forced = match &mut self.fua {
                Some((share, stream)) => stream.unit() < *share,
                None => false,
            };
            (Op::Write, forced)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(keys: &str) -> Result<Operations, InputError> {
        let spec: LoadSpec = toml::from_str(&format!(
            "requests = 1\narrivals = {{ constant = '1 ms' }}\n{keys}"
        ))
        .unwrap();
        Operations::new(&spec, &Scope::only(3))
    }

    /// Reads, trims, flushes, writes, forced writes of 100,000.
    fn counts(keys: &str) -> [i64; 5] {
        let mut operations = operations(keys).unwrap();
        let mut counts = [0; 5];
        for _ in 0..100_000 {
            let (op, fua) = operations.next();
            counts[match op {
                Op::Read => 0,
                Op::Trim => 1,
                Op::NvCache(command) => command.is_in_no_workload(),
                Op::Flush => 2,
                Op::Write => 3,
            }] += 1;
            counts[4] += i64::from(fua);
            assert!(!fua || op == Op::Write);
        }
        counts
    }

    #[test]
    fn shares_are_kept() {
        for (keys, expected) in [
            ("", [1.0, 0.0, 0.0, 0.0, 0.0]),
            ("reads = 0.0", [0.0, 0.0, 0.0, 1.0, 0.0]),
            ("reads = 0.67", [0.67, 0.0, 0.0, 0.33, 0.0]),
            (
                "reads = 0.5\ntrims = 0.1\nflushes = 0.05\nfua = 0.2",
                [0.5, 0.1, 0.05, 0.35, 0.07],
            ),
            ("reads = 0.0\ntrims = 1.0", [0.0, 1.0, 0.0, 0.0, 0.0]),
            (
                "reads = 0.7\ntrims = 0.2\nflushes = 0.1",
                [0.7, 0.2, 0.1, 0.0, 0.0],
            ),
            ("reads = 0.0\nfua = 1.0", [0.0, 0.0, 0.0, 1.0, 1.0]),
        ] {
            for (count, share) in counts(keys).into_iter().zip(expected) {
                // Five standard errors of a count of 100,000.
                let bound = 5.0 * (1e5 * share * (1.0f64 - share)).sqrt();
                assert!(
                    (count as f64 - 1e5 * share).abs() <= bound,
                    "{keys}: {count}"
                );
            }
        }
    }

    #[test]
    fn a_flush_follows_every_so_many_writes() {
        let mut all = operations("reads = 0.5\nflush_every = 3").unwrap();
        let mut writes = 0;
        for _ in 0..10_000 {
            match all.next().0 {
                Op::Write => writes += 1,
                Op::Flush => {
                    assert_eq!(writes, 3);
                    writes = 0;
                }
                _ => {}
            }
            assert!(writes <= 3);
        }
        let mut writes = operations("reads = 0.0\nflush_every = 1").unwrap();
        let ops: Vec<_> = (0..4).map(|_| writes.next().0).collect();
        assert_eq!(ops, [Op::Write, Op::Flush, Op::Write, Op::Flush]);
    }

    #[test]
    fn what_makes_no_sense_names_its_key() {
        for (keys, key) in [
            ("trims = 0.1", "workload.synthetic.reads"),
            ("reads = 0.5\ntrims = 0.3\nflushes = 0.3", "trims"),
            ("flush_every = 5", "workload.synthetic.flush_every"),
            ("fua = 0.5", "workload.synthetic.fua"),
            (
                "reads = 0.5\nflush_every = 0",
                "workload.synthetic.flush_every",
            ),
        ] {
            let error = operations(keys).err().unwrap().to_string();
            assert!(error.contains(key), "{keys}: {error}");
        }
    }
}
