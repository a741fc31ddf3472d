//! One function with vectors for what differs from lane to lane.

use super::analysis::Analysis;
use super::steps::{Step, Stepped};
use super::{Held, Pass, Refusal, Variant};
use crate::kernel::{
    Access, Binding, Block, Function, FunctionId, Known, MemoryId, Operand, ScalarOp, Space, Statement, UNIFORM_LANES,
    Value, ValueId,
};
use crate::lower::copy::unbound;
use weft_affine::{Atom, Expr, Term, Var};
use weft_hlo::ir::{Arena, ArenaId, ElementType};
use weft_partition::Form;

/// The function of vectors as it grows.
pub(super) struct Growing<'p, 'k> {
    pub(super) pass: &'p mut Pass<'k>,
    pub(super) source: &'p Function,
    pub(super) analysis: &'p Analysis<'k>,
    pub(super) values: Arena<ValueId, Value>,
    /// For each value of the source what it is here: a vector if it differs from lane to lane.
    pub(super) images: Vec<Option<Operand>>,
    /// The next runtime variable that no lane of the source's has.
    pub(super) next_runtime: u32,
    /// The extents of the loops around.
    pub(super) loops: Vec<i64>,
}

/// The variant of a function; its results are all vectors.
pub(super) fn vectorized(
    pass: &mut Pass<'_>,
    source: &Function,
    variant: Variant,
    name: String,
) -> Result<Function, Refusal> {
    if !pass.held.is_vector() && !source.parameters.is_empty() {
        return Err(Refusal::Computed);
    }
    let mut extents = source.extents.clone();
    if let Some(extent) = variant.axis.and_then(|axis| extents.get_mut(axis as usize)) {
        *extent /= i64::from(pass.held.lanes());
        if *extent < 1 {
            return Err(Refusal::Extents);
        }
    }
    let known = Known::new(&extents);
    let analysis = Analysis::of(pass.kernel, source, variant, pass.held, &known)?;
    let next_runtime = (unbound(&source.body) + 1) * pass.held.lanes();
    let images = vec![None; source.values.len()];
    let mut growing =
        Growing { pass, source, analysis: &analysis, values: Arena::new(), images, next_runtime, loops: Vec::new() };
    let parameters: Vec<ValueId> = source.parameters.iter().map(|parameter| growing.define(*parameter)).collect();
    let mut statements = Vec::new();
    growing.statements(&source.body, known, &mut statements)?;
    let results: Vec<Operand> =
        source.body.results.iter().map(|result| growing.vector_value(*result, &mut statements)).collect();
    let body = Block { statements, results };
    Ok(Function { name, extents, parameters, values: growing.values, body })
}

/// The statements of a block of effects for all lanes at once: the body of a function whose last index is the lane. Values of the source stay what they
/// are, so that what is defined around the block is in sight.
pub(super) fn vectorized_block(
    pass: &mut Pass<'_>,
    source: &Function,
    axis: u32,
    known: Known,
) -> Result<(Vec<Statement>, Arena<ValueId, Value>), Refusal> {
    let analysis = Analysis::of(pass.kernel, source, Variant { axis: Some(axis) }, pass.held, &known)?;
    let next_runtime = (unbound(&source.body) + 1) * pass.held.lanes();
    let images = vec![None; source.values.len()];
    let values = source.values.clone();
    let loops = vec![0; known.ranges.ranges.len()];
    let mut growing = Growing { pass, source, analysis: &analysis, values, images, next_runtime, loops };
    let mut statements = Vec::new();
    growing.statements(&source.body, known, &mut statements)?;
    Ok((statements, growing.values))
}

