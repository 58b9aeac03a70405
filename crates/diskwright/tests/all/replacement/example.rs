//! The manual shows the example whole, and what it prints.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[allow(dead_code, reason = "its `main` is called by nobody here")]
#[path = "../../../examples/replacement.rs"]
mod shown;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(path).expect("a file of the repository")
}

/// What stands in blocks of a language in the manual's page.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    let parts = page.split(start.as_str()).skip(1);
    parts
        .map(|part| part.split_once("```").expect("a block ends").0)
        .collect()
}

#[test]
fn the_page_shows_the_example() {
    let page = text("../../docs/howto/replacement.md");
    assert_eq!(
        blocks(&page, "rust").concat(),
        text("examples/replacement.rs")
    );
}

#[test]
fn the_example_finds_what_the_page_says() {
    let trace = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/traces/debian-guest.csv.zst"
    );
    let mut printed = String::new();
    for point in shown::compared(trace.as_ref()).expect("a trace") {
        writeln!(printed, "{} {:.4}", point.policy, point.miss_ratio).expect("a text takes it");
    }
    let page = text("../../docs/howto/replacement.md");
    let outputs = blocks(&page, "text");
    // That of the class in Python, which is the same rule, and that of the example.
    assert_eq!(outputs, [printed.as_str(); 2]);
}
