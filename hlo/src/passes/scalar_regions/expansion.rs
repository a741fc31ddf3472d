//! A computation, with a scalar for each element of its arrays.

use super::ScalarRegions;
use crate::indexing::operand_map;
use crate::ir::{
    ArenaId, ArrayShape, BinaryOp, ComparisonDirection, Computation, ComputationId, Data, ElementType, InstrId,
    Instruction, Layout, Literal, Module, Op, PadDimension, Scalar, Shape,
};
use crate::passes::build::{Build, Callee};
use crate::passes::dead_code::needed_for;
use std::collections::BTreeMap;
use weft_affine::Point;
use weft_indexing::{IndexingMap, RuntimeVariable};

/// The value of an instruction: the elements of an array in row-major order, or the values of a tuple.
#[derive(Clone)]
pub(super) enum Value {
    Array(Vec<InstrId>),
    Tuple(Vec<Value>),
}

impl Value {
    pub(super) fn elements(&self) -> Option<&[InstrId]> {
        match self {
            Value::Array(elements) => Some(elements),
            Value::Tuple(_) => None,
        }
    }

    /// The arrays of what an operation with several results yields.
    pub(super) fn of_arrays(mut arrays: Vec<Vec<InstrId>>) -> Value {
        match arrays.len() {
            1 => Value::Array(arrays.remove(0)),
            _ => Value::Tuple(arrays.into_iter().map(Value::Array).collect()),
        }
    }
}

/// An instruction that is written out, with what its operands are.
pub(super) struct Candidate<'c> {
    pub(super) computation: &'c Computation,
    pub(super) id: InstrId,
    pub(super) operands: Vec<Value>,
}

impl Candidate<'_> {
    pub(super) fn instruction(&self) -> &Instruction {
        &self.computation.instructions[self.id]
    }

    /// The shape of an operand that is an array.
    pub(super) fn array(&self, operand: usize) -> Option<&ArrayShape> {
        self.computation.instructions[*self.instruction().operands.get(operand)?].shape.as_array()
    }

    pub(super) fn elements(&self, operand: usize) -> Option<&[InstrId]> {
        self.operands.get(operand)?.elements()
    }
}

