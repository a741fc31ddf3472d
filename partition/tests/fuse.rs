//! Fusing keeps the meaning of random modules, and what it makes is what kernels can be made of.

use crate::count::{cases, first_seed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Instant;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::eval::evaluate;
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{Computation, ElementType, InstrId, Instruction, Literal, Module, Op, Opcode};
use weft_hlo::passes::flatten;
use weft_hlo::random::{Options, inputs, module};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;
use weft_indexing::IndexingMap;
use weft_partition::{Fused, FusionPlan, Read, Site, Target, Verdict, fuse_explained, splats};

const SEEDS: u64 = 300;

pub(crate) fn target(max_storage_buffers: u32) -> Target {
    Target::default().with(|target| target.max_storage_buffers = max_storage_buffers)
}

pub(crate) fn difference(expected: &[Literal], actual: &[Literal]) -> Option<String> {
    if expected.len() != actual.len() {
        return Some(format!("{} results, then {}", expected.len(), actual.len()));
    }
    expected.iter().zip(actual).enumerate().find_map(|(number, (a, b))| {
        let same = a.shape.is_compatible(&b.shape) && a.data == b.data;
        (!same).then(|| format!("result {number}: {:?} became {:?}", a.data, b.data))
    })
}

fn leaves(computation: &Computation, id: InstrId) -> usize {
    computation.instructions[id].shape.leaves().len()
}

/// Whether the entry holds kernels and what connects them, and no kernel binds more than allowed.
fn check_form(fused: &Module, limit: u32) -> Result<(), String> {
    let planned = Fused::of(fused.clone(), &target(limit)).map_err(|found| found.to_string())?;
    let entry = fused.entry_computation();
    for (id, instruction) in entry.instructions.iter() {
        let name = &instruction.name;
        match &instruction.op {
            Op::Parameter { .. } | Op::Constant(_) if instruction.shape.as_array().is_some() => {}
            Op::Fusion { .. } => {
                let buffers = planned.bindings(Site { computation: fused.entry, instruction: id });
                if buffers > limit as usize {
                    return Err(format!("{name} binds {buffers} buffers of {limit}"));
                }
                if instruction.shape.leaves().iter().any(|leaf| leaf.as_array().is_none()) {
                    return Err(format!("{name} has a result that is no array"));
                }
            }
            Op::GetTupleElement { .. } => {
                let producer = &entry.instructions[instruction.operands[0]];
                if !matches!(producer.op, Op::Fusion { .. }) {
                    return Err(format!("{name} takes an element of {}", producer.name));
                }
            }
            Op::Tuple if id == entry.root => {}
            op => return Err(format!("{name} is a {}", op.name())),
        }
    }
    let elements = entry.result_shape().as_tuple().unwrap_or_default();
    if elements.iter().any(|element| element.as_array().is_none()) {
        return Err("the results are nested".to_owned());
    }
    Ok(())
}

/// The elements a map relates to each index.
fn relation(map: &IndexingMap) -> BTreeSet<(Vec<i64>, Vec<i64>)> {
    let at = |dims: &[i64], ranges: &[i64]| map.evaluate(dims, ranges, &[]).expect("small indices do not overflow");
    map.points().map(|point| (point.dims.clone(), at(&point.dims, &point.ranges))).collect()
}

/// The fused module alone.
fn fuse(module: &Module, target: &Target) -> Result<Module, Diagnostics> {
    weft_partition::fuse(module, target).map(|fused| fused.module)
}

/// Whether the functions of a kernel's plan partition its instructions and read what the operations read.
fn check_plan(module: &Module, computation: &Computation) -> Result<(), String> {
    let target = Target::default();
    let plan = FusionPlan::new(module, computation, &target).map_err(|found| found.to_string())?;
    let text = plan.text(computation);
    let again = FusionPlan::parse(&text, module, computation, &target).map_err(|found| format!("{found}\n{text}"))?;
    if again != plan {
        return Err(format!("the plan is read back as another:\n{text}{}", again.text(computation)));
    }
    let mut emitted = BTreeMap::new();
    for function in plan.functions() {
        for member in &function.members {
            let name = &computation.instructions[*member].name;
            if emitted.insert(*member, function.name.clone()).is_some() {
                return Err(format!("{name} is emitted twice"));
            }
        }
        for root in &function.roots {
            // A parameter can be an output as it is; an output that is also read elsewhere may be called.
            let root = root.instruction;
            let is_parameter = matches!(computation.instructions[root].op, Op::Parameter { .. });
            if !is_parameter && plan.home(root).is_none() && !function.given.contains(&root) {
                return Err(format!("nobody computes {}", computation.instructions[root].name));
            }
        }
    }
    for (id, instruction) in computation.instructions.iter() {
        let Some((home, map)) = plan.home(id) else { continue };
        if !plan.function(home).members.contains(&id) {
            return Err(format!("{} is not at home", instruction.name));
        }
        for (number, operand) in instruction.operands.iter().enumerate() {
            // Where the program's values tell what is read, it is not known here.
            let at_values = matches!(plan.read(id, number), Read::Runtime)
                || matches!(plan.read(id, number), Read::At(read) if !read.runtime().is_empty())
                || matches!(instruction.op, Op::DynamicUpdateSlice | Op::Dot { .. } | Op::Convolution { .. });
            if at_values {
                continue;
            }
            let step = operand_map(computation, id, number).map_err(|found| found.to_string())?;
            let expected = map.then(&step).map_err(|found| found.to_string())?;
            let read = match plan.read(id, number) {
                Read::Splat => {
                    if plan.splat(*operand).is_none() {
                        return Err(format!("operand {number} of {} is no constant", instruction.name));
                    }
                    continue;
                }
                Read::Never | Read::Runtime => BTreeSet::new(),
                Read::Given => continue,
                Read::At(read) => relation(read),
            };
            if expected.box_size() < 20_000 && relation(&expected) != read {
                let name = &instruction.name;
                return Err(format!(
                    "operand {number} of {name} is read at {:?}, not {expected:?}",
                    plan.read(id, number)
                ));
            }
        }
    }
    Ok(())
}

/// Whether the instruction named by a refusal cannot be a kernel of its own under this limit.
fn is_justified(refusal: &Diagnostics, module: &Module, limit: u32) -> bool {
    let flat = flatten(module).expect("fusing flattens first");
    let entry = flat.entry_computation();
    let constant = splats(entry);
    refusal.0.iter().all(|finding| {
        // The parts of a concatenate that was taken apart are called after it.
        let is_named = |instruction: &Instruction| {
            finding.instruction.strip_prefix(&instruction.name).is_some_and(|rest| {
                rest.is_empty() || (matches!(instruction.op, Op::Concatenate { .. }) && rest.starts_with('.'))
            })
        };
        let named = entry.instructions.iter().find(|(_, instruction)| is_named(instruction));
        let Some((id, instruction)) = named else { return false };
        let is_read = |operand: &&InstrId| constant[weft_hlo::ir::ArenaId::index(**operand)].is_none();
        let read: BTreeSet<&InstrId> = instruction.operands.iter().filter(is_read).collect();
        // A concatenate is taken apart down to pairs, equal operands or not.
        let is_concatenate = matches!(instruction.op, Op::Concatenate { .. });
        let inputs = if is_concatenate { instruction.operands.len().min(2) } else { read.len() };
        finding.code == "HLO404" && inputs + leaves(entry, id) > limit as usize
    })
}

/// Fuses and compares; whether the program was refused.
fn check(seed: u64, options: &Options, limit: u32) -> bool {
    let module = module(seed, options);
    let inputs = inputs(&module, seed, options);
    let fused = match fuse(&module, &target(limit)) {
        Ok(fused) => fused,
        Err(found) => {
            assert!(is_justified(&found, &module, limit), "seed {seed}, {limit} buffers: {found}\n{}", print(&module));
            return true;
        }
    };
    let text = print(&fused);
    let fail = |found: &dyn std::fmt::Display| -> ! {
        panic!("seed {seed}, {limit} buffers: {found}\n{}\n{text}", print(&module))
    };
    verify(&fused).unwrap_or_else(|found| fail(&found));
    check_form(&fused, limit).unwrap_or_else(|found| fail(&found));
    for instruction in fused.entry_computation().instructions.values() {
        if let Op::Fusion { calls, .. } = instruction.op {
            check_plan(&fused, &fused.computations[calls]).unwrap_or_else(|found| fail(&found));
        }
    }
    let again = parse(&text).unwrap_or_else(|found| fail(&found));
    assert!(again == fused, "seed {seed}: read back as another module\n{text}\n{}", print(&again));
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| fail(&found));
    let actual = evaluate(&fused, &inputs).unwrap_or_else(|found| fail(&found));
    if let Some(found) = difference(&expected, &actual) {
        fail(&found);
    }
    false
}

