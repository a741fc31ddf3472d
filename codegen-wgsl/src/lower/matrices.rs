//! What subgroups do with matrices, as loops over their elements.

use crate::kernel::{
    Block, Kernel, MatrixOp, MatrixOrder, MatrixRole, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value,
    ValueId,
};
use weft_affine::{Error, Expr};
use weft_hlo::ir::{Arena, ArrayShape, ElementType, Scalar};
use weft_partition::{Form, Target};

/// The kernel without matrices, if the target [wishes so](Target::emulate_matrices): each member of a subgroup has all elements of factors in registers, and those of sums of which the number is its own modulo the
/// members. So it computes what devices with matrices do, product by product in the order of the depth, and runs on any.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn matrices(kernel: &Kernel, target: &Target) -> Result<Kernel, Error> {
    if !target.emulate_matrices || !kernel.has_matrices() {
        return Ok(kernel.clone());
    }
    let mut lowered = kernel.clone();
    for memory in lowered.memories.values_mut() {
        let Some(own) = Own::of(memory) else { continue };
        memory.shape = ArrayShape::new(ElementType::F32, vec![own.count]);
        memory.space = Space::Thread;
    }
    let thread = Expr::dim(u32::try_from(kernel.entry.extents.len().saturating_sub(1)).unwrap_or(u32::MAX));
    let body = std::mem::take(&mut lowered.entry.body);
    let mut pass = Pass { kernel, thread, values: &mut lowered.entry.values };
    lowered.entry.body = pass.block(body, 0)?;
    Ok(lowered)
}

/// What a member of a subgroup has of a matrix.
#[derive(Copy, Clone)]
struct Own {
    rows: i64,
    columns: i64,
    members: i64,
    /// How many elements.
    count: i64,
}

impl Own {
    fn of(memory: &Memory) -> Option<Own> {
        let Space::Matrix { role, members } = memory.space else { return None };
        let [rows, columns] = memory.shape.extents[..] else { return None };
        let members = i64::from(members).max(1);
        let count = match role {
            MatrixRole::Sum => (rows * columns + members - 1) / members,
            MatrixRole::Left | MatrixRole::Right => rows * columns,
        };
        Some(Own { rows, columns, members, count })
    }
}

struct Pass<'p> {
    kernel: &'p Kernel,
    /// The number of the invocation.
    thread: Expr,
    values: &'p mut Arena<ValueId, Value>,
}

