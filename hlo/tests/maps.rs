//! Every operation's map against the evaluator, element by element, and maps of whole computations by composition.

use std::collections::BTreeMap;
use weft_hlo::eval::evaluate;
use weft_hlo::indexing::{Analysis, Direction, MAX_MAPS, Relation, Undefined, operand_map};
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, BinaryOp, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Literal,
    Module, Op, Opcode, Scalar, Shape,
};
use weft_hlo::passes::{Pipeline, flatten};
use weft_hlo::random::{Options, Rng, module};
use weft_hlo::text::{parse, print};
use weft_indexing::IndexingMap;

/// Distance of the numbers that fill different operands.
const APART: i32 = 1_000_000;
/// Maps of more points are not enumerated.
const MAX_POINTS: u128 = 40_000;

/// All indices of an array in row-major order.
fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &extent in extents {
        all =
            all.into_iter().flat_map(|index: Vec<i64>| (0..extent).map(move |i| [&index[..], &[i]].concat())).collect();
    }
    all
}

fn linear(extents: &[i64], index: &[i64]) -> i64 {
    assert_eq!(extents.len(), index.len(), "{index:?} is no index into {extents:?}");
    let within = extents.iter().zip(index).all(|(extent, i)| (0..*extent).contains(i));
    assert!(within, "{index:?} lies outside {extents:?}");
    extents.iter().zip(index).fold(0, |sum, (extent, i)| sum * extent + i)
}

fn array(shape: &Shape) -> &ArrayShape {
    shape.as_array().expect("only arrays are asked for")
}

fn of_type(shape: &ArrayShape, element_type: ElementType) -> Shape {
    Shape::Array(ArrayShape { element_type, ..shape.clone() })
}

/// A module of one computation of these instructions, after others that it calls.
fn module_of(mut before: Arena<ComputationId, Computation>, instructions: Arena<InstrId, Instruction>) -> Module {
    let root = InstrId::from_index(instructions.len() - 1);
    let entry = before.push(Computation::new("alone", instructions, root));
    Module::new("alone", before, entry)
}

fn add(instructions: &mut Arena<InstrId, Instruction>, op: Op, shape: Shape, operands: Vec<InstrId>) -> InstrId {
    let name = format!("{}.{}", op.name(), instructions.len());
    instructions.push(Instruction::new(name, shape, op, operands))
}

/// The instruction alone, on `s32`, each operand filled with its own numbers; and its value.
fn alone(computation: &Computation, instruction: &Instruction) -> (Module, Vec<i32>) {
    let mut instructions = Arena::new();
    let mut operands = Vec::new();
    let mut inputs = Vec::new();
    for (number, operand) in (0i32..).zip(&instruction.operands) {
        let shape = array(&computation.instructions[*operand].shape);
        let op = Op::Parameter { number: number.into() };
        operands.push(add(&mut instructions, op, of_type(shape, ElementType::S32), Vec::new()));
        let count = shape.element_count().and_then(|count| i32::try_from(count).ok()).expect("arrays are small");
        let values: Vec<i32> = (0..count).map(|position| number * APART + position).collect();
        inputs.push(Literal::array(shape.extents.clone(), values));
    }
    add(&mut instructions, instruction.op.clone(), of_type(array(&instruction.shape), ElementType::S32), operands);
    let module = module_of(Arena::new(), instructions);
    let results = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}\n{}", print(&module)));
    let Data::S32(values) = &results[0].data else { panic!("s32 was asked for") };
    (module, values.clone())
}

/// What the maps say an operation that only moves elements yields, or the first thing wrong with them.
fn moved(computation: &Computation, id: InstrId) -> Vec<i32> {
    let instruction = &computation.instructions[id];
    let map = |operand: usize| {
        operand_map(computation, id, operand).unwrap_or_else(|found| panic!("{}: {found}", instruction.name))
    };
    let maps: Vec<IndexingMap> = (0..instruction.operands.len()).map(map).collect();
    // The padding is read wherever the operand is not.
    let first = if matches!(instruction.op, Op::Pad { .. }) { 1 } else { maps.len() };
    let mut values = Vec::new();
    for index in indices(&array(&instruction.shape).extents) {
        let read = |operand: usize| {
            maps[operand].contains(&index, &[], &[]).then(|| {
                let at = maps[operand].evaluate(&index, &[], &[]).expect("small indices do not overflow");
                let shape = array(&computation.instructions[instruction.operands[operand]].shape);
                let position = i32::try_from(linear(&shape.extents, &at)).expect("arrays are small");
                i32::try_from(operand).expect("operands are few") * APART + position
            })
        };
        let found: Vec<i32> = (0..first).filter_map(read).collect();
        let found = if found.is_empty() { (first..maps.len()).filter_map(read).collect() } else { found };
        assert_eq!(found.len(), 1, "{}: {} operands are read at {index:?}: {maps:?}", instruction.name, found.len());
        values.push(found[0]);
    }
    values
}

