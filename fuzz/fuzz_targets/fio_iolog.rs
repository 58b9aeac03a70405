#![no_main]
diskwright_fuzz::reader!("fio-iolog");
