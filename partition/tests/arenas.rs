//! Small arguments and results that lie side by side.

use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{InstrId, Literal, Module, Op};
use weft_hlo::text::parse;
use weft_partition::{Form, Fused, Role, Slot, Target, fuse};

/// A step of Adam over parameters of several shapes, as optimizers print it: `p`, `m`, `v` and the gradient of each, then the number of the step.
fn adam(count: usize, large: &str) -> Module {
    const SHAPES: [&str; 5] = ["f32[64]", "f32[64,128]", "f32[10]", "f32[3,3,8,16]", "f32[128,32]"];
    let (mut body, mut types, mut results) = (String::new(), Vec::new(), Vec::new());
    let shape = |k: usize| if k == 1 { large } else { SHAPES[k % SHAPES.len()] };
    for k in 0..count {
        let of = shape(k);
        for (number, name) in ["p", "m", "v", "g"].iter().enumerate() {
            writeln!(body, "{name}{k} = {of} parameter({})", 4 * k + number).unwrap();
        }
    }
    writeln!(body, "step = s32[] parameter({})\none = s32[] constant(1)\nnext = s32[] add(step, one)", 4 * count)
        .unwrap();
    for (name, value) in [("b1", 0.875), ("c1", 0.125), ("b2", 0.9375), ("c2", 0.0625), ("lr", 0.25), ("eps", 0.5)] {
        writeln!(body, "{name} = f32[] constant({value})").unwrap();
    }
    for k in 0..count {
        let of = shape(k);
        for name in ["b1", "c1", "b2", "c2", "lr", "eps"] {
            writeln!(body, "{name}_{k} = {of} broadcast({name}), dimensions={{}}").unwrap();
        }
        write!(
            body,
            "mm{k} = {of} multiply(m{k}, b1_{k})\nmg{k} = {of} multiply(g{k}, c1_{k})\nnm{k} = {of} add(mm{k}, mg{k})\n\
             vv{k} = {of} multiply(v{k}, b2_{k})\ngg{k} = {of} multiply(g{k}, g{k})\nvg{k} = {of} multiply(gg{k}, c2_{k})\n\
             nv{k} = {of} add(vv{k}, vg{k})\nsq{k} = {of} sqrt(nv{k})\nde{k} = {of} add(sq{k}, eps_{k})\n\
             qu{k} = {of} divide(nm{k}, de{k})\nst{k} = {of} multiply(qu{k}, lr_{k})\nnp{k} = {of} subtract(p{k}, st{k})\n"
        )
        .unwrap();
        types.extend([of; 3]);
        results.extend(["np", "nm", "nv"].map(|name| format!("{name}{k}")));
    }
    types.push("s32[]");
    results.push("next".to_owned());
    let text =
        format!("HloModule adam\nENTRY e {{\n{body}ROOT r = ({}) tuple({})\n}}", types.join(", "), results.join(", "));
    parse(&text).unwrap_or_else(|found| panic!("{found}"))
}

/// The slots of the arguments, by their numbers, and of the results, by the `get-tuple-element` that takes them.
fn slots(fused: &Fused) -> (Vec<Option<Slot>>, BTreeMap<InstrId, Slot>) {
    let entry = fused.module.entry_computation();
    let arguments = entry.parameters().into_iter().map(|id| fused.arenas.argument(id)).collect();
    let mut results = BTreeMap::new();
    for (id, instruction) in entry.instructions.iter() {
        if let Op::GetTupleElement { index } = instruction.op
            && let Some(slot) = fused.arenas.result(instruction.operands[0], usize::try_from(index).unwrap())
        {
            results.insert(id, slot);
        }
    }
    (arguments, results)
}

#[test]
fn a_step_over_a_hundred_parameters_is_few_launches() {
    let module = adam(100, "f32[96]");
    let fused_for = |target: &Target| {
        let fused = fuse(&module, target).unwrap_or_else(|found| panic!("{found}"));
        assert!(fused.fusions().all(|site| fused.bindings(site) <= target.max_storage_buffers as usize));
        fused
    };
    for preset in ["discrete", "software"] {
        let target = Target::preset(preset).unwrap();
        for buffers in [target.max_storage_buffers, 8] {
            let kernels =
                fused_for(&target.clone().with(|target| target.max_storage_buffers = buffers)).fusions().count();
            assert!(kernels <= 10, "{preset}, {buffers} buffers: {kernels} kernels");
        }
    }
    let fused = fused_for(&Target::preset("floor").unwrap());
    let inputs: Vec<Literal> = (module.entry_computation().parameters().iter())
        .map(|id| {
            let shape = module.entry_computation().instructions[*id].shape.as_array().unwrap().clone();
            let count = shape.element_count().unwrap();
            match shape.rank() {
                0 => Literal::array([] as [i64; 0], vec![3i32]),
                _ => Literal::array(shape.extents, (0..count).map(|at| (at % 13) as f32 / 8.0).collect::<Vec<f32>>()),
            }
        })
        .collect();
    assert_eq!(evaluate(&module, &inputs).unwrap(), evaluate(&fused.module, &inputs).unwrap());
}

