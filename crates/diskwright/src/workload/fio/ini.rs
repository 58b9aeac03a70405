//! A job file's text: sections, options, and where each stands. fio's HOWTO, "Job file format".

use std::path::{Path, PathBuf};

use crate::base::error::{InputError, Place};
use crate::workload::text::shown;

/// A job file that has been taken apart.
#[derive(Debug)]
pub struct JobFile {
    path: PathBuf,
    lines: Vec<String>,
    /// The jobs, in their order.
    pub jobs: Vec<Job>,
}

/// A section that is not `[global]`, with what the global ones before it say.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// The options in the order in which they count: a later one replaces an earlier one.
    pub settings: Vec<Setting>,
    /// How many of them, at the beginning, are of global sections.
    pub global: usize,
}

/// An option as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// What follows the equals sign; nothing where there is none.
    pub value: Option<String>,
    /// Line number, from 1.
    pub line: usize,
    /// Byte offsets of the name and of the value in the line.
    name_at: usize,
    value_at: usize,
}

impl Setting {
    /// The option as it is written: `bs=4k`.
    pub fn shown(&self) -> String {
        match &self.value {
            Some(value) => shown(format!("{}={value}", self.name).as_bytes()),
            None => self.name.clone(),
        }
    }
}

impl JobFile {
    /// Takes apart the text of the file at `path`.
    ///
    /// # Errors
    /// A line that is neither section nor option nor comment; an option outside of a section; a file without jobs.
    pub fn parse(path: &Path, text: &str) -> Result<JobFile, InputError> {
        let mut file = JobFile {
            path: path.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            jobs: Vec::new(),
        };
        let mut global: Vec<Setting> = Vec::new();
        let (mut in_global, mut jobs) = (false, Vec::<Job>::new());
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let at = line.len() - line.trim_start().len();
            // Comments begin anywhere, as fio has it.
            let content = line.split([';', '#']).next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            if let Some(rest) = content.strip_prefix('[') {
                let name = rest.split(']').next().unwrap_or("").trim();
                if name.is_empty() || !rest.contains(']') {
                    let message = "expected a section such as [global] or [job]";
                    return Err(InputError::new(message).at(file.place(line_number, Some(at))));
                }
                in_global = name == "global";
                if !in_global {
                    jobs.push(Job {
                        name: name.to_owned(),
                        settings: global.clone(),
                        global: global.len(),
                    });
                }
                continue;
            }
            let (name, value) = match content.split_once('=') {
                Some((name, value)) => (name.trim_end(), Some(value.trim())),
                None => (content, None),
            };
            let include = content.split_whitespace().next() == Some("include");
            let message = if include {
                "include: a file that is made of several is not read"
            } else if name.is_empty() || name.contains(char::is_whitespace) {
                "expected an option such as bs=4k"
            } else if !in_global && jobs.is_empty() {
                "an option before the first section"
            } else {
                ""
            };
            if !message.is_empty() {
                return Err(InputError::new(message).at(file.place(line_number, Some(at))));
            }
            let setting = Setting {
                name: name.to_owned(),
                value: value.map(str::to_owned),
                line: line_number,
                name_at: at,
                value_at: value
                    .map_or(at, |value| value.as_ptr() as usize - line.as_ptr() as usize),
            };
            match jobs.last_mut() {
                Some(job) if !in_global => job.settings.push(setting),
                _ => global.push(setting),
            }
        }
        if jobs.is_empty() {
            return Err(InputError::new("the file has no jobs")
                .at(Place::File(file.path))
                .help("a job is a section with any name but global: [randread]"));
        }
        file.jobs = jobs;
        Ok(file)
    }

    /// The whole file as a place.
    pub fn file(&self) -> Place {
        Place::File(self.path.clone())
    }

    fn place(&self, line: usize, at: Option<usize>) -> Place {
        let text = self.lines.get(line - 1).map_or("", String::as_str);
        let characters =
            |at: usize| text.get(..at).map_or(0, |before| before.chars().count()) as u64 + 1;
        Place::Line {
            file: self.path.clone(),
            line: line as u64,
            column: at.map(characters),
            text: shown(text.as_bytes()),
        }
    }

    /// An error about an option's name.
    pub fn wrong_name(&self, setting: &Setting, message: impl Into<String>) -> InputError {
        InputError::new(message).at(self.place(setting.line, Some(setting.name_at)))
    }

    /// An error about an option's value.
    pub fn wrong_value(&self, setting: &Setting, expected: &str) -> InputError {
        let message = match &setting.value {
            Some(value) => format!("{} is {value:?}: expected {expected}", setting.name),
            None => format!("{} has no value: expected {expected}", setting.name),
        };
        InputError::new(message).at(self.place(setting.line, Some(setting.value_at)))
    }

    /// A warning about an option.
    pub fn warning(&self, setting: &Setting, message: &str) -> String {
        format!("{}:{}: {message}", self.path.display(), setting.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<JobFile, InputError> {
        JobFile::parse(Path::new("a.fio"), text)
    }

    fn shown(job: &Job) -> Vec<String> {
        job.settings.iter().map(Setting::shown).collect()
    }

    #[test]
    fn jobs_have_what_the_global_sections_before_them_say() {
        let text = "; first\n[global]\nbs = 4k ; four\n\n  direct=1 # one\n[ a ]\nnorandommap\nrw=randread\n[global]\nbs=8k\n[b]\nrw=write\n";
        let file = parse(text).unwrap();
        assert_eq!(file.jobs.len(), 2);
        assert_eq!(
            (file.jobs[0].name.as_str(), file.jobs[1].name.as_str()),
            ("a", "b")
        );
        assert_eq!(
            shown(&file.jobs[0]),
            ["bs=4k", "direct=1", "norandommap", "rw=randread"]
        );
        assert_eq!(
            shown(&file.jobs[1]),
            ["bs=4k", "direct=1", "bs=8k", "rw=write"]
        );
        let direct = &file.jobs[0].settings[1];
        let error = file.wrong_value(direct, "0").to_string();
        assert!(error.contains("a.fio:5:10"), "{error}");
        assert!(error.contains("  direct=1 # one"), "{error}");
        let error = file.wrong_name(direct, "no").to_string();
        assert!(error.contains("a.fio:5:3"), "{error}");
        assert_eq!(file.warning(direct, "what"), "a.fio:5: what");
    }

    #[test]
    fn lines_that_are_nothing_are_refused_at_their_place() {
        for (text, place, part) in [
            ("bs=4k\n[a]", "a.fio:1:1", "before the first section"),
            ("[a\nbs=4k", "a.fio:1:1", "a section such as"),
            ("[]", "a.fio:1:1", "a section such as"),
            ("[a]\n  =4k", "a.fio:2:3", "an option such as"),
            ("[a]\nblock size=4k", "a.fio:2:1", "an option such as"),
            ("[a]\ninclude b.fio", "a.fio:2:1", "include"),
            ("", "a.fio", "no jobs"),
            ("[global]\nbs=4k", "a.fio", "no jobs"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(
                error.contains(place) && error.contains(part),
                "{text}: {error}"
            );
        }
    }
}
