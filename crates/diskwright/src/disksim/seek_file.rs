//! Seek curves in files of their own: a point a line, `distance, milliseconds`, by rising distance.
//!
//! A first line may say how many points there are; a third column, as the extraction tool writes it, is the standard
//! deviation of the measurement.

use std::path::Path;
use std::sync::Arc;

use super::syntax::SourceSpan;
use super::warnings::Warnings;
use crate::base::error::{InputError, Source, quoted};
use crate::models::geometry::seek::SeekTable;

const COUNT: &str = "Seek distances measured:";

/// Reads a seek file's text. Lines that are no points are left out with a warning.
///
/// # Errors
/// A distance that does not come after the one before it, or no point at all.
pub(super) fn read(
    path: &Path,
    text: String,
    warnings: &mut Warnings,
) -> Result<SeekTable, InputError> {
    let source = Source::new(path.display().to_string(), text);
    let mut points_ms: Vec<(u32, f64)> = Vec::new();
    let mut announced = None;
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let at = place(&source, start, line);
        start += line.len();
        if at.text().is_empty() {
            continue;
        }
        if let Some(count) = at.text().strip_prefix(COUNT) {
            announced = count.trim().parse::<usize>().ok().map(|count| (count, at));
            continue;
        }
        match point(at.text()) {
            None => warnings.push(&at, format_args!("{} is left out, expected a distance in cylinders and a time in ms such as \"1, 0.831\"", quoted(at.text()))),
            Some((0, 0.0)) => {}
            Some((0, _)) => warnings.push(&at, "a seek of distance 0 takes no time, whatever is written here"),
            Some((distance, ms)) => {
                let before = points_ms.last().map_or(0, |&(distance, _)| distance);
                if distance <= before {
                    return Err(at
                        .error(format!("distance {distance} after distance {before}"))
                        .help("expected points by rising distance, each distance once"));
                }
                points_ms.push((distance, ms));
            }
        }
    }
    if points_ms.is_empty() {
        return Err(SourceSpan::new(&source, 0, 0)
            .error("a seek file without points")
            .help("expected lines such as \"1, 0.831\": distance in cylinders and time in ms"));
    }
    if let Some((count, at)) = announced.filter(|&(count, _)| count != points_ms.len()) {
        warnings.push(
            &at,
            format_args!(
                "{count} points are announced, and there are {}",
                points_ms.len()
            ),
        );
    }
    Ok(SeekTable { points_ms })
}

/// The place of a line's text, without the blanks around it.
fn place(source: &Arc<Source>, start: usize, line: &str) -> SourceSpan {
    let begin = start + line.len() - line.trim_start().len();
    let end = begin.max(start + line.trim_end().len());
    SourceSpan::new(source, begin as u32, end as u32)
}

fn point(line: &str) -> Option<(u32, f64)> {
    let mut fields = line.split(',').map(str::trim);
    let distance = fields.next()?.parse().ok()?;
    let finite = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let ms = finite(fields.next()?).filter(|&ms| ms >= 0.0)?;
    let sound = fields
        .next()
        .is_none_or(|deviation| finite(deviation).is_some())
        && fields.next().is_none();
    sound.then_some((distance, ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Result<SeekTable, InputError>, Vec<String>) {
        let mut warnings = Warnings::default();
        let table = read(Path::new("x.seek"), text.into(), &mut warnings);
        (table, warnings.texts())
    }

    #[test]
    fn points_are_read_with_or_without_count_and_deviation() {
        for text in [
            "Seek distances measured: 2\n1,\t0.83100\n10, 1.5\n",
            "1,0.831,0.002\r\n\n  10 , 1.50, 0.1",
            "0, 0.0\n1,0.831\n10,1.5\n",
        ] {
            let (table, warnings) = read_text(text);
            assert_eq!(table.expect(text).points_ms, [(1, 0.831), (10, 1.5)]);
            assert_eq!(warnings, [] as [String; 0], "{text}");
        }
    }

    #[test]
    fn other_lines_are_left_out_with_their_places() {
        let (table, warnings) = read_text(
            "Seek distances measured: 9\n1, 0.5\n2; 0.6\n  # c\n3, nan\n4, -1\n5, 1, x\n6, 1, 0, 0\n0, 1\n9, 2\n",
        );
        assert_eq!(table.expect("two points").points_ms, [(1, 0.5), (9, 2.0)]);
        let places = [
            "x.seek:3:1",
            "x.seek:4:3",
            "x.seek:5:1",
            "x.seek:6:1",
            "x.seek:7:1",
            "x.seek:8:1",
            "x.seek:9:1",
            "x.seek:1:1",
        ];
        assert_eq!(warnings.len(), places.len(), "{warnings:?}");
        for (warning, place) in warnings.iter().zip(places) {
            assert!(warning.starts_with(place), "{warning}");
        }
    }

    #[test]
    fn points_out_of_order_are_refused() {
        for text in ["5, 1\n5, 2\n", "5, 1\n4, 2\n"] {
            let error = read_text(text).0.expect_err(text).to_string();
            assert!(
                error.contains("x.seek:2:1") && error.contains("rising"),
                "{error}"
            );
        }
        let error = read_text("nothing\n").0.expect_err("no points").to_string();
        assert!(error.contains("without points"), "{error}");
    }
}
