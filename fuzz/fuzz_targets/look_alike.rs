#![no_main]
diskwright_fuzz::reader!("look-alike");
