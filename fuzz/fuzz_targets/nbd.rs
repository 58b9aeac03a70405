#![no_main]
diskwright_fuzz::target!("nbd");
