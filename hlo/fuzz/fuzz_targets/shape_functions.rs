#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| weft_hlo_fuzz::check_shape_functions(data));
