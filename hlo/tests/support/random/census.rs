//! What random modules are made of, counted.

use std::collections::BTreeMap;
use std::fmt;
use weft_hlo::ir::{ArenaId, ElementType, Module, Op};

/// Counts over any number of modules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    /// Instructions by opcode.
    pub(crate) opcodes: BTreeMap<String, usize>,
    /// Arrays by element type.
    pub(crate) types: BTreeMap<ElementType, usize>,
    /// Arrays by rank.
    pub(crate) ranks: BTreeMap<usize, usize>,
    /// Dimensions by extent.
    pub(crate) extents: BTreeMap<i64, usize>,
    /// Instructions by their number of users.
    pub(crate) users: BTreeMap<usize, usize>,
    /// Features that are not opcodes: a negative padding, a function called several times, …
    pub(crate) features: BTreeMap<&'static str, usize>,
    /// Modules.
    pub(crate) modules: usize,
}

impl Census {
    /// Counts a module in.
    pub(crate) fn add(&mut self, module: &Module) {
        self.modules += 1;
        let mut called = BTreeMap::new();
        for computation in module.computations.values() {
            for list in computation.users() {
                *self.users.entry(list.len().min(8)).or_default() += 1;
            }
            if computation.root.index() + 1 < computation.instructions.len() {
                self.feature("a root before the end");
            }
            for instruction in computation.instructions.values() {
                *self.opcodes.entry(instruction.op.name().into_owned()).or_default() += 1;
                for array in instruction.shape.leaves().into_iter().filter_map(|leaf| leaf.as_array()) {
                    *self.types.entry(array.element_type).or_default() += 1;
                    *self.ranks.entry(array.rank()).or_default() += 1;
                    array.extents.iter().for_each(|extent| *self.extents.entry(*extent).or_default() += 1);
                    if array.layout.is_some() {
                        self.feature("a layout");
                    }
                }
                let elements = instruction.shape.as_tuple().unwrap_or_default();
                if elements.iter().any(|element| element.as_tuple().is_some()) {
                    self.feature("a nested tuple");
                }
                match &instruction.op {
                    Op::Parameter { .. } if instruction.shape.as_tuple().is_some() => self.feature("a tuple parameter"),
                    Op::Pad { padding } => {
                        if padding.iter().any(|part| part.low < 0 || part.high < 0) {
                            self.feature("negative padding");
                        }
                        if padding.iter().any(|part| part.interior > 0) {
                            self.feature("interior padding");
                        }
                    }
                    Op::Slice { dimensions } if dimensions.iter().any(|part| part.stride > 1) => {
                        self.feature("a stride");
                    }
                    Op::Broadcast { dimensions } if !dimensions.is_sorted() => self.feature("a permuting broadcast"),
                    Op::Reduce { dimensions, .. } => {
                        if dimensions.is_empty() {
                            self.feature("a reduce of no dimension");
                        }
                        if instruction.operands.len() > 2 {
                            self.feature("a variadic reduce");
                        }
                    }
                    Op::Fusion { .. } if instruction.shape.as_tuple().is_some() => {
                        self.feature("a fusion of several outputs");
                    }
                    Op::Call { to_apply } => *called.entry(*to_apply).or_insert(0usize) += 1,
                    Op::Constant(literal) if literal.splat().is_none() => self.feature("a table"),
                    _ => {}
                }
            }
        }
        if called.values().any(|count| *count > 1) {
            self.feature("a function called several times");
        }
    }

    fn feature(&mut self, name: &'static str) {
        *self.features.entry(name).or_default() += 1;
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "modules: {}", self.modules)?;
        writeln!(f, "opcodes: {:?}", self.opcodes)?;
        writeln!(f, "types: {:?}", self.types)?;
        writeln!(f, "ranks: {:?}", self.ranks)?;
        writeln!(f, "extents: {:?}", self.extents)?;
        writeln!(f, "users: {:?}", self.users)?;
        writeln!(f, "features: {:?}", self.features)
    }
}
