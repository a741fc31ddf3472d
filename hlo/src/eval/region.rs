//! Regions (the scalar computations of reductions, sorts and scatters), compiled to straight-line steps.

use super::scalar::{Form, Held, Number, elements_of};
use crate::ir::{
    ArenaId, BinaryOp, Computation, ComputationId, ElementType, InstrId, Instruction, Module, Op, Scalar, Shape,
};

/// How many instructions a computation may come to as steps. Calls are written out, so that a few computations that call
/// each other twice could otherwise grow without bound.
const MAX_INSTRUCTIONS: usize = 1 << 16;
/// How deep calls may be nested.
const MAX_DEPTH: usize = 128;

/// How a computation of scalars is applied.
pub(super) enum Region {
    /// By steps over registers.
    Program(Program),
    /// As any other computation: it loops, or computes with arrays.
    Computation,
}

/// Steps over registers, each of which holds a scalar.
pub(super) struct Program {
    /// The registers before the first step: constants in place, everything else of no meaning.
    registers: Vec<Scalar>,
    /// Where the parameters go, in order.
    parameters: Vec<usize>,
    steps: Vec<Step>,
    /// Where the results are, in order.
    results: Vec<usize>,
    /// The one operation on the parameters in order that it comes to, if it is no more.
    whole: Option<BinaryOp>,
}

/// What a step does to the values of its operands.
pub(super) type Action = Box<dyn Fn(&[Scalar]) -> Scalar + Send + Sync>;

struct Step {
    action: Action,
    operands: Vec<usize>,
    target: usize,
}

/// The registers of a program while it runs, for one core.
pub(super) struct Registers {
    values: Vec<Scalar>,
    operands: Vec<Scalar>,
    results: Vec<Scalar>,
}

const NOTHING: Scalar = Scalar::Pred(false);

impl Region {
    /// A program where the computation is arithmetic on scalars.
    pub(super) fn compile(module: &Module, computation: ComputationId) -> Region {
        Program::compile(module, computation).map_or(Region::Computation, Region::Program)
    }
}

impl Program {
    fn compile(module: &Module, id: ComputationId) -> Option<Self> {
        let computation = &module.computations[id];
        let mut program = Program {
            registers: Vec::new(),
            parameters: Vec::new(),
            steps: Vec::new(),
            results: Vec::new(),
            whole: whole(computation),
        };
        let parameters = computation.parameters();
        if !parameters.iter().all(|&parameter| is_scalar(&computation.instructions[parameter].shape)) {
            return None;
        }
        program.parameters = parameters.iter().map(|_| program.register(NOTHING)).collect();
        let arguments: Vec<Storage> = program.parameters.iter().map(|&register| Storage::Scalar(register)).collect();
        let result = Compiler { module, program: &mut program, instructions: 0 }.computation(id, &arguments, 0)?;
        match result {
            Storage::Scalar(register) => program.results.push(register),
            Storage::Tuple(elements) => program.results.extend(elements.iter().filter_map(Storage::scalar)),
        }
        Some(program)
    }

    fn register(&mut self, value: Scalar) -> usize {
        self.registers.push(value);
        self.registers.len() - 1
    }

    /// Registers to run with.
    pub(super) fn registers(&self) -> Registers {
        Registers { values: self.registers.clone(), operands: Vec::new(), results: vec![NOTHING; self.results.len()] }
    }

    /// The results for these arguments.
    pub(super) fn run<'r>(&self, registers: &'r mut Registers, arguments: &[Scalar]) -> &'r [Scalar] {
        let Registers { values, operands, results } = registers;
        for (&parameter, &argument) in self.parameters.iter().zip(arguments) {
            values[parameter] = argument;
        }
        for step in &self.steps {
            operands.clear();
            operands.extend(step.operands.iter().map(|&operand| values[operand]));
            values[step.target] = (step.action)(operands);
        }
        for (result, &register) in results.iter_mut().zip(&self.results) {
            *result = values[register];
        }
        results
    }

    /// The one operation on the two parameters, in order, that the computation comes to.
    pub(super) fn as_binary(&self) -> Option<BinaryOp> {
        self.whole
    }
}

fn whole(computation: &Computation) -> Option<BinaryOp> {
    let root = &computation.instructions[computation.root];
    let Op::Binary(op) = root.op else { return None };
    (root.operands == computation.parameters() && root.operands.len() == 2).then_some(op)
}

/// Where a value of the computation is.
#[derive(Clone)]
enum Storage {
    Scalar(usize),
    Tuple(Vec<Storage>),
}

impl Storage {
    fn scalar(&self) -> Option<usize> {
        match self {
            Storage::Scalar(register) => Some(*register),
            Storage::Tuple(_) => None,
        }
    }
}

struct Compiler<'a> {
    module: &'a Module,
    program: &'a mut Program,
    /// How many have been written out so far.
    instructions: usize,
}

