//! Mutation testing: random mutants of parts of the engine, all in one build, each against the tests of its part.
//!
//! ```text
//! mutants make FOLDER [EACH [SEED]]   a copy of the repository with EACH (75) mutants in every area; its tests are built
//! mutants run FOLDER [ID…]            tries all that were not tried yet, or these again
//! mutants report FOLDER               numbers by area, and those that survived
//! ```
//!
//! A mutant is chosen among all sites of its area with equal chance; one that does not compile, or that overlaps with one
//! chosen before, is passed over. The variable `DISKWRIGHT_MUTANT` switches one on.

mod areas;
mod random;
mod run;
mod schema;
mod sites;

use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: u64| {
        let text = arguments
            .get(at)
            .map(|text| text.parse().expect("a number"));
        text.unwrap_or(otherwise)
    };
    let folder = arguments.get(1).map(Path::new);
    match (arguments.first().map(String::as_str), folder) {
        (Some("make"), Some(folder)) => {
            let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let repository = repository.canonicalize().expect("the repository");
            std::fs::create_dir_all(folder).expect("a folder that can be written");
            schema::make(&repository, folder, number(2, 75) as usize, number(3, 24));
        }
        (Some("run"), Some(folder)) => {
            let only: Vec<u64> = (2..arguments.len()).map(|at| number(at, 0)).collect();
            run::run(folder, &only);
        }
        (Some("report"), Some(folder)) => run::report(folder),
        _ => eprintln!("mutants make FOLDER [EACH [SEED]] | run FOLDER [ID…] | report FOLDER"),
    }
}
