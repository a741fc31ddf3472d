//! `rng-bit-generator`, `scan`, `select-and-scatter`, `mulhi` and `stochastic-convert` written out compute what the operations compute, bit for bit.

use crate::count::cases;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ElementType, Instruction, Literal, Module, Op, Opcode};
use weft_hlo::passes::{
    BitcastWidths, MultiplyHigh, Pass, RandomBits, RegionConstants, Scans, SelectAndScatter, StochasticConvert,
    order_scatters,
};
use weft_hlo::random::{Numbers, Options, Rng, inputs, instance};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

/// Fails unless the pass leaves nothing of the operation, and what it makes has the same bits.
fn same_bits(pass: &dyn Pass, module: &Module, inputs: &[Literal]) {
    let after = pass.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
    let again = pass.run(&after).unwrap();
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    let (expected, found) = (evaluate(module, inputs).unwrap(), evaluate(&after, inputs).unwrap());
    // NaNs of the same bits print alike.
    assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{}\n{}", print(module), print(&after));
}

#[test]
fn random_bits_are_those_of_the_operation() {
    let mut rng = Rng::new(3);
    let shapes: [&[i64]; 14] = [
        &[],
        &[1],
        &[7],
        &[8],
        &[0],
        &[3, 5],
        &[5, 3],
        &[3, 4],
        &[4, 3],
        &[1, 3, 3],
        &[3, 3, 2],
        &[2, 3, 5],
        &[3, 0],
        &[5, 6],
    ];
    for algorithm in ["rng_three_fry", "rng_philox", "rng_default"] {
        for extents in shapes {
            for element_type in ["u32", "s32", "f32", "u64", "f64", "s16", "bf16", "u8", "u4"] {
                let bits = format!("{element_type}{extents:?}").replace(' ', "");
                // Counters that carry from word to word, too.
                let mut word = || rng.choose(&[0, 1, 5, 0x8000_0000, 0xFFFF_FFF0, u32::MAX, 0x1234_5678]).unwrap();
                let words: [u32; 4] = std::array::from_fn(|_| word());
                let text = format!(
                    "HloModule m\n\nENTRY e {{\n  s = u32[4] parameter(0)\n  \
                     ROOT r = (u32[4], {bits}) rng-bit-generator(s), algorithm={algorithm}\n}}\n"
                );
                let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
                same_bits(&RandomBits, &module, &[Literal::array([4], words.to_vec())]);
                let text = text.replace("u32[4]", "u64[2]");
                let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
                let pairs = [0, 2].map(|low| u64::from(words[low]) | u64::from(words[low + 1]) << 32);
                same_bits(&RandomBits, &module, &[Literal::array([2], pairs.to_vec())]);
                if algorithm == "rng_three_fry" {
                    continue;
                }
                // A counter of 128 bits.
                let text = text.replace("u64[2]", "u64[3]");
                let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
                let numbers = [pairs[0], pairs[1], pairs[0] ^ pairs[1].rotate_left(7)];
                same_bits(&RandomBits, &module, &[Literal::array([3], numbers.to_vec())]);
            }
        }
    }
}

/// What has no words stays.
#[test]
fn other_random_bits_stay() {
    for (state, bits) in [("u64[2]", "f6e3m2fn[8]"), ("u32[4]", "f6e2m3fn[8]")] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  s = {state} parameter(0)\n  \
             ROOT r = ({state}, {bits}) rng-bit-generator(s), algorithm=rng_philox\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        assert!(RandomBits.run(&module).unwrap().changes.is_empty(), "{text}");
    }
}

#[test]
fn scattering_where_a_window_selects_is_two_reductions() {
    let mut options = Options { elements: 150, ..Options::default() };
    options.types = vec![ElementType::S32, ElementType::U32, ElementType::Pred, ElementType::F32, ElementType::Bf16];
    let mut made = 0;
    for seed in 0..cases(400) {
        let Some(module) = instance(seed, Opcode::SelectAndScatter, &options) else { continue };
        let inputs = inputs(&module, seed, &options);
        if evaluate(&module, &inputs).is_ok() {
            same_bits(&SelectAndScatter, &module, &inputs);
            made += 1;
        }
    }
    assert!(made > 300, "{made}");
}

#[test]
fn scans_are_loops_of_the_same_bits() {
    let made = instances_are_the_same(&Scans, Opcode::Scan);
    assert!(made > 300, "{made}");
}

