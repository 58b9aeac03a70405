//! Embeds the commit that the extension was built from.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=DISKWRIGHT_COMMIT");
    let commit = std::env::var("DISKWRIGHT_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty())
        .or_else(commit_of_checkout)
        .unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=DISKWRIGHT_COMMIT={commit}");
}

/// The commit checked out here; none outside a checkout of this project, or without git.
fn commit_of_checkout() -> Option<String> {
    // Another repository around an unpacked source archive says nothing about this source.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join(".git").exists() {
        return None;
    }
    // A commit or a checkout appends to the log of HEAD: in a linked worktree it is elsewhere.
    let log = git(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "logs/HEAD",
    ])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=10", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
