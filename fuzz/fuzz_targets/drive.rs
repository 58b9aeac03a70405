#![no_main]
diskwright_fuzz::target!("drive");
