//! What a drive is set to: as it ships, as far as the spec says nothing else.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::HddSpec;
use super::buffer::BufferSpec;
use crate::devices::hdd::buffer_description::{BufferDescription, WriteCompletion};
use crate::devices::hdd::drive::DriveDescription;
use crate::devices::hdd::pool_description::PoolDescription;
use crate::models::queue::SchedulerChoice;

/// The queue depth of drives without one in their file: that of both generations of Serial ATA.
const USUAL_DEPTH: u32 = 32;

/// Where a setting is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The spec says it, or what it says leaves nothing else.
    Spec,
    /// The drive's file says it.
    Drive,
    /// Neither says anything.
    Default,
}

/// A setting, and where it is from.
#[derive(Clone, Debug, Serialize)]
pub struct Setting<T> {
    /// The value that the run used.
    pub value: T,
    /// The source of the value.
    #[serde(rename = "from")]
    pub origin: Origin,
}

impl<T> Setting<T> {
    fn new(value: T, origin: Origin) -> Setting<T> {
        Setting { value, origin }
    }

    /// The spec's, or else the drive's, or else the usual.
    fn first(spec: Option<T>, drive: Option<T>, usual: T) -> Setting<T> {
        let of = |value: Option<T>, origin| value.map(|value| Setting::new(value, origin));
        of(spec, Origin::Spec)
            .or_else(|| of(drive, Origin::Drive))
            .unwrap_or_else(|| Setting::new(usual, Origin::Default))
    }
}

/// The memory that a drive serves requests from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// None: every request waits for the medium.
    None,
    /// The segments of older drives.
    Segmented,
    /// The pool of newer ones.
    Pool,
}

/// The settings of a hard disk.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Requests that it can hold.
    pub queue_depth: Setting<u32>,
    /// Which of them is next.
    pub scheduler: Setting<SchedulerChoice>,
    /// What it has of memory.
    pub buffer: Setting<Memory>,
    /// Whether it completes writes that are only in that memory.
    pub write_cache: Setting<bool>,
    /// What a user should know of them.
    #[serde(skip)]
    notes: Vec<String>,
}

impl Settings {
    /// Those of a drive under a spec; `buffer` or `pool` is the memory that both together have.
    pub fn of(
        spec: &HddSpec,
        drive: &DriveDescription,
        buffer: Option<&BufferDescription>,
        pool: Option<&PoolDescription>,
    ) -> Settings {
        let ships = drive.ships.clone().unwrap_or_default();
        let mut settings = Settings {
            queue_depth: Setting::first(spec.queue.depth, ships.queue_depth, USUAL_DEPTH),
            scheduler: Setting::first(
                spec.queue.scheduler.clone(),
                ships.scheduler,
                SchedulerChoice::default(),
            ),
            buffer: match pool {
                Some(_) => pool_setting(spec, drive),
                None => memory(spec, drive, buffer),
            },
            write_cache: match pool {
                Some(_) => Setting::first(spec.write_cache, ships.write_cache, false),
                None => write_cache(spec, drive, buffer),
            },
            notes: Vec::new(),
        };
        settings.notes = settings.unusual(spec, drive, buffer, pool).collect();
        settings
    }

    /// Whether writes may be complete before they are on the medium.
    pub fn write_cache(&self) -> bool {
        self.write_cache.value
    }

    /// Has a buffer complete writes on the medium where the write cache is off.
    pub fn switch(&self, buffer: &mut Option<BufferDescription>) {
        if let Some(buffer) = buffer
            && !self.write_cache()
        {
            buffer.write.complete = WriteCompletion::OnMedium;
        }
    }

    /// What makes of the drive something that nobody sells, and what has no effect.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// As results tell them: each with its value and where that is from.
    pub fn json(&self) -> Map<String, Value> {
        match json!(self) {
            Value::Object(settings) => settings,
            _ => unreachable!("a struct is an object"),
        }
    }