/// Whether an index becomes what it is and `apart` more in another round of one of the loops of these extents.
pub(in crate::lower) fn overlap(index: &Expr, apart: i64, loops: &[i64]) -> bool {
    let reaches = |term: &Term| {
        let Atom::Var(Var::Range(number)) = &term.atom else { return false };
        let extent = loops.get(*number as usize).copied().unwrap_or(0);
        apart % term.coefficient == 0 && (apart / term.coefficient).abs() < extent
    };
    apart != 0 && index.terms().iter().any(reaches)
}

impl Growing<'_, '_> {
    /// A new value for one of the source, with as many lanes as it needs.
    pub(super) fn define(&mut self, value: ValueId) -> ValueId {
        let lanes = if self.analysis.varies(Operand::Value(value)) { self.lanes() } else { 1 };
        let image = self.with_lanes(self.source.values[value].clone(), lanes);
        let image = self.values.push(image);
        self.images[value.index()] = Some(Operand::Value(image));
        image
    }

    pub(super) fn lanes(&self) -> u32 {
        self.pass.held.lanes()
    }

    /// A value of one lane as one of several.
    fn with_lanes(&self, value: Value, lanes: u32) -> Value {
        let element_type = if lanes > 1 { self.pass.held.element_type(value.element_type) } else { value.element_type };
        Value { lanes, element_type, ..value }
    }

    pub(super) fn defined(&mut self, values: &[ValueId]) -> Vec<ValueId> {
        values.iter().map(|value| self.define(*value)).collect()
    }

    /// A value of one operation.
    pub(super) fn push(&mut self, like: Operand, lanes: u32, op: ScalarOp, out: &mut Vec<Statement>) -> Operand {
        let value = match like {
            Operand::Value(value) => self.source.values[value].clone(),
            Operand::Constant(scalar) => Value::scalar("constant", scalar.element_type()),
        };
        let value = self.with_lanes(value, lanes);
        let value = self.values.push(value);
        out.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    /// What an operand of the source is here.
    pub(super) fn image(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Value(value) => self.images[value.index()].unwrap_or(operand),
            Operand::Constant(_) => operand,
        }
    }

    /// An operand as a vector, or a constant.
    fn vector(&mut self, operand: Operand, out: &mut Vec<Statement>) -> Operand {
        match operand {
            Operand::Constant(_) if self.pass.held.is_vector() => operand,
            _ => self.vector_value(operand, out),
        }
    }

    pub(super) fn vector_value(&mut self, operand: Operand, out: &mut Vec<Statement>) -> Operand {
        let image = self.image(operand);
        if self.analysis.varies(operand) {
            return image;
        }
        self.push(operand, self.lanes(), ScalarOp::Splat { operand: image }, out)
    }

    /// An operand as a value that has its lanes.
    fn as_value(&mut self, operand: Operand, value: ValueId, out: &mut Vec<Statement>) -> Operand {
        match self.analysis.varies(Operand::Value(value)) {
            true => self.vector(operand, out),
            false => self.image(operand),
        }
    }

    fn as_values(&mut self, operands: &[Operand], values: &[ValueId], out: &mut Vec<Statement>) -> Vec<Operand> {
        operands.iter().zip(values).map(|(operand, value)| self.as_value(*operand, *value, out)).collect()
    }

    /// One lane of an operand.
    pub(super) fn lane(&mut self, operand: Operand, lane: u32, out: &mut Vec<Statement>) -> Operand {
        let image = self.image(operand);
        if !self.analysis.varies(operand) {
            return image;
        }
        self.push(operand, 1, ScalarOp::Lane { operand: image, lane }, out)
    }

    /// Defines a value of the source by its lanes.
    pub(super) fn compose(&mut self, value: ValueId, lanes: Vec<Operand>, out: &mut Vec<Statement>) {
        let value = self.define(value);
        out.push(Statement::Let { value, op: ScalarOp::Compose { operands: lanes } });
    }

    pub(super) fn stepped(&self, index: &Expr) -> Result<Stepped, Refusal> {
        self.analysis.index(index).cloned().ok_or(Refusal::Effects)
    }

