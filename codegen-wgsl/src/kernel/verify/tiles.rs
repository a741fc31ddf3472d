//! Whether workgroup memory is written before it is read, and by one invocation at a time.
//!
//! Which elements an invocation touches follows from indices alone, so one workgroup is run with nothing but them: every
//! invocation up to the next barrier, then the next ones, through the functions that it calls. What a value decides may happen or not: where all invocations decide alike, both
//! ways are run, and a loop through two rounds, for its rounds touch the same elements; elsewhere it is asked whether it would be right in any case.

mod state;

use super::Findings;
use crate::kernel::{
    Block, Condition, FunctionId, Kernel, MatrixOp, MatrixOrder, MemoryId, ScalarOp, Scope, Space, Statement,
};
use state::{Doubt, Kind, State};
use std::collections::BTreeSet;
use weft_affine::{Expr, Point, Var};
use weft_hlo::ir::ArenaId;

/// Accesses to elements that are looked at, for one kernel.
const MAX_ACCESSES: usize = 1 << 20;
const TOO_MANY: Doubt = "there are too many accesses";

/// Checks the tiles of a kernel. What a value decides, or the coordinates of the workgroup, may stay unproved, as does what is left of registers when
/// those are values that can be ([`registers`](crate::lower::registers)).
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    for memory in kernel.memories.values().filter(|memory| memory.space == Space::Thread) {
        unproved.add(&format!("%{}", memory.name), "that it is written before it is read is not known: it is no value");
    }
    let tiles = kernel.memories.iter().filter(|(_, memory)| memory.space == Space::Workgroup);
    let tiles: Vec<MemoryId> = tiles.map(|(id, _)| id).collect();
    if tiles.is_empty() {
        return;
    }
    let mut run = Run {
        kernel,
        reads: readers(kernel),
        called: None,
        state: State::default(),
        accesses: 0,
        findings: BTreeSet::new(),
    };
    let all: Vec<i64> = (0..kernel.threads()).collect();
    let threads = Threads { these: &all, certain: true };
    match run.block(&kernel.entry.body, &mut Vec::new(), threads) {
        Ok(()) => {
            for (memory, message) in run.findings {
                findings.add(&format!("%{}", kernel.memories[memory].name), message);
            }
        }
        Err(reason) => {
            for tile in tiles {
                let message = format!("that it is written before it is read is not known: {reason}");
                unproved.add(&format!("%{}", kernel.memories[tile].name), message);
            }
        }
    }
}

/// The invocations that come to a statement.
#[derive(Copy, Clone)]
struct Threads<'t> {
    these: &'t [i64],
    /// Whether all of them do, or some of them, or none.
    certain: bool,
}

struct Run<'k> {
    kernel: &'k Kernel,
    /// For each function whether it, or one that it calls, reads a tile.
    reads: Vec<bool>,
    /// The indices of the function that an invocation is in, where it is in one; `None` for those that values decide.
    called: Option<Vec<Option<i64>>>,
    state: State,
    accesses: usize,
    findings: BTreeSet<(MemoryId, &'static str)>,
}

