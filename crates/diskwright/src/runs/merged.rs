//! Warnings and notes of many runs, each once: those that differ in their figures alone are one, with the range of each figure.

use crate::metrics::measurements::is_of_one_run;

/// Messages of many runs, in the order in which they were first heard.
#[derive(Default)]
pub struct Messages {
    known: Vec<Message>,
    /// The runs are repeated with other seeds, from which there is an interval: what single runs lack of it is no news.
    are_repeated: bool,
}

/// A message of some runs.
pub struct Message {
    /// What stands before, between and behind the figures.
    words: Vec<String>,
    figures: Vec<Range>,
    /// The variants whose runs have it.
    pub variants: Vec<usize>,
    /// How many runs have it.
    pub runs: usize,
}

/// The least and the most that a figure is, as they were written.
struct Range {
    least: (f64, String),
    most: (f64, String),
}

impl Messages {
    /// None yet, of runs of which each has a fellow with another seed, or none has.
    pub fn of_runs(are_repeated: bool) -> Messages {
        Messages {
            known: Vec::new(),
            are_repeated,
        }
    }

    /// Adds one of some runs of a variant.
    pub fn add(&mut self, text: &str, variant: usize, runs: usize) {
        if self.are_repeated && is_of_one_run(text) {
            return;
        }
        let (words, figures) = divided(text);
        let Some(known) = self.known.iter_mut().find(|known| known.words == words) else {
            let figures = figures.into_iter();
            let range = |figure: (f64, String)| Range {
                least: figure.clone(),
                most: figure,
            };
            return self.known.push(Message {
                words,
                figures: figures.map(range).collect(),
                variants: vec![variant],
                runs,
            });
        };
        for (range, figure) in known.figures.iter_mut().zip(figures) {
            if figure.0 < range.least.0 {
                range.least = figure;
            } else if figure.0 > range.most.0 {
                range.most = figure;
            }
        }
        known.runs += runs;
        if !known.variants.contains(&variant) {
            known.variants.push(variant);
        }
    }

    /// The messages.
    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.known.iter()
    }
}

impl Message {
    /// Its words, with each figure or its range: `9 to 12.5 % are late`.
    pub fn text(&self) -> String {
        let mut words = self.words.iter();
        let mut text = words.next().cloned().unwrap_or_default();
        for (range, words) in self.figures.iter().zip(words) {
            text += &range.least.1;
            if range.most.0 > range.least.0 {
                text += " to ";
                text += &range.most.1;
            }
            text += words;
        }
        text
    }
}

/// What stands before, between and behind the figures of a text, and the figures: digits, with signs between two of them that group or
/// divide.
fn divided(text: &str) -> (Vec<String>, Vec<(f64, String)>) {
    let (mut words, mut figures) = (vec![String::new()], Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = figure_length(rest.as_bytes());
        if length == 0 {
            if let Some(word) = words.last_mut() {
                word.push(first);
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let figure = &rest[..length];
        let value = figure.replace(',', "").parse();
        figures.push((value.unwrap_or(f64::NAN), figure.to_owned()));
        words.push(String::new());
        rest = &rest[length..];
    }
    (words, figures)
}

/// How many bytes of a figure a text begins with.
fn figure_length(text: &[u8]) -> usize {
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let mut length = 0;
    while is_digit(length)
        || (length > 0 && matches!(text.get(length), Some(b'.' | b',')) && is_digit(length + 1))
    {
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(messages: &Messages) -> Vec<(String, Vec<usize>, usize)> {
        let told = messages.iter();
        told.map(|message| (message.text(), message.variants.clone(), message.runs))
            .collect()
    }

    #[test]
    fn warnings_that_differ_in_figures_are_one_with_their_range() {
        let mut warnings = Messages::default();
        warnings.add("12.5 % of 1,000 are late, p99, p999.", 0, 1);
        warnings.add("9 % of 20 are late, p99, p999.", 0, 1);
        warnings.add("10 % of 20 are late, p99, p999.", 2, 1);
        warnings.add("9 % of 20 are early", 1, 3);
        let expected = [
            (
                "9 to 12.5 % of 20 to 1,000 are late, p99, p999.".to_owned(),
                vec![0, 2],
                3,
            ),
            ("9 % of 20 are early".to_owned(), vec![1], 3),
        ];
        assert_eq!(told(&warnings), expected);
    }

    #[test]
    fn figures_are_compared_by_value_and_their_number_matters() {
        let mut warnings = Messages::default();
        for text in ["9 of 10,000", "10 of 9,999", "9 of 1 of 10", "9 of 10.000"] {
            warnings.add(text, 0, 1);
        }
        let texts: Vec<String> = warnings.iter().map(Message::text).collect();
        assert_eq!(texts, ["9 to 10 of 10.000 to 10,000", "9 of 1 of 10"]);
    }

    #[test]
    fn text_without_figures_stays_as_it_is() {
        for text in [
            "",
            "no figure – none",
            "7",
            "a 1.5",
            "ends 3.",
            "µ 1.2.3, 4,5 x",
        ] {
            let mut notes = Messages::default();
            notes.add(text, 3, 2);
            assert_eq!(told(&notes), [(text.to_owned(), vec![3], 2)]);
        }
    }

    #[test]
    fn what_single_runs_lack_is_no_news_of_repeated_ones() {
        use crate::metrics::measurements::{CORRELATED, too_few};
        for (are_repeated, count) in [(false, 3), (true, 1)] {
            let mut warnings = Messages::of_runs(are_repeated);
            for text in [CORRELATED, &too_few(17), "3 requests ended with an error"] {
                warnings.add(text, 0, 1);
            }
            assert_eq!(warnings.iter().count(), count);
        }
    }
}
