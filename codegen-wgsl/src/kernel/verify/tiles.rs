//! Whether workgroup memory is written before it is read, and by one invocation at a time.
//!
//! Which elements an invocation touches follows from indices alone, so one workgroup is run with nothing but them: every
//! invocation up to the next barrier, then the next ones.

use super::Findings;
use crate::kernel::{Block, Condition, Kernel, MemoryId, ScalarOp, Scope, Space, Statement};
use std::collections::{BTreeMap, BTreeSet};
use weft_affine::{Expr, Point, Var};

/// Accesses to elements that are looked at, for one kernel.
const MAX_ACCESSES: usize = 1 << 20;

/// Checks the tiles of a kernel. What a value decides, or the coordinates of the workgroup, stays unproved.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    let tiles = kernel.memories.iter().filter(|(_, memory)| memory.space == Space::Workgroup);
    let tiles: Vec<MemoryId> = tiles.map(|(id, _)| id).collect();
    if tiles.is_empty() {
        return;
    }
    let mut run = Run { kernel, elements: BTreeMap::new(), phase: 0, accesses: 0, findings: BTreeSet::new() };
    match run.block(&kernel.entry.body, &mut Vec::new()) {
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

/// What happened to an element last.
#[derive(Clone, Default)]
struct Element {
    /// Since which barrier it was written, and by which invocation.
    written: Option<(usize, i64)>,
    /// The same of readers; two stand for all.
    read: Vec<(usize, i64)>,
}

struct Run<'k> {
    kernel: &'k Kernel,
    elements: BTreeMap<(MemoryId, i64), Element>,
    /// Barriers so far.
    phase: usize,
    accesses: usize,
    findings: BTreeSet<(MemoryId, &'static str)>,
}

impl Run<'_> {
    /// Runs a block in all invocations, statement by statement; `ranges` are the loop variables around it.
    fn block(&mut self, block: &Block, ranges: &mut Vec<i64>) -> Result<(), &'static str> {
        let all: Vec<i64> = (0..self.kernel.threads()).collect();
        self.among(block, ranges, &all)
    }

    fn among(&mut self, block: &Block, ranges: &mut Vec<i64>, threads: &[i64]) -> Result<(), &'static str> {
        for statement in &block.statements {
            match statement {
                Statement::Let { op: ScalarOp::Extract { memory, indices }, .. } => {
                    self.touch(*memory, indices, ranges, threads, false)?;
                }
                Statement::Store { memory, indices, .. } => self.touch(*memory, indices, ranges, threads, true)?,
                Statement::Update { memory, .. } if self.is_tile(*memory) => return Err("it is updated"),
                Statement::Barrier | Statement::Collective { scope: Scope::Workgroup, .. } => self.phase += 1,
                Statement::If { condition, then, otherwise, .. } => {
                    let Condition::Indices(tests) = condition else {
                        if self.touches(then) || self.touches(otherwise) {
                            return Err("a value decides where");
                        }
                        continue;
                    };
                    let (mut inside, mut outside) = (Vec::new(), Vec::new());
                    for &thread in threads {
                        let mut holds = true;
                        for test in tests {
                            holds &= test.bounds.contains(self.index(&test.expr, ranges, thread)?);
                        }
                        if holds { inside.push(thread) } else { outside.push(thread) }
                    }
                    self.among(then, ranges, &inside)?;
                    self.among(otherwise, ranges, &outside)?;
                }
                Statement::Loop { extents, body, .. } if self.touches(body) => {
                    self.rounds(extents, body, ranges, threads)?;
                }
                Statement::While { condition, body, .. } if self.touches(condition) || self.touches(body) => {
                    return Err("how many rounds a loop makes is not known");
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn rounds(
        &mut self,
        extents: &[i64],
        body: &Block,
        ranges: &mut Vec<i64>,
        threads: &[i64],
    ) -> Result<(), &'static str> {
        let [outer, inner @ ..] = extents else { return self.among(body, ranges, threads) };
        for round in 0..*outer {
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
    fn touches(&self, block: &Block) -> bool {
        block.statements.iter().any(|statement| match statement {
            Statement::Let { op: ScalarOp::Extract { memory, .. }, .. }
            | Statement::Store { memory, .. }
            | Statement::Update { memory, .. } => self.is_tile(*memory),
            Statement::Barrier | Statement::Collective { .. } => true,
            _ => statement.blocks().into_iter().any(|block| self.touches(block)),
        })
    }

    fn index(&self, index: &Expr, ranges: &[i64], thread: i64) -> Result<i64, &'static str> {
        let groups = self.kernel.entry.extents.len() - 1;
        let mut dims = vec![0; groups];
        dims.push(thread);
        let is_known = |variable: &Var| match variable {
            Var::Dim(dimension) => *dimension as usize == groups,
            Var::Range(range) => (*range as usize) < ranges.len(),
            Var::Runtime(_) => false,
        };
        // A workgroup that has no other beside it has known coordinates.
        let single = |variable: &Var| match variable {
            Var::Dim(dimension) => self.kernel.entry.extents.get(*dimension as usize) == Some(&1),
            _ => false,
        };
        if !index.variables().iter().all(|variable| is_known(variable) || single(variable)) {
            return Err("indices differ from workgroup to workgroup, or are values");
        }
        let point = Point { dims: &dims, ranges, runtime: &[] };
        index.evaluate_at(&point).map_err(|_| "an index leaves 64 bits")
    }

    fn touch(
        &mut self,
        memory: MemoryId,
        indices: &[Expr],
        ranges: &[i64],
        threads: &[i64],
        writes: bool,
    ) -> Result<(), &'static str> {
        if !self.is_tile(memory) {
            return Ok(());
        }
        self.accesses += threads.len();
        if self.accesses > MAX_ACCESSES {
            return Err("there are too many accesses");
        }
        let extents = super::writes::indexed_extents(&self.kernel.memories[memory], indices.len());
        for &thread in threads {
            let mut position = 0i64;
            for (index, extent) in indices.iter().zip(&extents) {
                position = position.saturating_mul(*extent).saturating_add(self.index(index, ranges, thread)?);
            }
            let phase = self.phase;
            let element = self.elements.entry((memory, position)).or_default();
            let other_wrote = element.written.is_some_and(|(at, by)| at == phase && by != thread);
            let message = if writes {
                let other_read = element.read.iter().any(|(at, by)| *at == phase && *by != thread);
                element.written = Some((phase, thread));
                match (other_wrote, other_read) {
                    (true, _) => Some("two invocations write an element without a barrier between"),
                    (_, true) => Some("an element is written that another invocation reads without a barrier between"),
                    _ => None,
                }
            } else {
                element.read.retain(|(at, _)| *at == phase);
                if element.read.len() < 2 && !element.read.contains(&(phase, thread)) {
                    element.read.push((phase, thread));
                }
                match element.written {
                    None => Some("an element is read that was never written"),
                    Some(_) if other_wrote => {
                        Some("an element is read that another invocation writes without a barrier between")
                    }
                    Some(_) => None,
                }
            };
            if let Some(message) = message {
                self.findings.insert((memory, message));
            }
        }
        Ok(())
    }
}
