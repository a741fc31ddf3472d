//! The computations of a loop that carries its condition, behind its state.

use super::Start;
use std::collections::BTreeMap;
use std::rc::Rc;
use weft_hlo::ir::{Arena, ArenaId, Computation, ElementType, InstrId, Instruction, Op, Shape, UniqueNames};

/// A value: an instruction, and which element of what it yields, of which element of that, and so on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) id: InstrId,
    pub(super) path: Vec<usize>,
}

/// Where an element of an instruction's value comes from, looked for through tuples.
pub(super) fn source(computation: &Computation, id: InstrId, path: Vec<usize>) -> Source {
    let mut found = Source { id, path };
    loop {
        let instruction = &computation.instructions[found.id];
        let Some(operand) = instruction.operands.first() else { return found };
        match instruction.op {
            Op::Tuple => {
                let next = found.path.first().and_then(|element| instruction.operands.get(*element));
                let Some(next) = next else { return found };
                found = Source { id: *next, path: found.path.split_off(1) };
            }
            Op::GetTupleElement { index } => {
                let Ok(index) = usize::try_from(index) else { return found };
                found.path.insert(0, index);
                found.id = *operand;
            }
            _ => return found,
        }
    }
}

/// The state of a loop with the condition behind it.
fn carrying(state: &Shape) -> Shape {
    let mut elements = match state {
        Shape::Tuple(elements) => elements.clone(),
        other => vec![other.clone()],
    };
    elements.push(Shape::scalar(ElementType::Pred));
    Shape::Tuple(elements)
}

/// How many elements a state is.
fn elements_of(state: &Shape) -> usize {
    state.as_tuple().map_or(1, <[Shape]>::len)
}

/// A computation of the name of another, of these instructions.
pub(super) fn like(other: &Computation, instructions: Arena<InstrId, Instruction>, root: InstrId) -> Computation {
    let mut made = Computation::new(other.name.clone(), instructions, root);
    made.attributes.clone_from(&other.attributes);
    made.span = other.span;
    made
}

/// A computation in the making, with others of its instructions.
struct Rebuild<'c> {
    source: &'c Computation,
    made: Arena<InstrId, Instruction>,
    names: UniqueNames,
    /// What has the value of each instruction.
    images: Vec<InstrId>,
    /// What does what each instruction did.
    places: Vec<InstrId>,
}

impl<'c> Rebuild<'c> {
    fn new(source: &'c Computation) -> Self {
        let mut names = UniqueNames::default();
        source.instructions.values().for_each(|instruction| drop(names.take(&instruction.name)));
        Rebuild { source, made: Arena::new(), names, images: Vec::new(), places: Vec::new() }
    }

    /// An instruction of the source, on what is made already.
    fn copied(&self, instruction: &Instruction) -> Instruction {
        let mut copy = instruction.clone();
        copy.operands.iter_mut().for_each(|operand| *operand = self.images[operand.index()]);
        copy
    }

    /// Says what has become of the next instruction of the source.
    fn became(&mut self, place: InstrId, image: InstrId) {
        self.places.push(place);
        self.images.push(image);
    }

    fn add(&mut self, like: &Instruction, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let mut added = Instruction::new(self.names.take(&like.name), shape, op, operands);
        added.span = like.span;
        self.made.push(added)
    }

    /// An element of a tuple that is made already.
    fn element(&mut self, tuple: InstrId, index: usize) -> InstrId {
        let like = self.made[tuple].clone();
        if let (Op::Tuple, Some(operand)) = (&like.op, like.operands.get(index)) {
            return *operand;
        }
        let shape = like.shape.as_tuple().and_then(|elements| elements.get(index)).cloned();
        let op = Op::GetTupleElement { index: i64::try_from(index).unwrap_or(i64::MAX) };
        self.add(&like, shape.unwrap_or(Shape::Tuple(Vec::new())), op, vec![tuple])
    }

    /// An element of a value that is made already, and so on.
    fn at(&mut self, id: InstrId, path: &[usize]) -> InstrId {
        path.iter().fold(id, |id, index| self.element(id, *index))
    }

    fn finish(self, root: InstrId) -> (Computation, Vec<InstrId>) {
        let Rebuild { source, made, places, .. } = self;
        (like(source, made, root), places)
    }
}

