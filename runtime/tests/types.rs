//! Operations on elements of every type on the default adapter against the reference evaluator, and what is moved bit for bit.

use crate::count::{cases, first_seed};
use crate::near::{is_double, is_near, numbers, types};
use crate::support::{compile, device};
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::eval::{Config, converted, evaluate, evaluate_precisely};
use weft_hlo::ir::{Data, ElementType, FloatFormat, Literal, Module, Opcode, Scalar, Shape};
use weft_hlo::passes::{Pass, WideSums};
use weft_hlo::random::{Numbers, Options, inputs, instance};
use weft_hlo::text::{parse, print};
use weft_runtime::{Device, Executable};

/// Runs a module on both, and says where they differ.
fn difference(device: &Device, module: &Module, inputs: &[Literal], units: f64) -> Result<(), String> {
    let mut expected = evaluate(module, inputs).map_err(|error| format!("evaluator: {error}"))?;
    // Sums of narrow floats are rounded once: in the widest types the evaluator does so, too.
    let is_wide = WideSums.run(module).is_ok_and(|widened| !widened.changes.is_empty());
    if is_wide {
        let precise = evaluate_precisely(module, inputs, &Config::default());
        for (literal, precise) in expected.iter_mut().zip(precise.map_err(|error| format!("evaluator: {error}"))?) {
            let ty = literal.data.element_type().filter(|ty| FloatFormat::of(*ty).is_some());
            if let Some(data) = ty.and_then(|ty| converted(&precise.data, ty)) {
                literal.data = data;
            }
        }
    }
    let program = compile(module, device.target()).map_err(|error| format!("refused: {error}"))?;
    let actual = Executable::new(device, program).and_then(|program| program.run(inputs));
    let actual = actual.map_err(|error| format!("run: {error}"))?;
    for (expected, actual) in expected.iter().zip(&actual) {
        for position in 0..expected.data.len().unwrap_or(0) {
            let (Some(a), Some(b)) = (expected.data.get(position), actual.data.get(position)) else {
                return Err(format!("element {position} is missing"));
            };
            if !is_near(a, b, units) {
                return Err(format!("element {position} is {a} and became {b}"));
            }
        }
    }
    Ok(())
}

/// How an instance of an operation came out.
#[derive(Clone, Copy, Default)]
struct Count {
    made: u32,
    refused: u32,
    wrong: u32,
}

/// Instances of operations on elements of each type, `per_type` of each unless more are asked for, with numbers of that kind; sums may be
/// off by so many units.
fn check_all(opcodes: &[Opcode], per_type: u64, numbers: Numbers, units: f64) -> String {
    let device = device();
    let (mut report, mut counts) = (String::new(), BTreeMap::<(&str, &str), Count>::new());
    for ty in types() {
        let options = Options { numbers, elements: 40, types: vec![ty], same_width: true, ..Options::computed() };
        for &opcode in opcodes {
            for seed in first_seed()..first_seed() + cases(per_type) {
                // What a map applies may multiply what its floats are off by.
                if opcode == Opcode::Map && !ty.is_integer() && ty != ElementType::Pred {
                    continue;
                }
                let Some(module) = instance(seed, opcode, &options) else { continue };
                let inputs = inputs(&module, seed, &options);
                let count = counts.entry((opcode.name(), ty.name())).or_default();
                count.made += 1;
                let units = if ty.is_complex() { 4.0 * units } else { units };
                let Err(found) = difference(&device, &module, &inputs, units) else { continue };
                // Not all devices compute with 64 bits.
                if found.contains("needs features that the target does not have") {
                    assert!(is_double(ty) && !device.target().features.shader_f64, "{found}");
                    count.made -= 1;
                    continue;
                }
                // What an operation applies to elements may be more than kernels apply to them yet.
                if found.starts_with("refused: HLO401") || found.starts_with("refused: HLO411") {
                    count.refused += 1;
                    continue;
                }
                count.wrong += 1;
                writeln!(report, "{opcode} {ty}, seed {seed}: {found}\n{}", print(&module)).unwrap();
            }
        }
    }
    let mut summary = String::new();
    for ((opcode, ty), Count { made, refused, wrong }) in &counts {
        writeln!(summary, "{opcode} {ty}: {made} made, {refused} refused, {wrong} wrong").unwrap();
    }
    let of_all = |count: fn(&Count) -> u32| counts.values().map(count).sum::<u32>();
    let (made, refused) = (of_all(|count| count.made), of_all(|count| count.refused));
    writeln!(summary, "{made} made, {refused} refused").unwrap();
    assert!(report.is_empty(), "{report}");
    assert!(refused * 10 <= made, "{refused} of {made} are refused");
    summary
}

