#![no_main]
diskwright_fuzz::target!("synthetic_clone");
