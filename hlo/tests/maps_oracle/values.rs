//! Values of all instructions of a computation, and programs of one instruction.

use std::collections::BTreeMap;
use weft_hlo::eval::{Config, converted, evaluate_with};
use weft_hlo::ir::{
    ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Literal, Module, Op, Scalar, Shape,
};

/// For each instruction of a computation the arrays of its value; tokens have none.
#[derive(Clone, Debug)]
pub(crate) struct Values(Vec<Vec<Option<Literal>>>);

impl Values {
    /// What the instructions of a computation yield for these arguments, one for each array of its parameters.
    pub(crate) fn new(module: &Module, computation: ComputationId, arguments: &[Literal]) -> Result<Values, String> {
        let mut module = module.clone();
        // A copy, since whoever calls the computation counts on its root.
        let mut observed = module.computations[computation].clone();
        let ids: Vec<InstrId> = observed.instructions.ids().collect();
        let shapes: Vec<Shape> = observed.instructions.values().map(|it| it.shape.without_layout()).collect();
        let all = Instruction::new("all", Shape::Tuple(shapes.clone()), Op::Tuple, ids);
        observed.root = observed.instructions.push(all);
        "observed".clone_into(&mut observed.name);
        module.entry = module.computations.push(observed);
        let mut arrays = evaluated(&module, arguments)?.into_iter();
        Ok(Values(shapes.iter().map(|shape| leaves(shape, &mut arrays)).collect()))
    }

    pub(crate) fn of(&self, id: InstrId) -> &[Option<Literal>] {
        &self.0[id.index()]
    }
}

fn evaluated(module: &Module, arguments: &[Literal]) -> Result<Vec<Literal>, String> {
    let config = Config { iteration_limit: Some(64), instruction_limit: 1 << 24, ..Config::default() };
    evaluate_with(module, arguments, &config).map_err(|findings| findings.to_string())
}

/// The arrays among the leaves of a shape, which come in order.
fn leaves(shape: &Shape, arrays: &mut impl Iterator<Item = Literal>) -> Vec<Option<Literal>> {
    shape.leaves().into_iter().map(|leaf| leaf.as_array().and_then(|_| arrays.next())).collect()
}

/// An element that is an integer or `pred`.
pub(crate) fn integer(literal: &Literal, position: usize) -> i128 {
    let is_unsigned = literal.data.element_type().is_some_and(|element_type| !element_type.is_signed());
    let wide = if is_unsigned { ElementType::U64 } else { ElementType::S64 };
    let element = converted(&literal.data, wide).and_then(|data| data.get(position));
    let value = match element {
        Some(Scalar::U64(value)) => Some(i128::from(value)),
        Some(Scalar::S64(value)) => Some(i128::from(value)),
        _ => None,
    };
    value.expect("there is such an element, and it is an integer")
}

/// A program that does what one instruction does, and takes each array of each operand.
pub(crate) struct Alone {
    module: Module,
    shape: Shape,
    /// The argument that is an array of an operand.
    arguments: BTreeMap<(usize, usize), usize>,
}

impl Alone {
    pub(crate) fn new(module: &Module, computation: ComputationId, id: InstrId) -> Alone {
        let around = &module.computations[computation];
        let instruction = &around.instructions[id];
        let mut entry = Computation::new("alone", weft_hlo::ir::Arena::new(), InstrId::from_index(0));
        let mut arguments = BTreeMap::new();
        let mut operands = Vec::new();
        for (operand, given) in instruction.operands.iter().enumerate() {
            let mut leaf = 0;
            let shape = &around.instructions[*given].shape;
            operands.push(taken(&mut entry, shape, operand, &mut leaf, &mut arguments));
        }
        let mut instruction = instruction.clone();
        instruction.operands = operands;
        let shape = instruction.shape.clone();
        entry.root = entry.instructions.push(instruction);
        let mut module = module.clone();
        module.entry = module.computations.push(entry);
        Alone { module, shape, arguments }
    }

    /// Every array of every operand: operand, leaf, and which argument it is.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = ((usize, usize), usize)> {
        self.arguments.iter().map(|(leaf, argument)| (*leaf, *argument))
    }

    pub(crate) fn random_arguments(&self, seed: u64) -> Vec<Literal> {
        weft_hlo::random::inputs(&self.module, seed, &weft_hlo::random::Options::default())
    }

    /// The leaves of the value.
    pub(crate) fn value(&self, arguments: &[Literal]) -> Result<Vec<Option<Literal>>, String> {
        Ok(leaves(&self.shape, &mut evaluated(&self.module, arguments)?.into_iter()))
    }
}

/// A value of this shape, of which every array is a parameter.
fn taken(
    entry: &mut Computation,
    shape: &Shape,
    operand: usize,
    leaf: &mut usize,
    arguments: &mut BTreeMap<(usize, usize), usize>,
) -> InstrId {
    let (op, operands) = match shape {
        Shape::Tuple(elements) => {
            let operands = elements.iter().map(|element| taken(entry, element, operand, leaf, arguments)).collect();
            (Op::Tuple, operands)
        }
        Shape::Array(_) => {
            let number = arguments.len();
            arguments.insert((operand, *leaf), number);
            *leaf += 1;
            (Op::Parameter { number: number as i64 }, Vec::new())
        }
        _ => {
            *leaf += 1;
            (Op::AfterAll, Vec::new())
        }
    };
    let name = format!("value.{}", entry.instructions.len());
    entry.instructions.push(Instruction::new(name, shape.clone(), op, operands))
}
