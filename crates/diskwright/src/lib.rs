//! diskwright simulates storage drives, request by request.
//!
//! A *spec* says what to run: a workload, a host, and a tree of devices. [`simulation::run`] turns it into a result.
//!
//! ```
//! use diskwright::simulation::{run, RunOptions, SpecSource};
//!
//! let text = r#"
//!     [workload.synthetic]
//!     requests = 10_000
//!     arrivals = { poisson = "20 ms" }
//!     reads = 0.67
//!     size = "4 KiB"
//!
//!     [measure]
//!     warmup = "10 %"
//!
//!     [device.hdd]
//!     drive = "cheetah-9lp"
//! "#;
//! let spec = SpecSource::Text { text: text.to_owned(), base: ".".into() };
//! let result = run(&spec, &RunOptions::default(), &mut ())?.json();
//! assert_eq!(result["requests"]["completed"], 10_000);
//! assert!(result["response_ms"]["mean"].as_f64() > Some(5.0));
//! # Ok::<(), diskwright::error::Error>(())
//! ```
//!
//! # The tour
//!
//! The modules stand in one direction: each uses only those above it.
//!
//! | module | holds |
//! |---|---|
//! | [`units`], [`error`], [`progress`], [`random`], [`registry`], [`choice`] | time in integer nanoseconds, located errors, how far work is, named streams of random numbers, named policies, and those that a program brings along |
//! | [`request`], [`timeline`], [`metrics`], [`ledger`] | a request's life, the event queue, what is measured, the checker |
//! | [`device`], [`engine`] | the one trait every device has, and the loop |
//! | [`geometry`] | where sectors are, how long arms take, when the platter comes round: pure functions |
//! | [`queue`] | the waiting requests, and the schedulers that choose among them |
//! | [`cache`] | caches of blocks, and the replacement policies that choose what leaves them |
//! | [`placement`] | where a logging drive writes, and with which of its arms a drive serves a request |
//! | [`hdd`] | a hard disk, made of the four above |
//! | [`array`](mod@array) | a device made of devices |
//! | [`workload`], [`host`] | traces and synthetic load, and who issues them |
//! | [`config`], [`simulation`] | text becomes checked values becomes devices becomes a result |
//! | [`disksim`] | the parameter files of DiskSim, read as drives |
//! | [`compare`] | a workload over varied keys, and whether they make a difference |
//! | [`miss_ratio`] | how often caches of many sizes and policies miss on a trace, with no drive behind them |
//! | [`schema`] | what a text may say, as JSON schemas |
//! | [`probe`] | what a drive does, measured on the running simulator |
//! | [`validate`] | how far the simulated drive is from the real one, by a recording of it |
//!
//! To follow a request: [`host::Host`] takes it from a [`workload::Workload`] and submits it through an
//! [`engine::Port`]; the [`engine::Engine`] hands it to [`hdd::Hdd`], which queues it in a [`queue::Pool`], lets a
//! [`queue::Scheduler`] pick it, works out its whole course in [`hdd::access`] and sets one alarm for its end; the
//! completion goes back to the host, whose [`metrics::Recorder`] notes it.

pub mod array;
pub mod cache;
pub mod choice;
pub mod compare;
pub mod config;
pub mod device;
pub mod disksim;
pub mod engine;
pub mod error;
pub mod geometry;
pub mod hdd;
pub mod host;
pub mod ledger;
pub mod metrics;
pub mod miss_ratio;
pub mod placement;
pub mod probe;
pub mod progress;
pub mod queue;
pub mod random;
pub mod registry;
pub mod request;
pub mod schema;
pub mod simulation;
pub mod timeline;
pub mod units;
pub mod validate;

pub mod workload;

mod whole_file;