impl Run<'_> {
    /// Runs a block in these invocations, statement by statement; `ranges` are the loop variables around it.
    fn block(&mut self, block: &Block, ranges: &mut Vec<i64>, threads: Threads<'_>) -> Result<(), Doubt> {
        for statement in &block.statements {
            match statement {
                Statement::Let { op: ScalarOp::Extract { memory, indices }, .. } => {
                    self.touch(Kind::Read, *memory, indices, ranges, threads)?;
                }
                Statement::Store { memory, indices, .. } => {
                    self.touch(Kind::Write, *memory, indices, ranges, threads)?;
                }
                Statement::Update { memory, indices, .. } => {
                    self.touch(Kind::Update, *memory, indices, ranges, threads)?;
                }
                Statement::Share { memory, indices, .. } => {
                    self.state.wait();
                    self.touch(Kind::Read, *memory, indices, ranges, threads)?;
                    self.state.wait();
                }
                Statement::Collective { scope: Scope::Workgroup | Scope::Part { .. }, tiles, .. } => {
                    self.subgroups(tiles, threads)?;
                }
                Statement::Barrier => self.state.wait(),
                Statement::Matrix(op) => self.matrix(op, ranges, threads)?,
                Statement::Call { function, indices, .. } if self.reads[function.index()] => {
                    self.call(*function, indices, ranges, threads)?;
                }
                _ if !statement.blocks().into_iter().any(|block| self.concerns(block)) => {}
                Statement::If { condition, then, otherwise, .. } => {
                    self.branches(condition, [then, otherwise], ranges, threads)?;
                }
                Statement::Loop { extents, body, .. } => self.rounds(extents, body, ranges, threads)?,
                Statement::While { condition, body, .. } => {
                    let alike = self.kernel.threads() == 1 || waits(condition) || waits(body);
                    let threads = Threads { certain: threads.certain && alike, ..threads };
                    self.block(condition, ranges, threads)?;
                    let before = self.state.clone();
                    for _ in 0..2 {
                        self.block(body, ranges, threads)?;
                        self.block(condition, ranges, threads)?;
                    }
                    self.state.or(before);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A collective: each element of its tiles is written by one invocation or other, and after a barrier read by any.
    fn subgroups(&mut self, tiles: &[MemoryId], threads: Threads<'_>) -> Result<(), Doubt> {
        let elements = |run: &Self, tile: &MemoryId| run.kernel.memories[*tile].shape.extents.iter().product::<i64>();
        for tile in tiles {
            for element in 0..elements(self, tile) {
                // Nobody knows who it is: nobody of those that are known.
                if let Some(finding) = self.state.touch(Kind::Write, (*tile, element), -1 - element, threads.certain)? {
                    self.findings.insert((*tile, finding));
                }
            }
        }
        self.state.wait();
        for tile in tiles {
            self.state.touch_anywhere(Kind::Read, *tile, elements(self, tile), threads.these)?;
        }
        Ok(())
    }

    /// What subgroups do with matrices: of what one takes from a tile each member may read all, and what it puts there one member writes or other.
    fn matrix(&mut self, op: &MatrixOp, ranges: &[i64], threads: Threads<'_>) -> Result<(), Doubt> {
        let kernel = self.kernel;
        let (Some((memory, indices)), Some(matrix)) = (op.place(), op.matrices().first().copied()) else {
            return Ok(());
        };
        let ([_, line], [rows, columns]) =
            (&kernel.memories[memory].shape.extents[..], &kernel.memories[matrix].shape.extents[..])
        else {
            return Ok(());
        };
        let Space::Matrix { members, .. } = kernel.memories[matrix].space else { return Ok(()) };
        let members = i64::from(members).saturating_mul(i64::from(kernel.lanes)).max(1);
        let offset = |row: i64, column: i64| match op {
            MatrixOp::Load { order: MatrixOrder::Columns, .. } => column.saturating_mul(*line).saturating_add(row),
            _ => row.saturating_mul(*line).saturating_add(column),
        };
        for subgroup in threads.these.chunk_by(|one, other| one / members == other / members) {
            let places: Option<Vec<i64>> =
                subgroup.iter().map(|thread| self.position(memory, indices, ranges, *thread)).collect();
            let Some(places) = places else { return Err("values decide where a matrix lies") };
            let Some((first, others)) = places.split_first() else { continue };
            if others.iter().any(|place| place != first) {
                self.findings.insert((memory, "members of a subgroup have other places for a matrix"));
            }
            if i64::try_from(subgroup.len()) != Ok(members) {
                self.findings.insert((memory, "not all members of a subgroup come to a matrix"));
            }
            for (row, column) in (0..*rows).flat_map(|row| (0..*columns).map(move |column| (row, column))) {
                let element = (memory, first.saturating_add(offset(row, column)));
                let (kind, who) = match op {
                    MatrixOp::Store { .. } => (Kind::Write, vec![-1 - subgroup[0] / members]),
                    _ => (Kind::Read, subgroup.iter().copied().take(2).collect()),
                };
                self.accesses += who.len();
                if self.accesses > MAX_ACCESSES {
                    return Err(TOO_MANY);
                }
                for thread in who {
                    if let Some(finding) = self.state.touch(kind, element, thread, threads.certain)? {
                        self.findings.insert((memory, finding));
                    }
                }
            }
        }
        Ok(())
    }

    /// The row-major position of an element in an invocation; `None` as of [`index`](Self::index).
    fn position(&self, memory: MemoryId, indices: &[Expr], ranges: &[i64], thread: i64) -> Option<i64> {
        let extents = super::writes::indexed_extents(&self.kernel.memories[memory], indices.len());
        indices.iter().zip(&extents).try_fold(0i64, |position, (index, extent)| {
            Some(position.saturating_mul(*extent).saturating_add(self.index(index, ranges, thread)?))
        })
    }

    /// Runs a function in each of these invocations.
    fn call(
        &mut self,
        function: FunctionId,
        indices: &[Expr],
        ranges: &[i64],
        threads: Threads<'_>,
    ) -> Result<(), Doubt> {
        let kernel = self.kernel;
        for &thread in threads.these {
            let at = indices.iter().map(|index| self.index(index, ranges, thread)).collect();
            let outside = self.called.replace(at);
            let these = Threads { these: &[thread], ..threads };
            let outcome = self.block(&kernel.functions[function].body, &mut Vec::new(), these);
            self.called = outside;
            outcome?;
        }
        Ok(())
    }

    fn branches(
        &mut self,
        condition: &Condition,
        [then, otherwise]: [&Block; 2],
        ranges: &mut Vec<i64>,
        threads: Threads<'_>,
    ) -> Result<(), Doubt> {
        if let Some([inside, outside]) = self.divided(condition, ranges, threads.these) {
            self.block(then, ranges, Threads { these: &inside, ..threads })?;
            return self.block(otherwise, ranges, Threads { these: &outside, ..threads });
        }
        if self.kernel.threads() == 1 && self.called.is_none() || waits(then) || waits(otherwise) {
            // All invocations take the same branch, or there would be a finding already.
            let before = self.state.clone();
            self.block(then, ranges, threads)?;
            let after = std::mem::replace(&mut self.state, before);
            self.block(otherwise, ranges, threads)?;
            self.state.or(after);
            return Ok(());
        }
        let threads = Threads { certain: false, ..threads };
        self.block(then, ranges, threads)?;
        self.block(otherwise, ranges, threads)
    }

    /// Those for which a condition holds, and the others; `None` where that is not known.
    fn divided(&self, condition: &Condition, ranges: &[i64], threads: &[i64]) -> Option<[Vec<i64>; 2]> {
        let Condition::Indices(tests) = condition else { return None };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for &thread in threads {
            let mut holds = true;
            for test in tests {
                holds &= test.bounds.contains(self.index(&test.expr, ranges, thread)?);
            }
            if holds { inside.push(thread) } else { outside.push(thread) }
        }
        Some([inside, outside])
    }

    fn rounds(
        &mut self,
        extents: &[i64],
        body: &Block,
        ranges: &mut Vec<i64>,
        threads: Threads<'_>,
    ) -> Result<(), Doubt> {
        let [outer, inner @ ..] = extents else { return self.block(body, ranges, threads) };
        // Where all rounds touch the same elements, two are as good as all.
        let is_told = self.depends(body, Var::Range(u32::try_from(ranges.len()).unwrap_or(u32::MAX)));
        let rounds = if is_told { *outer } else { (*outer).min(2) };
        for round in 0..rounds {
            ranges.push(round);
            self.rounds(inner, body, ranges, threads)?;
            ranges.pop();
        }
        Ok(())
    }

    fn is_tile(&self, memory: MemoryId) -> bool {
        self.kernel.memories[memory].space == Space::Workgroup
    }

    /// Whether a block touches a tile, or waits.
    fn concerns(&self, block: &Block) -> bool {
        block.statements.iter().any(|statement| match statement {
            Statement::Let { op: ScalarOp::Extract { memory, .. }, .. }
            | Statement::Store { memory, .. }
            | Statement::Update { memory, .. } => self.is_tile(*memory),
            Statement::Matrix(op) => op.place().is_some(),
            Statement::Call { function, .. } => self.reads[function.index()],
            _ => statement.waits() || statement.blocks().into_iter().any(|block| self.concerns(block)),
        })
    }

    /// Whether it depends on a variable which elements of tiles a block touches.
    fn depends(&self, block: &Block, variable: Var) -> bool {
        let has = |index: &Expr| index.variables().contains(&variable);
        block.statements.iter().any(|statement| match statement {
            Statement::Let { op: ScalarOp::Extract { memory, indices }, .. }
            | Statement::Store { memory, indices, .. }
            | Statement::Update { memory, indices, .. }
            | Statement::Share { memory, indices, .. } => self.is_tile(*memory) && indices.iter().any(has),
            Statement::Matrix(op) => op.place().is_some_and(|(_, indices)| indices.iter().any(has)),
            Statement::Call { function, indices, .. } => self.reads[function.index()] && indices.iter().any(has),
            _ if !statement.blocks().into_iter().any(|block| self.concerns(block)) => false,
            Statement::If { condition, then, otherwise, .. } => {
                condition.constraints().iter().any(|test| has(&test.expr))
                    || self.depends(then, variable)
                    || self.depends(otherwise, variable)
            }
            _ => statement.blocks().into_iter().any(|block| self.depends(block, variable)),
        })
    }

    /// The value of an index; `None` where it differs from workgroup to workgroup, or depends on values.
    fn index(&self, index: &Expr, ranges: &[i64], thread: i64) -> Option<i64> {
        let dims = self.dims(thread);
        if !self.is_known(index, ranges) {
            return None;
        }
        index.evaluate_at(&Point { dims: &dims, ranges, runtime: &[] }).ok()
    }

    /// The values of the indices of the function that an invocation is in.
    fn dims(&self, thread: i64) -> Vec<i64> {
        match &self.called {
            Some(called) => called.iter().map(|index| index.unwrap_or(0)).collect(),
            None => {
                let mut dims = vec![0; self.kernel.entry.extents.len() - 1];
                dims.push(thread);
                dims
            }
        }
    }

    /// Whether an index has a value that is the same in all workgroups, and that values do not decide.
    fn is_known(&self, index: &Expr, ranges: &[i64]) -> bool {
        let groups = self.kernel.entry.extents.len() - 1;
        let is_known = |variable: &Var| match (variable, &self.called) {
            (Var::Dim(dimension), Some(called)) => called.get(*dimension as usize).is_some_and(Option::is_some),
            // A workgroup that has no other beside it has known coordinates.
            (Var::Dim(dimension), None) => {
                *dimension as usize == groups || self.kernel.entry.extents.get(*dimension as usize) == Some(&1)
            }
            (Var::Range(range), _) => (*range as usize) < ranges.len(),
            (Var::Runtime(_), _) => false,
        };
        index.variables().iter().all(is_known)
    }

    fn touch(
        &mut self,
        kind: Kind,
        memory: MemoryId,
        indices: &[Expr],
        ranges: &[i64],
        threads: Threads<'_>,
    ) -> Result<(), Doubt> {
        if !self.is_tile(memory) {
            return Ok(());
        }
        self.accesses += threads.these.len();
        if self.accesses > MAX_ACCESSES {
            return Err(TOO_MANY);
        }
        let extents = super::writes::indexed_extents(&self.kernel.memories[memory], indices.len());
        let is_known = indices.iter().all(|index| self.is_known(index, ranges));
        let mut dims = self.dims(0);
        for &thread in threads.these {
            if let (None, Some(last)) = (&self.called, dims.last_mut()) {
                *last = thread;
            }
            let at = Point { dims: &dims, ranges, runtime: &[] };
            let position =
                indices.iter().zip(&extents).filter(|_| is_known).try_fold(0i64, |position, (index, extent)| {
                    Some(position.saturating_mul(*extent).saturating_add(index.evaluate_at(&at).ok()?))
                });
            let position = position.filter(|_| is_known);
            let Some(position) = position else {
                let elements: i64 = self.kernel.memories[memory].shape.extents.iter().product();
                return self.state.touch_anywhere(kind, memory, elements, threads.these);
            };
            if let Some(finding) = self.state.touch(kind, (memory, position), thread, threads.certain)? {
                self.findings.insert((memory, finding));
            }
        }
        Ok(())
    }
}

/// For each function whether it, or one that it calls, reads a tile.
fn readers(kernel: &Kernel) -> Vec<bool> {
    fn reads(kernel: &Kernel, block: &Block, of: &[bool]) -> bool {
        block.statements.iter().any(|statement| match statement {
            Statement::Let { op: ScalarOp::Extract { memory, .. }, .. } => {
                kernel.memories[*memory].space == Space::Workgroup
            }
            Statement::Call { function, .. } => of[function.index()],
            _ => statement.blocks().into_iter().any(|block| reads(kernel, block, of)),
        })
    }
    let mut of = vec![false; kernel.functions.len()];
    // Callees stand behind their callers.
    let ids: Vec<FunctionId> = kernel.functions.ids().collect();
    for id in ids.into_iter().rev() {
        of[id.index()] = reads(kernel, &kernel.functions[id].body, &of);
    }
    of
}

/// Whether invocations wait for others within a block.
fn waits(block: &Block) -> bool {
    let within = |statement: &Statement| statement.waits() || statement.blocks().into_iter().any(waits);
    block.statements.iter().any(within)
}
