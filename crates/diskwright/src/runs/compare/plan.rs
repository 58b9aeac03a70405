//! The variants of a comparison: all combinations of what is varied, and which of them is the baseline.

use crate::base::error::{Error, InputError, Place, Source};
use crate::runs::simulation::vary::{Choice, EXAMPLE, Variation, overlap};

/// The most runs of a comparison, whose results are all kept.
pub(super) const MOST_RUNS: usize = 100_000;

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
    /// Those of [`Variation::compared`]; no key, or keys of which one contains another; the seed as a key; a value of `baseline`
    /// that no key has.
    pub fn new(vary: &[String], baseline: &[String]) -> Result<Plan, Error> {
        if vary.is_empty() {
            let error = InputError::new("nothing is varied: give --vary KEY=A,B,…");
            return Err(error.help(EXAMPLE).into());
        }
        let mut variations: Vec<Variation> = Vec::new();
        for text in vary {
            let variation = Variation::compared(text)?;
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

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
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
