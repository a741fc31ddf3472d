//! Modules that are built equal those that are parsed.

use weft_hlo::build::{ComputationBuilder, ModuleBuilder};
use weft_hlo::ir::{
    BinaryOp, ComparisonDirection, ComputationId, ElementType, FusionKind, InstrId, Literal, Module, Op, PadDimension,
    Shape, SliceDimension, UnaryOp,
};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

const F32: ElementType = ElementType::F32;

/// A module of one computation.
fn single(build: impl FnOnce(&mut ComputationBuilder<'_>) -> InstrId) -> Module {
    let mut module = ModuleBuilder::new("m");
    let mut main = module.computation("main");
    let root = build(&mut main);
    let main = main.finish(root).unwrap();
    module.finish(main).unwrap()
}

#[test]
fn every_method_infers_the_shape() {
    let module = single(|main| {
        let x = main.parameter(Shape::array(F32, [2, 3]));
        let zero = main.constant(0.0f32);
        let sine = main.unary(UnaryOp::Sine, x).unwrap();
        let sum = main.binary(BinaryOp::Add, x, sine).unwrap();
        let less = main.compare(ComparisonDirection::Lt, x, sum).unwrap();
        let chosen = main.select(less, x, sum).unwrap();
        let clamped = main.clamp(zero, chosen, zero).unwrap();
        let integers = main.convert(clamped, ElementType::S32).unwrap();
        let count = main.iota(ElementType::S32, &[2, 3], 1).unwrap();
        let counted = main.binary(BinaryOp::Multiply, integers, count).unwrap();
        let counted = main.convert(counted, F32).unwrap();
        let turned = main.transpose(counted, &[1, 0]).unwrap();
        let product = main.matmul(x, turned).unwrap();
        let wide = main.broadcast(product, &[4, 2, 2], &[1, 2]).unwrap();
        let flat = main.reshape(wide, &[16]).unwrap();
        let part = main.slice(flat, &[SliceDimension { start: 1, limit: 16, stride: 2 }]).unwrap();
        let mirrored = main.reverse(part, &[0]).unwrap();
        let padded = main.pad(mirrored, zero, &[PadDimension { low: 1, high: 2, interior: 1 }]).unwrap();
        let joined = main.concatenate(&[padded, flat], 0).unwrap();
        let start = main.constant(3i32);
        let window = main.dynamic_slice(joined, &[start], &[5]).unwrap();
        let updated = main.dynamic_update_slice(joined, window, &[start]).unwrap();
        let total = main.reduce_by(BinaryOp::Add, updated, zero, &[0]).unwrap();
        let both = main.tuple(&[total, updated]).unwrap();
        let first = main.get_tuple_element(both, 0).unwrap();
        main.named("result").unary(UnaryOp::Negate, first).unwrap()
    });
    let text = print(&module);
    assert_eq!(parse(&text).as_ref(), Ok(&module), "{text}");
    assert!(text.contains("%pad = f32[18]{0} pad(") || text.contains("%pad = f32[18] pad("), "{text}");
    assert!(text.contains("%result = f32[] negate("), "{text}");
}

/// `x < 10`, and `x + x`.
fn loop_parts(main: &mut ComputationBuilder<'_>) -> (ComputationId, ComputationId) {
    let scalar = Shape::scalar(F32);
    let mut condition = main.callee("condition");
    let x = condition.parameter(scalar.clone());
    let bound = condition.constant(10.0f32);
    let goes_on = condition.compare(ComparisonDirection::Lt, x, bound).unwrap();
    let condition = condition.finish(goes_on).unwrap();
    let mut body = main.callee("body");
    let x = body.parameter(scalar);
    let doubled = body.binary(BinaryOp::Add, x, x).unwrap();
    (condition, body.finish(doubled).unwrap())
}

#[test]
fn calls_loops_conditionals_and_fusions_are_built() {
    let module = single(|main| {
        let x = main.parameter(Shape::scalar(F32));
        let (condition, body) = loop_parts(main);
        let looped = main.while_loop(condition, body, x).unwrap();
        let called = main.call(body, &[looped]).unwrap();
        let fused = main.fusion(FusionKind::Loop, body, &[called]).unwrap();
        let less = main.compare(ComparisonDirection::Lt, x, fused).unwrap();
        main.conditional(less, (body, x), (body, fused)).unwrap()
    });
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module));
    let value = weft_hlo::eval::evaluate(&module, &[Literal::from(3.0f32)]).unwrap();
    assert_eq!(value, [Literal::from(6.0f32)]);
}