    fn unusual(
        &self,
        spec: &HddSpec,
        drive: &DriveDescription,
        buffer: Option<&BufferDescription>,
        pool: Option<&PoolDescription>,
    ) -> impl Iterator<Item = String> {
        let ships = drive.ships.clone().unwrap_or_default();
        let (depth, scheduler) = (self.queue_depth.value, &self.scheduler.value);
        let is_fcfs = |scheduler: &SchedulerChoice| scheduler.name() == "fcfs";
        // Alone in the queue, a request is next whatever the rule.
        let reorders = ships
            .scheduler
            .filter(|shipped| depth > 1 && is_fcfs(scheduler) && !is_fcfs(shipped));
        let deeper = ships.queue_depth.filter(|&shipped| depth > shipped);
        let has_memory = drive.buffer.is_some() || drive.pool.is_some();
        // A block cache is memory, too.
        let lacks = has_memory && self.buffer.value == Memory::None && spec.cache.is_none();
        let has_cache = match pool {
            Some(pool) => pool.most_dirty(true).is_some(),
            None => buffer.is_some_and(caches),
        };
        let is_idle = self.write_cache.value && !has_cache;
        [
            reorders.map(|shipped| {
                format!(
                    "fcfs in a drive that ships with {}: no such drive is sold",
                    shipped.name()
                )
            }),
            deeper.map(|shipped| {
                format!("a queue of {depth} in a drive that ships with one of {shipped}")
            }),
            lacks
                .then(|| "without the buffer that the drive has: no such drive is sold".to_owned()),
            is_idle.then(|| {
                let said = match self.write_cache.origin {
                    Origin::Spec => "write_cache = true changes nothing",
                    _ => "the drive ships with its write cache on, which changes nothing here",
                };
                let known = match self.buffer.value {
                    Memory::Segmented => "its buffer completes no write before the medium does",
                    Memory::None if has_memory => "its buffer is off",
                    Memory::None | Memory::Pool => "its file does not describe a write cache",
                };
                format!("{said}: {known}, and every write waits for the medium")
            }),
        ]
        .into_iter()
        .flatten()
    }
}

/// Whether a buffer completes writes that are only in it.
fn caches(buffer: &BufferDescription) -> bool {
    buffer.write.complete != WriteCompletion::OnMedium
}

/// The memory, of which the spec says something where it has none or one that differs from the drive's.
fn memory(
    spec: &HddSpec,
    drive: &DriveDescription,
    buffer: Option<&BufferDescription>,
) -> Setting<Memory> {
    let value = match buffer {
        Some(_) => Memory::Segmented,
        None => Memory::None,
    };
    let origin = match spec.buffer() {
        BufferSpec::Drive if drive.buffer.is_some() => Origin::Drive,
        BufferSpec::Drive => Origin::Default,
        BufferSpec::Off | BufferSpec::Changed(_) => Origin::Spec,
    };
    Setting::new(value, origin)
}

/// A pool, of which the spec says something where it differs from the drive's.
fn pool_setting(spec: &HddSpec, drive: &DriveDescription) -> Setting<Memory> {
    let is_own = drive.pool.is_some() && !matches!(spec.buffer, Some(BufferSpec::Changed(_)));
    let origin = if is_own { Origin::Drive } else { Origin::Spec };
    Setting::new(Memory::Pool, origin)
}

/// The switch of the write cache. A segmented buffer that completes writes early has one that is on.
fn write_cache(
    spec: &HddSpec,
    drive: &DriveDescription,
    buffer: Option<&BufferDescription>,
) -> Setting<bool> {
    let of_buffer = buffer.map(caches);
    let of_spec = match spec.buffer() {
        BufferSpec::Off => Some(false),
        BufferSpec::Changed(changes) if completes(changes) => of_buffer,
        BufferSpec::Changed(_) | BufferSpec::Drive => None,
    };
    let shipped = drive.ships.as_ref().and_then(|ships| ships.write_cache);
    Setting::first(spec.write_cache.or(of_spec), shipped.or(of_buffer), false)
}

