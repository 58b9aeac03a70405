//! What is varied: `KEY=A,B,…`, and the variants that are all combinations of it.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::config::tree::Override;
use crate::error::{Error, InputError, Place, Source};

/// A key and the values that it takes.
#[derive(Debug)]
pub(super) struct Variation {
    pub key: String,
    pub values: Vec<Choice>,
    source: Arc<Source>,
}

/// One value of a key.
#[derive(Debug)]
pub(super) struct Choice {
    /// As it was written.
    pub text: String,
    /// As it was understood.
    pub value: Value,
}

/// The most runs of a comparison, whose results are all kept.
pub(super) const MOST_RUNS: usize = 100_000;

const EXAMPLE: &str = "for example device.hdd.queue.scheduler=fcfs,sstf,satf";

impl Variation {
    /// Parses one `KEY=A,B,…`. Values are TOML; what is not is a string. Commas within braces, brackets and quotes belong to
    /// a value.
    ///
    /// # Errors
    /// No key, fewer than two values, an empty one, one that is there twice, an unclosed bracket or quote.
    pub fn parse(text: &str) -> Result<Variation, InputError> {
        let source = Source::new("--vary", text);
        let wrong = |message: &str, span| {
            let source = Arc::clone(&source);
            InputError::new(message).at(Place::Text { source, span })
        };
        let Some(equals) = text.find('=') else {
            return Err(wrong("expected KEY=A,B,…", 0..text.len()).help(EXAMPLE));
        };
        let key = text[..equals].trim().to_owned();
        if key.is_empty() {
            return Err(wrong("a key is missing: expected KEY=A,B,…", 0..equals).help(EXAMPLE));
        }
        let mut values: Vec<Choice> = Vec::new();
        for span in divided(text, equals + 1)
            .map_err(|open| wrong("this is never closed", open..open + 1))?
        {
            let written = text[span.clone()].trim();
            if written.is_empty() {
                return Err(wrong("an empty value", span).help("\"\" is an empty string"));
            }
            let value = understood(&key, written)?;
            if values.iter().any(|choice| choice.value == value) {
                let message = format!("the value {written} is there twice");
                return Err(wrong(&message, span));
            }
            values.push(Choice {
                text: written.to_owned(),
                value,
            });
        }
        if values.len() < 2 {
            return Err(
                wrong("one value is nothing to compare", equals + 1..text.len())
                    .help("give two or more, separated by commas; --set KEY=VALUE is for one"),
            );
        }
        Ok(Variation {
            key,
            values,
            source,
        })
    }

    fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(message).at(Place::Text {
            source: Arc::clone(&self.source),
            span: 0..self.key.len(),
        })
    }

    fn position(&self, written: &str) -> Option<usize> {
        let value = understood(&self.key, written).ok()?;
        self.values.iter().position(|choice| choice.value == value)
    }
}

/// What a text says as the value of a key.
fn understood(key: &str, written: &str) -> Result<Value, InputError> {
    let change = Override::parse("--vary", &format!("{key}={written}"))?;
    Ok(change.node.value.to_json())
}