#[test]
fn fusing_keeps_the_results() {
    for seed in first_seed()..first_seed() + cases(SEEDS) {
        let refused = check(seed, &Options::computed(), 8);
        assert!(!refused, "seed {seed} is refused with the buffers that every adapter has");
    }
}

#[test]
fn fusing_keeps_the_results_with_many_buffers() {
    for seed in SEEDS..SEEDS + cases(SEEDS) {
        assert!(!check(seed, &Options::computed(), 32));
    }
}

/// With few buffers nearly every producer has to be weighed against the limit.
#[test]
fn fusing_keeps_the_results_with_few_buffers() {
    let options = Options::computed().without(Opcode::Fusion);
    let mut refused = BTreeMap::new();
    for limit in [2, 3, 4, 5, 6] {
        let count = (0..SEEDS / 2).filter(|seed| check(1000 * u64::from(limit) + seed, &options, limit)).count();
        refused.insert(limit, count);
    }
    println!("refused of {}: {refused:?}", SEEDS / 2);
    // A select reads three and writes one; an argmax reads two, has two initial values, and writes two.
    // Most modules without one are fused with four.
    assert!(refused[&6] == 0 && refused[&4] < 40, "{refused:?}");
}

#[test]
fn fusing_keeps_the_results_of_large_modules() {
    let options = Options { instructions: 150, ..Options::computed() };
    for seed in 0..cases(30) {
        assert!(!check(seed, &options, 8));
    }
}

