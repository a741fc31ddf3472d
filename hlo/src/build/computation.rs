//! Building a computation instruction by instruction.

use super::ModuleBuilder;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Arena, Attribute, Computation, ComputationId, InstrId, Instruction, Literal, Module, Op, Shape, Span, UniqueNames,
};
use crate::verify::{ShapeInference, code};

/// A computation under construction: instructions, operands before users.
///
/// Instructions are named after their opcodes, or as [`named`](Self::named) says; a name that is taken gets a number. An id
/// is good in the builder that gave it.
#[derive(Debug)]
pub struct ComputationBuilder<'m> {
    module: Option<&'m mut ModuleBuilder>,
    name: String,
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
    parameters: i64,
    /// What the next instruction is to be called.
    next_name: Option<String>,
    span: Span,
}

impl ComputationBuilder<'static> {
    /// A computation of no module yet, which [`finish_detached`](Self::finish_detached) yields. It can call none.
    pub fn detached(name: impl Into<String>) -> Self {
        ComputationBuilder::of(None, name.into())
    }
}

impl<'m> ComputationBuilder<'m> {
    pub(super) fn of(module: Option<&'m mut ModuleBuilder>, name: String) -> Self {
        ComputationBuilder {
            module,
            name,
            instructions: Arena::new(),
            names: UniqueNames::default(),
            parameters: 0,
            next_name: None,
            span: Span::default(),
        }
    }

