//! Maps through whole computations, by composition.

use super::operand_map;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{ArenaId, Computation, ComputationId, InstrId, Module, Op, Shape};
use std::collections::{BTreeMap, BTreeSet};
use weft_indexing::IndexingMap;

/// How many distinct maps one value may be read through before the analysis gives up.
///
/// A chain of `n` diamonds reads its parameter through up to `2^n` maps; kernels never need them all at once.
pub const MAX_MAPS: usize = 256;

/// For each parameter of `computation`, by number, the distinct simplified maps from the elements of its root (of every
/// element of a tuple) to the elements of the parameter.
///
/// # Errors
/// `HLO301`, `HLO302` as for a single operation; `HLO303` past [`MAX_MAPS`] maps of one value.
pub fn computation_maps(module: &Module, computation: &Computation) -> Result<Vec<Vec<IndexingMap>>, Diagnostics> {
    let leaves = 0..computation.result_shape().leaves().len();
    let mut analysis = Analysis { module, known: BTreeMap::new() };
    let parameters = analysis.reads_of_parameters(computation, leaves)?;
    let mut maps: Vec<Vec<IndexingMap>> = vec![Vec::new(); parameters.len()];
    for (maps, reads) in maps.iter_mut().zip(parameters) {
        for Read { map, .. } in reads {
            if !maps.contains(&map) {
                maps.push(map);
            }
        }
    }
    Ok(maps)
}

/// One way a value is read.
#[derive(Clone, PartialEq)]
struct Read {
    /// Which array of a tuple, left to right; 0 for an array.
    leaf: usize,
    /// At which elements.
    map: IndexingMap,
}

struct Analysis<'m> {
    module: &'m Module,
    /// For a computation and a leaf of its root, how each parameter is read.
    known: BTreeMap<(ComputationId, usize), Vec<Vec<Read>>>,
}

impl Analysis<'_> {
    /// How the parameters are read for these leaves of the root.
    fn reads_of_parameters(
        &mut self,
        computation: &Computation,
        leaves: impl Iterator<Item = usize>,
    ) -> Result<Vec<Vec<Read>>, Diagnostics> {
        let mut reads: Vec<Vec<Read>> = vec![Vec::new(); computation.instructions.len()];
        for leaf in leaves {
            let shapes = computation.result_shape().leaves();
            let extents = shapes.get(leaf).map(|shape| super::leaf_extents(shape)).unwrap_or_default();
            insert(&mut reads[computation.root.index()], Read { leaf, map: IndexingMap::identity(&extents) });
        }
        for id in computation.instructions.ids().rev() {
            let through = std::mem::take(&mut reads[id.index()]);
            let leaves: BTreeSet<usize> = through.iter().map(|read| read.leaf).collect();
            let mut steps = Vec::new();
            for leaf in leaves {
                steps.extend(self.steps(computation, id, leaf)?.into_iter().map(|step| (leaf, step)));
            }
            steps.sort_by_key(|(_, step)| step.operand);
            let instruction = &computation.instructions[id];
            for (leaf, step) in &steps {
                let operand = instruction.operands[step.operand];
                for read in through.iter().filter(|read| read.leaf == *leaf) {
                    let mut map = read.map.clone();
                    if let Some(further) = &step.map {
                        map = map.compose(further).map_err(|error| {
                            Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name)
                        })?;
                        map.simplify();
                    }
                    insert(&mut reads[operand.index()], Read { leaf: step.leaf, map });
                }
                if reads[operand.index()].len() > MAX_MAPS {
                    let message = format!("this value is read through more than {MAX_MAPS} different maps");
                    let operand = &computation.instructions[operand];
                    return Err(Diagnostic::new("HLO303", operand.span, message).about(&operand.name).into());
                }
            }
            reads[id.index()] = through;
        }
        Ok(computation.parameters().into_iter().map(|id| std::mem::take(&mut reads[id.index()])).collect())
    }

    /// How one leaf of an instruction's value reads the leaves of its operands.
    fn steps(&mut self, computation: &Computation, id: InstrId, leaf: usize) -> Result<Vec<Step>, Diagnostics> {
        let instruction = &computation.instructions[id];
        let shape = |operand: InstrId| &computation.instructions[operand].shape;
        Ok(match &instruction.op {
            Op::Tuple => {
                let mut before = 0;
                for (operand, &read) in instruction.operands.iter().enumerate() {
                    let leaves = shape(read).leaves().len();
                    if leaf < before + leaves {
                        return Ok(vec![Step { operand, leaf: leaf - before, map: None }]);
                    }
                    before += leaves;
                }
                Vec::new()
            }
            Op::GetTupleElement { index } => {
                // All results of a variadic reduce come of the same elements.
                let producer = &computation.instructions[instruction.operands[0]];
                let index = usize::try_from(*index).unwrap_or(0);
                let before = producer.shape.as_tuple().unwrap_or_default().iter().take(index);
                let before: usize = before.map(|element| element.leaves().len()).sum();
                vec![Step { operand: 0, leaf: before + leaf, map: None }]
            }
            Op::Copy if matches!(instruction.shape, Shape::Tuple(_)) => vec![Step { operand: 0, leaf, map: None }],
            Op::Fusion { calls, .. } | Op::Call { to_apply: calls } => {
                let parameters = self.reads_of_callee(*calls, leaf)?;
                let step = |operand: usize, read: &Read| Step { operand, leaf: read.leaf, map: Some(read.map.clone()) };
                let numbered = parameters.iter().enumerate();
                numbered.flat_map(|(operand, reads)| reads.iter().map(move |read| step(operand, read))).collect()
            }
            _ => (0..instruction.operands.len())
                .map(|operand| Ok(Step { operand, leaf: 0, map: Some(operand_map(computation, id, operand)?) }))
                .collect::<Result<_, Diagnostics>>()?,
        })
    }

    fn reads_of_callee(&mut self, id: ComputationId, leaf: usize) -> Result<Vec<Vec<Read>>, Diagnostics> {
        if let Some(known) = self.known.get(&(id, leaf)) {
            return Ok(known.clone());
        }
        let module = self.module;
        let found = self.reads_of_parameters(&module.computations[id], std::iter::once(leaf))?;
        self.known.insert((id, leaf), found.clone());
        Ok(found)
    }
}

/// One leaf of one operand, and the elements of it; without a map the element at the same index.
struct Step {
    operand: usize,
    leaf: usize,
    map: Option<IndexingMap>,
}

fn insert(reads: &mut Vec<Read>, read: Read) {
    if !read.map.is_known_empty() && !reads.contains(&read) {
        reads.push(read);
    }
}