/// `n` times a value and its transpose, each sum of which is the next value.
fn diamonds(n: usize) -> String {
    let mut text = "HloModule diamonds\nENTRY main {\n  a0 = f32[4,4] parameter(0)\n".to_owned();
    for k in 1..=n {
        let (before, root) = (k - 1, if k == n { "ROOT " } else { "" });
        writeln!(text, "  l{k} = f32[4,4] tanh(a{before})").expect("strings can be written to");
        writeln!(text, "  t{k} = f32[4,4] transpose(l{k}), dimensions={{1,0}}").expect("strings can be written to");
        writeln!(text, "  {root}a{k} = f32[4,4] add(l{k}, t{k})").expect("strings can be written to");
    }
    text + "}\n"
}

pub(crate) fn read(text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

#[test]
fn diamonds_stay_linear() {
    let start = Instant::now();
    for n in [8, 64, 512] {
        let module = read(&diamonds(n));
        let fused = fuse(&module, &Target::default()).unwrap_or_else(|found| panic!("{n}: {found}"));
        let count = fused.instruction_count();
        // The instructions themselves; for each kernel its parameter and the fusion that calls it.
        assert!(count <= 5 * n + 2, "{n} diamonds became {count} instructions");
        assert_eq!(check_form(&fused, 8), Ok(()));
        let kernels = fused.entry_computation().instructions.values().filter_map(|instruction| match instruction.op {
            Op::Fusion { calls, .. } => Some(&fused.computations[calls]),
            _ => None,
        });
        for kernel in kernels {
            assert_eq!(check_plan(&fused, kernel), Ok(()));
            let excess = FusionPlan::new(&fused, kernel, &Target::default())
                .unwrap_or_else(|found| panic!("{found}"))
                .excess_per_element();
            assert!(excess <= 32.0, "a kernel does {excess} units again");
        }
        let input = Literal::array([4, 4], (0..16u8).map(|i| f32::from(i) / 8.0 - 1.0).collect::<Vec<f32>>());
        let expected = evaluate(&module, std::slice::from_ref(&input)).unwrap_or_else(|found| panic!("{found}"));
        let actual = evaluate(&fused, &[input]).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(difference(&expected, &actual), None);
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// A fusion that the program brings along may hold them all; it would run 2^n times.
#[test]
fn nested_diamonds_in_a_fusion_are_dissolved() {
    let n = 64;
    let body = diamonds(n).replace("HloModule diamonds\nENTRY main", "body");
    let text = format!(
        "HloModule brought\n{body}\nENTRY main {{\n  p = f32[4,4] parameter(0)\n  \
         ROOT f = f32[4,4] fusion(p), kind=kLoop, calls=body\n}}\n"
    );
    let module = read(&text);
    let fused = fuse_explained(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let dissolved = fused.decisions.iter().find(|decision| decision.verdict == Verdict::Dissolved);
    assert_eq!(dissolved.map(|decision| decision.instruction.as_str()), Some("f"));
    assert!(fused.module.instruction_count() <= 5 * n + 2);
    let input = Literal::array([4, 4], vec![0.5f32; 16]);
    let expected = evaluate(&module, std::slice::from_ref(&input)).unwrap_or_else(|found| panic!("{found}"));
    let actual = evaluate(&fused.module, &[input]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(difference(&expected, &actual), None);
}

/// What becomes of a program with these inputs; the results are compared.
fn fused(text: &str, inputs: &[Literal]) -> Module {
    let module = read(text);
    let fused = fuse(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    verify(&fused).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused)));
    assert_eq!(check_form(&fused, 8), Ok(()), "{}", print(&fused));
    let expected = evaluate(&module, inputs).unwrap_or_else(|found| panic!("{found}"));
    let actual = evaluate(&fused, inputs).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused)));
    assert_eq!(difference(&expected, &actual), None, "{}", print(&fused));
    fused
}