fn is_movement(op: &Op) -> bool {
    matches!(
        op,
        Op::Broadcast { .. }
            | Op::Reshape
            | Op::Bitcast
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Reverse { .. }
            | Op::Concatenate { .. }
            | Op::Pad { .. }
            | Op::Copy
    )
}

fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Compare { .. } | Op::Select | Op::Clamp | Op::Convert)
}

#[test]
fn maps_of_movement_say_which_element_is_read() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..250 {
        let module = module(seed, &Options { elements: 200, ..Options::computed() });
        for computation in module.computations.values() {
            for (id, instruction) in computation.instructions.iter() {
                if is_movement(&instruction.op) && instruction.shape.as_array().is_some() {
                    let (alone, values) = alone(computation, instruction);
                    let expected = moved(computation, id);
                    assert!(expected == values, "seed {seed}: {expected:?}, evaluated {values:?}\n{}", print(&alone));
                    *seen.entry(instruction.op.name().into_owned()).or_default() += 1;
                }
            }
        }
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
    assert!(seen.values().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn maps_of_elementwise_operations_are_the_identity() {
    let mut count = 0;
    for seed in 0..100 {
        let module = module(seed, &Options::computed());
        for computation in module.computations.values() {
            for (id, instruction) in computation.instructions.iter().filter(|(_, found)| is_elementwise(&found.op)) {
                for (number, operand) in instruction.operands.iter().enumerate() {
                    let (own, read) = (array(&instruction.shape), array(&computation.instructions[*operand].shape));
                    let map = operand_map(computation, id, number).expect("elementwise operations have maps");
                    // A scalar condition or bound is read everywhere.
                    let expected = if own.extents == read.extents {
                        IndexingMap::identity(&own.extents)
                    } else {
                        assert_eq!(read.rank(), 0);
                        IndexingMap::of_extents(&own.extents, &[], Vec::new())
                            .expect("the results are over these variables")
                    };
                    assert_eq!(map, expected, "seed {seed}: {}", instruction.name);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
}

/// A number for a position such that sums tell sets apart.
fn scattered(position: i64) -> u32 {
    (Rng::new(position.cast_unsigned()).next_u64() >> 32) as u32
}

/// The region that combines two `u32`.
fn combine(op: BinaryOp, computations: &mut Arena<ComputationId, Computation>) -> ComputationId {
    let mut region = Arena::new();
    let scalar = Shape::scalar(ElementType::U32);
    let a = add(&mut region, Op::Parameter { number: 0 }, scalar.clone(), Vec::new());
    let b = add(&mut region, Op::Parameter { number: 1 }, scalar.clone(), Vec::new());
    let root = add(&mut region, Op::Binary(op), scalar, vec![a, b]);
    let name = format!("region_{}", computations.len());
    computations.push(Computation::new(name, region, root))
}

#[test]
fn maps_of_reductions_say_which_elements_are_folded() {
    let mut count = 0;
    for seed in 0..250 {
        let module = module(seed, &Options { elements: 200, ..Options::computed() });
        for computation in module.computations.values() {
            for (id, instruction) in computation.instructions.iter() {
                let Op::Reduce { dimensions, .. } = &instruction.op else { continue };
                let inputs = instruction.operands.len() / 2;
                let output = array(instruction.shape.leaves()[0]);
                for number in 0..inputs {
                    let shape = array(&computation.instructions[instruction.operands[number]].shape);
                    let mut computations = Arena::new();
                    let to_apply = combine(BinaryOp::Add, &mut computations);
                    let mut alone = Arena::new();
                    let input = of_type(shape, ElementType::U32);
                    let input = add(&mut alone, Op::Parameter { number: 0 }, input, Vec::new());
                    let scalar = Shape::scalar(ElementType::U32);
                    let zero = Op::Constant(Literal::scalar(Scalar::U32(0)));
                    let zero = add(&mut alone, zero, scalar, Vec::new());
                    let op = Op::Reduce { dimensions: dimensions.clone(), to_apply };
                    add(&mut alone, op, of_type(output, ElementType::U32), vec![input, zero]);
                    let alone = module_of(computations, alone);
                    let elements = shape.element_count().expect("arrays are small");
                    let filled: Vec<u32> = (0..elements).map(scattered).collect();
                    let results = evaluate(&alone, &[Literal::array(shape.extents.clone(), filled)]);
                    let results = results.unwrap_or_else(|found| panic!("{found}\n{}", print(&alone)));

                    let map = operand_map(computation, id, number).expect("reductions have maps");
                    let mut sums: BTreeMap<Vec<i64>, u32> =
                        indices(&output.extents).into_iter().map(|index| (index, 0)).collect();
                    for point in map.points() {
                        let at = map.evaluate(&point.dims, &point.ranges, &[]).expect("small indices do not overflow");
                        let sum = sums.get_mut(&point.dims).expect("dimensions are indices of the output");
                        *sum = sum.wrapping_add(scattered(linear(&shape.extents, &at)));
                    }
                    let sums: Vec<u32> = sums.into_values().collect();
                    assert_eq!(Data::U32(sums), results[0].data, "seed {seed}: {map}\n{}", print(&alone));
                    // The initial value is read for every element.
                    let initial = operand_map(computation, id, inputs + number).expect("reductions have maps");
                    assert_eq!(
                        initial,
                        IndexingMap::of_extents(&output.extents, &[], Vec::new())
                            .expect("the results are over these variables")
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 300, "{count}");
}

/// A computation that computes, of every element, which elements of a parameter it depends on, as bits: whatever moves
/// elements moves them, whatever combines elements combines their bits.
struct Shadow {
    computations: Arena<ComputationId, Computation>,
    fold: ComputationId,
    /// Where the shadows of the module's computations are.
    images: Vec<Option<ComputationId>>,
}

impl Shadow {
    fn new(module: &Module) -> Shadow {
        let mut computations = Arena::new();
        let fold = combine(BinaryOp::Or, &mut computations);
        Shadow { computations, fold, images: vec![None; module.computations.len()] }
    }

    fn shape(shape: &Shape) -> Shape {
        match shape {
            Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(Shadow::shape).collect()),
            _ => of_type(array(shape), ElementType::U32),
        }
    }

    fn computation(&mut self, module: &Module, computation: &Computation) -> ComputationId {
        let mut made: Arena<InstrId, Instruction> = Arena::new();
        let mut image: Vec<InstrId> = Vec::new();
        for instruction in computation.instructions.values() {
            let shape = Shadow::shape(&instruction.shape);
            let operands: Vec<InstrId> = instruction.operands.iter().map(|operand| image[operand.index()]).collect();
            let id = match &instruction.op {
                Op::Constant(_) | Op::Iota { .. } => nothing_of(&mut made, &shape),
                op if is_elementwise(op) => {
                    operands.into_iter().fold(nothing(&mut made, array(&shape)), |all, operand| {
                        let operand = spread(&mut made, operand, array(&shape));
                        add(&mut made, Op::Binary(BinaryOp::Or), shape.clone(), vec![all, operand])
                    })
                }
                Op::Pad { .. } => {
                    let none = nothing(&mut made, &ArrayShape::new(ElementType::U32, []));
                    let padded = add(&mut made, instruction.op.clone(), shape.clone(), vec![operands[0], none]);
                    let value = spread(&mut made, operands[1], array(&shape));
                    add(&mut made, Op::Binary(BinaryOp::Or), shape, vec![padded, value])
                }
                Op::Reduce { dimensions, .. } => {
                    let op = Op::Reduce { dimensions: dimensions.clone(), to_apply: self.fold };
                    let result = array(shape.leaves()[0]).clone();
                    let (inputs, initials) = operands.split_at(operands.len() / 2);
                    let mut all = nothing(&mut made, &result);
                    for (input, initial) in inputs.iter().zip(initials) {
                        let folded = add(&mut made, op.clone(), Shape::Array(result.clone()), vec![*input, *initial]);
                        all = add(&mut made, Op::Binary(BinaryOp::Or), Shape::Array(result.clone()), vec![all, folded]);
                    }
                    match shape.as_tuple() {
                        // Every output depends on every input.
                        Some(elements) => {
                            let copy = |element: &Shape| add(&mut made, Op::Copy, element.clone(), vec![all]);
                            let copies = elements.iter().map(copy).collect();
                            add(&mut made, Op::Tuple, shape.clone(), copies)
                        }
                        None => all,
                    }
                }
                Op::Fusion { calls, kind, .. } => {
                    let calls = self.image(module, *calls);
                    add(&mut made, Op::fusion(*kind, calls), shape, operands)
                }
                Op::Call { to_apply } => {
                    let to_apply = self.image(module, *to_apply);
                    add(&mut made, Op::Call { to_apply }, shape, operands)
                }
                op => add(&mut made, op.clone(), shape, operands),
            };
            image.push(id);
        }
        let name = format!("shadow_{}", self.computations.len());
        let root = image[computation.root.index()];
        self.computations.push(Computation::new(name, made, root))
    }

    fn image(&mut self, module: &Module, id: ComputationId) -> ComputationId {
        if let Some(known) = self.images[id.index()] {
            return known;
        }
        let made = self.computation(module, &module.computations[id]);
        self.images[id.index()] = Some(made);
        made
    }
}

/// No element of anything.
fn nothing(made: &mut Arena<InstrId, Instruction>, shape: &ArrayShape) -> InstrId {
    let count = usize::try_from(shape.element_count().unwrap_or(0)).expect("arrays are small");
    let value = Literal::array(shape.extents.clone(), vec![0u32; count]);
    add(made, Op::Constant(value), Shape::Array(shape.clone()), Vec::new())
}

/// The same of a tuple.
fn nothing_of(made: &mut Arena<InstrId, Instruction>, shape: &Shape) -> InstrId {
    let Shape::Tuple(elements) = shape else { return nothing(made, array(shape)) };
    let operands = elements.iter().map(|element| nothing_of(made, element)).collect();
    add(made, Op::Tuple, shape.clone(), operands)
}

/// A scalar everywhere; an array as it is.
fn spread(made: &mut Arena<InstrId, Instruction>, operand: InstrId, shape: &ArrayShape) -> InstrId {
    let is_scalar = array(&made[operand].shape).rank() == 0 && shape.rank() > 0;
    if !is_scalar {
        return operand;
    }
    add(made, Op::Broadcast { dimensions: Vec::new() }, Shape::Array(shape.clone()), vec![operand])
}

/// For each parameter of the computation, and each element of its root, which elements of the parameter it depends on:
/// bit `i mod 32` for element `i`. From the evaluator.
fn dependences(module: &Module, computation: &Computation) -> Vec<Vec<u32>> {
    let mut shadow = Shadow::new(module);
    let entry = shadow.computation(module, computation);
    let shadow = Module::new("shadow", shadow.computations, entry);
    let parameters = computation.parameters();
    (0..parameters.len())
        .map(|marked| {
            let fill = |(number, id): (usize, &InstrId)| {
                let shape = array(&computation.instructions[*id].shape);
                let bit = |position: i64| if number == marked { 1u32 << (position % 32) } else { 0 };
                let count = shape.element_count().expect("arrays are small");
                Literal::array(shape.extents.clone(), (0..count).map(bit).collect::<Vec<u32>>())
            };
            let inputs: Vec<Literal> = parameters.iter().enumerate().map(fill).collect();
            let results = evaluate(&shadow, &inputs).unwrap_or_else(|found| panic!("{found}\n{}", print(&shadow)));
            let Data::U32(bits) = &results[0].data else { panic!("bits are u32") };
            bits.clone()
        })
        .collect()
}

/// The same by enumerating the maps; `None` where there are too many points.
fn read_through(maps: &[IndexingMap], output: &ArrayShape, parameter: &ArrayShape) -> Option<Vec<u32>> {
    let mut bits: BTreeMap<Vec<i64>, u32> = indices(&output.extents).into_iter().map(|index| (index, 0)).collect();
    for map in maps {
        if map.box_size() > MAX_POINTS {
            return None;
        }
        for point in map.points() {
            let at = map.evaluate(&point.dims, &point.ranges, &[]).expect("small indices do not overflow");
            let bit = 1u32 << (linear(&parameter.extents, &at) % 32);
            *bits.get_mut(&point.dims).expect("dimensions are indices of the output") |= bit;
        }
    }
    Some(bits.into_values().collect())
}

/// For each parameter of the entry its distinct maps from any array of the root; `None` where there are too many.
fn entry_maps(module: &Module) -> Option<Vec<Vec<IndexingMap>>> {
    let found = Analysis::new(module).computation(module.entry, Direction::OutputToInput);
    let mut maps: Vec<Vec<IndexingMap>> = vec![Vec::new(); module.entry_computation().parameters().len()];
    for dependence in &found.dependences {
        match dependence.relation.undefined() {
            None => {}
            Some(Undefined::TooManyMaps) => return None,
            Some(reason) => panic!("{reason}\n{}", print(module)),
        }
        let known = &mut maps[dependence.operand.expect("a parameter has a number")];
        for map in dependence.relation.maps() {
            // The shadow has the padding value everywhere too.
            assert!(map.coarse.is_none_or(|reason| reason.contains("padding value")), "{:?}", map.coarse);
            assert_eq!(map.replica_id, None);
            if !known.contains(&map.map) {
                known.push(map.map.clone());
            }
        }
    }
    Some(maps)
}

/// Compares both for some roots of a flat computation; how many were compared.
fn check_maps(seed: u64, module: &Module) -> usize {
    let mut count = 0;
    let entry = module.entry_computation();
    let arrays: Vec<InstrId> =
        entry.instructions.iter().filter(|(_, found)| found.shape.as_array().is_some()).map(|(id, _)| id).collect();
    // Late instructions depend on most.
    for &root in arrays.iter().rev().take(4) {
        let mut module = module.clone();
        let id = module.entry;
        module.computations[id].root = root;
        let Some(maps) = entry_maps(&module) else { continue };
        let rooted = module.entry_computation();
        let expected = dependences(&module, rooted);
        for ((id, maps), expected) in rooted.parameters().into_iter().zip(&maps).zip(expected) {
            let (output, parameter) = (array(rooted.result_shape()), array(&rooted.instructions[id].shape));
            let Some(read) = read_through(maps, output, parameter) else { continue };
            let name = &rooted.instructions[id].name;
            assert!(
                read == expected,
                "seed {seed}: {name} is read through {maps:?}\nat {read:x?}\nnot {expected:x?}\n{}",
                print(&module)
            );
            assert!(maps.len() <= MAX_MAPS);
            count += 1;
        }
    }
    count
}

#[test]
fn composed_maps_say_exactly_what_is_read() {
    // At most 32 elements, so that each has a bit of its own.
    let options = Options { elements: 32, instructions: 16, ..Options::computed().without(Opcode::Fusion) };
    let mut count = 0;
    for seed in 0..150 {
        let flat = flatten(&module(seed, &options)).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        count += check_maps(seed, &flat);
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn maps_look_into_fusions() {
    let options = Options { elements: 32, instructions: 12, ..Options::computed() };
    let mut count = 0;
    for seed in 1000..1150 {
        let flat = flatten(&module(seed, &options)).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        count += check_maps(seed, &flat);
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn maps_look_into_calls_and_tuples() {
    let options = Options { elements: 32, instructions: 12, ..Options::computed() };
    let mut count = 0;
    for seed in 2000..2150 {
        let module = module(seed, &options);
        let entry = module.entry_computation();
        let takes_arrays = |id: &InstrId| entry.instructions[*id].shape.as_array().is_some();
        if entry.parameters().iter().all(takes_arrays) {
            count += check_maps(seed, &module);
        }
    }
    assert!(count > 500, "{count}");
}

/// Each output of a fusion reads through its own maps, also where the extents differ.
#[test]
fn outputs_of_a_fusion_are_told_apart() {
    let text = "HloModule outputs
        f {
            p = f32[2,7] parameter(0)
            q = f32[7] parameter(1)
            r = f32[2,7] reverse(p), dimensions={0}
            ROOT t = (f32[7], f32[2,7]) tuple(q, r)
        }
        ENTRY e {
            p = f32[2,7] parameter(0)
            q = f32[7] parameter(1)
            o = (f32[7], f32[2,7]) fusion(p, q), kind=kLoop, calls=f
            ROOT second = f32[2,7] get-tuple-element(o), index=1
        }";
    let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
    let maps = entry_maps(&module).expect("there are few maps");
    let texts: Vec<Vec<String>> = maps.iter().map(|maps| maps.iter().map(ToString::to_string).collect()).collect();
    let expected: [&[&str]; 2] = [&["(d0, d1) -> (-d0 + 1, d1), domain: d0 in [0, 1], d1 in [0, 6]"], &[]];
    assert_eq!(texts, expected);
}

#[test]
fn control_dependences_read_nothing() {
    let text = "ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[3] parameter(1)\n  p = (f32[3], f32[2]) tuple(y, x)\n  \
                t = token[] after-all(y, p)\n  ROOT z = f32[2] add-dependency(x, t)\n}\n";
    let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
    let optimized = Pipeline::default().run(&module).unwrap_or_else(|found| panic!("{found}"));
    for module in [&module, &optimized.module] {
        for direction in [Direction::OutputToInput, Direction::InputToOutput] {
            let found = Analysis::new(module).computation(module.entry, direction);
            let read: Vec<(Option<usize>, String)> = found
                .dependences
                .iter()
                .filter_map(|dependence| match &dependence.relation {
                    Relation::Maps(maps) => maps.first().map(|map| (dependence.operand, map.map.to_string())),
                    Relation::Undefined(reason) => panic!("{reason}"),
                })
                .collect();
            assert_eq!(read.len(), 1, "{read:?}");
            assert_eq!(read[0].0, Some(0), "{read:?}");
        }
    }
}