    /// The same, made for what stands at `span` of a text: findings about it and its instructions point there.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// Another computation of the same module, for instructions from here on to call.
    ///
    /// ```
    /// # use weft_hlo::build::ModuleBuilder;
    /// # use weft_hlo::ir::{BinaryOp, ElementType::S32, Op, Shape};
    /// # let mut module = ModuleBuilder::new("calls");
    /// let mut main = module.computation("main");
    /// let x = main.parameter(Shape::scalar(S32));
    /// let mut square = main.callee("square");
    /// let y = square.parameter(Shape::scalar(S32));
    /// let y = square.binary(BinaryOp::Multiply, y, y)?;
    /// let square = square.finish(y)?;
    /// let squared = main.call(square, &[x])?;
    /// # let main = main.finish(squared)?;
    /// # module.finish(main)?;
    /// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
    /// ```
    ///
    /// Of a [detached](Self::detached) computation it is detached too.
    pub fn callee(&mut self, name: impl Into<String>) -> ComputationBuilder<'_> {
        ComputationBuilder::of(self.module.as_deref_mut(), name.into()).at(self.span)
    }

    /// Gives the next instruction a name.
    pub fn named(&mut self, name: impl Into<String>) -> &mut Self {
        self.next_name = Some(name.into());
        self
    }

    /// Adds an attribute to an instruction that any may carry (`metadata`, `sharding`, …).
    ///
    /// # Panics
    /// If the instruction is not of this computation.
    pub fn add_attribute(&mut self, id: InstrId, attribute: Attribute) {
        self.instructions[id].attributes.push(attribute);
    }

    /// The instructions added so far.
    pub fn instructions(&self) -> &Arena<InstrId, Instruction> {
        &self.instructions
    }

    /// The shape of an instruction's value.
    ///
    /// # Panics
    /// If the instruction is not of this computation.
    pub fn shape(&self, id: InstrId) -> &Shape {
        &self.instructions[id].shape
    }

    /// The next parameter.
    pub fn parameter(&mut self, shape: Shape) -> InstrId {
        let number = self.parameters;
        self.parameters += 1;
        self.insert(shape, Op::Parameter { number }, Vec::new())
    }

    /// A constant.
    pub fn constant(&mut self, value: impl Into<Literal>) -> InstrId {
        let literal = value.into();
        self.insert(literal.shape.clone(), Op::Constant(literal), Vec::new())
    }

    /// An operation whose shape follows from its operands and attributes.
    ///
    /// # Errors
    /// What the [verifier](crate::verify) would find, with its code; `HLO106` where the shape does not follow, as that of a
    /// `reshape` or a `custom-call` does not.
    pub fn add(&mut self, op: Op, operands: impl Into<Vec<InstrId>>) -> Result<InstrId, Diagnostic> {
        let operands = operands.into();
        self.check_references(&op, &operands)?;
        let instruction = self.instruction(Shape::Tuple(Vec::new()), op, operands);
        let shape = self.with_module(|inference, module| inference.shape(module, &self.instructions, &instruction));
        match shape {
            Ok(shape) => Ok(self.insert(shape, instruction.op, instruction.operands)),
            Err(unknown) => Err(self.finding(&instruction.op, unknown.code, unknown.message)),
        }
    }

    /// An operation that yields a value of this shape, which is checked.
    ///
    /// # Errors
    /// What the [verifier](crate::verify) would find, with its code.
    pub fn add_shaped(
        &mut self,
        shape: Shape,
        op: Op,
        operands: impl Into<Vec<InstrId>>,
    ) -> Result<InstrId, Diagnostic> {
        let operands = operands.into();
        self.check_references(&op, &operands)?;
        let instruction = self.instruction(shape, op, operands);
        let found = self.with_module(|inference, module| inference.check(module, &self.instructions, &instruction));
        match found.into_iter().next() {
            None => Ok(self.insert(instruction.shape, instruction.op, instruction.operands)),
            Some((code, message)) => Err(self.finding(&instruction.op, code, message)),
        }
    }

    /// Adds an instruction as it is, unchecked, such as one copied from another computation. Its name and span are kept, but
    /// for a number if the name is taken.
    pub fn push(&mut self, mut instruction: Instruction) -> InstrId {
        instruction.name = self.names.take(&instruction.name);
        self.instructions.push(instruction)
    }

    /// Adds the computation to its module.
    ///
    /// # Errors
    /// `HLO102` if the root is not of this computation; `HLO112` if the computation is [detached](Self::detached).
    pub fn finish(mut self, root: InstrId) -> Result<ComputationId, Diagnostic> {
        match self.module.take() {
            Some(module) => module.add(self.computation(root)),
            None => {
                Err(Diagnostic::new(code::CALL_ORDER, self.span, "the computation is of no module").about(self.name))
            }
        }
    }

    /// The computation by itself.
    pub fn finish_detached(self, root: InstrId) -> Computation {
        self.computation(root)
    }

    fn computation(self, root: InstrId) -> Computation {
        let ComputationBuilder { name, instructions, span, .. } = self;
        Computation { name, instructions, root, attributes: Vec::new(), span }
    }

    /// What a computation of the module yields.
    pub(super) fn result_of(&self, callee: ComputationId) -> Option<&Shape> {
        let computation = self.module.as_ref()?.computations().get(callee)?;
        Some(computation.result_shape())
    }

    fn instruction(&self, shape: Shape, op: Op, operands: Vec<InstrId>) -> Instruction {
        let mut instruction = Instruction::new("", shape, op, operands);
        instruction.span = self.span;
        instruction
    }

    /// Adds an instruction that is right, under the next name.
    pub(crate) fn insert(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let wanted = self.next_name.take().unwrap_or_else(|| op.name().into_owned());
        let instruction = Instruction { name: wanted, ..self.instruction(shape, op, operands) };
        self.push(instruction)
    }

    /// That operands and computations exist.
    fn check_references(&self, op: &Op, operands: &[InstrId]) -> Result<(), Diagnostic> {
        let missing = operands.iter().position(|operand| self.instructions.get(*operand).is_none());
        if let Some(position) = missing {
            let message = format!("operand {position} of {} is not of this computation", op.name());
            return Err(self.finding(op, code::OPERAND_ORDER, message));
        }
        let known = self.module.as_ref().map_or(0, |module| module.computations().len());
        if op.called_computations().iter().any(|callee| crate::ir::ArenaId::index(*callee) >= known) {
            let message = format!("{} calls a computation that the module does not have", op.name());
            return Err(self.finding(op, code::CALL_ORDER, message));
        }
        Ok(())
    }

    fn with_module<R>(&self, ask: impl FnOnce(&ShapeInference, &Module) -> R) -> R {
        match &self.module {
            Some(builder) => ask(&builder.inference, &builder.module),
            None => {
                let empty = ModuleBuilder::new("");
                ask(&empty.inference, &empty.module)
            }
        }
    }

    fn finding(&self, op: &Op, code: &'static str, message: String) -> Diagnostic {
        let name = self.next_name.clone().unwrap_or_else(|| op.name().into_owned());
        Diagnostic::new(code, self.span, message).about(format!("{}/{name}", self.name))
    }
}