/// Of each type its operations, in both directions; of floats those that may be regrouped, of numbers that no order rounds.
#[test]
fn scans_that_fold_are_prefix_sums_of_the_same_bits() {
    let options = Options { numbers: Numbers::Small, ..Options::default() };
    let integers = &["add", "multiply", "maximum", "minimum", "and", "or", "xor"][..];
    let types = [
        ("s32", integers, false),
        ("u8", integers, false),
        ("s64", integers, false),
        ("pred", &["and", "or", "xor", "maximum"][..], false),
        ("f32", &["add", "maximum", "minimum"][..], true),
        ("bf16", &["maximum", "minimum"][..], true),
    ];
    for (element_type, operations, is_associative) in types {
        for (number, operation) in operations.iter().enumerate() {
            for (extents, dimension) in
                [(&[7][..], 0), (&[1], 0), (&[0], 0), (&[4, 5], 0), (&[4, 5], 1), (&[3, 0, 2], 2)]
            {
                let list = |extents: &[i64]| extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
                let mut rest = extents.to_vec();
                rest.remove(dimension);
                let (all, slice) = (list(extents), list(&rest));
                let (is_reverse, operands) = (number % 2 == 1, if number % 3 == 1 { "b, a" } else { "a, b" });
                let text = format!(
                    "step {{\n  a = {element_type}[{slice}] parameter(0)\n  b = {element_type}[{slice}] parameter(1)\n  \
                     c = {element_type}[{slice}] {operation}({operands})\n  \
                     ROOT t = ({element_type}[{slice}], {element_type}[{slice}]) tuple(c, c)\n}}\n\nENTRY e {{\n  \
                     x = {element_type}[{all}] parameter(0)\n  z = {element_type}[{slice}] parameter(1)\n  \
                     ROOT r = ({element_type}[{all}], {element_type}[{slice}]) scan(x, z), dimensions={{{dimension}}}, \
                     num_carries=1, is_reverse={is_reverse}, is_associative={is_associative}, to_apply=step\n}}\n"
                );
                let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
                same_bits(&Scans, &module, &inputs(&module, number as u64, &options));
                let made = print(&Scans.run(&module).unwrap().module);
                assert!(!made.contains(" while("), "{made}");
            }
        }
    }
}

/// A scan that does something besides is no prefix sum, and one in what is applied to elements stays, as there are no loops.
#[test]
fn other_scans_are_no_prefix_sums() {
    let text = "sum {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  t = token[] after-all()\n  \
                o = token[] outfeed(a, t), outfeed_shape=s32[]\n  c = s32[] add(a, b)\n  ROOT r = (s32[], s32[]) tuple(c, c)\n}\n\n\
                ENTRY e {\n  x = s32[4] parameter(0)\n  z = s32[] parameter(1)\n  \
                ROOT s = (s32[4], s32[]) scan(x, z), dimensions={0}, num_carries=1, to_apply=sum\n}\n";
    let made = print(&Scans.run(&parse(text).unwrap()).unwrap().module);
    assert!(made.contains(" while(") && made.contains(" outfeed("), "{made}");
    let text = "sum {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = s32[] add(a, b)\n  ROOT r = (s32[], s32[]) tuple(c, c)\n}\n\n\
                inner {\n  p = s32[] parameter(0)\n  q = s32[3] broadcast(p), dimensions={}\n  \
                s = (s32[3], s32[]) scan(q, p), dimensions={0}, num_carries=1, to_apply=sum\n  ROOT l = s32[] get-tuple-element(s), index=1\n}\n\n\
                region {\n  p = s32[] parameter(0)\n  ROOT c = s32[] call(p), to_apply=inner\n}\n\n\
                ENTRY e {\n  x = s32[4] parameter(0)\n  ROOT m = s32[4] map(x), dimensions={0}, to_apply=region\n}\n";
    assert!(Scans.run(&parse(text).unwrap()).unwrap().changes.is_empty());
}

