//! Every mutant against the tests of its area.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::areas::{AREAS, Area};

/// Bytes of address space of a test, in KiB: a mutant that asks for ever more memory ends.
const MEMORY_KIB: u32 = 8 << 20;

/// By these the system ends a process that has had its processor time.
const SIGXCPU: i32 = 24;
const SIGKILL: i32 = 9;

/// What a cheap test takes at most.
const CHEAP: Duration = Duration::from_secs(4);

/// A test that takes more processor time is left out, and said so.
const LONGEST: Duration = Duration::from_secs(600);

/// A test that passes without a mutant.
struct Test {
    kind: &'static str,
    program: String,
    name: String,
    time: Duration,
    reaches: BTreeSet<u64>,
}

enum Ending {
    Passed,
    Failed,
    Hung,
}

/// Runs a test within a limit of processor time, which a busy machine does not change.
fn run_one(
    folder: &Path,
    program: &str,
    name: &str,
    environment: &[(&str, &str)],
    limit: Duration,
) -> Ending {
    let seconds = limit.as_secs();
    let limits = format!("ulimit -v {MEMORY_KIB}; ulimit -t {seconds}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limits])
        .args([program, name, "--exact", "--test-threads", "1"])
        .envs(environment.iter().copied())
        // The same cases for every mutant; a failing case is not made small, nor kept.
        .envs([
            ("PROPTEST_RNG_SEED", "24"),
            ("PROPTEST_MAX_SHRINK_ITERS", "0"),
            ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1"),
        ])
        .current_dir(folder.join("crates/diskwright"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh runs");
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child to wait for") {
            return match status.signal() {
                Some(SIGXCPU | SIGKILL) => Ending::Hung,
                _ if status.success() => Ending::Passed,
                _ => Ending::Failed,
            };
        }
        // It waits for nothing.
        if begin.elapsed() > limit * 20 {
            child.kill().expect("a child to kill");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Where a run keeps what it knows.
struct Files<'a> {
    folder: &'a Path,
    plan: &'a Value,
    /// Of every test that was run without a mutant: whether it passes, its time, and the mutants that it reaches.
    known: Mutex<BTreeMap<String, Value>>,
    log: Mutex<fs::File>,
}

impl Files<'_> {
    fn reached(&self) -> PathBuf {
        self.folder.join("reached.json")
    }

    fn log(&self, result: &Value, mutant: &Value) {
        println!(
            "{result} {}:{} {}",
            mutant["file"], mutant["line"], mutant["operator"]
        );
        let mut log = self.log.lock().expect("no thread panics");
        writeln!(log, "{result}").expect("results can be written");
    }

    /// Runs a test without a mutant, unless that was done.
    fn learn(&self, program: &str, name: &str, area: &Area) -> Value {
        let found = self
            .known
            .lock()
            .expect("no thread panics")
            .get(name)
            .cloned();
        found.unwrap_or_else(|| {
            let log = self.folder.join(format!("reached-{}", area.name));
            let _ = fs::remove_file(&log);
            let begin = Instant::now();
            let reached = [("DISKWRIGHT_MUTANTS_REACHED", log.to_str().expect("UTF-8"))];
            let ending = run_one(self.folder, program, name, &reached, LONGEST);
            let ids: Vec<u64> = fs::read_to_string(&log)
                .unwrap_or_default()
                .lines()
                .map(|id| id.parse().expect("a number"))
                .collect();
            let entry = json!({
                "passes": matches!(ending, Ending::Passed),
                "ms": begin.elapsed().as_millis() as u64,
                "ids": ids,
            });
            let mut known = self.known.lock().expect("no thread panics");
            known.insert(name.to_owned(), entry.clone());
            fs::write(
                self.reached(),
                serde_json::to_vec(&*known).expect("plain JSON"),
            )
            .expect("the folder can be written");
            entry
        })
    }

    /// The tests of an area and a kind, cheapest first.
    fn tests(&self, area: &Area, kind: &'static str) -> Vec<Test> {
        let program = self.plan["tests"][kind].as_str().expect("a program");
        let listed = Command::new(program)
            .arg("--list")
            .output()
            .expect("a program that runs");
        let listed = String::from_utf8(listed.stdout).expect("names of UTF-8");
        let beginnings = if kind == "unit" {
            area.units
        } else {
            area.integrations
        };
        let mut all = Vec::new();
        for name in listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
        {
            if !beginnings
                .iter()
                .any(|beginning| name.starts_with(beginning))
            {
                continue;
            }
            let entry = self.learn(program, name, area);
            if entry["passes"] == false {
                println!("left out, fails without a mutant or takes too long: {name}");
                continue;
            }
            let ids = entry["ids"].as_array().expect("a list");
            all.push(Test {
                kind,
                program: program.to_owned(),
                name: name.to_owned(),
                time: Duration::from_millis(entry["ms"].as_u64().expect("a number")),
                reaches: ids.iter().filter_map(Value::as_u64).collect(),
            });
        }
        all.sort_by_key(|test| (test.time, test.name.clone()));
        let total: Duration = all.iter().map(|test| test.time).sum();
        println!(
            "{}: {} {kind} tests, {:.1} s",
            area.name,
            all.len(),
            total.as_secs_f64()
        );
        all
    }

    /// Tries cheap unit tests first: they leave few mutants for the others.
    fn run(&self, area: &Area, wanted: impl Fn(u64) -> bool) {
        let mutants = self.plan["mutants"].as_array().expect("a list");
        let mut alive: Vec<(u64, usize, &Value)> = mutants
            .iter()
            .filter(|mutant| mutant["area"] == area.name)
            .map(|mutant| (mutant["id"].as_u64().expect("a number"), 0, mutant))
            .filter(|&(id, ..)| wanted(id))
            .collect();
        let (cheap, dear): (Vec<Test>, Vec<Test>) = self
            .tests(area, "unit")
            .into_iter()
            .partition(|test| test.time < CHEAP);
        self.reduce(&mut alive, &cheap);
        let mut others = self.tests(area, "integration");
        others.extend(dear);
        others.sort_by_key(|test| (test.time, test.name.clone()));
        self.reduce(&mut alive, &others);
        for (id, tried, mutant) in alive {
            let how = if tried == 0 { "unreached" } else { "survived" };
            self.log(&json!({ "id": id, "how": how, "tried": tried }), mutant);
        }
    }

    /// Leaves the mutants that no test kills.
    fn reduce(&self, alive: &mut Vec<(u64, usize, &Value)>, tests: &[Test]) {
        alive.retain_mut(|(id, tried, mutant)| {
            let killed = self.try_one(*id, tests, tried);
            if let Some(result) = &killed {
                self.log(result, mutant);
            }
            killed.is_none()
        });
    }

    /// The result of a mutant that one of the tests kills.
    fn try_one(&self, id: u64, tests: &[Test], tried: &mut usize) -> Option<Value> {
        let number = id.to_string();
        let environment = [("DISKWRIGHT_MUTANT", number.as_str())];
        for test in tests.iter().filter(|test| test.reaches.contains(&id)) {
            *tried += 1;
            let limit = test.time * 8 + Duration::from_secs(20);
            let how = match run_one(self.folder, &test.program, &test.name, &environment, limit) {
                Ending::Passed => continue,
                Ending::Failed => "killed",
                Ending::Hung => "hung",
            };
            return Some(json!({
                "id": id, "how": how, "by": test.kind, "test": test.name, "tried": *tried,
            }));
        }
        None
    }
}

/// Tries all mutants of the plan that `results.jsonl` does not have, or those of `only` again.
pub fn run(folder: &Path, only: &[u64]) {
    let text = fs::read(folder.join("plan.json")).expect("a plan: make it first");
    let plan: Value = serde_json::from_slice(&text).expect("JSON of this program");
    let results_file = folder.join("results.jsonl");
    let done: BTreeSet<u64> = results(folder).keys().copied().collect();
    let log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&results_file);
    let mut files = Files {
        folder,
        plan: &plan,
        known: Mutex::default(),
        log: Mutex::new(log.expect("results can be written")),
    };
    if let Ok(text) = fs::read(files.reached()) {
        let known = serde_json::from_slice(&text).expect("JSON of this program");
        files.known = Mutex::new(known);
    }
    let files = &files;
    let done = &done;
    let wanted = move |id| {
        if only.is_empty() {
            !done.contains(&id)
        } else {
            only.contains(&id)
        }
    };
    std::thread::scope(|scope| {
        for area in &AREAS {
            scope.spawn(move || files.run(area, wanted));
        }
    });
}

/// The last result of every mutant.
fn results(folder: &Path) -> BTreeMap<u64, Value> {
    let text = fs::read_to_string(folder.join("results.jsonl")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|result| (result["id"].as_u64().expect("a number"), result))
        .collect()
}

/// Prints numbers by area, and those that no test kills.
pub fn report(folder: &Path) {
    let text = fs::read(folder.join("plan.json")).expect("a plan: make it first");
    let plan: Value = serde_json::from_slice(&text).expect("JSON of this program");
    let results = results(folder);
    println!("| area | mutants | killed by unit tests | by integration tests | hung | survived |");
    println!("|---|---|---|---|---|---|");
    let mutants = plan["mutants"].as_array().expect("a list");
    let result = |mutant: &Value| {
        results
            .get(&mutant["id"].as_u64().expect("a number"))
            .cloned()
    };
    for area in &AREAS {
        let mut counts = [0; 5];
        for mutant in mutants.iter().filter(|mutant| mutant["area"] == area.name) {
            let Some(result) = result(mutant) else {
                continue;
            };
            counts[0] += 1;
            let column = match (result["how"].as_str(), result["by"].as_str()) {
                (Some("killed"), Some("unit")) => 1,
                (Some("killed"), _) => 2,
                (Some("hung"), _) => 3,
                _ => 4,
            };
            counts[column] += 1;
        }
        let counts = counts.map(|count| count.to_string()).join(" | ");
        println!("| {} | {counts} |", area.name);
    }
    for mutant in mutants {
        if let Some(result) = result(mutant).filter(|result| result.get("test").is_none()) {
            println!(
                "\n{} {} {}:{} {} ({})\n    {}\n -> {}",
                mutant["id"],
                mutant["area"].as_str().unwrap_or(""),
                mutant["file"].as_str().unwrap_or(""),
                mutant["line"],
                mutant["operator"].as_str().unwrap_or(""),
                result["how"].as_str().unwrap_or(""),
                mutant["original"].as_str().unwrap_or(""),
                mutant["mutated"].as_str().unwrap_or(""),
            );
        }
    }
}
