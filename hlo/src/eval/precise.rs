//! Evaluation in the widest types, as the reference for rounding errors.

use super::{Config, converted};
use crate::diagnostic::Diagnostics;
use crate::ir::UniqueNames;
use crate::ir::{
    Arena, ArenaId, ArrayShape, Computation, Data, ElementType, EntryLayout, HeaderAttribute, InstrId, Instruction,
    Literal, Module, Op, Shape,
};

/// The results of the module's entry for `inputs`, computed in `f64` and `c128` wherever the program computes in a narrower
/// float; those results are of these types.
///
/// What looks at the bits of narrower numbers (`bitcast-convert`, random numbers, custom calls) is given them in the type it
/// was written for, rounded, and so are its results.
///
/// # Errors
/// As [`evaluate`](super::evaluate).
///
/// ```
/// use weft_hlo::ir::{Data, Literal};
///
/// let text = "HloModule third\n\nENTRY main {\n  x = f32[] parameter(0)\n  three = f32[] constant(3)\n  ROOT y = f32[] divide(x, three)\n}\n";
/// let module = weft_hlo::text::parse(text)?;
/// let x = Literal::array([], vec![1f32]);
/// let precise = weft_hlo::eval::evaluate_precisely(&module, &[x], &Default::default())?;
/// assert_eq!(precise[0].data, Data::F64(vec![1.0 / 3.0]));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn evaluate_precisely(module: &Module, inputs: &[Literal], config: &Config) -> Result<Vec<Literal>, Diagnostics> {
    // The findings are to be those of the program as it stands.
    super::check(module, config)?;
    let wide_inputs: Vec<Literal> = inputs.iter().map(wide_literal).collect();
    super::evaluate_with(&wide_module(module), &wide_inputs, config)
}

/// The type that takes the place of one.
fn wide_type(element_type: ElementType) -> ElementType {
    match element_type {
        _ if element_type.is_float() => ElementType::F64,
        _ if element_type.is_complex() => ElementType::C128,
        _ => element_type,
    }
}

fn wide_shape(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(array) => {
            Shape::Array(ArrayShape { element_type: wide_type(array.element_type), ..array.clone() })
        }
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(wide_shape).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

pub(crate) fn wide_literal(literal: &Literal) -> Literal {
    let shape = wide_shape(&literal.shape);
    let data = match (&literal.data, shape.as_array()) {
        (Data::Tuple(elements), _) => Data::Tuple(elements.iter().map(wide_literal).collect()),
        (data, Some(array)) => converted(data, array.element_type).unwrap_or_else(|| data.clone()),
        (data, None) => data.clone(),
    };
    Literal { shape, data }
}

pub(crate) fn wide_module(module: &Module) -> Module {
    let computations = module.computations.values().map(wide_computation).collect();
    let mut wide = Module { computations, ..module.clone() };
    for attribute in &mut wide.attributes {
        if let HeaderAttribute::EntryComputationLayout(EntryLayout { parameters, result }) = attribute {
            parameters.iter_mut().chain([result]).for_each(|shape| *shape = wide_shape(shape));
        }
    }
    wide
}

fn wide_computation(computation: &Computation) -> Computation {
    let mut widener = Widener { made: Arena::new(), names: UniqueNames::default() };
    for instruction in computation.instructions.values() {
        widener.names.take(&instruction.name);
    }
    let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
    for instruction in computation.instructions.values() {
        let mut instruction = instruction.clone();
        let given: Vec<Shape> =
            instruction.operands.iter().map(|&operand| computation.instructions[operand].shape.clone()).collect();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        image.push(widener.instruction(instruction, &given));
    }
    let root = image[computation.root.index()];
    Computation { instructions: widener.made, root, ..computation.clone() }
}

struct Widener {
    made: Arena<InstrId, Instruction>,
    names: UniqueNames,
}

impl Widener {
    /// The instruction in the widest types; its operands, which are so already, had the shapes given.
    fn instruction(&mut self, mut instruction: Instruction, given: &[Shape]) -> InstrId {
        if !reads_bits(&instruction, given) {
            instruction.shape = wide_shape(&instruction.shape);
            match &mut instruction.op {
                Op::Constant(literal) => *literal = wide_literal(literal),
                Op::Dot { algorithm, .. } => *algorithm = None,
                _ => {}
            }
            return self.made.push(instruction);
        }
        let narrowed: Vec<InstrId> = instruction
            .operands
            .iter()
            .zip(given)
            .map(|(&operand, shape)| self.converted(operand, shape, &instruction))
            .collect();
        instruction.operands = narrowed;
        let wide = wide_shape(&instruction.shape);
        if instruction.shape.is_compatible(&wide) {
            return self.made.push(instruction);
        }
        // The value that others read goes by the name of the text.
        let name = self.names.take(&instruction.name);
        let narrow = self.made.push(Instruction { name, ..instruction.clone() });
        let result = self.converted(narrow, &wide, &instruction);
        self.made[result].name = instruction.name;
        result
    }

    /// A value as one of another shape, element by element.
    fn converted(&mut self, value: InstrId, wanted: &Shape, like: &Instruction) -> InstrId {
        if self.made[value].shape.is_compatible(wanted) {
            return value;
        }
        let Shape::Tuple(elements) = wanted else {
            return self.add(wanted.clone(), Op::Convert, vec![value], like);
        };
        let shapes = self.made[value].shape.as_tuple().unwrap_or_default().to_vec();
        let mut converted = Vec::with_capacity(elements.len());
        for (index, (element, shape)) in (0..).zip(elements.iter().zip(shapes)) {
            let taken = self.add(shape, Op::GetTupleElement { index }, vec![value], like);
            converted.push(self.converted(taken, element, like));
        }
        self.add(wanted.clone(), Op::Tuple, converted, like)
    }

    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>, like: &Instruction) -> InstrId {
        let mut added = Instruction::new(self.names.take(&like.name), shape, op, operands);
        added.span = like.span;
        self.made.push(added)
    }
}

/// Whether what an instruction means depends on how the numbers it is given, of these shapes, are written as bits.
fn reads_bits(instruction: &Instruction, given: &[Shape]) -> bool {
    let element_type = |shape: &Shape| shape.as_array().map(|array| array.element_type);
    match instruction.op {
        // Between equal types elements are moved as they are.
        Op::Bitcast | Op::BitcastConvert => {
            given.iter().any(|shape| element_type(shape) != element_type(&instruction.shape))
        }
        Op::StochasticConvert
        | Op::ReducePrecision { .. }
        | Op::Rng { .. }
        | Op::RngBitGenerator { .. }
        | Op::RngGetAndUpdateState { .. }
        | Op::CustomCall { .. } => true,
        _ => false,
    }
}
