//! A copy of the repository that holds all chosen mutants.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::areas::{AREAS, Area, LEFT_OUT};
use crate::random::Random;
use crate::sites::{Site, sites};

const SOURCES: &str = "crates/diskwright/src";

/// Put at the end of `lib.rs`: read once, what the environment says.
const SWITCH: &str = r#"
#[doc(hidden)]
pub fn mutant(id: u32) -> bool {
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    type Log = Option<std::fs::File>;
    static ON: LazyLock<(u32, Log)> = LazyLock::new(|| {
        let id = std::env::var("DISKWRIGHT_MUTANT").map_or(0, |id| id.parse().expect("a number"));
        let log = std::env::var_os("DISKWRIGHT_MUTANTS_REACHED")
            .map(|path| std::fs::File::create(path).expect("a file that can be written"));
        (id, log)
    });
    static REACHED: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];
    let (on, log) = &*ON;
    if let Some(mut log) = log.as_ref()
        && !REACHED[id as usize].swap(true, Ordering::Relaxed)
    {
        log.write_all(format!("{id}\n").as_bytes()).expect("a file that can be written");
    }
    *on == id
}
"#;

/// A site of a file of an area.
struct Candidate {
    area: &'static str,
    file: PathBuf,
    site: Site,
}

impl Candidate {
    /// The same in every copy.
    fn key(&self) -> String {
        let Site { range, mutated, .. } = &self.site;
        format!("{}:{}:{mutated}", self.file.display(), range.start)
    }

    fn planned(&self, id: usize) -> Value {
        json!({
            "id": id,
            "area": self.area,
            "file": self.file,
            "line": self.site.line,
            "operator": self.site.operator,
            "original": self.site.original,
            "mutated": self.site.mutated,
        })
    }
}

/// Makes the copy in `folder` and builds its tests, with `each` mutants in every area.
pub fn make(repository: &Path, folder: &Path, each: usize, seed: u64) {
    let mut random = Random(seed);
    let mut areas: Vec<Vec<Candidate>> = Vec::new();
    for area in &AREAS {
        let mut all = candidates(repository, area, &mut random);
        println!("{}: {} sites", area.name, all.len());
        random.shuffle(&mut all);
        areas.push(all);
    }
    copy(repository, folder);
    let refused_file = folder.join("refused.json");
    let mut refused: BTreeSet<String> = fs::read(&refused_file)
        .map(|text| serde_json::from_slice(&text).expect("JSON of this program"))
        .unwrap_or_default();
    loop {
        // Some to spare, so that those that do not compile rarely cost another round.
        let chosen: Vec<&Candidate> = areas
            .iter()
            .flat_map(|all| choose(all, each + each / 6, &refused))
            .collect();
        let written = write(repository, folder, &chosen);
        let wrong = check(folder, &written);
        if wrong.is_empty() {
            let tests = build(folder);
            let mut mutants = Vec::new();
            for area in &AREAS {
                let of_it = (1usize..)
                    .zip(&chosen)
                    .filter(|(_, one)| one.area == area.name);
                mutants.extend(of_it.take(each).map(|(id, one)| one.planned(id)));
            }
            let plan = json!({ "mutants": mutants, "tests": tests });
            let before: Value = fs::read(folder.join("plan.json"))
                .map(|text| serde_json::from_slice(&text).expect("JSON of this program"))
                .unwrap_or_default();
            if before["mutants"] != plan["mutants"] {
                // What is known is of others.
                for name in ["reached.json", "results.jsonl"] {
                    let _ = fs::remove_file(folder.join(name));
                }
            }
            let text = serde_json::to_string_pretty(&plan).expect("plain JSON");
            fs::write(folder.join("plan.json"), text).expect("the copy can be written");
            println!("{} did not compile", refused.len());
            return;
        }
        for id in wrong {
            println!(
                "does not compile: {} {}",
                chosen[id - 1].key(),
                chosen[id - 1].site.original
            );
            refused.insert(chosen[id - 1].key());
        }
        let text = serde_json::to_vec(&refused).expect("plain JSON");
        fs::write(&refused_file, text).expect("the copy can be written");
    }
}

fn candidates(repository: &Path, area: &Area, random: &mut Random) -> Vec<Candidate> {
    let mut files = Vec::new();
    for source in area.sources {
        gather(&repository.join(SOURCES).join(source), &mut files);
    }
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable source");
        let file = file
            .strip_prefix(repository.join(SOURCES))
            .expect("a file of it")
            .to_owned();
        all.extend(sites(&text, random).into_iter().map(|site| Candidate {
            area: area.name,
            file: file.clone(),
            site,
        }));
    }
    all
}

fn gather(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a readable folder") {
            gather(&entry.expect("a readable folder").path(), files);
        }
        return;
    }
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a file of UTF-8");
    if name.ends_with(".rs") && !name.ends_with("tests.rs") && !LEFT_OUT.contains(&name) {
        files.push(path.to_owned());
    }
}

