//! What the user should know of processes and processors that were not used.

use super::{Process, Processors};
use crate::workload::processes::IdleProcessors;

/// The most that a note names.
const NAMED: usize = 8;

impl Processors {
    /// How the run was ended, which processors were lost on the way, and which generators never had one.
    pub(in crate::host) fn notes(&self) -> Vec<String> {
        let Some(at) = self.stopped else {
            return Vec::new();
        };
        let mut notes = vec![format!(
            "the processes ended the run at {at}: {} requests under way then are in no statistics",
            self.under_way.len()
        )];
        let lost = self.processors.iter().enumerate().skip(1);
        let lost = lost.filter(|(_, processor)| processor.process.is_none());
        let lost: Vec<String> = lost
            .map(|(number, processor)| format!("{number} since {}", processor.idle_since))
            .collect();
        if self.rules.idle == IdleProcessors::Lost && !lost.is_empty() {
            notes.push(format!(
                "processors that had no process and were not used again (workload.processes.idle_processors): {}",
                listed(&lost)
            ));
        }
        let has_made_none = |process: &&Process| process.made == 0;
        let without = self.processes.iter().filter(has_made_none);
        let without: Vec<String> = without
            .map(|process| process.generator.to_string())
            .collect();
        if !without.is_empty() {
            notes.push(format!(
                "generators that made no request: {}; a process that does not wait keeps its processor (workload.processes.processors is {})",
                listed(&without),
                self.rules.processors
            ));
        }
        notes
    }
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let listed = names[..names.len() - more].join(", ");
    match more {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}
