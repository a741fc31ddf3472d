//! The distribution of random modules: every feature is frequent, and options are respected.

use crate::count::cases;
use weft_hlo::eval::{Config, evaluate, evaluate_precisely};
use weft_hlo::ir::{Data, ElementType, Op, Opcode, Shape};
use weft_hlo::random::{self, Distribution, Numbers, Options};
use weft_hlo::text::{parse, print};

const MODULES: u64 = 2_000;
/// The least share, in a thousand, of instructions that each operation must have.
const MIN_OPERATION_SHARE: usize = 2;
/// The least share, in a thousand, of arrays that each element type must have.
const MIN_TYPE_SHARE: usize = 10;

fn of_seeds(seeds: std::ops::Range<u64>, options: &Options) -> Distribution {
    let mut distribution = Distribution::default();
    seeds.for_each(|seed| distribution.add(&random::module(seed, options)));
    distribution
}

#[test]
fn every_operation_type_rank_and_form_is_frequent() {
    let distribution = of_seeds(0..MODULES, &Options::default());
    println!("{distribution}");
    assert_eq!(distribution.missing_operations(), Vec::<Opcode>::new());
    assert_eq!(distribution.missing_types(), []);
    let share = |count: usize, all: usize| 1000 * count / all;
    for (name, &count) in &distribution.operations {
        assert!(share(count, distribution.instructions) >= MIN_OPERATION_SHARE, "{name}: {count}");
    }
    let arrays: usize = distribution.types.values().sum();
    for (element_type, &count) in &distribution.types {
        assert!(share(count, arrays) >= MIN_TYPE_SHARE, "{element_type}: {count}");
    }
    assert_eq!(distribution.ranks.keys().copied().collect::<Vec<_>>(), (0..=6).collect::<Vec<_>>());
    for (rank, &count) in &distribution.ranks {
        assert!(share(count, arrays) >= 10, "rank {rank}: {count}");
    }
    let dimensions: usize = distribution.extents.values().sum();
    for extent in 0..=3 {
        assert!(share(distribution.extents[&extent], dimensions) >= 30, "extent {extent}");
    }
    for readers in 0..=3 {
        assert!(share(distribution.readers[&readers], distribution.instructions) >= 20, "{readers} readers");
    }
    for depth in 0..=3 {
        assert!(share(distribution.nesting[&depth], distribution.modules) >= 20, "nested {depth} deep");
    }
    assert!(distribution.callers.keys().any(|&callers| callers > 1));
    assert_eq!(distribution.forms.len(), 30, "{:?}", distribution.forms);
    for (form, &count) in &distribution.forms {
        assert!(count >= 30, "{form}: {count}");
    }
}

/// What compilers of kernels are tested on, tame or not.
#[test]
fn computed_modules_cover_all_forms_of_kernels() {
    for numbers in [Numbers::Any, Numbers::Tame] {
        let distribution = of_seeds(0..400, &Options { numbers, ..Options::computed() });
        println!("{distribution}");
        let missing = random::computed().filter(|opcode| !distribution.operations.contains_key(opcode));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<Opcode>::new());
        assert_eq!(distribution.operations.len(), random::computed().count());
        let types = [ElementType::Pred, ElementType::S32, ElementType::U32, ElementType::F32];
        assert!(distribution.types.keys().all(|it| types.contains(it)) && distribution.types.len() == 4);
        assert!((0..=5).all(|rank| distribution.ranks.contains_key(&rank)), "{:?}", distribution.ranks);
        assert!([0, 1, 2, 3, 5, 7].iter().all(|extent| distribution.extents.contains_key(extent)));
        let reused: usize = distribution.readers.range(2..).map(|(_, count)| count).sum();
        assert!(reused * 6 > distribution.instructions, "{reused} values are read several times");
        assert!(distribution.callers.range(2..).next().is_some());
        let share = |opcodes: &[Opcode]| -> usize {
            let count: usize = opcodes.iter().filter_map(|opcode| distribution.operations.get(opcode)).sum();
            100 * count / distribution.instructions
        };
        let moves: Vec<Opcode> = random::computed()
            .filter(|opcode| opcode.only_moves_data() || matches!(opcode, Opcode::Concatenate | Opcode::Pad))
            .collect();
        // What keeps numbers tame are other operations.
        let (least_moves, least_reduces) = if numbers == Numbers::Any { (20, 3) } else { (16, 2) };
        let (moves, reduces) = (share(&moves), share(&[Opcode::Reduce]));
        assert!(moves >= least_moves && reduces >= least_reduces, "{moves} % move, {reduces} % reduce\n{distribution}");
        for form in [
            "a layout",
            "a tuple within a tuple",
            "a tuple as parameter",
            "a copy of a tuple",
            "a constant of several values",
            "negative padding",
            "interior padding",
            "a slice with strides",
            "a broadcast that transposes",
            "a bitcast to a layout",
            "a reduce of no dimension",
            "a reduce of several inputs",
            "a reduce that chooses",
            "a reduce through a call",
            "a fusion of several results",
            "a value combined with itself from other places",
            "a root before the end",
        ] {
            assert!(distribution.forms.get(form).is_some_and(|&count| count >= 10), "{form}: {distribution}");
        }
    }
}