/// How many operands the kernels of the entry read.
fn reads(module: &Module) -> Vec<usize> {
    let kernels = module.entry_computation().instructions.values();
    kernels
        .filter(|instruction| matches!(instruction.op, Op::Fusion { .. }))
        .map(|instruction| instruction.operands.len())
        .collect()
}

fn numbers(extents: [i64; 2], first: f32) -> Literal {
    Literal::array(extents, (0..extents[0] * extents[1]).map(|at| first + at as f32).collect::<Vec<_>>())
}

/// A value that two kernels need is computed in both where it is small, which reads its operands twice to save a launch; more than that is not read.
#[test]
fn what_two_kernels_need_is_read_by_no_more_than_both() {
    let module = fused(
        "HloModule twice
        ENTRY main {
            a = f32[4,8] parameter(0)
            b = f32[4,8] parameter(1)
            c = f32[4,8] parameter(2)
            d = f32[4,8] parameter(3)
            s = f32[4,8] add(a, b)
            m = f32[4,8] multiply(c, d)
            v = f32[4,8] add(s, m)
            t = f32[8,4] transpose(v), dimensions={1,0}
            n = f32[4,8] negate(v)
            ROOT o = (f32[8,4], f32[4,8]) tuple(t, n)
        }",
        &[1.0, 2.0, 3.0, 4.0].map(|first| numbers([4, 8], first)),
    );
    let reads = reads(&module);
    assert!(reads.len() <= 3 && reads.iter().sum::<usize>() <= 8, "{reads:?}\n{}", print(&module));
}

/// Three functions of one value that are all results are a kernel each at most, none of which reads anything but that value or another result.
#[test]
fn functions_of_one_value_are_a_kernel_each_at_most() {
    let module = fused(
        "HloModule turns
        ENTRY main {
            x = f32[4,8] parameter(0)
            s = f32[4,8] sine(x)
            c = f32[4,8] cosine(x)
            n = f32[4,8] negate(s)
            ROOT o = (f32[4,8], f32[4,8], f32[4,8]) tuple(s, c, n)
        }",
        &[numbers([4, 8], -3.0)],
    );
    let reads = reads(&module);
    assert!(reads.len() <= 3 && reads.iter().all(|count| *count == 1), "{reads:?}\n{}", print(&module));
}

