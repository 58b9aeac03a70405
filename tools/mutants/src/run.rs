//! Every mutant against the tests of its area.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::areas::{AREAS, Area};

/// Bytes of address space of a test, in KiB: a mutant that asks for ever more memory ends.
const MEMORY_KIB: u32 = 8 << 20;

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

fn run_one(
    folder: &Path,
    program: &str,
    name: &str,
    environment: &[(&str, &str)],
    limit: Duration,
) -> Ending {
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"")])
        .args([program, name, "--exact", "--test-threads", "1"])
        .envs(environment.iter().copied())
        // The same cases for every mutant; a failing case is not made small, nor kept.
        .envs([
            ("PROPTEST_RNG_SEED", "24"),
            ("PROPTEST_MAX_SHRINK_ITERS", "0"),
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
            return if status.success() {
                Ending::Passed
            } else {
                Ending::Failed
            };
        }
        if begin.elapsed() > limit {
            child.kill().expect("a child to kill");
            child.wait().expect("a child to wait for");
            return Ending::Hung;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The tests of an area, cheapest first, each with the mutants that it reaches.
fn tests(
    plan: &Value,
    area: &Area,
    folder: &Path,
    known: &mut BTreeMap<String, Value>,
) -> Vec<Test> {
    let mut all = Vec::new();
    for (kind, beginnings) in [("unit", area.units), ("integration", area.integrations)] {
        let program = plan["tests"][kind].as_str().expect("a program");
        let listed = Command::new(program)
            .arg("--list")
            .output()
            .expect("a program that runs");
        let listed = String::from_utf8(listed.stdout).expect("names of UTF-8");
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
            let key = format!("{program} {name}");
            let entry = known.entry(key).or_insert_with(|| {
                let log = folder.join("reached");
                let _ = fs::remove_file(&log);
                let begin = Instant::now();
                let reached = [("DISKWRIGHT_MUTANTS_REACHED", log.to_str().expect("UTF-8"))];
                let ending = run_one(folder, program, name, &reached, Duration::from_secs(300));
                let ids: Vec<u64> = fs::read_to_string(&log)
                    .unwrap_or_default()
                    .lines()
                    .map(|id| id.parse().expect("a number"))
                    .collect();
                json!({
                    "passes": matches!(ending, Ending::Passed),
                    "ms": begin.elapsed().as_millis() as u64,
                    "ids": ids,
                })
            });
            if entry["passes"] == false {
                println!("left out, fails without a mutant: {name}");
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
    }
    all.sort_by_key(|test| (test.time, test.name.clone()));
    all
}

/// Tries all mutants of the plan that `results.jsonl` does not have, or those of `only` again.
pub fn run(folder: &Path, only: &[u64]) {
    let text = fs::read(folder.join("plan.json")).expect("a plan: make it first");
    let plan: Value = serde_json::from_slice(&text).expect("JSON of this program");
    let known_file = folder.join("reached.json");
    let mut known: BTreeMap<String, Value> = fs::read(&known_file)
        .map(|text| serde_json::from_slice(&text).expect("JSON of this program"))
        .unwrap_or_default();
    let results_file = folder.join("results.jsonl");
    let done: BTreeSet<u64> = results(folder).keys().copied().collect();
    let mut log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&results_file);
    let log = log.as_mut().expect("results can be written");
    let mut of_areas = BTreeMap::new();
    for area in &AREAS {
        let tests = tests(&plan, area, folder, &mut known);
        fs::write(&known_file, serde_json::to_vec(&known).expect("plain JSON"))
            .expect("the folder can be written");
        let total: Duration = tests.iter().map(|test| test.time).sum();
        println!(
            "{}: {} tests, {:.1} s",
            area.name,
            tests.len(),
            total.as_secs_f64()
        );
        of_areas.insert(area.name, tests);
    }
    // The areas in turns: whatever interrupts, each has about as many.
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let mut mutants = Vec::new();
    for mutant in plan["mutants"].as_array().expect("a list") {
        let turn = turns
            .entry(mutant["area"].as_str().expect("a name"))
            .or_default();
        *turn += 1;
        mutants.push((*turn, mutant));
    }
    mutants.sort_by_key(|&(turn, _)| turn);
    for (_, mutant) in mutants {
        let id = mutant["id"].as_u64().expect("a number");
        let wanted = if only.is_empty() {
            !done.contains(&id)
        } else {
            only.contains(&id)
        };
        if wanted {
            let result = try_one(
                folder,
                id,
                &of_areas[mutant["area"].as_str().expect("a name")],
            );
            println!(
                "{} {}:{} {}",
                result, mutant["file"], mutant["line"], mutant["operator"]
            );
            writeln!(log, "{result}").expect("results can be written");
        }
    }
}

fn try_one(folder: &Path, id: u64, tests: &[Test]) -> Value {
    let begin = Instant::now();
    let number = id.to_string();
    let mut tried = 0;
    for test in tests.iter().filter(|test| test.reaches.contains(&id)) {
        tried += 1;
        let limit = test.time * 8 + Duration::from_secs(10);
        let how = match run_one(
            folder,
            &test.program,
            &test.name,
            &[("DISKWRIGHT_MUTANT", &number)],
            limit,
        ) {
            Ending::Passed => continue,
            Ending::Failed => "killed",
            Ending::Hung => "hung",
        };
        let ms = begin.elapsed().as_millis() as u64;
        return json!({ "id": id, "how": how, "by": test.kind, "test": test.name, "tried": tried, "ms": ms });
    }
    let how = if tried == 0 { "unreached" } else { "survived" };
    json!({ "id": id, "how": how, "tried": tried, "ms": begin.elapsed().as_millis() as u64 })
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