/// The body of a loop, whose fusion reads these values besides and yields the condition too; and where its instructions are then.
pub(super) fn body(source: &Computation, fusion: InstrId, operands: &[Source]) -> (Computation, Vec<InstrId>) {
    let mut rebuild = Rebuild::new(source);
    let (state, mut flag) = (source.result_shape().clone(), None);
    let is_tuple = matches!(state, Shape::Tuple(_));
    for (id, instruction) in source.instructions.iter() {
        let mut copy = rebuild.copied(instruction);
        match instruction.op {
            Op::Parameter { .. } => {
                copy.shape = carrying(&instruction.shape);
                let made = rebuild.made.push(copy);
                let image = if is_tuple { made } else { rebuild.element(made, 0) };
                rebuild.became(made, image);
            }
            _ if id == fusion => {
                for operand in operands {
                    let given = rebuild.images[operand.id.index()];
                    copy.operands.push(rebuild.at(given, &operand.path));
                }
                copy.shape = carrying(&instruction.shape);
                let made = rebuild.made.push(copy);
                let is_array = instruction.shape.as_array().is_some();
                let image = if is_array { rebuild.element(made, 0) } else { made };
                flag = Some(rebuild.element(made, elements_of(&instruction.shape)));
                rebuild.became(made, image);
            }
            _ => {
                let made = rebuild.made.push(copy);
                rebuild.became(made, made);
            }
        }
    }
    let root = rebuild.images[source.root.index()];
    let like = source.instructions[source.root].clone();
    let mut elements: Vec<InstrId> = match is_tuple {
        true => (0..elements_of(&state)).map(|element| rebuild.element(root, element)).collect(),
        false => vec![root],
    };
    elements.extend(flag);
    let root = rebuild.add(&like, carrying(&state), Op::Tuple, elements);
    rebuild.finish(root)
}

/// The condition of a loop of this body, which carries it.
pub(super) fn condition(source: &Computation, body: &Computation) -> Computation {
    let mut rebuild = Rebuild::new(source);
    let state = body.result_shape().clone();
    let last = elements_of(&state).saturating_sub(1);
    let parameters = source.parameters();
    let known = parameters.first().map(|parameter| source.instructions[*parameter].clone());
    let mut given =
        known.unwrap_or_else(|| Instruction::new("state", state.clone(), Op::Parameter { number: 0 }, Vec::new()));
    given.shape = state;
    let given = rebuild.made.push(given);
    let root = rebuild.element(given, last);
    rebuild.finish(root).0
}

/// The computation that loops stand in, which computes the condition before each as `test` does, of these elements of the state; and where its
/// instructions are then.
pub(super) fn started(source: &Computation, loops: &BTreeMap<InstrId, Rc<Start>>) -> (Computation, Vec<InstrId>) {
    let mut rebuild = Rebuild::new(source);
    for (id, instruction) in source.instructions.iter() {
        let mut copy = rebuild.copied(instruction);
        let Some(start_of_loop) = loops.get(&id) else {
            let made = rebuild.made.push(copy);
            rebuild.became(made, made);
            continue;
        };
        let Start { test, reads, .. } = start_of_loop.as_ref();
        let (state, start) = (instruction.shape.clone(), copy.operands[0]);
        let is_tuple = matches!(state, Shape::Tuple(_));
        let count = elements_of(&state);
        let mut elements: Vec<InstrId> = match is_tuple {
            true => (0..count).map(|element| rebuild.element(start, element)).collect(),
            false => vec![start],
        };
        let operands = reads.iter().map(|path| rebuild.at(start, path)).collect();
        elements.push(rebuild.add(test, test.shape.clone(), test.op.clone(), operands));
        let all = carrying(&state);
        copy.operands = vec![rebuild.add(instruction, all.clone(), Op::Tuple, elements)];
        copy.shape = all;
        let made = rebuild.made.push(copy);
        let image = match is_tuple {
            true => {
                let elements = (0..count).map(|element| rebuild.element(made, element)).collect();
                rebuild.add(instruction, state, Op::Tuple, elements)
            }
            false => rebuild.element(made, 0),
        };
        rebuild.became(made, image);
    }
    let root = rebuild.images[source.root.index()];
    rebuild.finish(root)
}
