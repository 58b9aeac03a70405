#![no_main]
diskwright_fuzz::reader!("hp-srt");