impl Compiler<'_> {
    fn computation(&mut self, id: ComputationId, arguments: &[Storage], depth: usize) -> Option<Storage> {
        let computation = &self.module.computations[id];
        let mut places: Vec<Storage> = Vec::with_capacity(computation.instructions.len());
        for instruction in computation.instructions.values() {
            self.instructions += 1;
            if self.instructions > MAX_INSTRUCTIONS {
                return None;
            }
            let operands: Vec<Storage> =
                instruction.operands.iter().map(|operand| places[operand.index()].clone()).collect();
            places.push(self.instruction(computation, instruction, arguments, &operands, depth)?);
        }
        Some(places.swap_remove(computation.root.index()))
    }

    fn instruction(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        arguments: &[Storage],
        operands: &[Storage],
        depth: usize,
    ) -> Option<Storage> {
        if !instruction.shape.leaves().into_iter().all(is_scalar) {
            return None;
        }
        let element_type = |position: usize| {
            let operand: InstrId = instruction.operands[position];
            computation.instructions[operand].shape.as_array().map(|array| array.element_type)
        };
        let result = instruction.shape.as_array().map(|array| array.element_type);
        let action = match &instruction.op {
            Op::Parameter { number } => return Some(arguments[*number as usize].clone()),
            Op::Tuple => return Some(Storage::Tuple(operands.to_vec())),
            Op::GetTupleElement { index } => match &operands[0] {
                Storage::Tuple(elements) => return Some(elements[*index as usize].clone()),
                Storage::Scalar(_) => return None,
            },
            Op::Call { to_apply: callee } | Op::Fusion { calls: callee, .. } if depth < MAX_DEPTH => {
                return self.computation(*callee, operands, depth + 1);
            }
            Op::Constant(literal) => return Some(Storage::Scalar(self.program.register(literal.data.get(0)?))),
            Op::Copy
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Broadcast { .. }
            | Op::Reverse { .. }
            | Op::OptimizationBarrier => {
                return Some(operands[0].clone());
            }
            Op::Bitcast if element_type(0) == result => return Some(operands[0].clone()),
            Op::Bitcast | Op::BitcastConvert => reinterpretation(element_type(0)?, result?),
            Op::Convert => conversion(element_type(0)?, result?),
            Op::Unary(op) => super::elementwise::unary_of_one(*op, element_type(0)?)?,
            Op::Binary(op) => binary(*op, element_type(0)?)?,
            Op::Compare { direction, order } => elements_of!(element_type(0)?, T => {
                let f = T::relation(*direction, *order, Form::of(element_type(0)?))?;
                Box::new(move |a: &[Scalar]| Scalar::Pred(f.one(T::of_scalar(a[0]), T::of_scalar(a[1])))) as Action
            }),
            Op::Select => Box::new(|a: &[Scalar]| if a[0] == Scalar::Pred(true) { a[1] } else { a[2] }),
            Op::Clamp => {
                let raised = self.step(binary(BinaryOp::Maximum, element_type(1)?)?, &operands[..2])?;
                return self.step(binary(BinaryOp::Minimum, element_type(1)?)?, &[raised, operands[2].clone()]);
            }
            _ => return None,
        };
        self.step(action, operands)
    }

    fn step(&mut self, action: Action, operands: &[Storage]) -> Option<Storage> {
        let operands = operands.iter().map(Storage::scalar).collect::<Option<Vec<usize>>>()?;
        let target = self.program.register(NOTHING);
        self.program.steps.push(Step { action, operands, target });
        Some(Storage::Scalar(target))
    }
}

fn binary(op: BinaryOp, element_type: ElementType) -> Option<Action> {
    elements_of!(element_type, T => {
        let form = Form::of(element_type);
        let f = T::binary(op, form)?;
        Some(Box::new(move |a| f.one(T::of_scalar(a[0]), T::of_scalar(a[1])).to_scalar(form)))
    })
}

pub(super) fn conversion(from: ElementType, to: ElementType) -> Action {
    let (from, to) = (Form::of(from), Form::of(to));
    let (number, back) = (number_in(from), nearest_in(to));
    Box::new(move |a| back(number(a[0], from), to))
}

pub(super) fn reinterpretation(from: ElementType, to: ElementType) -> Action {
    let mask = u128::MAX >> (u128::BITS - from.bits());
    // A `pred` is true unless all bits are 0, also those above a word's.
    let word = move |bits: u128| if to == ElementType::Pred { u128::from(bits != 0) } else { bits };
    Box::new(move |a| Scalar::of_word(word(a[0].word() & mask), to))
}

/// The value of elements of a type.
fn number_in(form: Form) -> fn(Scalar, Form) -> Number {
    elements_of!(form.element_type(), T => |a, form| T::of_scalar(a).value(form))
}

/// The elements of a type for values.
fn nearest_in(form: Form) -> fn(Number, Form) -> Scalar {
    elements_of!(form.element_type(), T => |value, form| T::nearest(value, form).to_scalar(form))
}

/// The value of an element.
pub(crate) fn number(scalar: Scalar) -> Number {
    let form = Form::of(scalar.element_type());
    number_in(form)(scalar, form)
}

/// The element of a type for a value, as `convert` makes it.
pub(crate) fn nearest(value: Number, element_type: ElementType) -> Scalar {
    let form = Form::of(element_type);
    nearest_in(form)(value, form)
}

fn is_scalar(leaf: &Shape) -> bool {
    leaf.as_array().is_some_and(|array| array.rank() == 0)
}