/// Whether a table of changes to a buffer says when writes are complete.
fn completes(changes: &Map<String, Value>) -> bool {
    let write = changes.get("write");
    write.is_some_and(|write| write.get("complete").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, from_node};
    use crate::base::error::Source;
    use crate::devices::drives::{DriveFile, text};
    use crate::devices::hdd::drive::Drive;

    fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
        let tree = Node::parse(&Source::new("test", text)).expect("TOML");
        from_node(&tree).expect("sound")
    }

    /// The settings of a drive of the library that ships with these, under the keys of a spec.
    fn settings(drive: &str, ships: &str, spec: &str) -> Settings {
        let own = text(drive).expect("a drive").to_owned();
        let file = DriveFile::parse("drive.toml".to_owned(), own).expect("TOML");
        let mut drive = Drive::of(&file).expect("a drive").description;
        drive.ships = Some(read(ships));
        let spec: HddSpec = read(&format!("drive = \"x\"\n{spec}"));
        let own = drive.buffer.clone();
        let buffer = spec.buffer().resolve(own).expect("sound");
        Settings::of(&spec, &drive, buffer.as_ref(), None)
    }

    const SHIPPED: &str =
        "queue_depth = 16\nscheduler = { aged-satf = { weight = 0.04 } }\nwrite_cache = true";
    const DRIVES: [&str; 2] = ["ibm-18es-linear", "ibm-18es"];

    #[test]
    fn what_the_spec_says_stands_over_what_the_drive_says_and_that_over_the_usual() {
        for drive in DRIVES {
            let plain = settings(drive, "", "");
            assert_eq!(plain.queue_depth.value, 32);
            assert_eq!(plain.queue_depth.origin, Origin::Default);
            assert_eq!(plain.scheduler.value.name(), "fcfs");
            assert_eq!(plain.scheduler.origin, Origin::Default);
            let shipped = settings(drive, SHIPPED, "");
            assert_eq!(shipped.queue_depth.value, 16);
            assert_eq!(shipped.queue_depth.origin, Origin::Drive);
            assert_eq!(
                json!(shipped.scheduler),
                json!({ "value": { "aged-satf": { "weight": 0.04 } }, "from": "drive" })
            );
            assert_eq!(shipped.write_cache.origin, Origin::Drive);
            assert!(shipped.write_cache());
            let said = "write_cache = false\nqueue = { depth = 4, scheduler = 'sptf' }";
            let said = settings(drive, SHIPPED, said);
            assert_eq!(
                json!([said.queue_depth, said.scheduler, said.write_cache]),
                json!([
                    { "value": 4, "from": "spec" },
                    { "value": "satf", "from": "spec" },
                    { "value": false, "from": "spec" },
                ])
            );
            assert!(said.notes().is_empty(), "{:?}", said.notes());
        }
    }

    #[test]
    fn a_segmented_buffer_has_a_write_cache_that_is_on_where_it_completes_writes_early() {
        let of = |ships, spec| {
            let found = settings("ibm-18es", ships, spec);
            (found.write_cache.value, found.write_cache.origin)
        };
        assert_eq!(of("", ""), (true, Origin::Drive));
        assert_eq!(of("write_cache = false", ""), (false, Origin::Drive));
        assert_eq!(of("", "write_cache = false"), (false, Origin::Spec));
        assert_eq!(of("", "buffer = false"), (false, Origin::Spec));
        assert_eq!(of("", "cache = { size = '1 MiB' }"), (false, Origin::Spec));
        let on_medium = "buffer = { write = { complete = 'on-medium' } }";
        assert_eq!(of("write_cache = true", on_medium), (false, Origin::Spec));
        let segments = "buffer = { segments = 2 }";
        assert_eq!(of("", segments), (true, Origin::Drive));
        let none = settings("ibm-18es-linear", "", "");
        assert_eq!(
            json!([none.buffer, none.write_cache]),
            json!([{ "value": "none", "from": "default" }, { "value": false, "from": "default" }])
        );
    }

    #[test]
    fn what_nobody_sells_gets_a_note() {
        let notes = |drive, spec| settings(drive, SHIPPED, spec).notes().join("\n");
        for (drive, spec, words) in [
            ("ibm-18es", "", &[][..]),
            ("ibm-18es", "queue = { scheduler = 'satf' }", &[]),
            ("ibm-18es", "queue = { depth = 1, scheduler = 'fcfs' }", &[]),
            ("ibm-18es", "queue = { depth = 16 }", &[]),
            ("ibm-18es", "cache = { size = '1 MiB' }", &[]),
            (
                "ibm-18es",
                "queue = { scheduler = 'fcfs' }",
                &["fcfs in a drive that ships with aged-satf"],
            ),
            (
                "ibm-18es",
                "queue = { depth = 17 }",
                &["a queue of 17 in a drive that ships with one of 16"],
            ),
            ("ibm-18es", "buffer = false", &["without the buffer"]),
            (
                "ibm-18es",
                "buffer = false\nwrite_cache = true",
                &["without the buffer", "its buffer is off"],
            ),
            (
                "hp-c3323a",
                "write_cache = true",
                &["write_cache = true changes nothing: its buffer completes no write"],
            ),
            ("ibm-18es-linear", "write_cache = false", &[]),
            (
                "ibm-18es-linear",
                "",
                &[
                    "ships with its write cache on, which changes nothing",
                    "not describe",
                ],
            ),
            (
                "ibm-18es-linear",
                "write_cache = true",
                &["write_cache = true changes nothing", "not describe"],
            ),
        ] {
            let found = notes(drive, spec);
            assert_eq!(
                found.is_empty(),
                words.is_empty(),
                "{drive} {spec}: {found}"
            );
            for word in words {
                assert!(found.contains(word), "{drive} {spec}: {found}");
            }
        }
    }
}
