//! Collectives of workgroups in workgroup memory.

use super::{Collective, Pass};
use crate::kernel::{Block, Combination, Condition, Known, MemoryId, Operand, Scope, Statement};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::ElementType;

/// Invocations whose values a collective combines: those of a workgroup, or of each of its parts.
struct Members {
    /// How many there are, and how far apart those are that follow one another.
    count: i64,
    apart: i64,
    /// The number of the invocation in the workgroup, and among them.
    thread: Expr,
    member: Expr,
    /// The number in the workgroup of the first of them.
    first: Expr,
}

impl Pass<'_> {
    /// A collective of the workgroup, or of its parts.
    pub(super) fn workgroup(
        &mut self,
        collective: Collective,
        in_loop: bool,
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        let members = self.members(collective.scope)?;
        if members.count == 1 {
            // The one invocation has nothing before it but its own value.
            self.known.extend(collective.values.iter().copied().zip(collective.operands.iter().copied()));
            return Ok(());
        }
        let types: Vec<ElementType> = collective.values.iter().map(|value| self.values[*value].element_type).collect();
        let threads = self.kernel.threads();
        let is_scan = matches!(collective.combination, Combination::Scan | Combination::ExclusiveScan);
        let subgroups = self.subgroups(&collective, members.count);
        let lanes = collective.values.iter().map(|value| self.values[*value].lanes).max().unwrap_or(1);
        let elements = match subgroups {
            Some(subgroups) => subgroups,
            None if is_scan => 2 * threads,
            None => i64::from(lanes) * threads,
        };
        let tiles = self.tiles.of(&types, elements);
        // What another collective reads last is in the same memory.
        if in_loop || !self.is_first {
            out.push(Statement::Barrier);
        }
        self.is_first = false;
        if subgroups.is_some() {
            let Collective { values, combination, function, operands, .. } = collective;
            let scope = Scope::Workgroup;
            out.push(Statement::Collective { values, scope, combination, function, operands, tiles });
            return Ok(());
        }
        match collective.combination {
            Combination::Reduce => self.reduce(&collective, &members, &tiles, out)?,
            Combination::Combine => self.combine(&collective, &members, &tiles, out),
            Combination::Scan | Combination::ExclusiveScan => self.scan(&collective, &members, &tiles, out),
        }
        Ok(())
    }

    /// The number of the invocation.
    fn thread(&self) -> Expr {
        let dimension = self.kernel.entry.extents.len().saturating_sub(1);
        Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX))
    }

    fn members(&self, scope: Scope) -> Result<Members, Error> {
        let (threads, thread) = (self.kernel.threads(), self.thread());
        let (count, apart) = match scope {
            Scope::Part { count, apart } => (i64::from(count), i64::from(apart)),
            Scope::Workgroup | Scope::Subgroup => (threads, 1),
        };
        if count == threads {
            return Ok(Members { count, apart, member: thread.clone(), thread, first: Expr::constant(0) });
        }
        let known = Known::new(&self.kernel.entry.extents);
        let member = thread.checked_floor_div(apart)?.checked_modulo(count)?;
        let first = thread.checked_floor_div(count * apart)?.checked_mul(count * apart)?;
        let first = first.checked_add(&thread.checked_modulo(apart)?)?;
        let [member, first] = [member, first].map(|index| known.simplified(&index));
        Ok(Members { count, apart, thread, member, first })
    }

    /// A tree: on each level elements at the even multiples of a stride take in those at the odd multiples behind them.
    fn reduce(
        &mut self,
        collective: &Collective,
        members: &Members,
        tiles: &[MemoryId],
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        let threads = self.kernel.threads();
        let Members { count, apart, thread, member, first } = members;
        self.store(tiles, thread, &collective.operands, out);
        let mut stride = 1;
        while stride < *count {
            out.push(Statement::Barrier);
            // Neighbors do what there is to do, where parts have no rest.
            let is_even = *apart == 1 && (*count == threads || count % (2 * stride) == 0);
            let (own, condition) = if is_even {
                let pairs = (threads - 1 - stride) / (2 * stride) + 1;
                (thread.clone() * (2 * stride), among(thread, Interval { lo: 0, hi: pairs - 1 }))
            } else {
                let is_even =
                    Constraint { expr: member.checked_modulo(2 * stride)?, bounds: Interval { lo: 0, hi: 0 } };
                let has_next = Constraint { expr: member.clone(), bounds: Interval { lo: 0, hi: count - 1 - stride } };
                (thread.clone(), Condition::Indices(vec![is_even, has_next]))
            };
            let next = own.clone() + stride * apart;
            let mut level = Vec::new();
            let mut arguments = self.read(&collective.values, tiles, &own, &mut level);
            arguments.extend(self.read(&collective.values, tiles, &next, &mut level));
            let combined = self.call(collective, arguments, &mut level);
            self.store(tiles, &own, &combined, &mut level);
            let then = Block { statements: level, results: Vec::new() };
            out.push(Statement::If { values: Vec::new(), condition, then, otherwise: Block::default() });
            stride *= 2;
        }
        self.result(collective, tiles, first, out);
        Ok(())
    }

    /// A tree: on each level the first half takes in the other one, so that neighbors read neighbors.
    fn combine(&mut self, collective: &Collective, members: &Members, tiles: &[MemoryId], out: &mut Vec<Statement>) {
        let Members { count, apart, thread, member, first } = members;
        self.store(tiles, thread, &collective.operands, out);
        let mut left = *count;
        while left > 1 {
            out.push(Statement::Barrier);
            let half = left - left / 2;
            let mut level = Vec::new();
            let mut arguments = self.read(&collective.values, tiles, thread, &mut level);
            let other = thread.clone() + half * apart;
            arguments.extend(self.read(&collective.values, tiles, &other, &mut level));
            let combined = self.call(collective, arguments, &mut level);
            self.store(tiles, thread, &combined, &mut level);
            let condition = among(member, Interval { lo: 0, hi: left - half - 1 });
            let then = Block { statements: level, results: Vec::new() };
            out.push(Statement::If { values: Vec::new(), condition, then, otherwise: Block::default() });
            left = half;
        }
        self.result(collective, tiles, first, out);
    }

    /// All read what the first of them has in the end.
    fn result(&mut self, collective: &Collective, tiles: &[MemoryId], first: &Expr, out: &mut Vec<Statement>) {
        let is_scalar = collective.values.iter().all(|value| self.values[*value].lanes == 1);
        let is_shared = self.needs_sharing && is_scalar && first.as_constant().is_some();
        if !is_shared {
            out.push(Statement::Barrier);
        }
        for (value, memory) in collective.values.iter().zip(tiles) {
            let (value, memory) = (*value, *memory);
            match is_shared {
                true => out.push(Statement::Share { value, memory, indices: vec![first.clone()] }),
                false => self.read_into(value, memory, first, out),
            }
        }
    }

    /// In each round an invocation combines what the one a stride before has with what it has itself. Rounds write the two rows of the tiles in
    /// turns, so that one barrier is enough for each.
    fn scan(&mut self, collective: &Collective, members: &Members, tiles: &[MemoryId], out: &mut Vec<Statement>) {
        let threads = self.kernel.threads();
        let Members { count, apart, thread, member, .. } = members;
        let from = |first: i64| Interval { lo: first, hi: count - 1 };
        let is_exclusive = collective.combination == Combination::ExclusiveScan;
        let mut carried = collective.operands.clone();
        let (mut stride, mut row) = (1, 0);
        while stride < *count {
            let is_last = 2 * stride >= *count && !is_exclusive;
            let values = if is_last { collective.values.clone() } else { self.alike(&collective.values) };
            let mut combine = Vec::new();
            let before = thread.clone() + (row * threads - stride * apart);
            let mut arguments = self.read(&collective.values, tiles, &before, &mut combine);
            arguments.extend(carried.iter().copied());
            let results = self.call(collective, arguments, &mut combine);
            self.store(tiles, &(thread.clone() + row * threads), &carried, out);
            out.push(Statement::Barrier);
            let otherwise = Block { statements: Vec::new(), results: carried };
            let (condition, then) = (among(member, from(stride)), Block { statements: combine, results });
            out.push(Statement::If { values: values.clone(), condition, then, otherwise });
            carried = values.into_iter().map(Operand::Value).collect();
            (stride, row) = (2 * stride, 1 - row);
        }
        if is_exclusive {
            let mut take = Vec::new();
            let before = thread.clone() + (row * threads - apart);
            let results = self.read(&collective.values, tiles, &before, &mut take);
            self.store(tiles, &(thread.clone() + row * threads), &carried, out);
            out.push(Statement::Barrier);
            let otherwise = Block { statements: Vec::new(), results: carried };
            let (condition, then) = (among(member, from(1)), Block { statements: take, results });
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

/// Whether an index is one of these.
fn among(index: &Expr, bounds: Interval) -> Condition {
    Condition::Indices(vec![Constraint { expr: index.clone(), bounds }])
}