#[test]
fn instructions_that_break_a_rule_are_refused() {
    let mut module = ModuleBuilder::new("m");
    let other = module.computation("other").parameter(Shape::scalar(F32));
    let mut main = module.computation("main");
    let x = main.parameter(Shape::array(F32, [2, 3]));
    let flags = main.parameter(Shape::array(ElementType::Pred, [2, 3]));
    let codes = [
        main.add(Op::Select, [x]).unwrap_err(),
        main.unary(UnaryOp::Sine, flags).unwrap_err(),
        main.transpose(x, &[0, 0]).unwrap_err(),
        main.transpose(x, &[0, 2]).unwrap_err(),
        main.reshape(x, &[7]).unwrap_err(),
        main.add(Op::Reshape, [x]).unwrap_err(),
        main.slice(x, &[SliceDimension { start: 0, limit: 2, stride: 0 }]).unwrap_err(),
        main.slice(x, &[SliceDimension { start: i64::MIN, limit: i64::MAX, stride: 1 }]).unwrap_err(),
        main.add_shaped(Shape::array(F32, [3, 3]), Op::Unary(UnaryOp::Sine), [x]).unwrap_err(),
        main.add_shaped(Shape::array(F32, [i64::MAX, i64::MAX]), Op::Iota { dimension: 0 }, []).unwrap_err(),
        main.get_tuple_element(x, 0).unwrap_err(),
    ]
    .map(|found| found.code);
    assert_eq!(
        codes,
        ["HLO104", "HLO105", "HLO107", "HLO107", "HLO108", "HLO106", "HLO108", "HLO108", "HLO106", "HLO116", "HLO105"]
    );
    // Ids of other computations, and computations that are not there.
    let far = main.tuple(&[x, x, x]).unwrap();
    assert!(main.instructions().get(other).is_some() && main.instructions().get(far).is_some());
    let mut short = ComputationBuilder::detached("short");
    assert_eq!(short.tuple(&[far]).unwrap_err().code, "HLO101");
    assert_eq!(short.reshape(far, &[1]).unwrap_err().code, "HLO101");
    let scalar = short.parameter(Shape::scalar(F32));
    let callee = main.finish(far).unwrap();
    assert_eq!(short.call(callee, &[scalar]).unwrap_err().code, "HLO112");
    assert_eq!(short.finish(scalar).unwrap_err().code, "HLO112");
    let lost = ComputationBuilder::detached("lost").finish_detached(far);
    assert_eq!(module.add(lost).unwrap_err().code, "HLO102");
}

#[test]
fn names_are_unique() {
    let module = single(|main| {
        let x = main.named("x").parameter(Shape::scalar(F32));
        let y = main.named("x").unary(UnaryOp::Abs, x).unwrap();
        main.unary(UnaryOp::Abs, y).unwrap()
    });
    let names: Vec<&str> = module.entry_computation().instructions.values().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["x", "x.1", "abs"]);
}

/// Random modules, taken apart and put together again by the builder: it infers the shapes that they have, or accepts them.
#[test]
fn random_modules_can_be_rebuilt() {
    let mut inferred = 0;
    for seed in 0..40 {
        let source = weft_hlo::random::module(seed, &weft_hlo::random::Options::default());
        let mut module = ModuleBuilder::new(source.name.clone());
        let mut entry = None;
        for (id, computation) in source.computations.iter() {
            let mut built = module.computation(computation.name.clone());
            for instruction in computation.instructions.values() {
                let (op, operands) = (instruction.op.clone(), instruction.operands.clone());
                built.named(instruction.name.clone());
                match op {
                    Op::Parameter { .. } => drop(built.parameter(instruction.shape.clone())),
                    Op::Constant(literal) => drop(built.constant(literal)),
                    op => {
                        // Layouts are the text's, and so is the type of a product of factors of different types.
                        let is_product = matches!(op, Op::Dot { .. } | Op::RaggedDot { .. } | Op::Convolution { .. });
                        let has_layout = |leaf: &&Shape| leaf.as_array().is_some_and(|array| array.layout.is_some());
                        let follows = op.opcode().shape_follows_from_operands()
                            && !is_product
                            && !instruction.shape.leaves().iter().any(has_layout);
                        let added = if follows {
                            built.add(op, operands.clone())
                        } else {
                            built.add_shaped(instruction.shape.clone(), op, operands.clone())
                        };
                        let added = added.unwrap_or_else(|found| panic!("seed {seed}: {found}"));
                        if follows {
                            inferred += 1;
                            assert!(
                                built.shape(added).is_compatible(&instruction.shape),
                                "seed {seed}: {}",
                                instruction.name
                            );
                        }
                    }
                }
            }
            let built = built.finish(computation.root).unwrap();
            assert_eq!(built, id);
            if id == source.entry {
                entry = Some(built);
            }
        }
        let built = module.finish(entry.unwrap()).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        assert_eq!(built.computations.len(), source.computations.len());
        assert_eq!(verify(&built), Ok(()));
    }
    assert!(inferred > 200, "{inferred}");
}

/// What users share between threads, or hand over to one.
#[test]
fn public_types_are_send_and_sync() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Module>();
    crosses::<ModuleBuilder>();
    crosses::<weft_hlo::indexing::Analysis<'_>>();
    crosses::<weft_hlo::passes::Pipeline>();
    crosses::<weft_hlo::diagnostic::Diagnostics>();
}