#[test]
fn what_is_never_read_gets_no_buffer() {
    // Of the concatenate only the first operand is needed, of the pad only the padding.
    let module = fused(
        "HloModule never
        ENTRY main {
            p = f32[4] parameter(0)
            q = f32[4] parameter(1)
            zero = f32[] constant(0)
            l = f32[4] log(p)
            e = f32[4] exponential(q)
            d = f32[4] multiply(e, q)
            c = f32[8] concatenate(l, d), dimensions={0}
            s = f32[4] slice(c), slice={[0:4]}
            cropped = f32[4] pad(d, zero), padding=-4_4
            ROOT sum = f32[4] add(s, cropped)
        }",
        &[Literal::array([4], vec![1f32, 2.0, 3.0, 4.0]), Literal::array([4], vec![5f32, 6.0, 7.0, 8.0])],
    );
    let kernels = reads(&module);
    assert_eq!(kernels, [1], "{}", print(&module));
}

#[test]
fn a_value_read_by_one_kernel_and_not_by_another() {
    fused(
        "HloModule partly
        ENTRY main {
            p = f32[4] parameter(0)
            q = f32[4] parameter(1)
            e = f32[4] exponential(q)
            c = f32[8] concatenate(p, e), dimensions={0}
            first = f32[4] slice(c), slice={[0:4]}
            second = f32[4] slice(c), slice={[4:8]}
            ROOT t = (f32[4], f32[4]) tuple(first, second)
        }",
        &[Literal::array([4], vec![1f32, 2.0, 3.0, 4.0]), Literal::array([4], vec![5f32, 6.0, 7.0, 8.0])],
    );
}

#[test]
fn arrays_without_elements_are_fused() {
    fused(
        "HloModule empty
        ENTRY main {
            p = s32[2,0] parameter(0)
            n = s32[2,0] not(p)
            r = s32[2,0] reverse(n), dimensions={0}
            b = s32[2,2,2,0] broadcast(r), dimensions={0,3}
            i = f32[0,3] iota(), iota_dimension=1
            ROOT t = (s32[2,2,2,0], f32[0,3], s32[2,0]) tuple(b, i, n)
        }",
        &[Literal::array([2, 0], Vec::<i32>::new())],
    );
}

/// Two runs decide alike, and every decision has a reason.
#[test]
fn decisions_are_repeatable_and_explained() {
    for seed in 0..40 {
        let module = module(seed, &Options::computed());
        let once = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        let twice = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(once.decisions, twice.decisions);
        assert!(once.module == twice.module);
        assert!(once.decisions.iter().all(|decision| !decision.reason.is_empty()));
    }
}

/// What is already kernels stays the same kernels.
#[test]
fn fusing_twice_is_fusing_once() {
    let options = Options::computed().without(Opcode::Fusion);
    for seed in 0..100 {
        let once = fuse(&module(seed, &options), &target(8)).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        let twice = fuse(&once, &target(8)).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&once)));
        let kernels = |module: &Module| {
            let instructions = module.entry_computation().instructions.values();
            instructions.filter(|instruction| matches!(instruction.op, Op::Fusion { .. })).count()
        };
        assert!(kernels(&twice) <= kernels(&once), "seed {seed}\n{}\n{}", print(&once), print(&twice));
        assert_eq!(check_form(&twice, 8), Ok(()), "seed {seed}");
    }
}

