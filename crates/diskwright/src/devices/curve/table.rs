//! A curve of access times, read from a CSV file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder};

use crate::base::error::{Error, InputError, Place, Source};
use crate::base::small_file;
use crate::base::units::Time;
use crate::engine::access_times::Point;

/// An access time, in ns: its mean, and the interval in which nearly all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub low: u64,
    pub mean: u64,
    pub high: u64,
}

/// Access times by distance, in blocks.
#[derive(Clone, Debug)]
pub struct Table {
    points: Vec<(u64, Access)>,
}

const COLUMNS: [&str; 4] = ["distance_blocks", "mean_ms", "low_ms", "high_ms"];
/// The longest access time, ms.
const LONGEST_MS: f64 = 3_600_000.0;

impl Table {
    /// Reads a file. The columns of the interval are needed for a `spread` only.
    ///
    /// # Errors
    /// A file that cannot be read; columns that are missing, numbers without sense, distances that do not rise: with the line.
    pub fn read(path: &Path, spread: bool) -> Result<Table, Error> {
        let text = small_file::read_text(path)?;
        let table = Table::parse(&Source::new(path.display().to_string(), text), spread);
        table.map_err(Error::from)
    }

    fn parse(source: &Arc<Source>, spread: bool) -> Result<Table, InputError> {
        let text = &*source.text;
        let mut reader = ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let at = |span: Range<usize>| Place::Text {
            source: source.clone(),
            span,
        };
        let line = |record: &ByteRecord| {
            let from = record.position().map_or(0, |place| place.byte() as usize);
            let end = text[from..].find('\n').map_or(text.len(), |end| from + end);
            from..end
        };
        let broken = |error: csv::Error| InputError::new(error.to_string()).at(at(0..0));
        let headers = reader.byte_headers().map_err(broken)?.clone();
        let mut columns = [None; COLUMNS.len()];
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            *column = headers.iter().position(|header| header == name.as_bytes());
        }
        let needed = if spread { COLUMNS.len() } else { 2 };
        if let Some(missing) = (0..needed).find(|&number| columns[number].is_none()) {
            let message = format!("the column {:?} is missing", COLUMNS[missing]);
            let error = InputError::new(message).help(format!("columns: {}", COLUMNS.join(", ")));
            return Err(error.at(at(line(&headers))));
        }
        let mut points: Vec<(u64, Access)> = Vec::new();
        for record in reader.byte_records() {
            let record = record.map_err(broken)?;
            let here = || at(line(&record));
            let field = |number: usize| {
                let field = columns[number].and_then(|column| record.get(column));
                let text = field.and_then(|field| std::str::from_utf8(field).ok());
                text.unwrap_or("")
            };
            let distance: u64 = field(0).parse().map_err(|_| {
                let error = InputError::new(format!("a distance of {:?} blocks", field(0)));
                error.help("expected a whole number").at(here())
            })?;
            if points.last().is_some_and(|&(last, _)| distance <= last) {
                let error = InputError::new(format!("a distance of {distance} blocks"));
                return Err(error.help("distances rise from line to line").at(here()));
            }
            let time = |number: usize| {
                let ms: f64 = field(number).parse().unwrap_or(f64::NAN);
                if (0.0..=LONGEST_MS).contains(&ms) {
                    return Ok(libm::round(ms * 1e6) as u64);
                }
                let name = COLUMNS[number];
                let error = InputError::new(format!("{name} of {:?}", field(number)));
                Err(error.help("expected 0 to 3,600,000 ms").at(here()))
            };
            let mean = time(1)?;
            let (low, high) = match spread {
                true => (time(2)?, time(3)?),
                false => (mean, mean),
            };
            if low > mean || mean > high {
                let error = InputError::new("a mean that is not in its interval");
                return Err(error.help("expected low_ms ≤ mean_ms ≤ high_ms").at(here()));
            }
            points.push((distance, Access { low, mean, high }));
        }
        match points.is_empty() {
            true => Err(InputError::new("a curve without points").at(at(0..0))),
            false => Ok(Table { points }),
        }
    }

    /// The means of the points.
    pub fn expected(&self) -> Vec<Point> {
        let points = self.points.iter().map(|&(distance, access)| Point {
            distance,
            time: Time::from_ns(access.mean),
        });
        points.collect()
    }

    /// The access over a distance, on the straight line between the points beside it; as at the first and the last point before and
    /// behind them.
    pub fn at(&self, distance: u64) -> Access {
        let above = self.points.partition_point(|&(point, _)| point < distance);
        let Some(&(right, later)) = self.points.get(above) else {
            return self.points[self.points.len() - 1].1;
        };
        let Some(&(left, sooner)) = above.checked_sub(1).map(|below| &self.points[below]) else {
            return later;
        };
        let (part, whole) = (u128::from(distance - left), u128::from(right - left));
        // Weighted means of integers, rounded to the nearest.
        let between = |from: u64, to: u64| {
            let sum = u128::from(from) * (whole - part) + u128::from(to) * part;
            ((sum + whole / 2) / whole) as u64
        };
        Access {
            low: between(sooner.low, later.low),
            mean: between(sooner.mean, later.mean),
            high: between(sooner.high, later.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str, spread: bool) -> Result<Table, String> {
        let parsed = Table::parse(&Source::new("curve.csv", text), spread);
        parsed.map_err(|error| error.to_string())
    }

    const CURVE: &str = "# measured\ndistance_blocks,mean_ms,low_ms,high_ms\n0,0.1,0.1,0.1\n10,1,0.5,2\n1000,5.000001,4,6\n";

    #[test]
    fn between_points_the_curve_is_straight_and_beside_them_level() {
        let table = table(CURVE, true).expect("sound");
        let of = |distance| {
            let Access { low, mean, high } = table.at(distance);
            (low, mean, high)
        };
        assert_eq!(of(0), (100_000, 100_000, 100_000));
        assert_eq!(of(10), (500_000, 1_000_000, 2_000_000));
        assert_eq!(of(5), (300_000, 550_000, 1_050_000));
        assert_eq!(of(505), (2_250_000, 3_000_001, 4_000_000));
        assert_eq!(of(1000), of(u64::MAX));
        assert_eq!(of(1000).1, 5_000_001);
    }

    #[test]
    fn order_of_columns_and_further_ones_do_not_matter() {
        let found = table("samples,mean_ms,distance_blocks\n7, 2 ,3\n", false);
        assert_eq!(found.expect("sound").at(3).mean, 2_000_000);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, spread, words) in [
            ("", false, &["distance_blocks", "missing"][..]),
            ("distance_blocks,mean_ms\n", false, &["without points"]),
            (
                "distance_blocks,mean_ms\n1,2\n",
                true,
                &["low_ms", "curve.csv:1"],
            ),
            (
                "distance_block,mean_ms\n1,2\n",
                false,
                &["\"distance_blocks\" is missing", "curve.csv:1"],
            ),
            (
                "distance_blocks,mean_ms\n1.5,2\n",
                false,
                &["1.5", "curve.csv:2"],
            ),
            (
                "distance_blocks,mean_ms\n1,2\n1,3\n",
                false,
                &["rise", "curve.csv:3"],
            ),
            (
                "distance_blocks,mean_ms\n1,-2\n",
                false,
                &["mean_ms", "curve.csv:2"],
            ),
            (
                "distance_blocks,mean_ms\n1,\n",
                false,
                &["mean_ms", "curve.csv:2"],
            ),
            (
                "distance_blocks,mean_ms,low_ms,high_ms\n1,2,3,4\n",
                true,
                &["interval", "curve.csv:2"],
            ),
        ] {
            let error = table(text, spread).expect_err(text);
            for word in words {
                assert!(error.contains(word), "{text:?}: {error}");
            }
        }
    }
}