    pub(super) fn statements(
        &mut self,
        block: &Block,
        mut known: Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let mut rest = block.statements.as_slice();
        while let Some((statement, behind)) = rest.split_first() {
            if let [first, second, behind @ ..] = rest
                && self.pair([first, second], out)?
            {
                rest = behind;
                continue;
            }
            self.statement(statement, &mut known, out)?;
            rest = behind;
        }
        Ok(())
    }

    pub(super) fn block(&mut self, block: &Block, values: &[ValueId], known: Known) -> Result<Block, Refusal> {
        let mut statements = Vec::new();
        self.statements(block, known, &mut statements)?;
        let results = self.as_values(&block.results, values, &mut statements);
        Ok(Block { statements, results })
    }

    fn statement(&mut self, statement: &Statement, known: &mut Known, out: &mut Vec<Statement>) -> Result<(), Refusal> {
        match statement {
            Statement::Let { value, op } => self.operation(*value, op, out)?,
            Statement::Call { values, function, indices, arguments } => {
                self.call(values, *function, (indices, arguments), known, out)?;
            }
            Statement::If { values, condition, then, otherwise } => {
                self.conditional(statement, values, condition, [then, otherwise], known, out)?;
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                let init = self.as_values(init, accumulators, out);
                let carried = self.defined(accumulators);
                let around = self.loops.len();
                self.loops.extend(extents);
                let body = self.block(body, accumulators, known.in_loop(extents));
                self.loops.truncate(around);
                let body = body?;
                let (values, extents) = (self.defined(values), extents.clone());
                out.push(Statement::Loop { values, extents, init, accumulators: carried, body });
            }
            Statement::While { values, init, accumulators, condition, body } => {
                let init = self.as_values(init, accumulators, out);
                let carried = self.defined(accumulators);
                let mut statements = Vec::new();
                self.statements(condition, known.clone(), &mut statements)?;
                let results = condition.results.iter().map(|result| self.image(*result)).collect();
                let condition = Block { statements, results };
                let body = self.block(body, accumulators, known.clone())?;
                let values = self.defined(values);
                out.push(Statement::While { values, init, accumulators: carried, condition, body });
            }
            Statement::Bind { binding, out_of_bounds } => {
                let substitution = &self.analysis.substitution;
                let lanes = if substitution.varying.contains(&binding.variable) { substitution.lanes } else { 1 };
                for lane in 0..lanes {
                    let value = self.lane(binding.value, lane, out);
                    let variable = self.analysis.substitution.runtime(binding.variable, lane);
                    let binding = Binding { variable, bounds: binding.bounds, value };
                    known.bind(&binding);
                    out.push(Statement::Bind { binding, out_of_bounds: *out_of_bounds });
                }
            }
            Statement::Store { memory, indices, value } => {
                let [index] = indices.as_slice() else { return Err(Refusal::Effects) };
                let Stepped { lanes, step } = self.stepped(index)?;
                if step == Step::Advancing && self.holds_vectors(*memory) {
                    self.pass.gains.stored += 1;
                    let value = self.vector_value(*value, out);
                    out.push(Statement::Store { memory: *memory, indices: vec![lanes[0].clone()], value });
                    return Ok(());
                }
                if !self.pass.held.is_vector() && self.pass.kernel.memories[*memory].is_buffer() {
                    return Err(Refusal::Apart);
                }
                for (lane, index) in (0..).zip(lanes) {
                    let value = self.lane(*value, lane, out);
                    out.push(Statement::Store { memory: *memory, indices: vec![index], value });
                }
            }
            Statement::Collective { .. } => self.collective(statement, out)?,
            Statement::Barrier => out.push(Statement::Barrier),
            Statement::Matrix(op) => {
                let found = op.place().map(|(_, indices)| indices).unwrap_or_default();
                let found: Vec<Expr> = found
                    .iter()
                    .map(|index| Ok(self.stepped(index)?.lanes[0].clone()))
                    .collect::<Result<_, Refusal>>()?;
                let mut op = op.clone();
                if let Some((_, indices)) = op.place_mut() {
                    *indices = found;
                }
                out.push(Statement::Matrix(op));
            }
            Statement::Merge { .. } | Statement::Update { .. } | Statement::Share { .. } | Statement::Name { .. } => {
                return Err(Refusal::Effects);
            }
        }
        Ok(())
    }

