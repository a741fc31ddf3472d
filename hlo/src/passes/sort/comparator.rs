//! What the comparator of a sort is: an order of numbers, or scalar code.

use super::written::is_scalar_code;
use crate::ir::{ArenaId, BinaryOp, ComparisonDirection, ComparisonType, Computation, ElementType, InstrId, Op};
use std::collections::BTreeMap;

/// Comparators of more instructions are not looked into.
const LONG: usize = 512;

/// How a sort orders its elements.
pub(super) enum Comparator {
    /// By numbers that are computed of each element, the first first.
    Keys {
        keys: Vec<Key>,
        /// Whether of equal elements the last comes first: `<=`.
        is_reversed: bool,
    },
    /// By asking of any two which comes first.
    Code,
}

/// A number that elements are ordered by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// The instruction of the comparator that computes it of the first of two elements.
    pub(super) root: InstrId,
    pub(super) element_type: ElementType,
    pub(super) is_descending: bool,
    /// Whether floats are in total order; else zeros are equal, and what is no number comes last.
    pub(super) is_total: bool,
}

impl Comparator {
    /// That of a computation; `None` where it is not computed of scalars one by one.
    pub(super) fn of(computation: &Computation) -> Option<Comparator> {
        if !is_scalar_code(computation) {
            return None;
        }
        if computation.instructions.len() > LONG {
            return Some(Comparator::Code);
        }
        let mut sides = Sides { computation, known: BTreeMap::new() };
        if let Some((key, is_strict)) = sides.key(computation.root)
            && !is_strict
        {
            return Some(Comparator::Keys { keys: vec![key], is_reversed: true });
        }
        let mut keys = Vec::new();
        Some(match sides.keys(computation.root, &mut keys) {
            Some(()) => Comparator::Keys { keys, is_reversed: false },
            None => Comparator::Code,
        })
    }
}

/// A comparator, and what is known of pairs of its instructions.
struct Sides<'c> {
    computation: &'c Computation,
    /// Whether one computes of the first of two elements what the other does of the second; or, with `true`, both the same of the first.
    known: BTreeMap<(InstrId, InstrId, bool), bool>,
}

impl Sides<'_> {
    /// Whether `right` computes of the second of two elements (or, with `same`, of the first) what `left` does of the first.
    fn are_alike(&mut self, left: InstrId, right: InstrId, same: bool) -> bool {
        if let Some(known) = self.known.get(&(left, right, same)) {
            return *known;
        }
        let [a, b] = [left, right].map(|id| &self.computation.instructions[id]);
        let alike = match (&a.op, &b.op) {
            (Op::Parameter { number: a }, Op::Parameter { number: b }) => a % 2 == 0 && *b == a + i64::from(!same),
            (op, other) => {
                let has_order = |op: &Op| {
                    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
                    let is_symmetric = matches!(op, Op::Binary(Add | And | Maximum | Minimum | Multiply | Or | Xor))
                        || matches!(
                            op,
                            Op::Compare { direction: ComparisonDirection::Eq | ComparisonDirection::Ne, .. }
                        );
                    !is_symmetric
                };
                op == other
                    && a.shape.is_compatible(&b.shape)
                    && a.operands.len() == b.operands.len()
                    && (a.operands.iter().zip(&b.operands).all(|(a, b)| self.are_alike(*a, *b, same))
                        || !has_order(op)
                            && a.operands
                                .iter()
                                .zip(b.operands.iter().rev())
                                .all(|(a, b)| self.are_alike(*a, *b, same)))
            }
        };
        self.known.insert((left, right, same), alike);
        alike
    }

    /// The key that an instruction compares both elements by, in this direction, if it does; of the direction as it is for the first element on the left.
    fn compared(&mut self, id: InstrId) -> Option<(InstrId, ComparisonDirection, Option<ComparisonType>)> {
        let instruction = &self.computation.instructions[id];
        let Op::Compare { direction, order } = instruction.op else { return None };
        let [left, right] = instruction.operands[..] else { return None };
        if self.are_alike(left, right, false) {
            return Some((left, direction, order));
        }
        self.are_alike(right, left, false).then_some((right, direction.swapped(), order))
    }

    /// The key that an instruction orders both elements by, and whether equal ones are in no order.
    fn key(&mut self, id: InstrId) -> Option<(Key, bool)> {
        let (root, direction, order) = self.compared(id)?;
        let element_type = self.computation.instructions[root].shape.as_array()?.element_type;
        let (is_descending, is_strict) = match direction {
            ComparisonDirection::Lt => (false, true),
            ComparisonDirection::Le => (false, false),
            ComparisonDirection::Gt => (true, true),
            ComparisonDirection::Ge => (true, false),
            ComparisonDirection::Eq | ComparisonDirection::Ne => return None,
        };
        let is_total = order == Some(ComparisonType::TotalOrder);
        (!element_type.is_complex()).then_some((Key { root, element_type, is_descending, is_total }, is_strict))
    }

    /// Whether an instruction tells that both elements have the key in common; or that they have not.
    fn is_of_equals(&mut self, id: InstrId, key: &Key, wanted: ComparisonDirection) -> bool {
        let Some((root, direction, order)) = self.compared(id) else { return false };
        let is_total = order == Some(ComparisonType::TotalOrder);
        direction == wanted
            && (is_total == key.is_total || !key.element_type.is_float())
            && self.are_alike(key.root, root, true)
    }

    /// The keys by which an instruction orders both elements: one, or one and, where they have it in common, others.
    fn keys(&mut self, id: InstrId, keys: &mut Vec<Key>) -> Option<()> {
        if let Some((key, is_strict)) = self.key(id) {
            keys.push(key);
            return is_strict.then_some(());
        }
        let instruction = &self.computation.instructions[id];
        let tries: Vec<(InstrId, InstrId, ComparisonDirection, InstrId)> =
            match (&instruction.op, &instruction.operands[..]) {
                (Op::Binary(BinaryOp::Or), &[left, right]) => {
                    let both = [(left, right), (right, left)].into_iter().flat_map(|(first, both)| {
                        let both = &self.computation.instructions[both];
                        let parts = match (&both.op, &both.operands[..]) {
                            (Op::Binary(BinaryOp::And), &[left, right]) => vec![(left, right), (right, left)],
                            _ => Vec::new(),
                        };
                        parts.into_iter().map(move |(equal, rest)| (first, equal, ComparisonDirection::Eq, rest))
                    });
                    both.collect()
                }
                (Op::Select, &[test, on_true, on_false]) => vec![
                    (on_false, test, ComparisonDirection::Eq, on_true),
                    (on_true, test, ComparisonDirection::Ne, on_false),
                ],
                _ => Vec::new(),
            };
        for (first, test, direction, rest) in tries {
            if let Some((key, true)) = self.key(first)
                && self.is_of_equals(test, &key, direction)
            {
                keys.push(key);
                return self.keys(rest, keys);
            }
        }
        None
    }
}

/// The operands of a sort that a comparator looks at.
pub(super) fn operands_read(computation: &Computation, roots: &[InstrId]) -> Vec<bool> {
    let needed = crate::passes::dead_code::needed_for(computation, roots);
    let mut read = vec![false; computation.parameters().len().div_ceil(2)];
    for (id, instruction) in computation.instructions.iter() {
        if let (true, Op::Parameter { number }) = (needed[id.index()], &instruction.op)
            && let Some(read) = usize::try_from(number / 2).ok().and_then(|operand| read.get_mut(operand))
        {
            *read = true;
        }
    }
    read
}
