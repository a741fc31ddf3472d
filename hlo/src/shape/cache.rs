//! A cache of shape functions' results for equal instructions.

use super::InstructionAttributes;
use super::function::{Extents, Library, ShapeError};
use super::parts::seen;
use super::standard::{function_key, infer_extents};
use crate::ir::{FieldView, Op, Shape};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// So many results are remembered; modules have far fewer different instructions than instructions.
const MAX_ENTRIES: usize = 1 << 16;

/// Numbers; those of most instructions need no allocation.
type Key = SmallVec<[i64; 24]>;

/// The extents of the leaves, and whether they are the declared ones.
type Known = (Rc<[Extents]>, bool);

/// The extents of results by everything that shape functions see of an instruction. A shape function is pure, so what
/// was computed once holds for all instructions that look the same to it; errors, which name the operation, do not, and
/// are not remembered.
#[derive(Debug)]
pub(crate) struct InferenceCache<'l> {
    pub(super) library: &'l Library,
    results: RefCell<HashMap<Key, Known>>,
}

impl<'l> InferenceCache<'l> {
    /// Nothing computed yet by the functions of a library.
    pub(crate) fn new(library: &'l Library) -> Self {
        InferenceCache { library, results: RefCell::default() }
    }

    /// As [`infer_extents`].
    pub(super) fn infer(&self, instruction: &InstructionAttributes<'_>) -> Result<Rc<[Extents]>, ShapeError> {
        self.remembered(instruction, |found, _| Rc::clone(found))
    }

    /// Whether the declared extents are those that are inferred, for all leaves.
    pub(crate) fn agrees(&self, instruction: &InstructionAttributes<'_>) -> bool {
        self.remembered(instruction, |_, agrees| agrees).unwrap_or(false)
    }

    /// What is asked of what a function says, and of whether the declared extents are the same.
    fn remembered<T>(
        &self,
        instruction: &InstructionAttributes<'_>,
        ask: impl Fn(&Rc<[Extents]>, bool) -> T,
    ) -> Result<T, ShapeError> {
        let key = key(self.library, instruction);
        if let Some(key) = &key
            && let Some((found, agrees)) = self.results.borrow().get(key)
        {
            return Ok(ask(found, *agrees));
        }
        let found: Rc<[Extents]> = infer_extents(self.library, instruction)?.into();
        let agrees = agrees(&found, instruction.declared);
        let answer = ask(&found, agrees);
        let mut results = self.results.borrow_mut();
        if let Some(key) = key
            && results.len() < MAX_ENTRIES
        {
            results.insert(key, (found, agrees));
        }
        Ok(answer)
    }
}

fn agrees(found: &[Extents], declared: &Shape) -> bool {
    let leaves = declared.leaves();
    let same = |(leaf, extents): (&&Shape, &Extents)| {
        leaf.as_array().map_or(extents.is_empty(), |array| array.dynamic.is_empty() && array.extents == extents[..])
    };
    leaves.len() == found.len() && leaves.iter().zip(found).all(same)
}

/// The position of the shape function and all numbers that it may ask for, one after the other; `None` where it may ask
/// for more than numbers, and without a function.
fn key(library: &Library, instruction: &InstructionAttributes<'_>) -> Option<Key> {
    let op = instruction.op;
    // Of these the function is that of what they start.
    if matches!(op, Op::AsyncShorthand { .. }) {
        return None;
    }
    let mut key = Key::new();
    key.push(library.position(function_key(op))? as i64);
    let literal = match op {
        Op::Constant(literal) => Some(&literal.shape),
        _ => None,
    };
    let parts = seen(op, instruction.operands);
    for shape in parts.iter().copied().chain([instruction.declared]).chain(instruction.called).chain(literal) {
        push_shape(&mut key, shape);
    }
    key.push(instruction.partitions);
    let mut complete = true;
    op.visit_fields(true, &mut |field, view| {
        push_text(&mut key, field.name);
        complete &= push_field(&mut key, view);
    });
    complete.then_some(key)
}

