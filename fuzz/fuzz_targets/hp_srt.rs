#![no_main]
diskwright_fuzz::target!("hp_srt");
