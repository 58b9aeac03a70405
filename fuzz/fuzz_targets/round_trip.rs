#![no_main]
libfuzzer_sys::fuzz_target!(|made: Vec<diskwright_fuzz::Made>| diskwright_fuzz::round_trip(&made));
