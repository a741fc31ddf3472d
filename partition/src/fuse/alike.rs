//! Fusions that are one but for names: equal layers.

use super::Fused;
use crate::Site;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, Instruction, Module};

impl Fused {
    /// For each of some fusions the first among them with the same kernel but for names: its computation is the same instruction by instruction, those that
    /// these apply as well, the same of its operands are one, and they lie at the same places in the same arenas. Takes time linear in what they hold.
    pub fn alike(&self, sites: &[Site]) -> Vec<usize> {
        let mut classes = Classes { module: &self.module, of: BTreeMap::new(), known: HashMap::new() };
        let mut first: HashMap<String, usize> = HashMap::new();
        let mut alike = Vec::with_capacity(sites.len());
        for (number, site) in sites.iter().enumerate() {
            let key = self.instruction(*site).map(|fusion| {
                let slots = self.slots(*site);
                if slots.is_empty() { classes.fusion(fusion) } else { format!("{}{slots:?}", classes.fusion(fusion)) }
            });
            alike.push(key.map_or(number, |key| *first.entry(key).or_insert(number)));
        }
        alike
    }
}

/// Computations, told from those that do the same under other names.
struct Classes<'m> {
    module: &'m Module,
    of: BTreeMap<ComputationId, usize>,
    known: HashMap<String, usize>,
}

impl Classes<'_> {
    fn fusion(&mut self, fusion: &Instruction) -> String {
        // The first place of each operand says which are one.
        let places = fusion.operands.iter().map(|operand| fusion.operands.iter().position(|other| other == operand));
        let places: Vec<Option<usize>> = places.collect();
        let op = self.renamed(fusion);
        format!("{op}{:?}{places:?}", fusion.shape)
    }

    /// The operation of an instruction, which applies classes in place of computations, and what is said of it to this crate: kernels may do it otherwise then.
    fn renamed(&mut self, instruction: &Instruction) -> String {
        let mut op = instruction.op.clone();
        let mut callees: BTreeMap<ComputationId, usize> = BTreeMap::new();
        for callee in op.called_computations() {
            callees.insert(callee, self.class(callee));
        }
        op.rename_computations(|callee| {
            let class = callees.get(&callee).copied().unwrap_or(callee.index());
            ComputationId::from_index(class)
        });
        let said = instruction.attributes.iter().find(|attribute| attribute.value.contains("weft_"));
        format!("{op:?}{:?}", said.map(|attribute| &attribute.value))
    }

    /// The class of a computation. Callees stand before their callers, so this comes to an end.
    fn class(&mut self, id: ComputationId) -> usize {
        if let Some(class) = self.of.get(&id) {
            return *class;
        }
        let module = self.module;
        let Computation { instructions, root, .. } = &module.computations[id];
        let mut text = format!("{root:?}");
        for instruction in instructions.values() {
            let op = self.renamed(instruction);
            // Strings can be written to.
            let _ = write!(text, "\n{op}{:?}{:?}", instruction.shape, instruction.operands);
        }
        let next = self.known.len();
        let class = *self.known.entry(text).or_insert(next);
        self.of.insert(id, class);
        class
    }
}
