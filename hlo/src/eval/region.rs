//! The computation of a reduction, compiled to a straight line of steps over scalars.

use super::scalar::{self, Binary, Element, Relation, Unary};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{
    ArenaId, BinaryOp, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Module, Op, Shape,
};

/// How many instructions a reduction's computation may come to. Calls are written out, so that a few computations that
/// call each other twice could otherwise grow without bound.
const INSTRUCTION_LIMIT: usize = 1 << 16;
/// How deep calls may be nested.
const DEPTH_LIMIT: usize = 128;

/// Steps over registers, each of which holds the bits of one scalar.
pub(super) struct Program {
    /// The registers before the first step: constants in place, everything else 0.
    registers: Vec<u32>,
    /// Where the parameters go, in order.
    parameters: Vec<usize>,
    steps: Vec<Step>,
    /// Where the results are, in order.
    results: Vec<usize>,
}

struct Step {
    action: Action,
    operands: [usize; 3],
    target: usize,
}

#[derive(Copy, Clone)]
enum Action {
    Unary(Unary),
    Binary(Binary),
    Compare(Relation),
    Select,
    Convert(fn(u32) -> u32),
}

/// The registers of a program while it runs, for one core.
pub(super) struct Machine<'a> {
    program: &'a Program,
    registers: Vec<u32>,
    results: Vec<u32>,
}

impl Program {
    /// Compiles a computation of scalars.
    ///
    /// # Errors
    /// `HLO206` for anything in it that is not arithmetic on scalars.
    pub(super) fn compile(module: &Module, computation: ComputationId) -> Result<Self, Diagnostics> {
        let mut program =
            Program { registers: Vec::new(), parameters: Vec::new(), steps: Vec::new(), results: Vec::new() };
        let parameters = module.computations[computation].parameters().len();
        program.parameters = (0..parameters).map(|_| program.register(0)).collect();
        let arguments: Vec<Place> = program.parameters.iter().map(|&register| Place::Scalar(register)).collect();
        let result =
            Compiler { module, program: &mut program, instructions: 0 }.computation(computation, &arguments, 0)?;
        match result {
            Place::Scalar(register) => program.results.push(register),
            Place::Tuple(elements) => program.results.extend(elements.iter().filter_map(|place| place.scalar())),
        }
        Ok(program)
    }

    fn register(&mut self, bits: u32) -> usize {
        self.registers.push(bits);
        self.registers.len() - 1
    }

    /// A machine that is ready to run.
    pub(super) fn machine(&self) -> Machine<'_> {
        Machine { program: self, registers: self.registers.clone(), results: vec![0; self.results.len()] }
    }
}

impl Machine<'_> {
    /// Hands over the argument of a parameter.
    pub(super) fn set(&mut self, parameter: usize, bits: u32) {
        self.registers[self.program.parameters[parameter]] = bits;
    }

    /// The results, in order.
    pub(super) fn run(&mut self) -> &[u32] {
        let registers = &mut self.registers;
        for step in &self.program.steps {
            let [a, b, c] = step.operands.map(|operand| registers[operand]);
            registers[step.target] = match step.action {
                Action::Unary(f) => f.on_bits(a),
                Action::Binary(f) => f.on_bits(a, b),
                Action::Compare(f) => f.on_bits(a, b).to_bits(),
                Action::Select => [c, b][usize::from(bool::from_bits(a))],
                Action::Convert(f) => f(a),
            };
        }
        for (result, &register) in self.results.iter_mut().zip(&self.program.results) {
            *result = registers[register];
        }
        &self.results
    }
}

/// Where a value of the region is.
#[derive(Clone)]
enum Place {
    Scalar(usize),
    Tuple(Vec<Place>),
}