    /// Whether elements of a memory fill words as those of a type do.
    fn is_packed_like(&self, memory: MemoryId, word: ElementType) -> bool {
        let bits = |ty: ElementType| Form::of(ty).filter(|form| form.is_packed()).map(Form::stored_bits);
        bits(self.pass.kernel.memories[memory].shape.element_type) == bits(word)
    }

    /// Whether vectors may go to and from a memory.
    pub(super) fn holds_vectors(&self, memory: MemoryId) -> bool {
        match self.pass.kernel.memories[memory].space {
            // What is updated in place is proved element by element.
            Space::Buffer { access: Access::ReadWrite, .. } => false,
            // A uniform is an array of vectors of one size.
            Space::Buffer { access: Access::Uniform, .. } if self.lanes() != UNIFORM_LANES => false,
            Space::Buffer { offset, .. } => match self.pass.held {
                Held::Vector(lanes) => offset.is_multiple_of(4 * u64::from(lanes)),
                Held::Word(_) => true,
            },
            Space::Workgroup | Space::Thread | Space::Matrix { .. } => false,
        }
    }

    fn operation(&mut self, value: ValueId, op: &ScalarOp, out: &mut Vec<Statement>) -> Result<(), Refusal> {
        let stepped =
            op.indices().iter().map(|index| self.stepped(index)).collect::<Result<Vec<Stepped>, Refusal>>()?;
        let varies = self.analysis.varies(Operand::Value(value));
        let at = |lane: usize| stepped.iter().map(|index| index.lanes[lane].clone()).collect::<Vec<Expr>>();
        let is_read = matches!(op, ScalarOp::Extract { .. });
        if stepped.is_empty() || !varies {
            let mut here = op.clone();
            here.indices_mut().iter_mut().zip(at(0)).for_each(|(index, first)| *index = first);
            // Words are chosen as a whole; whatever else looks at elements.
            let chooses = !self.pass.held.is_vector() && varies;
            if chooses && (!matches!(op, ScalarOp::Select { .. }) || self.analysis.varies(op.operands()[0])) {
                return Err(Refusal::Computed);
            }
            if let ScalarOp::Member { apart, .. } = &mut here {
                *apart /= self.lanes();
            }
            for (position, operand) in here.operands_mut().iter_mut().enumerate() {
                let is_vector = varies && !(chooses && position == 0);
                *operand = if is_vector { self.vector(*operand, out) } else { self.image(*operand) };
            }
            self.pass.gains.shared += usize::from(is_read);
            let value = self.define(value);
            out.push(Statement::Let { value, op: here });
            return Ok(());
        }
        if let Held::Word(word) = self.pass.held
            && !matches!(op, ScalarOp::Extract { memory, .. } if self.is_packed_like(*memory, word))
        {
            return Err(Refusal::Computed);
        }
        if let (ScalarOp::Extract { memory, .. }, [Stepped { step, lanes }]) = (op, stepped.as_slice())
            && (*step == Step::Advancing || *step == Step::Shifted && !self.pass.held.is_vector())
            && self.holds_vectors(*memory)
        {
            self.pass.gains.vectors += 1;
            let op = ScalarOp::Extract { memory: *memory, indices: vec![lanes[0].clone()] };
            let value = self.define(value);
            out.push(Statement::Let { value, op });
            return Ok(());
        }
        let is_buffer = |op: &ScalarOp| matches!(op, ScalarOp::Extract { memory, .. } if self.pass.kernel.memories[*memory].is_buffer());
        let is_shared = stepped.len() == 1 && stepped.iter().all(|index| self.is_shared_by_rounds(index));
        match is_shared {
            true => self.pass.gains.shared += usize::from(is_buffer(op)),
            false => self.pass.gains.composed += usize::from(is_buffer(op)),
        }
        let mut scalars = Vec::with_capacity(self.lanes() as usize);
        for lane in 0..self.lanes() as usize {
            let mut here = op.clone();
            here.indices_mut().iter_mut().zip(at(lane)).for_each(|(index, own)| *index = own);
            scalars.push(self.push(Operand::Value(value), 1, here, out));
        }
        self.compose(value, scalars, out);
        Ok(())
    }

