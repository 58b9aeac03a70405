//! Runs the specs that are named: what a build that a profile guides is trained with.

use std::path::Path;

use diskwright::runs::simulation::{self, RunOptions, SpecSource};

/// A synthetic load makes as many requests as another, so that no spec is rare beside the rest.
const REQUESTS: &str = "workload.synthetic.requests=100_000";

/// Whether a spec's synthetic load makes a number of requests.
fn counts_requests(spec: &Path) -> bool {
    let text = std::fs::read_to_string(spec).expect("the spec can be read");
    let spec: toml::Table = text.parse().expect("a spec is TOML");
    let synthetic = spec["workload"].get("synthetic");
    synthetic.is_some_and(|synthetic| synthetic.get("requests").is_some())
}

fn main() {
    for spec in std::env::args_os().skip(1) {
        let spec = Path::new(&spec);
        let set = counts_requests(spec).then(|| REQUESTS.to_owned());
        let options = RunOptions {
            set: set.into_iter().collect(),
            ..RunOptions::default()
        };
        let source = SpecSource::File(spec.to_owned());
        if let Err(error) = simulation::run(&source, &options, &mut ()) {
            panic!("{}: {error}", spec.display());
        }
    }
}