/// For programs that can be compiled it is one and the same whether what cannot be is refused or set apart.
#[test]
fn what_can_be_compiled_is_fused_alike() {
    for seed in 0..100 {
        let module = module(seed, &Options::computed());
        let strict = fuse(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        let fused = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        assert!(strict == fused.module, "seed {seed}\n{}\n{}", print(&strict), print(&fused.module));
        assert!(fused.uncompiled.is_empty() && fused.programs.len() == 1, "seed {seed}: {:?}", fused.uncompiled);
    }
}

/// No program of the corpus is refused, in whatever form, and what is made of it verifies.
#[test]
fn the_corpus_is_fused() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let mut count = 0;
    for folder in std::fs::read_dir(corpus).expect("the corpus lies beside this crate").flatten() {
        for form in ["unoptimized", "unoptimized_generic", "optimized_cpu"] {
            let path = folder.path().join(format!("{form}.hlo"));
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let fail = |found: &dyn std::fmt::Display| -> ! { panic!("{}: {found}", path.display()) };
            let module = parse(&text).unwrap_or_else(|found| fail(&found));
            let fused = fuse_explained(&module, &Target::default()).unwrap_or_else(|found| fail(&found));
            verify(&fused.module).unwrap_or_else(|found| fail(&found.locate(&print(&fused.module))));
            assert!(parse(&print(&fused.module)).is_ok_and(|again| again == fused.module), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// Passes leave nothing without a kernel that had one.
#[test]
fn what_can_be_compiled_still_can_after_passes() {
    let mut count = 0;
    let mut check = |name: &str, module: &Module| {
        if fuse(module, &target(32)).is_err() {
            return;
        }
        count += 1;
        let passes = weft_hlo::passes::Pipeline::default();
        let optimized = passes.run(module).unwrap_or_else(|found| panic!("{name}: {found}"));
        if let Err(found) = fuse(&optimized.module, &target(32)) {
            panic!("{name}: {found}\n{}\n{}", print(module), print(&optimized.module));
        }
    };
    for seed in 0..150 {
        check(&format!("seed {seed}"), &module(seed, &Options::computed()));
    }
    let types = vec![ElementType::F32, ElementType::S32, ElementType::U32, ElementType::Pred];
    let moves = vec![
        Opcode::Bitcast,
        Opcode::BitcastConvert,
        Opcode::Broadcast,
        Opcode::Transpose,
        Opcode::Reshape,
        Opcode::Slice,
        Opcode::Reverse,
        Opcode::Copy,
    ];
    let arithmetic = vec![
        Opcode::Add,
        Opcode::Multiply,
        Opcode::Select,
        Opcode::Compare,
        Opcode::Convert,
        Opcode::Concatenate,
        Opcode::Pad,
        Opcode::Reduce,
        Opcode::Iota,
    ];
    for seed in 0..200 {
        let operations = if seed % 2 == 0 { moves.clone() } else { [&moves[..], &arithmetic].concat() };
        let options = Options { operations, types: types.clone(), ..Default::default() };
        check(&format!("random {seed}"), &module(seed, &options));
    }
    assert!(count > 200, "{count}");
}

/// Of several results those that nothing reads are not written.
#[test]
fn results_that_nothing_reads_are_left_out() {
    let program = |read: &[usize]| {
        let elements: Vec<String> =
            read.iter().map(|k| format!("g{k} = s32[] get-tuple-element(t), index={k}")).collect();
        let (shapes, names): (Vec<&str>, Vec<String>) = read.iter().map(|k| ("s32[]", format!("g{k}"))).unzip();
        let (shapes, names) = (shapes.join(", "), names.join(", "));
        crate::fuse::read(&format!(
            "HloModule m
            f {{
                a = s32[] parameter(0)
                b = s32[] parameter(1)
                c = s32[] parameter(2)
                d = s32[] parameter(3)
                e = s32[] parameter(4)
                f = s32[] parameter(5)
                s = s32[] add(a, d)
                l = s32[] maximum(b, e)
                o = s32[] xor(c, f)
                ROOT r = (s32[], s32[], s32[]) tuple(s, l, o)
            }}
            ENTRY e {{
                x = s32[9] parameter(0)
                z = s32[] constant(0)
                t = (s32[], s32[], s32[]) reduce(x, x, x, z, z, z), dimensions={{0}}, to_apply=f
                u = s32[] get-tuple-element(t), index=2
                {}
                ROOT r = ({shapes}) tuple({names})
            }}",
            elements.join("\n")
        ))
    };
    let input = Literal::array([9], vec![3, 1, -4, 1, 5, 9, -2, 6, 5]);
    for read in [&[1][..], &[0, 2], &[2, 1], &[0, 1, 2]] {
        let module = program(read);
        let fused = fuse_explained(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
        verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused.module)));
        let fusions: Vec<_> = fused.fusions().filter_map(|site| fused.instruction(site)).collect();
        assert_eq!(fusions.len(), 1);
        assert_eq!(fusions[0].shape.leaves().len(), read.len(), "{}", print(&fused.module));
        let value =
            |module: &Module| evaluate(module, std::slice::from_ref(&input)).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(difference(&value(&module), &value(&fused.module)), None);
    }
}
