//! Whether each dispatch uses of memories what it binds of them.

use super::Findings;
use super::reads::{is_between, reaches};
use crate::kernel::{
    Block, Function, Kernel, Known, Memory, MemoryId, Operand, Reach, ScalarOp, Space, Statement, Window, is_multiple,
};
use std::collections::BTreeSet;
use weft_affine::{Expr, Interval, Var};

/// What the word is a multiple of at which a window begins: those of a vector.
const LANES: i64 = 4;

/// Finds windows that make no sense.
pub(super) fn check_memory(kernel: &Kernel, memory: &Memory, findings: &mut Findings) {
    let place = format!("%{}", memory.name);
    let same = kernel.in_one_buffer(memory).all(|other| other.window == memory.window);
    if !same {
        findings.add(&place, "it shares a buffer with a memory of which another part is bound");
    }
    let Some(Window { first, size }) = &memory.window else { return };
    match memory.space {
        Space::Buffer { offset, .. } => {
            if offset != 0 || memory.is_uniform() {
                findings.add(&place, "it has a window, and lies in a uniform or not at the beginning of its buffer");
            }
        }
        Space::Workgroup | Space::Thread | Space::Matrix { .. } => {
            findings.add(&place, "it has a window, and lies in no buffer")
        }
    }
    if *size < 1 {
        findings.add(&place, "its window has no words");
    }
    if first.variables().iter().any(|variable| *variable != Var::Dim(0)) {
        findings.add(&place, format!("the beginning {first} of its window uses another variable than d0"));
    }
    let known = Known::new(&[kernel.windows]);
    if !is_multiple(first, LANES, &known) {
        findings.add(&place, format!("the beginning {first} of its window may be no multiple of {LANES}"));
    }
}

/// Finds parts of tensors that make no sense.
pub(super) fn check_part(kernel: &Kernel, memory: &Memory, findings: &mut Findings) {
    let Some(whole) = memory.part_of else { return };
    let place = format!("%{}", memory.name);
    let before = kernel.memories.iter().take_while(|(_, other)| !std::ptr::eq(*other, memory));
    let Some((_, whole)) = before.filter(|(_, other)| other.is_buffer()).find(|(id, _)| *id == whole) else {
        return findings.add(&place, "what it is a part of is no buffer before it");
    };
    if whole.part_of.is_some() || (&whole.shape, &whole.packed) != (&memory.shape, &memory.packed) {
        findings.add(&place, format!("%{} is itself a part, or another tensor", whole.name));
    }
    let is_read = |memory: &Memory| kernel.in_one_buffer(memory).all(|other| !other.is_writable());
    if !memory.is_buffer() || !is_read(whole) || !is_read(memory) {
        findings.add(&place, format!("it is a part of %{}, and one of both is written", whole.name));
    }
    let is_of_same = |other: &Memory| {
        !std::ptr::eq(other, memory) && (std::ptr::eq(other, whole) || other.part_of == memory.part_of)
    };
    if kernel.in_one_buffer(memory).any(is_of_same) {
        findings.add(&place, format!("it is a part of %{}, and has no binding of its own", whole.name));
    }
}

/// Finds memories of which a dispatch may use more than it binds.
pub(super) fn check(kernel: &Kernel, unproved: &mut Findings) {
    if !kernel.has_windows() {
        return;
    }
    let kept_to = Fixed::kept_to(kernel);
    let windowed = |id| kernel.memories[id].window.is_some() && !kept_to.contains(&id);
    let reach = Reach::of(kernel, &windowed);
    for (id, memory) in kernel.memories.iter() {
        let Some(window) = memory.window.as_ref().filter(|_| windowed(id)) else { continue };
        let words = memory.words().unwrap_or(i64::MAX);
        let is_within = |number: i64| {
            let used = reach.as_ref()?.within(id, number);
            let bound = window.words(number, words).ok()?;
            Some(used.lo > used.hi || (used.lo >= bound.start && used.hi < bound.end))
        };
        if let Some(number) = (0..kernel.windows).find(|number| is_within(*number) != Some(true)) {
            let message = format!("that window {number} has all that is used there is not known");
            unproved.add(&format!("%{}", memory.name), message);
        }
    }
}

/// The look for accesses beyond windows that are the same in all dispatches, as those of parts are: conditions in the functions themselves
/// decide which part an element lies in, so these are looked at one by one.
struct Fixed<'k> {
    kernel: &'k Kernel,
    function: &'k Function,
    /// The memories of which all accesses so far are within their windows.
    kept_to: BTreeSet<MemoryId>,
}

impl<'k> Fixed<'k> {
    /// The memories with such a window that no access is known to leave.
    fn kept_to(kernel: &'k Kernel) -> BTreeSet<MemoryId> {
        let is_fixed =
            |memory: &Memory| memory.window.as_ref().is_some_and(|window| window.first.as_constant().is_some());
        let fixed = kernel.memories.iter().filter(|(_, memory)| is_fixed(memory)).map(|(id, _)| id);
        let mut pass = Fixed { kernel, function: &kernel.entry, kept_to: fixed.collect() };
        for function in kernel.bodies().filter(|function| !function.extents.contains(&0)) {
            pass.function = function;
            pass.block(&function.body, Known::new(&function.extents));
        }
        pass.kept_to
    }

    fn block(&mut self, block: &Block, mut known: Known) {
        if self.kept_to.is_empty() {
            return;
        }
        for statement in &block.statements {
            match statement {
                Statement::Let { op: ScalarOp::Extract { memory, indices }, value } => {
                    self.access(*memory, indices, Operand::Value(*value), &known);
                }
                Statement::Store { memory, indices, value }
                | Statement::Merge { memory, indices, value, .. }
                | Statement::Update { memory, indices, value, .. } => self.access(*memory, indices, *value, &known),
                _ => {}
            }
            let mut within = known.within(statement);
            if let (Statement::If { condition, .. }, [_, outside]) = (statement, &mut within[..])
                && let [test] = condition.constraints()
            {
                // A test that seems to be open on no side may be so all the same.
                let below = Interval { lo: i64::MIN, hi: test.bounds.lo.saturating_sub(1) };
                if reaches(&test.expr, below, &known) == Some(false) {
                    let above = Interval { lo: test.bounds.hi.saturating_add(1), hi: i64::MAX };
                    *outside = outside.when(&[weft_affine::Constraint { expr: test.expr.clone(), bounds: above }]);
                }
            }
            statement.blocks().into_iter().zip(within).for_each(|(block, known)| self.block(block, known));
            known.after(statement);
        }
    }

    /// All lanes of a value go to or from a memory.
    fn access(&mut self, id: MemoryId, indices: &[Expr], value: Operand, known: &Known) {
        let memory = &self.kernel.memories[id];
        let Some(window) = memory.window.as_ref().filter(|_| self.kept_to.contains(&id)) else { return };
        let is_kept_to = || {
            let bound = memory.positions_in(window.words(0, memory.words()?).ok()?)?;
            let further = i64::from(Kernel::operand_lanes(self.function, value)) - 1;
            let mut position = Expr::constant(0);
            for (index, extent) in indices.iter().zip(super::indexed_extents(memory, indices.len())) {
                position = position.checked_mul(extent).ok()?.checked_add(index).ok()?;
            }
            let bound = Interval { lo: bound.lo, hi: bound.hi.checked_sub(further)? };
            is_between(&position, bound, known).then_some(())
        };
        if is_kept_to().is_none() {
            self.kept_to.remove(&id);
        }
    }
}
