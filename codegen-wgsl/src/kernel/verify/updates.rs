//! Whether what is updated in place is written by one invocation at most, which alone reads it, or by undivided updates alone.

use super::writes::position;
use super::{Findings, elements};
use crate::kernel::{Access, Block, Function, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement};
use std::collections::BTreeSet;
use weft_affine::{Expr, Var};
use weft_hlo::ir::ArenaId;
use weft_indexing::{Answer, IndexingMap, Limits};

/// Finds elements of memories that are read and written which several invocations may touch, one of them writing.
///
/// All invocations have to agree on the runtime variables of the index that is stored to, so these are values that depend on no index.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    let updated = |memory: &Memory| matches!(memory.space, Space::Buffer { access: Access::ReadWrite, .. });
    if !kernel.memories.values().any(updated) {
        return;
    }
    let mut pass = Updates {
        kernel,
        shared: vec![false; kernel.entry.values.len()],
        agreed: BTreeSet::new(),
        touched: vec![Touched::default(); kernel.memories.len()],
    };
    pass.block(&kernel.entry.body, Known::new(&kernel.entry.extents));
    for function in kernel.functions.values() {
        pass.reads_of(function, &function.body);
    }
    for (id, memory) in kernel.memories.iter().filter(|(_, memory)| updated(memory)) {
        if elements(&memory.shape.extents) == Some(0) {
            continue;
        }
        let place = format!("%{}", memory.name);
        match pass.touched[id.index()].is_apart() {
            Ok(()) => {}
            Err((true, message)) => findings.add(&place, message),
            Err((false, message)) => unproved.add(&place, message),
        }
    }
}

/// Where the entry touches a memory.
#[derive(Clone, Debug, Default)]
struct Touched {
    /// From an invocation and its rounds to the position it writes, `None` where that is not known, and whether indices alone decide
    /// that it does.
    written: Vec<(Option<IndexingMap>, bool)>,
    /// Whether some of that is positions of words.
    by_words: bool,
    /// Whether some of that is positions of elements within words.
    by_elements: bool,
    read: Vec<Option<IndexingMap>>,
    /// Whether it is updated, one element at a time, undivided.
    updated: bool,
    /// Something that is not looked into: a function that reads it.
    otherwise: Option<String>,
}

impl Touched {
    /// Whether no two invocations touch one element, unless both read it: otherwise whether they do for certain, and what is wrong.
    fn is_apart(&self) -> Result<(), (bool, String)> {
        if let Some(reason) = &self.otherwise {
            return Err((false, reason.clone()));
        }
        let unknown = |what: &str| (false, format!("that invocations update it apart is not known: {what}"));
        if self.updated && !(self.written.is_empty() && self.read.is_empty()) {
            return Err(unknown("elements are updated one by one, and read or stored besides"));
        }
        let written: Option<Vec<&IndexingMap>> = self.written.iter().map(|(map, _)| map.as_ref()).collect();
        let Some(written) = written else {
            return Err(unknown("the values that tell where may differ between them"));
        };
        if self.by_words && self.by_elements {
            return Err(unknown("it is written by words and by elements of them"));
        }
        let settled = self.written.iter().all(|(_, settled)| *settled);
        let map = match written.as_slice() {
            [] => return Ok(()),
            [map] => *map,
            parts => match first_of(parts) {
                Some(map) => map,
                None => return Err(unknown("several statements write it")),
            },
        };
        if self.read.iter().any(|read| !read.as_ref().is_some_and(|read| written.contains(&read))) {
            return Err(unknown("it is read at other places than it is written"));
        }
        match map.is_injective(&Limits::default()) {
            Answer::Yes => Ok(()),
            // One invocation may write an element in several rounds.
            Answer::No(found) if settled && found.first.dims != found.second.dims => {
                Err((true, "several invocations write an element".to_owned()))
            }
            Answer::No(_) | Answer::Unknown(_) => Err(unknown("two of them may write one element")),
        }
    }
}