    /// Whether the rounds of a loop read for one lane what others read for its neighbor: windows that overlap.
    fn is_shared_by_rounds(&self, Stepped { lanes, .. }: &Stepped) -> bool {
        let [first, second, ..] = lanes.as_slice() else { return false };
        let Some(apart) = second.checked_sub(first).ok().and_then(|apart| apart.as_constant()) else { return false };
        overlap(first, apart, &self.loops)
    }

    fn call(
        &mut self,
        values: &[ValueId],
        function: FunctionId,
        (indices, arguments): (&[Expr], &[Operand]),
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let stepped = indices.iter().map(|index| self.stepped(index)).collect::<Result<Vec<Stepped>, Refusal>>()?;
        let varies = arguments.iter().any(|argument| self.analysis.varies(*argument));
        let advancing: Vec<usize> =
            (0..stepped.len()).filter(|position| stepped[*position].step != Step::Uniform).collect();
        if advancing.is_empty() && !varies {
            let indices = stepped.iter().map(|index| index.first().clone()).collect();
            let arguments = arguments.iter().map(|argument| self.image(*argument)).collect();
            let values = self.defined(values);
            out.push(Statement::Call { values, function, indices, arguments });
            return Ok(());
        }
        let axis = match advancing.as_slice() {
            [] => Some(None),
            [axis] if stepped[*axis].step == Step::Advancing => Some(u32::try_from(*axis).ok()),
            _ => None,
        };
        if let Some(axis) = axis
            && let Some(variant) = self.pass.variant(function, Variant { axis })
        {
            let mut indices: Vec<Expr> = stepped.iter().map(|index| index.first().clone()).collect();
            if let Some(index) = axis.and_then(|axis| indices.get_mut(axis as usize)) {
                let vector = index.checked_floor_div(i64::from(self.lanes()))?;
                *index = known.simplified(&vector);
            }
            let arguments = arguments.iter().map(|argument| self.vector(*argument, out)).collect();
            let values = self.defined(values);
            out.push(Statement::Call { values, function: variant, indices, arguments });
            return Ok(());
        }
        if !self.pass.held.is_vector() {
            return Err(Refusal::Computed);
        }
        let mut lanes: Vec<Vec<Operand>> = vec![Vec::new(); values.len()];
        for lane in 0..self.lanes() {
            let indices = stepped.iter().map(|index| index.lanes[lane as usize].clone()).collect();
            let arguments = arguments.iter().map(|argument| self.lane(*argument, lane, out)).collect();
            let scalar = |value: &ValueId| Value { lanes: 1, ..self.source.values[*value].clone() };
            let scalars: Vec<Value> = values.iter().map(scalar).collect();
            let scalars: Vec<ValueId> = scalars.into_iter().map(|value| self.values.push(value)).collect();
            lanes.iter_mut().zip(&scalars).for_each(|(lanes, scalar)| lanes.push(Operand::Value(*scalar)));
            out.push(Statement::Call { values: scalars, function, indices, arguments });
        }
        for (value, lanes) in values.iter().zip(lanes) {
            self.compose(*value, lanes, out);
        }
        Ok(())
    }
}