/// The parts of a text, from `start` on, that commas divide; or where the bracket or quote stands that is never closed.
fn divided(text: &str, start: usize) -> Result<Vec<Range<usize>>, usize> {
    let mut parts = Vec::new();
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut from = start;
    let mut characters = text[start..].char_indices();
    while let Some((at, c)) = characters.next() {
        let at = start + at;
        match (c, open.last().map(|(closing, _)| *closing)) {
            // Within a string only its end counts, and an escaped quote is none.
            ('\\', Some('"')) => _ = characters.next(),
            (c, Some(closing)) if c == closing => _ = open.pop(),
            (_, Some('"' | '\'')) => {}
            ('"' | '\'', _) => open.push((c, at)),
            ('{', _) => open.push(('}', at)),
            ('[', _) => open.push((']', at)),
            (',', None) => {
                parts.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
    }
    match open.first() {
        Some((_, at)) => Err(*at),
        None => {
            parts.push(from..text.len());
            Ok(parts)
        }
    }
}

/// What to compare: keys with their values, and which combination is the one that the others are compared with.
#[derive(Debug)]
pub(super) struct Plan {
    pub variations: Vec<Variation>,
    /// For every variant, the values of the keys by their positions; the last key's changes fastest.
    pub variants: Vec<Vec<usize>>,
    pub baseline: usize,
}

impl Plan {
    /// # Errors
    /// Those of [`Variation::parse`]; no key, or keys of which one contains another; the seed as a key; a value of `baseline`
    /// that no key has.
    pub fn new(vary: &[String], baseline: &[String]) -> Result<Plan, Error> {
        if vary.is_empty() {
            let error = InputError::new("nothing is varied: give --vary KEY=A,B,…");
            return Err(error.help(EXAMPLE).into());
        }
        let mut variations: Vec<Variation> = Vec::new();
        for text in vary {
            let variation = Variation::parse(text)?;
            if variation.key == "seed" {
                let error = variation.error("every variant runs with the same seeds");
                return Err(error.help("--seeds N says how many there are").into());
            }
            if let Some(other) = variations
                .iter()
                .find(|other| overlap(&other.key, &variation.key))
            {
                let message = format!("{} is varied already", other.key);
                return Err(variation.error(message).into());
            }
            variations.push(variation);
        }
        let counts = variations.iter().map(|variation| variation.values.len());
        if counts.fold(1, usize::saturating_mul) > MOST_RUNS {
            let error = InputError::new(format!("more than {MOST_RUNS} combinations are varied"));
            return Err(error.help("vary fewer keys at a time").into());
        }
        let mut variants: Vec<Vec<usize>> = vec![Vec::new()];
        for variation in &variations {
            variants = variants
                .iter()
                .flat_map(|variant| {
                    (0..variation.values.len()).map(move |value| [&variant[..], &[value]].concat())
                })
                .collect();
        }
        let chosen = chosen(&variations, baseline)?;
        let baseline = variants.iter().position(|variant| *variant == chosen);
        let baseline = baseline.expect("every combination is a variant");
        Ok(Plan {
            variations,
            variants,
            baseline,
        })
    }

    /// The keys of a variant with their values.
    pub fn choices<'a>(
        &'a self,
        variant: &'a [usize],
    ) -> impl Iterator<Item = (&'a str, &'a Choice)> {
        let values = self.variations.iter().zip(variant);
        values.map(|(variation, &at)| (variation.key.as_str(), &variation.values[at]))
    }

    /// A variant as `KEY=VALUE, …`.
    pub fn name(&self, variant: &[usize]) -> String {
        let assignments = self
            .choices(variant)
            .map(|(key, choice)| format!("{key}={}", choice.text));
        assignments.collect::<Vec<_>>().join(", ")
    }

    /// The place of a key, for an error.
    pub fn error(&self, key: usize, message: impl Into<String>) -> InputError {
        self.variations[key].error(message)
    }
}

/// Whether one of two keys is the other or stands above it.
fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The values of the baseline: the first of each key, unless `[KEY=]VALUE` says another.
fn chosen(variations: &[Variation], baseline: &[String]) -> Result<Vec<usize>, InputError> {
    let mut chosen: Vec<Option<usize>> = vec![None; variations.len()];
    for text in baseline {
        let wrong = |message: String| {
            let source = Source::new("--baseline", text.as_str());
            let span = 0..text.len();
            let values = variations.iter().map(|variation| {
                let values = variation.values.iter().map(|choice| choice.text.as_str());
                format!("{}={}", variation.key, values.collect::<Vec<_>>().join(","))
            });
            let help = values.collect::<Vec<_>>().join("; ");
            InputError::new(message)
                .at(Place::Text { source, span })
                .help(format!("varied: {help}"))
        };
        // A value may hold an equals sign too, so that only the name of a varied key makes a key.
        let of_key = text.split_once('=').and_then(|(key, value)| {
            let at = variations
                .iter()
                .position(|variation| variation.key == key.trim())?;
            Some((at, value.trim()))
        });
        let found: Vec<(usize, usize)> = match of_key {
            Some((key, value)) => {
                let value = variations[key].position(value);
                value.map(|value| (key, value)).into_iter().collect()
            }
            None => {
                let values = variations
                    .iter()
                    .map(|variation| variation.position(text.trim()));
                let values = values.enumerate();
                values
                    .filter_map(|(key, value)| Some((key, value?)))
                    .collect()
            }
        };
        match found[..] {
            [(key, value)] if chosen[key].is_none() => chosen[key] = Some(value),
            [_] => return Err(wrong("the baseline is given twice".to_owned())),
            [] => {
                return Err(wrong(
                    "the baseline is not one of the values that are compared".to_owned(),
                ));
            }
            _ => {
                return Err(wrong(
                    "several keys have this value: expected KEY=VALUE".to_owned(),
                ));
            }
        }
    }
    Ok(chosen.into_iter().map(Option::unwrap_or_default).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(text: &str) -> Vec<Value> {
        let parsed = Variation::parse(text).expect(text);
        parsed
            .values
            .into_iter()
            .map(|choice| choice.value)
            .collect()
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn commas_divide_except_within_braces_brackets_and_quotes() {
        assert_eq!(values("a.b=fcfs, satf"), [json!("fcfs"), json!("satf")]);
        assert_eq!(values("a=1,2.5,true"), [json!(1), json!(2.5), json!(true)]);
        assert_eq!(
            values(r#"a={ ncq = { timeout = "1 s", x = [1, 2] } },satf"#),
            [
                json!({"ncq": {"timeout": "1 s", "x": [1, 2]}}),
                json!("satf")
            ]
        );
        assert_eq!(
            values(r#"a="x,y","say \"a,b\"",'c,"d'"#),
            [json!("x,y"), json!("say \"a,b\""), json!("c,\"d")]
        );
        assert_eq!(
            values("a=[{ b = \"]\" }, 2],[]"),
            [json!([{"b": "]"}, 2]), json!([])]
        );
        assert_eq!(values("a=é,ü"), [json!("é"), json!("ü")]);
    }

    #[test]
    fn what_cannot_be_compared_is_told_with_its_place() {
        for (text, message, place) in [
            ("a.b", "expected KEY=A,B", "--vary:1:1"),
            ("=1,2", "a key is missing", "--vary:1:1"),
            ("a=1", "one value is nothing to compare", "--vary:1:3"),
            ("a=1,,2", "an empty value", "--vary:1:5"),
            ("a=", "an empty value", "--vary:1:3"),
            ("a=1,2,", "an empty value", "--vary:1:7"),
            ("a=x,\"x\"", "\"x\" is there twice", "--vary:1:5"),
            ("a={ b = 1,2", "never closed", "--vary:1:3"),
            ("a=1,\"2,3", "never closed", "--vary:1:5"),
        ] {
            let error = Variation::parse(text).expect_err(text).to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn the_variants_are_all_combinations() {
        let vary = texts(&["a=1,2", "b=x,y,z"]);
        let plan = Plan::new(&vary, &[]).expect("a plan");
        let names: Vec<String> = plan
            .variants
            .iter()
            .map(|variant| plan.name(variant))
            .collect();
        let expected = [
            "a=1, b=x", "a=1, b=y", "a=1, b=z", "a=2, b=x", "a=2, b=y", "a=2, b=z",
        ];
        assert_eq!((names, plan.baseline), (texts(&expected), 0));
        for (baseline, index) in [
            (&["y"][..], 1),
            (&["a=2"], 3),
            (&["2", "b=z"], 5),
            (&["b = 'y'", "1"], 1),
        ] {
            let plan = Plan::new(&vary, &texts(baseline)).expect("a plan");
            assert_eq!(plan.baseline, index, "{baseline:?}");
        }
    }

    #[test]
    fn plans_that_make_no_sense_are_refused() {
        for (vary, baseline, message) in [
            (&[][..], &[][..], "nothing is varied"),
            (&["seed=1,2"], &[], "the same seeds"),
            (&["a=1,2", "a=3,4"], &[], "a is varied already"),
            (&["a=1,2", "a.b=3,4"], &[], "a is varied already"),
            (&["a[0].b=1,2", "a=3,4"], &[], "a[0].b is varied already"),
            (&["a=1,2"], &["3"], "not one of the values"),
            (&["a=1,2"], &["b=1"], "not one of the values"),
            (&["a=1,2"], &["1", "2"], "given twice"),
            (&["a=1,2", "b=2,3"], &["2"], "several keys"),
        ] {
            let error = Plan::new(&texts(vary), &texts(baseline)).expect_err(message);
            assert!(error.to_string().contains(message), "{error}");
        }
        assert!(Plan::new(&texts(&["a=1,2", "ab=3,4"]), &[]).is_ok());
        // Sixteen keys of two values are 65,536 variants, and seventeen too many.
        let vary = |keys: usize| {
            (0..keys)
                .map(|key| format!("k{key}=1,2"))
                .collect::<Vec<_>>()
        };
        assert!(Plan::new(&vary(16), &[]).is_ok_and(|plan| plan.variants.len() == 1 << 16));
        for keys in [17, 100] {
            let error = Plan::new(&vary(keys), &[])
                .expect_err("too many")
                .to_string();
            assert!(error.contains("more than 100000 combinations"), "{error}");
        }
    }
}