#[test]
fn elementwise_operations_and_moves_agree_on_every_type() {
    let opcodes: Vec<Opcode> =
        weft_hlo::random::computed().chain([Opcode::Complex, Opcode::Real, Opcode::Imag]).collect();
    println!("{}", check_all(&opcodes, 1, Numbers::Any, 4.0));
}

/// At places that values tell, in windows, sums of products. Orders of summation are free, of numbers that are small here.
#[test]
fn further_operations_agree_on_every_type() {
    let opcodes = [
        Opcode::Gather,
        Opcode::DynamicSlice,
        Opcode::DynamicUpdateSlice,
        Opcode::Dot,
        Opcode::Convolution,
        Opcode::ReduceWindow,
        Opcode::ReducePrecision,
        Opcode::Map,
        Opcode::SelectAndScatter,
        Opcode::MultiplyHigh,
        Opcode::StochasticConvert,
        Opcode::RngBitGenerator,
    ];
    println!("{}", check_all(&opcodes, 1, Numbers::Small, 16.0));
}

/// All numbers of a type, or the interesting ones, with fewer bits: HLO counts the bits of the number as it is in memory, be it subnormal.
#[test]
fn precision_is_reduced_on_the_bits_of_each_type() {
    let device = device();
    let mut failures = String::new();
    for ty in types().filter(|ty| ty.is_float() && (device.target().features.shader_f64 || !is_double(*ty))) {
        let numbers = interesting(ty);
        for [exponent, mantissa] in [[1, 0], [2, 9], [4, 3], [5, 2], [5, 10], [8, 7], [8, 1], [11, 52], [3, 1]] {
            let text = format!(
                "HloModule m\n\nENTRY e {{\n  x = {ty}[{0}] parameter(0)\n  ROOT r = {ty}[{0}] reduce-precision(x), \
                 exponent_bits={exponent}, mantissa_bits={mantissa}\n}}\n",
                numbers.data.len().unwrap_or(0)
            );
            let module = parse(&text).unwrap();
            if let Err(found) = difference(&device, &module, std::slice::from_ref(&numbers), 0.0) {
                writeln!(failures, "{ty} with {exponent} and {mantissa} bits: {found}").unwrap();
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Numbers of a type that conversions can go wrong at: zero, the ends, powers of two and their neighbours, halves, NaNs.
fn interesting(ty: ElementType) -> Literal {
    let bits = ty.bits();
    let mask = u128::MAX >> (128 - bits);
    // All that there are, up to 16 bits.
    let mut patterns: Vec<u128> = (0..1u128 << bits.min(16)).collect();
    for place in 0..bits {
        let power = 1u128 << place;
        patterns.extend([power - 1, power, power + 1, power | power >> 1, !power, power.wrapping_neg(), !(power >> 1)]);
    }
    // Floats around the ends of integers of all widths, and around what other floats can tell apart.
    let near = |value: f64| [value - 0.5, value, value + 0.5, value * (1.0 + f64::EPSILON * 2f64.powi(30))];
    let around = |exponent: i32| near(f64::from(exponent).exp2());
    for value in (-30..70).flat_map(around).flat_map(|value| [value, -value]) {
        let float = match ty {
            ElementType::F32 => u128::from((value as f32).to_bits()),
            ElementType::F64 => u128::from(value.to_bits()),
            ElementType::C128 => u128::from(value.to_bits()) | 1u128 << 126,
            ElementType::C64 => u128::from((value as f32).to_bits()) | 0x3f80_0000 << 32,
            _ => FloatFormat::of(ty).and_then(|format| format.nearest(value)).map_or(0, u128::from),
        };
        patterns.push(float);
    }
    patterns.iter_mut().for_each(|pattern| *pattern &= mask);
    patterns.sort_unstable();
    patterns.dedup();
    let mut data = Data::filled(Scalar::from_bits(0, ty), patterns.len());
    for (position, pattern) in patterns.iter().enumerate() {
        data.set(position, Scalar::from_bits(*pattern, ty));
    }
    Literal { shape: Shape::array(ty, [patterns.len() as i64]), data }
}

/// Of `f32` and complex numbers those that are subnormal may count as zeros, so their images do not count.
fn is_subnormal(scalar: Scalar) -> bool {
    numbers(scalar)
        .is_some_and(|parts| parts.iter().any(|part| *part != 0.0 && part.abs() < f64::from(f32::MIN_POSITIVE)))
}

/// From each type to each other one, all in one program a type.
#[test]
fn conversions_between_all_types_are_exact() {
    let device = device();
    for from in types() {
        let given = interesting(from);
        let count = given.data.len().unwrap();
        let mut text = format!("HloModule conversions\nENTRY main {{\n  x = {from}[{count}] parameter(0)\n");
        // A complex number has no real one to become.
        let targets: Vec<ElementType> = types().filter(|to| to.is_complex() || !from.is_complex()).collect();
        for to in &targets {
            writeln!(text, "  c_{to} = {to}[{count}] convert(x)").unwrap();
        }
        let shapes: Vec<String> = targets.iter().map(|to| format!("{to}[{count}]")).collect();
        let names: Vec<String> = targets.iter().map(|to| format!("c_{to}")).collect();
        writeln!(text, "  ROOT t = ({}) tuple({})\n}}", shapes.join(", "), names.join(", ")).unwrap();
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let expected = evaluate(&module, std::slice::from_ref(&given)).unwrap();
        let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{from}: {error}"));
        let actual = Executable::new(&device, program).unwrap().run(std::slice::from_ref(&given)).unwrap();
        for ((to, expected), actual) in targets.iter().zip(&expected).zip(&actual) {
            for position in 0..count {
                let [x, a, b] = [&given, expected, actual].map(|literal| literal.data.get(position).unwrap());
                let flushes = is_subnormal(x) || is_subnormal(a);
                assert!(flushes || is_near(a, b, 0.0), "{from} to {to}: {x} is {a} and became {b}");
            }
        }
    }
}

/// The bits of one array are numbers of several types in one kernel.
#[test]
fn bits_are_decoded_as_each_of_their_types() {
    let device = device();
    for [from, to] in [["f8e4m3", "f8e5m2fnuz"], ["f16", "bf16"], ["f8e5m2", "f8e4m3b11fnuz"]] {
        let text = format!(
            "HloModule bits
            ENTRY main {{
                x = {from}[4] parameter(0)
                y = {to}[4] bitcast-convert(x)
                a = {from}[4] add(x, x)
                b = {to}[4] add(y, y)
                ROOT t = ({from}[4], {to}[4]) tuple(a, b)
            }}"
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let inputs = inputs(&module, 3, &Options { numbers: Numbers::Small, ..Options::computed() });
        assert_eq!(difference(&device, &module, &inputs, 0.0), Ok(()), "{text}");
    }
}

/// Of slices without elements there are zeros where the dimension is dropped, whatever the operand is.
#[test]
fn slices_without_elements_are_zeros() {
    let device = device();
    for operand in ["f32[0,3] broadcast(c), dimensions={}", "f32[0,3] exponential(x)", "f32[0,3] copy(x)"] {
        let text = format!(
            "HloModule m
            ENTRY main {{
                x = f32[0,3] parameter(0)
                c = f32[] constant(-1.5)
                o = {operand}
                i = s32[2,1] iota(), iota_dimension=0
                ROOT g = f32[2,3] gather(o, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{1}},
                    index_vector_dim=1, slice_sizes={{0,3}}
            }}"
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let inputs = [Literal::array([0, 3], Vec::<f32>::new())];
        for optimize in [false, true] {
            let options = weft_runtime::Options { optimize, host: false, ..weft_runtime::Options::default() };
            let program = weft_runtime::compile_with(&module, device.target(), &options).expect("it compiles");
            let found = Executable::new(&device, program).expect("it loads").run(&inputs).expect("it runs");
            assert_eq!(found[0].data, Data::F32(vec![0.0; 6]), "{text}");
        }
    }
}

/// NaNs with all their bits, and numbers that devices take for zeros.
#[test]
fn moves_keep_all_bits() {
    let device = device();
    for ty in types().filter(|ty| *ty != ElementType::F32 && *ty != ElementType::C64) {
        let given = interesting(ty);
        let count = given.data.len().unwrap();
        let text = format!(
            "HloModule moves
            ENTRY main {{
                x = {ty}[{count}] parameter(0)
                r = {ty}[{count}] reverse(x), dimensions={{0}}
                s = {ty}[{half}] slice(r), slice={{[1:{count}:2]}}
                ROOT c = {ty}[{all}] concatenate(s, x, r), dimensions={{0}}
            }}",
            half = count / 2,
            all = count / 2 + 2 * count,
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let expected = evaluate(&module, std::slice::from_ref(&given)).unwrap();
        let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{ty}: {error}"));
        let actual = Executable::new(&device, program).unwrap().run(std::slice::from_ref(&given)).unwrap();
        assert_eq!(expected, actual, "{ty}");
    }
}

/// Rows of whole words and others, along words and across them, to places that are known and that values tell.
#[test]
fn what_only_moves_moves_in_words() {
    let device = device();
    let programs = [
        "ROOT y = T[18,C] concatenate(x, x), dimensions={0}",
        "ROOT y = T[9,E] concatenate(x, x), dimensions={1}",
        "ROOT y = T[12,W] pad(x, v), padding=2_1x4_8",
        "ROOT y = T[12,W] pad(x, v), padding=2_1x1_11",
        "ROOT y = T[9,F] slice(x), slice={[0:9],[3:L]}",
        "z = s32[] constant(0)\nROOT y = T[7,F] dynamic-slice(x, z, i), dynamic_slice_sizes={7,F}",
        "ROOT y = T[9,C] reverse(x), dimensions={0}",
        "c = T[9,C] reverse(x), dimensions={0}\nROOT y = T[9,C] select(p, x, c)",
    ];
    for (number, ty) in types().enumerate() {
        for (turn, program) in programs.iter().enumerate() {
            let columns = [48, 52, 37][(number + turn) % 3];
            let mut text = format!(
                "HloModule moves\nENTRY main {{\nx = T[9,C] parameter(0)\nv = T[] parameter(1)\n\
                 i = s32[] parameter(2)\np = pred[] parameter(3)\n{program}\n}}\n"
            );
            text = text.replace("T[", &format!("{ty}["));
            for (name, extent) in [('C', columns), ('E', 2 * columns), ('F', columns - 5), ('W', columns + 12)] {
                text = text.replace(&format!(",{name}]"), &format!(",{extent}]"));
                text = text.replace(&format!(",{name}}}"), &format!(",{extent}}}"));
            }
            text = text.replace(":L]", &format!(":{}]", columns - 2));
            let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
            let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{text}{error}"));
            let unproved: Vec<_> =
                program.shaders().iter().flat_map(|shader| shader.proofs().unproved.clone()).collect();
            assert!(unproved.is_empty(), "{text}{unproved:?}");
            let executable = Executable::new(&device, program).unwrap();
            for (start, holds) in [(0, true), (3, false)] {
                let options = Options { numbers: Numbers::Any, ..Options::computed() };
                let mut given = inputs(&module, first_seed() + start, &options);
                given[2] = Literal::array([], vec![i32::try_from(start).unwrap()]);
                given[3] = Literal::array([], vec![holds]);
                let expected = evaluate(&module, &given).unwrap();
                assert_eq!(expected, executable.run(&given).unwrap(), "{text}");
            }
        }
    }
}