#[test]
fn computed_operations_are_those_that_the_ir_calls_so() {
    for opcode in random::operations().filter(|opcode| *opcode != Opcode::Parameter) {
        let module = (0..8).find_map(|seed| random::instance(seed, opcode, &Options::default()));
        let module = module.unwrap_or_else(|| panic!("no module for {opcode}"));
        let entry = module.entry_computation();
        assert_eq!(
            random::computed().any(|it| it == opcode),
            entry.instructions[entry.root].op.is_computed(),
            "{opcode}"
        );
    }
}

/// The reference in single precision is as near the precise values as an implementation has to be; what is decided by
/// comparing, rounding and converting is decided alike.
#[test]
fn tame_modules_compute_within_their_error_bounds() {
    let options = Options { numbers: Numbers::Tame, elements: 150, ..Options::computed() };
    let (mut inexact, mut largest) = (0, 0f64);
    for seed in 0..cases(300) {
        let module = random::module(seed, &options);
        let fail = |found: &dyn std::fmt::Display| -> ! { panic!("seed {seed}: {found}\n{}", print(&module)) };
        let bounds = random::error_bounds(&module).unwrap_or_else(|| fail(&"no bounds"));
        let inputs = random::inputs(&module, seed, &options);
        let single = evaluate(&module, &inputs).unwrap_or_else(|found| fail(&found));
        let precise = evaluate_precisely(&module, &inputs, &Config::default()).unwrap_or_else(|found| fail(&found));
        assert_eq!((single.len(), precise.len()), (bounds.len(), bounds.len()));
        for ((single, precise), bound) in single.iter().zip(&precise).zip(bounds) {
            let (Data::F32(single), Data::F64(precise)) = (&single.data, &precise.data) else {
                if single.data != precise.data || bound != 0.0 {
                    fail(&format!("{:?} became {:?}", precise.data, single.data));
                }
                continue;
            };
            for (&single, &precise) in single.iter().zip(precise) {
                let error = (f64::from(single) - precise).abs();
                if error.is_nan() || error > bound || precise.abs() > 1e4 {
                    fail(&format!("{precise} became {single}, further away than {bound}"));
                }
                largest = largest.max(if bound > 0.0 { error / bound } else { 0.0 });
                inexact += usize::from(error > 0.0);
            }
        }
    }
    println!("{inexact} numbers were rounded, the worst to {largest} of its bound");
    assert!(inexact > 1000 && largest > 0.01);
}