/// The first ones that do not overlap and are not refused.
fn choose<'a>(all: &'a [Candidate], each: usize, refused: &BTreeSet<String>) -> Vec<&'a Candidate> {
    let mut chosen: Vec<&Candidate> = Vec::new();
    for one in all {
        let overlaps = |other: &&Candidate| {
            let (a, b) = (&one.site.range, &other.site.range);
            one.file == other.file
                && a.start < b.end.max(b.start + 1)
                && b.start < a.end.max(a.start + 1)
        };
        if chosen.len() < each && !refused.contains(&one.key()) && !chosen.iter().any(overlaps) {
            chosen.push(one);
        }
    }
    chosen
}

/// Copies what git knows.
fn copy(repository: &Path, folder: &Path) {
    let listed = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["ls-files", "-z"])
        .output();
    let listed = listed.expect("git runs").stdout;
    for name in listed
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
    {
        let name = std::str::from_utf8(name).expect("names of UTF-8");
        let (from, to) = (repository.join(name), folder.join(name));
        let Ok(content) = fs::read(&from) else {
            continue;
        };
        // What is the same keeps its time, so that it is not compiled again.
        if fs::read(&to).ok().as_deref() != Some(&content) {
            fs::create_dir_all(to.parent().expect("a file's folder")).expect("a folder to write");
            fs::copy(&from, &to).expect("a file that can be copied");
        }
    }
}

/// A file of the copy, and where its mutants are now.
type Written = (PathBuf, Vec<(Range<usize>, usize)>);

fn write(repository: &Path, folder: &Path, chosen: &[&Candidate]) -> Vec<Written> {
    let files: BTreeSet<&PathBuf> = chosen.iter().map(|one| &one.file).collect();
    let mut written = Vec::new();
    // A file without mutants may have had some in the round before.
    copy(repository, folder);
    for file in files {
        let source = fs::read_to_string(repository.join(SOURCES).join(file)).expect("a source");
        let mut here: Vec<(usize, &Site)> = (1..)
            .zip(chosen)
            .filter(|(_, one)| one.file == *file)
            .map(|(id, one)| (id, &one.site))
            .collect();
        here.sort_by_key(|(_, site)| site.range.start);
        let (mut text, mut at, mut places) = (String::new(), 0, Vec::new());
        for (id, site) in here {
            text += &source[at..site.range.start];
            let begin = text.len();
            text += &site.schema(id);
            places.push((begin..text.len(), id));
            at = site.range.end;
        }
        text += &source[at..];
        fs::write(folder.join(SOURCES).join(file), text).expect("the copy can be written");
        written.push((Path::new(SOURCES).join(file), places));
    }
    let library = fs::read_to_string(repository.join(SOURCES).join("lib.rs")).expect("a source");
    fs::write(folder.join(SOURCES).join("lib.rs"), library + SWITCH)
        .expect("the copy can be written");
    written
}

/// The copy is compiled for speed, with assertions and overflow checks: they kill mutants, too.
fn cargo(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = Command::new("cargo")
        .current_dir(folder)
        .args(arguments)
        .args(["--package", "diskwright", "--profile", "checked"])
        .args(["--message-format", "json"])
        .stderr(Stdio::null())
        .output()
        .expect("cargo runs");
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The mutants that do not compile.
fn check(folder: &Path, written: &[Written]) -> BTreeSet<usize> {
    let mut wrong = BTreeSet::new();
    for message in cargo(folder, &["build", "--lib"]) {
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let mut found = message["spans"].as_array().is_none_or(Vec::is_empty);
        for span in message["spans"].as_array().into_iter().flatten() {
            let start = span["byte_start"].as_u64().unwrap_or(0) as usize;
            let end = span["byte_end"].as_u64().unwrap_or(0) as usize;
            let name = span["file_name"].as_str().unwrap_or("");
            for (file, places) in written {
                if !file.ends_with(name) && !Path::new(name).ends_with(file) {
                    continue;
                }
                for (range, id) in places {
                    if start < range.end && range.start < end {
                        wrong.insert(*id);
                        found = true;
                    }
                }
            }
        }
        assert!(found, "no mutant is to blame: {}", message["rendered"]);
    }
    wrong
}

/// The test programs: the library's own, and that of the integration tests.
fn build(folder: &Path) -> Value {
    let mut programs = json!({});
    for message in cargo(folder, &["test", "--no-run", "--lib", "--test", "all"]) {
        if let Some(program) = message["executable"].as_str() {
            let kind = message["target"]["kind"][0].as_str().unwrap_or("");
            let kind = if kind == "lib" { "unit" } else { "integration" };
            programs[kind] = json!(program);
        }
    }
    assert!(
        programs["unit"].is_string() && programs["integration"].is_string(),
        "the tests of the copy do not build"
    );
    programs
}
