//! diskwright simulates storage drives, request by request.
//!
//! A *spec* says what to run: a workload, a host, and a tree of devices. [`runs::simulation::run`] turns it into a result.
//!
//! ```
//! use diskwright::runs::simulation::{run, RunOptions, SpecSource};
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
//! # Ok::<(), diskwright::base::error::Error>(())
//! ```
//!
//! # The tour
//!
//! The modules stand in one direction: each uses only those above it, and no kind of device uses another. A test holds that.
//!
//! | module | holds |
//! |---|---|
//! | [`base`] | time in integer nanoseconds, located errors, streams of random numbers, TOML with places, named policies, JSON schemas |
//! | [`engine`] | a request's life, the one trait that every device has, the event queue, the loop, the checker |
//! | [`metrics`] | histograms, confidence intervals, what is measured of a run |
//! | [`models`] | [`geometry`](models::geometry): where sectors are, how long arms take; [`queue`](models::queue): waiting requests and schedulers; [`cache`](models::cache): caches of blocks and replacement policies; [`flash`](models::flash): blocks, pages and the map of an SSD; [`placement`](models::placement): where a logging drive writes, and with which arm |
//! | [`devices`] | the kinds of devices, a folder each: a hard disk, made of these; an SSD; devices of constant times and of a measured curve; an array, made of devices |
//! | [`workload`], [`host`] | traces and synthetic load, and who issues them |
//! | [`config`] | text becomes checked values |
//! | [`disksim`] | the parameter files of DiskSim, read as drives |
//! | [`runs`] | a spec becomes results: one simulation, many to compare, a drive's measures, its demerit, miss ratios |
//!
//! To follow a request: [`host::Host`] takes it from a [`workload::Workload`] and submits it through an
//! [`engine::Port`]; the [`engine::Engine`] hands it to [`devices::hdd`], which queues it in a [`models::queue::Pool`], lets a
//! [`models::queue::Scheduler`] pick it, works out its whole course in [`devices::hdd::access`] and sets one alarm for its end; the
//! completion goes back to the host, whose [`metrics::Recorder`] notes it.

pub mod base;
pub mod config;
pub mod devices;
pub mod disksim;
pub mod engine;
pub mod host;
pub mod metrics;
pub mod models;
pub mod runs;
pub mod workload;
