//! The integration tests, as one program: one thing to link, and one way to build a run (`support`).

mod arm_trace;
mod arms;
mod arrays;
mod beyond_disksim;
mod buffer_writes;
mod cache_memory;
mod checked_arrays;
mod checked_runs;
mod closed_forms;
mod clustering;
mod combinations;
mod comparing;
mod config_errors;
mod curve;
mod disksim_files;
mod drive_cache;
mod dual_actuator;
mod fuzz_targets;
mod golden;
mod initial_angle;
mod large_requests;
mod layers;
mod log_slots;
mod many_runs;
mod media_access;
mod miss_ratio;
mod picture;
mod queue_depth;
mod readers;
mod reference_data;
mod replacement;
mod request_log;
mod round_trips;
mod schedulers;
mod spec_memory;
mod support;
mod sweep_points;
mod synthetic_clone_profiles;
mod synthetic_clone_tables;
mod synthetic_load;
mod validate;
mod waiting;
mod warm_up;
mod whole_specs;

#[global_allocator]
static COUNTING: support::counting::Counting = support::counting::Counting;
