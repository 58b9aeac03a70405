//! The log of campaigns: a line of JSON for each turn, to which more are added.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A stretch of cases of a family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The family's name.
    pub family: String,
    /// The first number.
    pub from: u64,
    /// The number behind the last.
    pub to: u64,
    /// How many were refused for a reason that is known.
    pub refused: u64,
    /// How many were wrong.
    pub wrong: u64,
    /// Power cuts and outages that happened.
    pub power_cuts: u64,
    /// Devices that failed.
    pub failures: u64,
    /// Members of arrays that were rebuilt.
    pub rebuilds: u64,
    /// Time of the wall.
    pub seconds: f64,
}

impl Turn {
    /// How many cases were tried.
    pub fn cases(&self) -> u64 {
        self.to - self.from
    }

    /// Takes the counts of another turn in, as if its cases followed.
    pub fn absorb(&mut self, later: &Turn) {
        self.to += later.cases();
        self.refused += later.refused;
        self.wrong += later.wrong;
        self.power_cuts += later.power_cuts;
        self.failures += later.failures;
        self.rebuilds += later.rebuilds;
        self.seconds += later.seconds;
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: cases {} to {} in {:.1} s, {} refused, {} wrong",
            self.family,
            self.from,
            self.to - self.cases().min(1),
            self.seconds,
            self.refused,
            self.wrong
        )
    }
}

/// The log's file and what is in it.
pub struct Log {
    path: PathBuf,
    turns: Vec<Turn>,
}

impl Log {
    /// Reads the log, if there is one, and writes the turns of each family that follow on each other as one.
    pub fn open(path: &Path) -> Log {
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut turns: Vec<Turn> = Vec::new();
        // A line that was cut off at the end stands for nothing.
        for turn in text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
        {
            add(&mut turns, turn);
        }
        let log = Log {
            path: path.to_owned(),
            turns,
        };
        log.write();
        log
    }

    fn write(&self) {
        let folder = self.path.parent().expect("it is in a folder");
        fs::create_dir_all(folder).expect("a folder can be made");
        let lines: String = self.turns.iter().map(line).collect();
        let beside = self.path.with_extension("part");
        fs::write(&beside, lines).expect("written");
        fs::rename(&beside, &self.path).expect("replaced");
    }

    /// What it tells: a turn for each stretch of numbers.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The first number of a family that was not tried.
    pub fn next(&self, family: &str) -> u64 {
        let turns = self.turns.iter().filter(|turn| turn.family == family);
        turns.map(|turn| turn.to).max().unwrap_or(FIRST)
    }

    /// Adds a turn.
    pub fn add(&mut self, turn: &Turn) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(&self.path)
            .expect("the log is there");
        file.write_all(line(turn).as_bytes()).expect("written");
        add(&mut self.turns, turn.clone());
    }
}

/// The first number of a campaign: those before it are for the tests.
pub const FIRST: u64 = 1_000_000;

fn line(turn: &Turn) -> String {
    format!("{}\n", serde_json::to_string(turn).expect("plain data"))
}

fn add(turns: &mut Vec<Turn>, turn: Turn) {
    let before = turns
        .iter_mut()
        .find(|before| before.family == turn.family && before.to == turn.from);
    match before {
        Some(before) => before.absorb(&turn),
        None => turns.push(turn),
    }
}

#[test]
fn a_log_goes_on_where_it_ended_and_forgets_no_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep").join("log.jsonl");
    let turn = |family: &str, from, to| Turn {
        family: family.to_owned(),
        from,
        to,
        refused: 1,
        seconds: 0.5,
        ..Turn::default()
    };
    let mut log = Log::open(&path);
    assert_eq!(log.next("a"), FIRST);
    log.add(&turn("a", FIRST, FIRST + 10));
    log.add(&turn("b", FIRST, FIRST + 3));
    log.add(&turn("a", FIRST + 10, FIRST + 30));
    assert_eq!(fs::read_to_string(&path).expect("there").lines().count(), 3);
    // Whatever interrupts the last line.
    let mut file = OpenOptions::new().append(true).open(&path).expect("there");
    file.write_all(b"{\"family\":\"a\",\"fr").expect("written");
    let log = Log::open(&path);
    assert_eq!(log.next("a"), FIRST + 30);
    assert_eq!(log.next("b"), FIRST + 3);
    assert_eq!(log.turns().len(), 2);
    assert_eq!((log.turns()[0].refused, log.turns()[0].cases()), (2, 30));
    assert_eq!(fs::read_to_string(&path).expect("there").lines().count(), 2);
}