impl Place {
    fn scalar(&self) -> Option<usize> {
        match self {
            Place::Scalar(register) => Some(*register),
            Place::Tuple(_) => None,
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
    fn computation(&mut self, id: ComputationId, arguments: &[Place], depth: usize) -> Result<Place, Diagnostics> {
        let computation = &self.module.computations[id];
        let mut places: Vec<Place> = Vec::with_capacity(computation.instructions.len());
        for instruction in computation.instructions.values() {
            self.instructions += 1;
            if self.instructions > INSTRUCTION_LIMIT {
                return refuse(computation, instruction, "with its calls written out it is too long");
            }
            let operands: Vec<Place> =
                instruction.operands.iter().map(|operand| places[operand.index()].clone()).collect();
            places.push(self.instruction(computation, instruction, arguments, &operands, depth)?);
        }
        Ok(places.swap_remove(computation.root.index()))
    }

    fn instruction(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        arguments: &[Place],
        operands: &[Place],
        depth: usize,
    ) -> Result<Place, Diagnostics> {
        let all_scalar = instruction.shape.leaves().into_iter().all(is_scalar);
        if !all_scalar {
            return refuse(computation, instruction, "not all of its values are scalars");
        }
        let element_type = |position: usize| {
            let operand: InstrId = instruction.operands[position];
            computation.instructions[operand].shape.as_array().map_or(ElementType::Pred, |array| array.element_type)
        };
        let action = match &instruction.op {
            Op::Parameter { number } => return Ok(arguments[*number as usize].clone()),
            Op::Tuple => return Ok(Place::Tuple(operands.to_vec())),
            Op::GetTupleElement { index } => match &operands[0] {
                Place::Tuple(elements) => return Ok(elements[*index as usize].clone()),
                Place::Scalar(_) => None,
            },
            Op::Call { to_apply: callee } | Op::Fusion { calls: callee, .. } if depth < DEPTH_LIMIT => {
                return self.computation(*callee, operands, depth + 1);
            }
            Op::Constant(literal) => {
                return match bits_at(&literal.data, 0) {
                    Some(bits) => Ok(Place::Scalar(self.program.register(bits))),
                    None => refuse(computation, instruction, "its constants are not all scalars"),
                };
            }
            Op::Copy | Op::Reshape | Op::Transpose { .. } | Op::Broadcast { .. } | Op::Reverse { .. } => {
                return Ok(operands[0].clone());
            }
            // Of one element size there is only reinterpretation, and registers hold bits.
            Op::Bitcast => return Ok(operands[0].clone()),
            Op::Convert => conversion(element_type(0), &instruction.shape),
            Op::Unary(op) => scalar::unary(*op, element_type(0)).map(Action::Unary),
            Op::Binary(op) => scalar::binary(*op, element_type(0)).map(Action::Binary),
            Op::Compare { direction, order } => {
                scalar::relation(*direction, *order, element_type(0)).map(Action::Compare)
            }
            Op::Select => Some(Action::Select),
            Op::Clamp => {
                let larger = scalar::binary(BinaryOp::Maximum, element_type(1)).map(Action::Binary);
                let raised = self.step(computation, instruction, larger, &operands[..2])?;
                let smaller = scalar::binary(BinaryOp::Minimum, element_type(1)).map(Action::Binary);
                return self.step(computation, instruction, smaller, &[raised, operands[2].clone()]);
            }
            _ => None,
        };
        self.step(computation, instruction, action, operands)
    }

    fn step(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        action: Option<Action>,
        operands: &[Place],
    ) -> Result<Place, Diagnostics> {
        let registers: Option<Vec<usize>> = operands.iter().map(Place::scalar).collect();
        let (Some(action), Some(registers)) = (action, registers) else {
            return refuse(
                computation,
                instruction,
                &format!("{} is not arithmetic on scalars", instruction.op.opcode()),
            );
        };
        // Operands that the action does not have are read from the first register and ignored.
        let operands = std::array::from_fn(|position| registers.get(position).copied().unwrap_or(0));
        let target = self.program.register(0);
        self.program.steps.push(Step { action, operands, target });
        Ok(Place::Scalar(target))
    }
}

fn conversion(from: ElementType, to: &Shape) -> Option<Action> {
    fn from_type<T: Element>(to: ElementType) -> Option<fn(u32) -> u32> {
        Some(match to {
            ElementType::Pred => |bits| T::from_bits(bits).to_pred().to_bits(),
            ElementType::S32 => |bits| T::from_bits(bits).to_s32().to_bits(),
            ElementType::U32 => |bits| T::from_bits(bits).to_u32(),
            ElementType::F32 => |bits| T::from_bits(bits).to_f32().to_bits(),
            _ => return None,
        })
    }
    let to = to.as_array()?.element_type;
    let function = match from {
        ElementType::Pred => from_type::<bool>(to),
        ElementType::S32 => from_type::<i32>(to),
        ElementType::U32 => from_type::<u32>(to),
        ElementType::F32 => from_type::<f32>(to),
        _ => None,
    };
    function.map(Action::Convert)
}

/// The bits of an element, if there is one.
pub(super) fn bits_at(data: &Data, position: usize) -> Option<u32> {
    match data {
        Data::Pred(values) => values.get(position).map(|value| Element::to_bits(*value)),
        Data::S32(values) => values.get(position).map(|value| Element::to_bits(*value)),
        Data::U32(values) => values.get(position).copied(),
        Data::F32(values) => values.get(position).map(|value| value.to_bits()),
        _ => None,
    }
}

fn is_scalar(leaf: &Shape) -> bool {
    leaf.as_array().is_some_and(|array| array.rank() == 0)
}

fn refuse<T>(computation: &Computation, instruction: &Instruction, why: &str) -> Result<T, Diagnostics> {
    let message = format!("unsupported: a reduction's computation must be arithmetic on scalars; {why}");
    let place = format!("{}/{}", computation.name, instruction.name);
    Err(Diagnostic::new("HLO206", instruction.span, message).about(place).into())
}
