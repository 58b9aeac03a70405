#![no_main]
diskwright_fuzz::reader!("synthetic-clone");
