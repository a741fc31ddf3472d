//! `rng-bit-generator` on the default adapter, bit for bit against the evaluator.

use crate::support::compile;
use crate::support::{device, module};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::Literal;
use weft_runtime::Executable;

#[test]
fn random_bits_agree_exactly() {
    let device = device();
    let shapes: [&[i64]; 7] = [&[], &[7], &[1000], &[3, 5], &[4, 3], &[2, 3, 5], &[0]];
    // The second one's counter carries from word to word.
    let states = [[1u32, 2, 3, 4], [0x1234_5678, 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFF]];
    for algorithm in ["rng_three_fry", "rng_philox", "rng_default"] {
        for extents in shapes {
            for element_type in ["u32", "s32"] {
                let bits = format!("{element_type}{extents:?}").replace(' ', "");
                let module = module(&format!(
                    "HloModule m\n\nENTRY e {{\n  s = u32[4] parameter(0)\n  \
                     ROOT r = (u32[4], {bits}) rng-bit-generator(s), algorithm={algorithm}\n}}\n"
                ));
                let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
                let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
                for state in states {
                    let inputs = [Literal::array([4], state.to_vec())];
                    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
                    let found = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(expected, found, "{algorithm} of {bits}");
                }
            }
        }
    }
}

/// Numbers made of the bits, twice from states that follow each other, as programs make them.
#[test]
fn random_bits_are_fused_with_what_reads_them() {
    let device = device();
    let module = module(
        "HloModule m\n\nENTRY e {\n  s = u32[4] parameter(0)\n  \
         a = (u32[4], u32[6,9]) rng-bit-generator(s), algorithm=rng_three_fry\n  \
         t = u32[4] get-tuple-element(a), index=0\n  x = u32[6,9] get-tuple-element(a), index=1\n  \
         b = (u32[4], u32[9,6]) rng-bit-generator(t), algorithm=rng_philox\n  \
         y = u32[9,6] get-tuple-element(b), index=1\n  z = u32[6,9] transpose(y), dimensions={1,0}\n  \
         ROOT m = u32[6,9] maximum(x, z)\n}\n",
    );
    let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
    let inputs = [Literal::array([4], vec![9u32, 8, 7, 6])];
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(expected, executable.run(&inputs).unwrap_or_else(|error| panic!("{error}")));
}
