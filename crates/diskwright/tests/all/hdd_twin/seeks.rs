//! How long motions take, as docs/model/seek.md defines it.

use super::places::Place;
use super::specs::{Drive, Seek};

/// The arm: its cylinder, and the head that is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    pub cylinder: u64,
    pub head: u64,
}

impl Arm {
    pub fn over(place: &Place) -> Arm {
        Arm {
            cylinder: place.cylinder,
            head: place.head,
        }
    }
}

const MS: f64 = 1e6;

impl Seek {
    /// The time of a motion over a distance in a drive of so many cylinders, ns.
    fn time(&self, distance: u64, cylinders: u64) -> f64 {
        let d = distance as f64;
        match self {
            Seek::Table { points_ms } => {
                let mut points: Vec<(f64, f64)> = vec![(0.0, 0.0)];
                // In whole nanoseconds, so that halves between them are exact.
                points.extend(
                    points_ms
                        .iter()
                        .map(|&(at, ms)| (at as f64, (ms * MS).round())),
                );
                // The line between the two points around the distance, or through the last two.
                let next = points.iter().position(|&(at, _)| at >= d);
                let next = next.unwrap_or(points.len() - 1);
                let ((x0, y0), (x1, y1)) = (points[next - 1], points[next]);
                y0 + (y1 - y0) * (d - x0) / (x1 - x0)
            }
            Seek::Linear { single, full } => {
                let (single, full) = (*single as f64, *full as f64);
                let slope = (full - single) / (cylinders as f64 - 2.0);
                single + slope * (d - 1.0)
            }
            Seek::Slope { single, slope_ns } => *single as f64 + slope_ns * (d - 1.0),
            Seek::Hp {
                boundary,
                short_ms: (a, b),
                long_ms: (c, e),
                first_ms,
            } => {
                let ms = match first_ms.get(distance as usize - 1) {
                    Some(&listed) => listed,
                    None if distance < *boundary => a + b * d.sqrt(),
                    None => c + e * d,
                };
                ms * MS
            }
            Seek::Lee {
                single,
                average,
                full,
            } => {
                let (single, average, full) = (*single as f64, *average as f64, *full as f64);
                let n = cylinders as f64;
                let a = (-10.0 * single + 15.0 * average - 5.0 * full) / (3.0 * n.sqrt());
                let b = (7.0 * single - 15.0 * average + 8.0 * full) / (3.0 * n);
                a * (d - 1.0).sqrt() + b * (d - 1.0) + single
            }
            Seek::Constant(time) => *time as f64,
        }
    }

    /// The same, rounded to the nanosecond; no distance takes no time.
    pub fn rounded(&self, distance: u64, cylinders: u64) -> i64 {
        match distance {
            0 => 0,
            _ => self.time(distance, cylinders).round() as i64,
        }
    }
}

impl Drive {
    /// The time from the start of a motion to the instant at which a read or a write may begin, ns.
    pub fn motion(&self, from: Arm, to: Arm, write: bool) -> u64 {
        let cylinders = self.layout.cylinders;
        let distance = from.cylinder.abs_diff(to.cylinder);
        let seek = self.seek.rounded(distance, cylinders);
        let switch = match from.head == to.head {
            true => None,
            false => Some(self.head_switch as i64),
        };
        let of_read = seek.max(switch.unwrap_or(0));
        let time = match (write, &self.write_seek) {
            (false, _) => of_read,
            // A motion of no time settles in none.
            (true, _) if of_read == 0 => 0,
            (true, None) => of_read + self.write_settle,
            (true, Some(curve)) => {
                let seek = curve.rounded(distance, cylinders);
                seek.max(switch.map_or(0, |switch| switch + self.write_settle))
            }
        };
        time.max(0) as u64
    }

    /// The time of a travel of the arm, ns.
    pub fn travel(&self, distance: u64) -> u64 {
        self.seek.rounded(distance, self.layout.cylinders) as u64
    }
}