#[test]
fn state_has_one_offset_before_and_after() {
    let fused = fuse(&adam(12, "f32[96]"), &Target::preset("discrete").unwrap()).unwrap();
    let (arguments, results) = slots(&fused);
    let root = &fused.module.entry_computation().instructions[fused.module.entry_computation().root];
    let bytes = |id: InstrId| {
        let shape = fused.module.entry_computation().instructions[id].shape.as_array().unwrap().clone();
        Form::tensor_bytes(&shape).unwrap()
    };
    let mut taken: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
    for k in 0..12 {
        for part in 0..3 {
            let (before, result) = (arguments[4 * k + part].unwrap(), root.operands[3 * k + part]);
            let after = results[&result];
            assert_eq!(before.offset, after.offset);
            assert_eq!(fused.arenas.roles()[before.arena], Role::State);
            assert_eq!(fused.arenas.roles()[after.arena], Role::NextState);
            for slot in [before, after] {
                taken.entry(slot.arena).or_default().push((slot.offset, slot.offset + bytes(result)));
            }
        }
        let gradient = arguments[4 * k + 3].unwrap();
        assert_eq!(fused.arenas.roles()[gradient.arena], Role::Argument);
        taken.entry(gradient.arena).or_default().push((gradient.offset, gradient.offset + bytes(root.operands[3 * k])));
    }
    for mut stretches in taken.into_values() {
        stretches.sort_unstable();
        assert!(stretches.iter().all(|(first, _)| first % 256 == 0));
        assert!(stretches.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{stretches:?}");
    }
}

#[test]
fn what_is_large_or_needed_elsewhere_lies_alone() {
    // One of the parameters takes longer to move than a launch takes to begin.
    let target = Target::preset("discrete").unwrap();
    let fused = fuse(&adam(6, "f32[512,512]"), &target).unwrap();
    let (arguments, _) = slots(&fused);
    assert!(arguments[4..8].iter().all(Option::is_none) && arguments[8..24].iter().all(Option::is_some));
    for site in fused.fusions() {
        assert!(fused.bindings(site) <= target.max_storage_buffers as usize);
    }
    // Few tensors need no arena.
    let fused = fuse(&adam(1, "f32[96]"), &target).unwrap();
    assert_eq!(slots(&fused), (vec![None; 5], BTreeMap::new()));
    assert!(fused.arenas.roles().is_empty());
}

/// What an operation that may update in place makes lies in no arena, whether or not it is done in place: kernels with one bind each tensor by itself, and no more of them than there is room for.
#[test]
fn kernels_that_update_bind_no_more_than_there_is_room_for() {
    let target = Target::preset("software").unwrap().with(|target| target.max_storage_buffers = 10);
    for count in 1..12 {
        let (mut body, mut results) = (String::from("i = s32[] parameter(0)\n"), Vec::new());
        for k in 0..count {
            write!(
                body,
                "a{k} = f32[5] parameter({})\nb{k} = f32[2] parameter({})\nn{k} = f32[5] negate(a{k})\n\
                 up{k} = f32[5] dynamic-update-slice(n{k}, b{k}, i)\nsl{k} = f32[3] slice(up{k}), slice={{[1:4]}}\n\
                 r{k} = f32[3] sine(sl{k})\n",
                2 * k + 1,
                2 * k + 2
            )
            .unwrap();
            results.push(format!("r{k}"));
        }
        let types = vec!["f32[3]"; count].join(", ");
        let text = format!("HloModule m\nENTRY e {{\n{body}ROOT r = ({types}) tuple({})\n}}", results.join(", "));
        let fused = fuse(&parse(&text).unwrap(), &target).unwrap();
        for site in fused.fusions() {
            assert!(fused.bindings(site) <= 10, "{count}: {}", fused.bindings(site));
        }
    }
}