impl Pass<'_> {
    /// A block within so many loops.
    fn block(&mut self, block: Block, loops: usize) -> Result<Block, Error> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in block.statements {
            if let Statement::Matrix(op) = &statement {
                let lowered = self.lowered(op, loops)?;
                statements.extend(lowered);
                continue;
            }
            let within = match &statement {
                Statement::Loop { extents, .. } => loops + extents.len(),
                _ => loops,
            };
            for inner in statement.blocks_mut() {
                *inner = self.block(std::mem::take(inner), within)?;
            }
            statements.push(statement);
        }
        Ok(Block { statements, results: block.results })
    }

    fn own(&self, matrix: MemoryId) -> Own {
        let nothing = Own { rows: 0, columns: 0, members: 1, count: 0 };
        Own::of(&self.kernel.memories[matrix]).unwrap_or(nothing)
    }

    /// What something that is done with matrices is; nothing where there is none.
    fn lowered(&mut self, op: &MatrixOp, loops: usize) -> Result<Option<Statement>, Error> {
        let [outer, inner] = [0, 1].map(|level| Expr::range(u32::try_from(loops + level).unwrap_or(u32::MAX)));
        let mut block = Block::default();
        let extents = match op {
            MatrixOp::Clear { matrix } => {
                let value = Operand::Constant(Scalar::F32(0.0));
                block.statements.push(Statement::Store { memory: *matrix, indices: vec![outer], value });
                vec![self.own(*matrix).count]
            }
            MatrixOp::Load { matrix, memory, indices, order } => {
                let Own { rows, columns, .. } = self.own(*matrix);
                let [line, along] = match order {
                    MatrixOrder::Rows => [&outer, &inner],
                    MatrixOrder::Columns => [&inner, &outer],
                };
                let value = self.element(*memory, self.place(*memory, indices, [line, along])?, &mut block);
                let indices = vec![outer.checked_mul(columns)?.checked_add(&inner)?];
                block.statements.push(Statement::Store { memory: *matrix, indices, value });
                vec![rows, columns]
            }
            MatrixOp::MultiplyAdd { sum, factors: [left, right] } => {
                let Own { columns: depth, .. } = self.own(*left);
                let own @ Own { columns, count, .. } = self.own(*sum);
                let [row, column] = self.at(own, &outer)?;
                let before = self.element(*sum, vec![outer.clone()], &mut block);
                let added = self.values.push(Value::scalar("sum", ElementType::F32));
                let mut body = Block::default();
                let of_left = row.checked_mul(depth)?.checked_add(&inner)?;
                let of_right = inner.checked_mul(columns)?.checked_add(&column)?;
                let factors = [(*left, of_left), (*right, of_right)];
                let [left, right] = factors.map(|(matrix, index)| self.element(matrix, vec![index], &mut body));
                let operands = [left, right, Operand::Value(added)];
                let next = self.define(ScalarOp::MultiplyAdd { operands, is_one: false }, ElementType::F32, &mut body);
                body.results = vec![next];
                let after = self.values.push(Value::scalar("sum", ElementType::F32));
                block.statements.push(Statement::Loop {
                    values: vec![after],
                    extents: vec![depth],
                    init: vec![before],
                    accumulators: vec![added],
                    body,
                });
                let value = Operand::Value(after);
                block.statements.push(Statement::Store { memory: *sum, indices: vec![outer], value });
                vec![count]
            }
            MatrixOp::Store { matrix, memory, indices } => {
                let own = self.own(*matrix);
                let [row, column] = self.at(own, &outer)?;
                let value = self.element(*matrix, vec![outer], &mut block);
                let indices = self.place(*memory, indices, [&row, &column])?;
                block.statements.push(Statement::Store { memory: *memory, indices, value });
                vec![own.count]
            }
        };
        let (values, init, accumulators) = (Vec::new(), Vec::new(), Vec::new());
        Ok((!extents.contains(&0)).then_some(Statement::Loop { values, extents, init, accumulators, body: block }))
    }

    /// Row and column of an element of a sum that a member has, by its number there.
    fn at(&self, Own { columns, members, .. }: Own, number: &Expr) -> Result<[Expr; 2], Error> {
        let member = self.thread.checked_modulo(members)?;
        let element = number.checked_mul(members)?.checked_add(&member)?;
        Ok([element.checked_floor_div(columns)?, element.checked_modulo(columns)?])
    }

    /// The position in a memory of what lies so many lines, and elements of a line, behind a place.
    fn place(&self, memory: MemoryId, indices: &[Expr], [line, along]: [&Expr; 2]) -> Result<Vec<Expr>, Error> {
        let stride = self.kernel.memories[memory].shape.extents.last().copied().unwrap_or(1);
        let mut position = Expr::constant(0);
        for index in indices {
            position = position.checked_mul(stride)?.checked_add(index)?;
        }
        Ok(vec![position.checked_add_scaled(line, stride)?.checked_add(along)?])
    }

    /// An element of a memory, as a number.
    fn element(&mut self, memory: MemoryId, indices: Vec<Expr>, block: &mut Block) -> Operand {
        let held = &self.kernel.memories[memory];
        let is_tile = held.space == Space::Workgroup;
        let form = Form::of(held.shape.element_type).filter(|form| is_tile && form.is_packed());
        let (register, from) = (form.map_or(ElementType::F32, Form::register), held.shape.element_type);
        let element = self.define(ScalarOp::Extract { memory, indices }, register, block);
        match form {
            Some(_) => self.define(ScalarOp::Decode { operand: element, from }, ElementType::F32, block),
            None => element,
        }
    }

    fn define(&mut self, op: ScalarOp, ty: ElementType, block: &mut Block) -> Operand {
        let value = self.values.push(Value::scalar("element", ty));
        block.statements.push(Statement::Let { value, op });
        Operand::Value(value)
    }
}