/// Marks what follows, so that no two shapes give the same numbers: ranks are not negative, and element sizes stand for
/// element types, of which shape functions see nothing else.
fn push_shape(key: &mut Key, shape: &Shape) {
    match shape {
        Shape::Array(array) => {
            key.push(array.extents.len() as i64);
            key.push(i64::from(array.element_type.bits()));
            key.extend_from_slice(&array.extents);
            key.push(array.dynamic.len() as i64);
            key.extend(array.dynamic.iter().map(|&dimension| dimension as i64));
        }
        Shape::Tuple(elements) => {
            key.extend([-1, elements.len() as i64]);
            elements.iter().for_each(|element| push_shape(key, element));
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => key.push(-2),
    }
}

/// The length and the bytes, eight at a time.
fn push_text(key: &mut Key, text: &str) {
    key.push(text.len() as i64);
    for chunk in text.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        key.push(i64::from_le_bytes(bytes));
    }
}

/// Whether the attribute is one that shape functions see nothing of, or was added.
fn push_field(key: &mut Key, view: FieldView<'_>) -> bool {
    let list = |key: &mut Key, numbers: &[i64]| {
        key.push(numbers.len() as i64);
        key.extend_from_slice(numbers);
    };
    match view {
        FieldView::Integer(number) => list(key, &[*number]),
        FieldView::Integers(numbers) => list(key, numbers),
        FieldView::Word(word) => push_text(key, word),
        FieldView::Flag(flag) => key.push(i64::from(*flag)),
        FieldView::Padding(padding) => {
            key.push(padding.len() as i64);
            key.extend(padding.iter().flat_map(|it| [it.low, it.high, it.interior]));
        }
        FieldView::Slices(slices) => {
            key.push(slices.len() as i64);
            key.extend(slices.iter().flat_map(|it| [it.start, it.limit, it.stride]));
        }
        FieldView::Window(window) => {
            key.push(window.dimensions.len() as i64);
            for it in &window.dimensions {
                key.extend([it.size, it.stride, it.padding_low, it.padding_high, it.window_dilation, it.base_dilation]);
            }
        }
        FieldView::Computation(_) | FieldView::Computations(_) | FieldView::Precisions(_) | FieldView::Aliases(_) => {}
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_differ_in_a_number_are_not_equal() {
        let text = "HloModule m\n\nENTRY e {\n  x = f32[2,3,4] parameter(0)\n  y = f32[3,2,4] parameter(1)\n  \
                    a = f32[2,3,4] transpose(x), dimensions={0,1,2}\n  b = f32[2,4,3] transpose(x), dimensions={0,2,1}\n  \
                    c = f32[3,2,4] transpose(y), dimensions={0,1,2}\n  d = f32[2,3,4] reverse(x), dimensions={0}\n  \
                    f = f32[2,3,4] reverse(x), dimensions={0,1}\n  g = f32[1,3,4] slice(x), slice={[0:1], [0:3], [0:4]}\n  \
                    h = f32[1,3,4] slice(x), slice={[1:2], [0:3], [0:4]}\n  \
                    i = pred[2,3,4] compare(x, x), direction=EQ\n  j = pred[2,3,4] compare(x, x), direction=LT\n  \
                    k = f32[6,4] reshape(x)\n  ROOT l = f32[4,6] reshape(x)\n}\n";
        let module = crate::text::parse(text).unwrap();
        let entry = module.entry_computation();
        let mut keys: Vec<Key> = Vec::new();
        for instruction in entry.instructions.values().filter(|it| !it.operands.is_empty()) {
            let operands: Vec<&Shape> = instruction.operands.iter().map(|&id| &entry.instructions[id].shape).collect();
            let (op, declared) = (&instruction.op, &instruction.shape);
            let attributes = InstructionAttributes { op, operands: &operands, declared, called: None, partitions: 1 };
            let key = key(crate::shape::standard_library(), &attributes).unwrap();
            assert!(!keys.contains(&key), "{}", instruction.name);
            keys.push(key);
        }
        assert_eq!(keys.len(), 11);
    }
}