/// What a small error can make a large one of, and what is not known of.
#[test]
fn modules_that_are_not_tame_have_no_error_bounds() {
    let bounds = |line: &str| {
        let text = format!(
            "HloModule m\n\nENTRY main {{\n  x = f32[2] parameter(0)\n  e = f32[2] exponential(x)\n{line}\n}}\n"
        );
        random::error_bounds(&parse(&text).unwrap_or_else(|found| panic!("{text}\n{found}")))
    };
    for known in
        ["  ROOT r = f32[2] floor(x)", "  ROOT r = pred[2] compare(x, x), direction=LT", "  ROOT r = f32[2] add(e, x)"]
    {
        assert!(bounds(known).is_some(), "{known}");
    }
    for unknown in [
        "  ROOT r = f32[2] floor(e)",
        "  ROOT r = pred[2] compare(x, e), direction=LT",
        "  ROOT r = pred[2] compare(x, x), direction=LT, type=TOTALORDER",
        "  ROOT r = s32[2] convert(e)",
        "  ROOT r = u32[2] bitcast-convert(x)",
        "  ROOT r = f32[2] log(x)",
        "  ROOT r = f32[2] divide(e, x)",
        "  ROOT r = f32[2] exponential(e)",
        "  ROOT r = f16[2] convert(x)",
    ] {
        assert_eq!(bounds(unknown), None, "{unknown}");
    }
}

/// Each operation alone, in a module around it.
#[test]
fn every_operation_has_instances() {
    for opcode in random::operations() {
        let options = Options { operations: vec![opcode], instructions: 12, ..Options::default() };
        let distribution = of_seeds(0..8, &options);
        assert!(distribution.operations.contains_key(&opcode), "{opcode}");
    }
}

#[test]
fn types_that_were_not_asked_for_occur_only_where_an_operation_demands_them() {
    let asked = [ElementType::Bf16, ElementType::S4];
    let options = Options {
        types: asked.to_vec(),
        operations: vec![Opcode::Add, Opcode::Select, Opcode::Transpose],
        ..Options::default()
    };
    for seed in 0..50 {
        for instruction in random::module(seed, &options).entry_computation().instructions.values() {
            let types = instruction.shape.leaves().into_iter().filter_map(Shape::as_array).map(|it| it.element_type);
            for element_type in types {
                assert!(asked.contains(&element_type) || element_type == ElementType::Pred, "{element_type}");
            }
        }
    }
}

#[test]
fn extents_ranks_and_nesting_keep_to_their_bounds() {
    let options = Options { elements: 12, nesting: 1, layouts: false, ..Options::default() };
    let distribution = of_seeds(0..100, &options);
    assert!(distribution.ranks.keys().all(|&rank| rank <= 6));
    assert!(distribution.nesting.keys().all(|&depth| depth <= 1));
    assert!(!distribution.forms.contains_key("a layout"));
    for seed in 0..100 {
        for computation in random::module(seed, &options).computations.values() {
            for instruction in computation.instructions.values() {
                let arrays = instruction.shape.leaves().into_iter().filter_map(Shape::as_array);
                arrays.for_each(|array| assert!(array.element_count().unwrap() <= 12, "{array}"));
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_module_and_inputs_each_time() {
    let options = Options::default();
    for seed in [0, 1, u64::MAX] {
        let module = random::module(seed, &options);
        assert_eq!(module, random::module(seed, &options));
        assert_eq!(random::inputs(&module, seed, &options), random::inputs(&module, seed, &options));
    }
    assert_ne!(random::module(0, &options).computations, random::module(1, &options).computations);
}

#[test]
fn tuples_and_numbers_keep_to_what_is_asked() {
    let options = Options { tuples: false, numbers: Numbers::Small, ..Options::computed() };
    for seed in 0..60 {
        let module = random::module(seed, &options);
        for computation in module.computations.values() {
            for instruction in computation.instructions.values() {
                let is_tuple = instruction.shape.as_tuple().is_some();
                assert!(!is_tuple || !matches!(instruction.op, Op::Parameter { .. } | Op::Constant(_)));
            }
        }
        for input in random::inputs(&module, seed, &options) {
            let Data::F32(values) = &input.data else { continue };
            assert!(values.iter().all(|value| value.abs() < 10.0), "{values:?}");
        }
    }
}
