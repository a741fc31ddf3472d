//! What is told of long work while it goes on.

use crate::support::{self, ROUNDS};
use std::sync::{Arc, Mutex};
use weft_hlo::ir::Literal;
use weft_runtime::{Executable, Options, Watch, compile_watched};

#[test]
fn kernels_and_rounds_are_counted() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let listening = Arc::clone(&told);
    let watch = Watch::new(move |progress| listening.lock().expect("nobody panics").push(progress.to_string()));
    let heard = || std::mem::take(&mut *told.lock().expect("nobody panics"));
    let device = support::device();
    let module = support::module(ROUNDS);
    let options = Options { whole_loops: false, ..Options::default() };
    let program = compile_watched(&module, device.target(), &options, &watch).expect("it compiles");
    let mut kernels = heard();
    kernels.sort();
    assert!(kernels.len() >= program.shaders().len() && !kernels.is_empty());
    let expected: Vec<String> =
        (1..=kernels.len()).map(|done| format!("{done} of {} kernels", kernels.len())).collect();
    assert_eq!(kernels, expected);
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}")).watched(watch);
    let input = Literal::array([64], vec![1.0f32; 64]);
    for _ in 0..2 {
        executable.run(std::slice::from_ref(&input)).unwrap_or_else(|error| panic!("{error}"));
        let rounds = heard();
        assert_eq!(rounds.len(), 5, "{rounds:?}");
        assert!(rounds[4].ends_with(": 5 of 5 rounds"), "{rounds:?}");
    }
}
