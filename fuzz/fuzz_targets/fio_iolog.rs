#![no_main]
diskwright_fuzz::target!("fio_iolog");
