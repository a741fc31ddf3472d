//! Collectives of workgroups in workgroup memory.

use super::{Collective, Pass};
use crate::kernel::{Block, Combination, Condition, MemoryId, Operand, ScalarOp, Statement};
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::ir::ElementType;

impl Pass<'_> {
    /// A collective of the workgroup.
    pub(super) fn workgroup(&mut self, collective: Collective, in_loop: bool, out: &mut Vec<Statement>) {
        if self.kernel.threads() == 1 {
            // The one invocation has nothing before it but its own value.
            self.known.extend(collective.values.iter().copied().zip(collective.operands.iter().copied()));
            return;
        }
        let types: Vec<ElementType> = collective.values.iter().map(|value| self.values[*value].element_type).collect();
        let tiles = self.tiles.of(&types);
        // What another collective reads last is in the same memory.
        if in_loop || !self.is_first {
            out.push(Statement::Barrier);
        }
        self.is_first = false;
        match collective.combination {
            Combination::Reduce => self.reduce(&collective, &tiles, out),
            Combination::Scan | Combination::ExclusiveScan => self.scan(&collective, &tiles, out),
        }
    }

    /// The number of the invocation.
    fn thread(&self) -> Expr {
        let dimension = self.kernel.entry.extents.len().saturating_sub(1);
        Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX))
    }

    /// A tree: on each level elements at the even multiples of a stride take in those at the odd multiples behind them.
    fn reduce(&mut self, collective: &Collective, tiles: &[MemoryId], out: &mut Vec<Statement>) {
        let (threads, thread) = (self.kernel.threads(), self.thread());
        let first = Expr::constant(0);
        store(tiles, &[first.clone(), thread.clone()], &collective.operands, out);
        let mut stride = 1;
        while stride < threads {
            out.push(Statement::Barrier);
            let pairs = (threads - 1 - stride) / (2 * stride) + 1;
            let own = [first.clone(), thread.clone() * (2 * stride)];
            let next = [first.clone(), own[1].clone() + stride];
            let mut level = Vec::new();
            let mut arguments = self.read(&collective.values, tiles, &own, &mut level);
            arguments.extend(self.read(&collective.values, tiles, &next, &mut level));
            let combined = self.call(collective, arguments, &mut level);
            store(tiles, &own, &combined, &mut level);
            let condition = among(&thread, Interval { lo: 0, hi: pairs - 1 });
            let then = Block { statements: level, results: Vec::new() };
            out.push(Statement::If { values: Vec::new(), condition, then, otherwise: Block::default() });
            stride *= 2;
        }
        let whole = vec![first.clone(), first];
        if !self.needs_sharing {
            out.push(Statement::Barrier);
        }
        for (value, memory) in collective.values.iter().zip(tiles) {
            let (value, memory, indices) = (*value, *memory, whole.clone());
            out.push(match self.needs_sharing {
                true => Statement::Share { value, memory, indices },
                false => Statement::Let { value, op: ScalarOp::Extract { memory, indices } },
            });
        }
    }

    /// In each round an invocation combines what the one a stride before has with what it has itself. Rounds write the two rows of the tiles in
    /// turns, so that one barrier is enough for each.
    fn scan(&mut self, collective: &Collective, tiles: &[MemoryId], out: &mut Vec<Statement>) {
        let (threads, thread) = (self.kernel.threads(), self.thread());
        let from = |first: i64| Interval { lo: first, hi: threads - 1 };
        let is_exclusive = collective.combination == Combination::ExclusiveScan;
        let mut carried = collective.operands.clone();
        let (mut stride, mut row) = (1, 0);
        while stride < threads {
            let is_last = 2 * stride >= threads && !is_exclusive;
            let values = if is_last { collective.values.clone() } else { self.alike(&collective.values) };
            let mut combine = Vec::new();
            let before = [Expr::constant(row), thread.clone() - stride];
            let mut arguments = self.read(&collective.values, tiles, &before, &mut combine);
            arguments.extend(carried.iter().copied());
            let results = self.call(collective, arguments, &mut combine);
            store(tiles, &[Expr::constant(row), thread.clone()], &carried, out);
            out.push(Statement::Barrier);
            let otherwise = Block { statements: Vec::new(), results: carried };
            let (condition, then) = (among(&thread, from(stride)), Block { statements: combine, results });
            out.push(Statement::If { values: values.clone(), condition, then, otherwise });
            carried = values.into_iter().map(Operand::Value).collect();
            (stride, row) = (2 * stride, 1 - row);
        }
        if is_exclusive {
            let mut take = Vec::new();
            let results = self.read(&collective.values, tiles, &[Expr::constant(row), thread.clone() - 1], &mut take);
            store(tiles, &[Expr::constant(row), thread.clone()], &carried, out);
            out.push(Statement::Barrier);
            let otherwise = Block { statements: Vec::new(), results: carried };
            let (condition, then) = (among(&thread, from(1)), Block { statements: take, results });
            out.push(Statement::If { values: collective.values.clone(), condition, then, otherwise });
        }
    }

    /// What the function makes of two tuples.
    fn call(
        &mut self,
        collective: &Collective,
        arguments: Vec<Operand>,
        statements: &mut Vec<Statement>,
    ) -> Vec<Operand> {
        let values = self.alike(&collective.values);
        let results = values.iter().copied().map(Operand::Value).collect();
        let (function, indices) = (collective.function, Vec::new());
        statements.push(Statement::Call { values, function, indices, arguments });
        results
    }
}

/// Whether the invocation is one of these.
fn among(thread: &Expr, bounds: Interval) -> Condition {
    Condition::Indices(vec![Constraint { expr: thread.clone(), bounds }])
}

fn store(tiles: &[MemoryId], indices: &[Expr], values: &[Operand], statements: &mut Vec<Statement>) {
    for (memory, value) in tiles.iter().zip(values) {
        statements.push(Statement::Store { memory: *memory, indices: indices.to_vec(), value: *value });
    }
}