/// The computation of scalars as it grows. Methods yield `None` where it cannot be written.
pub(super) struct Expansion<'m> {
    module: &'m Module,
    made: Callee,
    constants: BTreeMap<(&'static str, u128), InstrId>,
    /// Relations of scalars that are known already, by the name of the direction.
    comparisons: BTreeMap<(&'static str, [InstrId; 2]), InstrId>,
    /// How many instructions it may still have.
    left: usize,
    /// How much more may be looked at: instructions of the source, elements, and places that may be meant.
    work: usize,
    depth: usize,
}

/// What is looked at for a computation, at most, and how deep calls are.
const MAX_WORK: usize = 1 << 20;
const MAX_DEPTH: usize = 64;

/// The indices of a row-major position.
pub(super) fn indices(mut position: i64, extents: &[i64]) -> Vec<i64> {
    let mut indices: Vec<i64> = extents
        .iter()
        .rev()
        .map(|extent| {
            let index = position % extent;
            position /= extent;
            index
        })
        .collect();
    indices.reverse();
    indices
}

/// The row-major position of indices.
pub(super) fn position(indices: &[i64], extents: &[i64]) -> usize {
    let position = indices.iter().zip(extents).fold(0, |position, (index, extent)| position * extent + index);
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// How many elements there are of these extents, if they are few.
fn product(extents: &[i64]) -> Option<i64> {
    if extents.contains(&0) {
        return Some(0);
    }
    let product = extents.iter().try_fold(1i64, |product, extent| product.checked_mul(*extent));
    product.filter(|count| *count <= ScalarRegions::MOST as i64)
}

/// The elements of an array, if they are few and their number is known.
pub(super) fn count(array: &ArrayShape) -> Option<i64> {
    array.element_count().filter(|count| array.dynamic.is_empty() && *count <= ScalarRegions::MOST as i64)
}

impl<'m> Expansion<'m> {
    /// The computation without arrays, or `None` where it has no such form, or a long one.
    pub(super) fn of(module: &'m Module, id: ComputationId) -> Option<Computation> {
        let source = &module.computations[id];
        let made = Callee::new(&source.name, source.span);
        let mut expansion = Expansion {
            module,
            made,
            constants: BTreeMap::new(),
            comparisons: BTreeMap::new(),
            left: ScalarRegions::MOST,
            work: MAX_WORK,
            depth: 0,
        };
        let mut parameters: Vec<(i64, Shape)> = Vec::new();
        for instruction in source.instructions.values() {
            if let Op::Parameter { number } = instruction.op {
                parameters.push((number, instruction.shape.without_layout()));
            }
        }
        parameters.sort_by_key(|(number, _)| *number);
        let arguments: Vec<Value> =
            parameters.into_iter().map(|(_, shape)| Value::Array(vec![expansion.made.parameter(shape)])).collect();
        let root = match expansion.apply(id, &arguments)? {
            Value::Array(elements) => *elements.first()?,
            Value::Tuple(values) => {
                let scalars = values.iter().map(|value| value.elements()?.first().copied());
                expansion.made.tuple(scalars.collect::<Option<Vec<_>>>()?)
            }
        };
        Some(Computation { attributes: source.attributes.clone(), ..expansion.made.finish(root) })
    }

    /// Looks at so many things, if so many may still be looked at.
    pub(super) fn look(&mut self, things: i64) -> Option<()> {
        self.work = self.work.checked_sub(usize::try_from(things).ok()?)?;
        Some(())
    }

    /// An operation of scalars.
    pub(super) fn add(&mut self, element_type: ElementType, op: Op, operands: Vec<InstrId>) -> Option<InstrId> {
        self.left = self.left.checked_sub(1)?;
        Some(self.made.add(Shape::scalar(element_type), op, operands))
    }

    pub(super) fn element_type(&self, id: InstrId) -> ElementType {
        self.made.element_type(id)
    }

    pub(super) fn constant(&mut self, value: Scalar) -> Option<InstrId> {
        let key = (value.element_type().name(), value.bits());
        if let Some(known) = self.constants.get(&key) {
            return Some(*known);
        }
        let made = self.add(value.element_type(), Op::Constant(Literal::scalar(value)), Vec::new())?;
        self.constants.insert(key, made);
        Some(made)
    }

    /// Whether a type of integers has an index.
    pub(super) fn has_index(index: i64, element_type: ElementType) -> bool {
        let bits = element_type.bits() - u32::from(element_type.is_signed());
        element_type.is_integer() && (bits >= 63 || index < 1 << bits)
    }

    /// Whether a scalar has a relation to an index, which its type has.
    pub(super) fn is_to(&mut self, start: InstrId, direction: ComparisonDirection, index: i64) -> Option<InstrId> {
        let element_type = self.element_type(start);
        let index = self.constant(Scalar::from_bits(u128::try_from(index).ok()?, element_type))?;
        let key = (direction.name(), [start, index]);
        if let Some(known) = self.comparisons.get(&key) {
            return Some(*known);
        }
        let made = self.add(ElementType::Pred, Op::Compare { direction, order: None }, vec![start, index])?;
        self.comparisons.insert(key, made);
        Some(made)
    }

    pub(super) fn selected(&mut self, is: InstrId, [then, otherwise]: [InstrId; 2]) -> Option<InstrId> {
        match then == otherwise {
            true => Some(then),
            false => self.add(self.element_type(then), Op::Select, vec![is, then, otherwise]),
        }
    }

    pub(super) fn both(&mut self, first: Option<InstrId>, second: InstrId) -> Option<InstrId> {
        match first {
            None => Some(second),
            Some(first) => self.add(ElementType::Pred, Op::Binary(BinaryOp::And), vec![first, second]),
        }
    }

    /// What a computation makes of arguments.
    pub(super) fn apply(&mut self, id: ComputationId, arguments: &[Value]) -> Option<Value> {
        let module = self.module;
        let computation = &module.computations[id];
        self.look(i64::try_from(computation.instructions.len()).ok()?)?;
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH { None } else { self.root_of(computation, arguments) };
        self.depth -= 1;
        value
    }

    fn root_of(&mut self, computation: &Computation, arguments: &[Value]) -> Option<Value> {
        let mut values: Vec<Option<Value>> = Vec::with_capacity(computation.instructions.len());
        let needed = needed_for(computation, &[computation.root]);
        for (id, instruction) in computation.instructions.iter() {
            if !needed[id.index()] {
                values.push(None);
                continue;
            }
            let operands = instruction.operands.iter().map(|operand| values[operand.index()].clone());
            let operands = operands.collect::<Option<Vec<_>>>()?;
            let value = match &instruction.op {
                Op::Parameter { number } => {
                    let value = arguments.get(usize::try_from(*number).ok()?)?;
                    // Sums in another type than that of what is added have no code.
                    let has_type = |array: &ArrayShape, elements: &[InstrId]| {
                        elements.iter().all(|element| self.element_type(*element) == array.element_type)
                    };
                    let (array, elements) = (instruction.shape.as_array(), value.elements());
                    if array.zip(elements).is_some_and(|(array, elements)| !has_type(array, elements)) {
                        return None;
                    }
                    value.clone()
                }
                _ => self.value(&Candidate { computation, id, operands })?,
            };
            values.push(Some(value));
        }
        values.swap_remove(computation.root.index())
    }

    /// What a computation makes of scalars.
    pub(super) fn apply_to_scalars(&mut self, id: ComputationId, arguments: Vec<InstrId>) -> Option<Vec<InstrId>> {
        let arguments: Vec<Value> = arguments.into_iter().map(|argument| Value::Array(vec![argument])).collect();
        match self.apply(id, &arguments)? {
            Value::Array(elements) => Some(elements),
            Value::Tuple(values) => values.iter().map(|value| value.elements()?.first().copied()).collect(),
        }
    }

    fn value(&mut self, candidate: &Candidate<'_>) -> Option<Value> {
        let instruction = candidate.instruction();
        match &instruction.op {
            Op::Tuple => return Some(Value::Tuple(candidate.operands.clone())),
            Op::GetTupleElement { index } => {
                let Value::Tuple(values) = candidate.operands.first()? else { return None };
                return values.get(usize::try_from(*index).ok()?).cloned();
            }
            Op::Call { to_apply, .. } => return self.apply(*to_apply, &candidate.operands),
            Op::Reduce { dimensions, to_apply } => return self.reduced(candidate, dimensions, *to_apply),
            Op::Sort { dimension, to_apply, .. } => return self.sorted(candidate, *dimension, *to_apply),
            Op::Scatter { to_apply, .. } => return self.scattered(candidate, *to_apply),
            Op::Copy => return candidate.operands.first().cloned(),
            _ => {}
        }
        let array = instruction.shape.as_array()?;
        let elements: i64 = count(array)?;
        self.look(elements)?;
        let each = |element: &mut dyn FnMut(i64, &[i64]) -> Option<InstrId>| -> Option<Value> {
            let all = (0..elements).map(|number| element(number, &indices(number, &array.extents)));
            Some(Value::Array(all.collect::<Option<Vec<_>>>()?))
        };
        match &instruction.op {
            Op::Constant(literal) => each(&mut |number, _| self.constant(element_of(literal, number)?)),
            Op::Iota { dimension } => each(&mut |_, at| {
                let index = at.get(usize::try_from(*dimension).ok()?).copied()?;
                let index = self.constant(Scalar::S32(i32::try_from(index).ok()?))?;
                match array.element_type {
                    ElementType::S32 => Some(index),
                    other => self.add(other, Op::Convert, vec![index]),
                }
            }),
            Op::Map { to_apply, .. } => each(&mut |number, _| {
                let arguments = candidate.operands.iter().map(|operand| element(operand, number));
                let arguments = arguments.collect::<Option<Vec<_>>>()?;
                self.apply_to_scalars(*to_apply, arguments)?.first().copied()
            }),
            Op::Pad { padding } => each(&mut |_, at| {
                let of = candidate.array(0)?;
                match unpadded(at, padding, &of.extents) {
                    Some(at) => candidate.elements(0)?.get(position(&at, &of.extents)).copied(),
                    None => candidate.elements(1)?.first().copied(),
                }
            }),
            Op::DynamicSlice { .. } | Op::Gather { .. } => {
                let map = operand_map(candidate.computation, candidate.id, 0).ok()?;
                each(&mut |_, at| self.chosen(candidate, &map, at, &|values| taken(candidate, 0, &map, at, values)))
            }
            Op::DynamicUpdateSlice => {
                let map = operand_map(candidate.computation, candidate.id, 1).ok()?;
                each(&mut |number, at| {
                    let stays = element(candidate.operands.first()?, number)?;
                    self.chosen(candidate, &map, at, &|values| match map.contains(at, &[], values) {
                        true => taken(candidate, 1, &map, at, values),
                        false => Some(stays),
                    })
                })
            }
            Op::Bitcast if candidate.array(0)?.element_type != array.element_type => None,
            // Where tiles put elements, maps do not know.
            Op::Bitcast if is_tiled(candidate.array(0)?) || is_tiled(array) => None,
            Op::Broadcast { .. }
            | Op::Reshape
            | Op::Bitcast
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Reverse { .. }
            | Op::Concatenate { .. } => {
                let maps = (0..candidate.operands.len())
                    .map(|operand| operand_map(candidate.computation, candidate.id, operand).ok());
                let maps = maps.collect::<Option<Vec<IndexingMap>>>()?;
                each(&mut |_, at| {
                    let operand = maps.iter().position(|map| map.contains(at, &[], &[]))?;
                    taken(candidate, operand, &maps[operand], at, &[])
                })
            }
            Op::BitcastConvert if candidate.array(0)?.element_type.bits() != array.element_type.bits() => None,
            op if op.opcode().is_elementwise() || *op == Op::BitcastConvert => each(&mut |number, _| {
                let operands = candidate.operands.iter().map(|operand| element(operand, number));
                self.add(array.element_type, op.clone(), operands.collect::<Option<Vec<_>>>()?)
            }),
            _ => None,
        }
    }

    /// One of the elements that those of a map may be, by the values of its runtime variables: those are clamped, so what lies below one is the first, and the last one needs no test.
    fn chosen(
        &mut self,
        candidate: &Candidate<'_>,
        map: &IndexingMap,
        at: &[i64],
        element: &dyn Fn(&[i64]) -> Option<InstrId>,
    ) -> Option<InstrId> {
        let starts = map.runtime().iter().map(|variable| self.start(candidate, variable, at));
        let starts = starts.collect::<Option<Vec<_>>>()?;
        self.chosen_by(map.runtime(), &starts, &mut Vec::new(), element)
    }

    /// The same with values for the first variables.
    fn chosen_by(
        &mut self,
        variables: &[RuntimeVariable],
        starts: &[InstrId],
        values: &mut Vec<i64>,
        element: &dyn Fn(&[i64]) -> Option<InstrId>,
    ) -> Option<InstrId> {
        let Some(variable) = variables.get(values.len()) else { return element(values) };
        let start = starts[values.len()];
        let bounds = variable.bounds();
        self.look(bounds.hi - bounds.lo + 1)?;
        let mut chosen: Option<InstrId> = None;
        for value in (bounds.lo..=bounds.hi).rev() {
            values.push(value);
            let here = self.chosen_by(variables, starts, values, element);
            values.pop();
            let here = here?;
            // No start of a narrow type is greater than what that does not have.
            let is_all = !Self::has_index(value, self.element_type(start));
            chosen = Some(match chosen.filter(|behind| !is_all && *behind != here) {
                None => here,
                Some(behind) => {
                    let is_before = self.is_to(start, ComparisonDirection::Le, value)?;
                    self.selected(is_before, [here, behind])?
                }
            });
        }
        chosen
    }

    /// The scalar that a runtime variable stands for at an index.
    pub(super) fn start(&self, candidate: &Candidate<'_>, variable: &RuntimeVariable, at: &[i64]) -> Option<InstrId> {
        let owner = usize::try_from(variable.owner()?.0).ok()?;
        let operand = candidate.instruction().operands.iter().position(|operand| operand.index() == owner)?;
        let point = Point { dims: at, ranges: &[], runtime: &[] };
        let access = variable.access().iter().map(|expr| expr.evaluate_at(&point).ok());
        let access = access.collect::<Option<Vec<i64>>>()?;
        candidate.elements(operand)?.get(position(&access, &candidate.array(operand)?.extents)).copied()
    }

    fn reduced(&mut self, candidate: &Candidate<'_>, dimensions: &[i64], to_apply: ComputationId) -> Option<Value> {
        let inputs = candidate.operands.len() / 2;
        let extents = &candidate.array(0)?.extents;
        count(candidate.array(0)?)?;
        let is_reduced = |dimension: &usize| dimensions.contains(&(*dimension as i64));
        let (folded, kept): (Vec<usize>, Vec<usize>) = (0..extents.len()).partition(is_reduced);
        let of = |dimensions: &[usize]| dimensions.iter().map(|own| extents[*own]).collect::<Vec<i64>>();
        let (folded_extents, kept_extents) = (of(&folded), of(&kept));
        let (results, rounds) = (product(&kept_extents)?, product(&folded_extents)?);
        let mut arrays = vec![Vec::new(); inputs];
        for result in 0..results {
            let initial = candidate.operands[inputs..].iter().map(|value| value.elements()?.first().copied());
            let mut carried = initial.collect::<Option<Vec<_>>>()?;
            self.look(1)?;
            for round in 0..rounds {
                let mut at = vec![0; extents.len()];
                kept.iter().zip(indices(result, &kept_extents)).for_each(|(own, index)| at[*own] = index);
                folded.iter().zip(indices(round, &folded_extents)).for_each(|(own, index)| at[*own] = index);
                let number = position(&at, extents);
                let elements = candidate.operands[..inputs].iter().map(|value| value.elements()?.get(number).copied());
                carried.extend(elements.collect::<Option<Vec<_>>>()?);
                carried = self.apply_to_scalars(to_apply, carried)?;
            }
            arrays.iter_mut().zip(carried).for_each(|(array, element)| array.push(element));
        }
        Some(Value::of_arrays(arrays))
    }
}

fn is_tiled(array: &ArrayShape) -> bool {
    array.layout.as_ref().is_some_and(Layout::is_tiled)
}

/// An element of an operand that has as many as the result, or one for all.
fn element(operand: &Value, number: i64) -> Option<InstrId> {
    match operand.elements()? {
        [one] => Some(*one),
        elements => elements.get(usize::try_from(number).ok()?).copied(),
    }
}

fn element_of(literal: &Literal, number: i64) -> Option<Scalar> {
    match &literal.data {
        Data::Elided | Data::Tuple(_) => None,
        data => data.get(usize::try_from(number).ok()?),
    }
}

/// The element of an operand that a map leads to.
fn taken(candidate: &Candidate<'_>, operand: usize, map: &IndexingMap, at: &[i64], values: &[i64]) -> Option<InstrId> {
    let of = map.evaluate(at, &[], values).ok()?;
    candidate.elements(operand)?.get(position(&of, &candidate.array(operand)?.extents)).copied()
}

/// Where an element of a padded array lies in what was padded, if it is not of the padding.
fn unpadded(at: &[i64], padding: &[PadDimension], extents: &[i64]) -> Option<Vec<i64>> {
    let along = |((index, own), extent): ((&i64, &PadDimension), &i64)| {
        let (apart, from) = (own.interior.checked_add(1), index.checked_sub(own.low)?);
        // Elements that lie too far apart to be counted are one at most.
        let (place, rest) = apart.map_or((0, from), |apart| (from / apart, from % apart));
        (from >= 0 && rest == 0 && place < *extent).then_some(place)
    };
    at.iter().zip(padding).zip(extents).map(along).collect()
}
