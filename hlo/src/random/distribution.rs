//! Statistics of random modules.

use super::operation::operations;
use crate::ir::{ArenaId, Computation, ElementType, InstrId, Instruction, Module, Op, Opcode, Shape};
use std::collections::BTreeMap;
use std::fmt;

/// Counts over any number of modules; printed as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Modules.
    pub modules: usize,
    /// Instructions of all computations.
    pub instructions: usize,
    /// Instructions by opcode.
    pub operations: BTreeMap<Opcode, usize>,
    /// Arrays by element type.
    pub types: BTreeMap<ElementType, usize>,
    /// Arrays by rank.
    pub ranks: BTreeMap<usize, usize>,
    /// Dimensions by extent.
    pub extents: BTreeMap<i64, usize>,
    /// Instructions by how many others of their computation read them.
    pub readers: BTreeMap<usize, usize>,
    /// Computations by how many instructions call them; the entry by none.
    pub callers: BTreeMap<usize, usize>,
    /// Modules by how deep their computations are nested, from 0.
    pub nesting: BTreeMap<usize, usize>,
    /// Instructions in forms that an opcode does not tell.
    pub forms: BTreeMap<&'static str, usize>,
}

impl Distribution {
    /// Counts a module in.
    pub fn add(&mut self, module: &Module) {
        self.modules += 1;
        self.instructions += module.instruction_count();
        let mut callers = vec![0; module.computations.len()];
        // How deep the computations that each one calls are nested.
        let mut depths: Vec<usize> = Vec::with_capacity(module.computations.len());
        for computation in module.computations.values() {
            let mut depth = 0;
            for instruction in computation.instructions.values() {
                for callee in instruction.op.called_computations() {
                    callers[callee.index()] += 1;
                    depth = depth.max(depths[callee.index()] + 1);
                }
            }
            depths.push(depth);
            self.computation(module, computation);
        }
        *self.nesting.entry(depths[module.entry.index()]).or_default() += 1;
        callers.into_iter().for_each(|count| *self.callers.entry(count).or_default() += 1);
    }

    fn computation(&mut self, module: &Module, computation: &Computation) {
        for readers in computation.users() {
            *self.readers.entry(readers.len()).or_default() += 1;
        }
        if computation.root.index() + 1 < computation.instructions.len() {
            self.form("a root before the end");
        }
        for instruction in computation.instructions.values() {
            *self.operations.entry(instruction.op.opcode()).or_default() += 1;
            for array in instruction.shape.leaves().into_iter().filter_map(Shape::as_array) {
                *self.types.entry(array.element_type).or_default() += 1;
                *self.ranks.entry(array.rank()).or_default() += 1;
                array.extents.iter().for_each(|&extent| *self.extents.entry(extent).or_default() += 1);
                if array.element_count() == Some(0) {
                    self.form("an array without elements");
                }
                if array.layout.is_some() {
                    self.form("a layout");
                }
            }
            if instruction.shape.as_tuple().is_some_and(|elements| elements.iter().any(|it| it.as_tuple().is_some())) {
                self.form("a tuple within a tuple");
            }
            if combines_places(computation, instruction) {
                self.form("a value combined with itself from other places");
            }
            if let Op::Reduce { to_apply, .. } = instruction.op {
                let root = &module.computations[to_apply].instructions[module.computations[to_apply].root];
                match root.op {
                    Op::Call { .. } => self.form("a reduce through a call"),
                    Op::Tuple if is_choice(&module.computations[to_apply], root) => self.form("a reduce that chooses"),
                    _ => {}
                }
            }
            if let Some(name) = form(&instruction.op, &instruction.shape, instruction.operands.len()) {
                self.form(name);
            }
        }
    }

    fn form(&mut self, name: &'static str) {
        *self.forms.entry(name).or_default() += 1;
    }

    /// The operations that random modules hold and that did not occur.
    pub fn missing_operations(&self) -> Vec<Opcode> {
        operations().filter(|opcode| !self.operations.contains_key(opcode)).collect()
    }

    /// The element types that did not occur.
    pub fn missing_types(&self) -> Vec<ElementType> {
        ElementType::ALL.iter().copied().filter(|element_type| !self.types.contains_key(element_type)).collect()
    }
}

/// How many operations that move elements are looked through for the value that they move.
const MAX_MOVES: usize = 6;

