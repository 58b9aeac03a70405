#![no_main]
diskwright_fuzz::reader!("disksim-ascii");