/// A scan in a computation that a scan runs.
#[test]
fn scans_of_scans_are_loops() {
    let text = "inner {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  k = s32[] constant(3)\n  m = s32[] multiply(b, k)\n  \
                c = s32[] subtract(m, a)\n  ROOT t = (s32[], s32[]) tuple(b, c)\n}\n\n\
                outer {\n  x = s32[4] parameter(0)\n  z = s32[] parameter(1)\n  \
                ROOT r = (s32[4], s32[]) scan(x, z), dimensions={0}, num_carries=1, to_apply=inner\n}\n\n\
                ENTRY e {\n  x = s32[3,4] parameter(0)\n  z = s32[] parameter(1)\n  \
                ROOT r = (s32[3,4], s32[]) scan(x, z), dimensions={0}, num_carries=1, is_reverse=true, to_apply=outer\n}\n";
    let module = parse(text).unwrap();
    same_bits(&Scans, &module, &inputs(&module, 1, &Options::default()));
    let made = print(&Scans.run(&module).unwrap().module);
    assert!(!made.contains(" scan("), "{made}");
}

/// Between all types of unequal widths, in both directions.
#[test]
fn bitcasts_between_widths_are_the_same_bits() {
    let options = Options { elements: 60, same_width: false, ..Options::default() };
    let mut made = 0;
    for seed in 0..cases(600) {
        let Some(module) = instance(seed, Opcode::BitcastConvert, &options) else { continue };
        let entry = module.entry_computation();
        let array = |id: weft_hlo::ir::InstrId| entry.instructions[id].shape.as_array().cloned();
        let operand = entry.instructions[entry.root].operands.first().and_then(|operand| array(*operand));
        let types = [array(entry.root), operand].map(|array| array.map(|array| array.element_type));
        let widths = types.map(|ty| ty.map_or(0, ElementType::bits));
        // There is no unsigned integer of six bits, nor one of 128.
        if widths[0] != widths[1] && widths.iter().all(|bits| bits.is_power_of_two() && *bits <= 64) {
            same_bits(&BitcastWidths, &module, &inputs(&module, seed, &options));
            made += 1;
        }
    }
    assert!(made > 100, "{made}");
}

/// How many instances of an operation a pass writes out as what has the same bits.
fn instances_are_the_same(pass: &dyn Pass, opcode: Opcode) -> u32 {
    let options = Options { elements: 60, ..Options::default() };
    let mut made = 0;
    for seed in 0..cases(600) {
        let Some(module) = instance(seed, opcode, &options) else { continue };
        same_bits(pass, &module, &inputs(&module, seed, &options));
        made += 1;
    }
    made
}

#[test]
fn high_products_are_the_same_bits() {
    let made = instances_are_the_same(&MultiplyHigh, Opcode::MultiplyHigh);
    assert!(made > 300, "{made}");
}

/// To all types, of which some have no integers of their bits.
#[test]
fn stochastic_conversions_are_the_same_bits() {
    let made = instances_are_the_same(&StochasticConvert, Opcode::StochasticConvert);
    assert!(made > 200, "{made}");
}

/// Constants of arrays, also without elements, in what operations apply to elements.
#[test]
fn constants_of_regions_are_the_same_bits() {
    let options = Options { elements: 60, ..Options::default() };
    let mut made = 0;
    for opcode in [Opcode::Map, Opcode::Reduce, Opcode::ReduceWindow, Opcode::Scatter, Opcode::Scan] {
        for seed in 0..cases(300) {
            let Some(module) = instance(seed, opcode, &options) else { continue };
            if !RegionConstants.run(&module).unwrap().changes.is_empty() {
                same_bits(&RegionConstants, &module, &inputs(&module, seed, &options));
                made += 1;
            }
        }
    }
    assert!(made > 20, "{made}");
}

/// Scatters of all forms, all of whose rows are one stretch, or three, or as many as there are.
#[test]
fn ordered_scatters_are_the_same_bits() {
    let options = Options { disorderly: true, elements: 40, ..Options::computed() };
    let mut ordered = 0;
    for seed in 0..cases(120) {
        let Some(module) = instance(seed, Opcode::Scatter, &options) else { continue };
        let inputs = inputs(&module, seed, &options);
        let most_rows = [1 << 20, 5, 2][seed as usize % 3];
        let after = order_scatters(&module, most_rows, &|_, _, _| true).unwrap();
        let after = after.module;
        verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
        let is_loop = |instruction: &Instruction| matches!(instruction.op, Op::While { .. });
        ordered += usize::from(after.entry_computation().instructions.values().any(is_loop));
        let (expected, found) = (evaluate(&module, &inputs).unwrap(), evaluate(&after, &inputs).unwrap());
        assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{}\n{}", print(&module), print(&after));
    }
    assert!(ordered as u64 > cases(120) / 4, "{ordered} have loops");
}