/// Whether both operands of an operation hold elements of one value, which other operations moved for one of them at least.
fn combines_places(computation: &Computation, instruction: &Instruction) -> bool {
    let (Op::Binary(_), &[left, right]) = (&instruction.op, &instruction.operands[..]) else { return false };
    let (left_origins, right_origins) = (origins(computation, left), origins(computation, right));
    left != right && left_origins.iter().any(|origin| right_origins.contains(origin))
}

/// A value, and those that operations move its elements from.
fn origins(computation: &Computation, value: InstrId) -> Vec<InstrId> {
    let mut origins = vec![value];
    for at in 0..MAX_MOVES {
        let Some(&id) = origins.get(at) else { break };
        let moved = &computation.instructions[id];
        if moved.op.opcode().only_moves_data() || matches!(moved.op, Op::Concatenate { .. }) {
            origins.extend(&moved.operands);
        }
    }
    origins
}

/// Whether a computation yields some of its parameters, as it compares them.
fn is_choice(computation: &Computation, root: &Instruction) -> bool {
    root.operands.iter().all(|&element| matches!(computation.instructions[element].op, Op::Select))
}

/// The first thing that is special about an instruction.
fn form(op: &Op, shape: &Shape, operands: usize) -> Option<&'static str> {
    Some(match op {
        Op::Parameter { .. } if shape.as_tuple().is_some() => "a tuple as parameter",
        Op::Constant(_) if shape.as_tuple().is_some() => "a tuple as constant",
        Op::Constant(literal) if literal.splat().is_none() => "a constant of several values",
        Op::Copy if shape.as_tuple().is_some() => "a copy of a tuple",
        Op::Pad { padding } if padding.iter().any(|entry| entry.interior > 0) => "interior padding",
        Op::Pad { padding } if padding.iter().any(|entry| entry.low < 0 || entry.high < 0) => "negative padding",
        Op::Slice { dimensions } if dimensions.iter().any(|entry| entry.stride > 1) => "a slice with strides",
        Op::Broadcast { dimensions } if !dimensions.is_sorted() => "a broadcast that transposes",
        Op::Bitcast if shape.as_array().is_some_and(|array| array.layout.is_some()) => "a bitcast to a layout",
        Op::Reduce { dimensions, .. } if dimensions.is_empty() => "a reduce of no dimension",
        Op::Reduce { .. } if operands > 2 => "a reduce of several inputs",
        Op::ReduceWindow { .. } if operands > 2 => "a reduce-window of several inputs",
        Op::Scatter { .. } if operands > 3 => "a scatter of several inputs",
        Op::Sort { .. } if operands > 1 => "a sort of several inputs",
        Op::Map { .. } if operands > 1 => "a map of several inputs",
        Op::Gather { operand_batching_dims, .. } if !operand_batching_dims.is_empty() => "a gather with batches",
        Op::Scatter { input_batching_dims, .. } if !input_batching_dims.is_empty() => "a scatter with batches",
        Op::Dot { lhs_batch_dims, .. } if !lhs_batch_dims.is_empty() => "a dot with batches",
        Op::Convolution { feature_group_count: 2.., .. } => "a convolution of groups of features",
        Op::Convolution { batch_group_count: 2.., .. } => "a convolution of groups of a batch",
        Op::Conditional { indexed: true, .. } => "a conditional by number",
        Op::Conditional { indexed: false, .. } => "a conditional by pred",
        Op::Fusion { .. } if shape.as_tuple().is_some() => "a fusion of several results",
        _ => return None,
    })
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} modules of {} instructions", self.modules, self.instructions)?;
        section(f, "operations", &self.operations)?;
        section(f, "element types of arrays", &self.types)?;
        section(f, "ranks of arrays", &self.ranks)?;
        section(f, "extents of dimensions", &self.extents)?;
        section(f, "readers of values", &self.readers)?;
        section(f, "callers of computations", &self.callers)?;
        section(f, "nesting of modules", &self.nesting)?;
        section(f, "forms", &self.forms)
    }
}

/// A table of counts and of their shares of all of them.
fn section<K: fmt::Display>(f: &mut fmt::Formatter<'_>, title: &str, counts: &BTreeMap<K, usize>) -> fmt::Result {
    let all: usize = counts.values().sum();
    writeln!(f, "\n{title}")?;
    for (key, count) in counts {
        let key = key.to_string();
        writeln!(f, "  {key:<36} {count:>9} {:>7.2} %", 100.0 * *count as f64 / all.max(1) as f64)?;
    }
    Ok(())
}
