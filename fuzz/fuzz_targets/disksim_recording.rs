#![no_main]
diskwright_fuzz::target!("disksim_recording");