/// Where the first of several words is written that one element is made of: the words follow one another from a multiple of their number on, so
/// those of two elements are apart where the first ones are.
fn first_of<'m>(parts: &[&'m IndexingMap]) -> Option<&'m IndexingMap> {
    let count = i64::try_from(parts.len()).ok()?;
    let position = |map: &IndexingMap| map.results().first().cloned();
    let least = parts.iter().copied().min_by_key(|map| position(map).map(|position| position.constant_term()))?;
    let start = position(least)?;
    let is_aligned =
        start.constant_term() % count == 0 && start.terms().iter().all(|term| term.coefficient % count == 0);
    let follows = |number: i64| {
        let place = start.checked_add(&Expr::constant(number)).ok()?;
        let mut moved = least.clone();
        moved.set_results(vec![place]).ok()?;
        parts.contains(&&moved).then_some(())
    };
    (is_aligned && (0..count).all(|number| follows(number).is_some())).then_some(least)
}

/// The position of an element that is merged into a word.
fn element(memory: &Memory, indices: &[Expr], place: &Expr) -> Option<Expr> {
    let per_word = i64::from(memory.per_word());
    let place = place.checked_floor_div(32 / per_word).ok()?;
    indices.first()?.checked_mul(per_word).ok()?.checked_add(&place).ok()
}

struct Updates<'k> {
    kernel: &'k Kernel,
    /// For each value of the entry whether it is the same in all invocations and rounds.
    shared: Vec<bool>,
    /// Runtime variables that are.
    agreed: BTreeSet<u32>,
    touched: Vec<Touched>,
}

impl Updates<'_> {
    fn block(&mut self, block: &Block, mut known: Known) {
        for statement in &block.statements {
            let is_fixed = |index: &Expr| index.variables().iter().all(|variable| self.is_agreed(variable));
            let shared = statement.operands().iter().all(|operand| self.is_shared(operand))
                && statement.indices().into_iter().all(is_fixed);
            match statement {
                Statement::Let { value, op } => {
                    self.shared[value.index()] = shared && !self.reads_what_changes(op);
                    if let ScalarOp::Extract { memory, indices } = op {
                        let position = self.position(*memory, indices, &known);
                        self.touched[memory.index()].read.push(position);
                    }
                }
                // Functions that read what changes are found below.
                Statement::Call { values, .. } => {
                    values.iter().for_each(|value| self.shared[value.index()] = shared);
                }
                Statement::Store { memory, indices, .. } => {
                    let position = self.position(*memory, indices, &known);
                    let touched = &mut self.touched[memory.index()];
                    touched.by_words = true;
                    touched.written.push((position, known.is_settled()));
                }
                Statement::Merge { memory, indices, place, .. } => {
                    // Elements of words: the place within them is one more digit of the position.
                    let element = element(&self.kernel.memories[*memory], indices, place);
                    let position = element.and_then(|element| self.position(*memory, &[element], &known));
                    let touched = &mut self.touched[memory.index()];
                    touched.by_elements = true;
                    touched.written.push((position, known.is_settled()));
                }
                Statement::Update { memory, .. } => self.touched[memory.index()].updated = true,
                Statement::Bind { binding, .. } if shared => {
                    self.agreed.insert(binding.variable);
                }
                _ => {}
            }
            let blocks = statement.blocks().into_iter().zip(known.within(statement));
            blocks.for_each(|(block, known)| self.block(block, known));
            known.after(statement);
        }
    }

    fn is_shared(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Value(value) => self.shared[value.index()],
            Operand::Constant(_) => true,
        }
    }

    fn is_agreed(&self, variable: &Var) -> bool {
        matches!(variable, Var::Runtime(number) if self.agreed.contains(number))
    }

    fn reads_what_changes(&self, op: &ScalarOp) -> bool {
        matches!(op, ScalarOp::Extract { memory, .. } if self.kernel.memories[*memory].is_writable())
    }

    fn position(&self, memory: MemoryId, indices: &[Expr], known: &Known) -> Option<IndexingMap> {
        let is_known = |variable: &Var| !matches!(variable, Var::Runtime(_)) || self.is_agreed(variable);
        let all_known = indices.iter().all(|index| index.variables().iter().all(is_known));
        all_known.then(|| position(&self.kernel.memories[memory], indices, known)).flatten()
    }

    fn reads_of(&mut self, function: &Function, block: &Block) {
        for statement in &block.statements {
            if let Statement::Let { op: ScalarOp::Extract { memory, .. }, .. } = statement
                && self.kernel.memories[*memory].is_writable()
            {
                let reason = format!("@{} reads it; which elements is not looked into", function.name);
                self.touched[memory.index()].otherwise = Some(reason);
            }
            statement.blocks().into_iter().for_each(|block| self.reads_of(function, block));
        }
    }
}
