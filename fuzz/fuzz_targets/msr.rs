#![no_main]
diskwright_fuzz::reader!("msr");
