//! What campaigns have tried so far, as a table.

use std::fmt::Write as _;

use super::families::FAMILIES;
use super::log::Turn;

/// A table in Markdown: a row for each family that was tried, and one of all.
pub fn table(turns: &[Turn]) -> String {
    let mut text = String::from(
        "| family | cases | refused | power cuts | failures | rebuilds | wrong | minutes |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut all = Turn::default();
    for family in FAMILIES {
        let mut sum = Turn::default();
        for turn in turns.iter().filter(|turn| turn.family == family.name) {
            sum.absorb(turn);
        }
        if sum.cases() == 0 {
            continue;
        }
        row(
            &mut text,
            &format!("{}: {}", family.name, family.about),
            &sum,
        );
        all.absorb(&sum);
    }
    row(&mut text, "all", &all);
    text
}

fn row(text: &mut String, name: &str, sum: &Turn) {
    _ = writeln!(
        text,
        "| {name} | {} | {} | {} | {} | {} | {} | {:.1} |",
        sum.cases(),
        sum.refused,
        sum.power_cuts,
        sum.failures,
        sum.rebuilds,
        sum.wrong,
        sum.seconds / 60.0
    );
}

#[test]
fn a_table_has_a_row_for_each_family_that_was_tried_and_one_of_all() {
    let turn = |at: usize, from, to| Turn {
        family: FAMILIES[at].name.to_owned(),
        from,
        to,
        seconds: 60.0,
        ..Turn::default()
    };
    let text = table(&[turn(0, 5, 15), turn(1, 0, 7), turn(0, 20, 21)]);
    let last = text.lines().last().expect("a row");
    assert_eq!(last, "| all | 18 | 0 | 0 | 0 | 0 | 0 | 3.0 |");
    assert_eq!(text.lines().count(), 2 + 3);
    assert!(text.contains(" | 11 | 0 | 0 | 0 | 0 | 0 | 2.0 |"));
}
