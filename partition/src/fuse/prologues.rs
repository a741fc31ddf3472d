//! What is computed of the operands of sums of products, each time that their tiles read it.

use crate::Target;
use crate::access::is_loop;
use crate::contraction::feeding;
use crate::cost::{operation_cost, weight};
use crate::hero::HeroKind;
use crate::product::Product;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Op};

/// The sums of products of a program that have tiles, and what it takes to compute values in them.
pub(super) struct Prologues {
    /// For each instruction, if it is a sum of products in tiles, how often elements of its operands are computed there.
    tiles: Vec<Option<[f64; 2]>>,
    /// Whether each instruction is one of those whose numbers are read one by one, each by code of its own: what is known of the number decides which way branches go.
    one_by_one: Vec<bool>,
    /// For each instruction the units of work of one element, those of what it is computed of included, up to what lies in memory.
    units: Vec<f64>,
    /// A loop that a value is computed of the result of, if there is one, and whether the kernels of all of these could compute the value as well.
    loops: Vec<Option<(InstrId, bool)>>,
    /// Whether an operand of a sum of products in tiles is computed of a value, without a loop in between.
    feeds: Vec<bool>,
}

impl Prologues {
    /// Those of a program in which `is_read` says of an instruction that its value lies in memory.
    pub(super) fn of(program: &Computation, target: &Target, is_read: impl Fn(InstrId) -> bool) -> Prologues {
        let count = program.instructions.len();
        let (mut units, mut loops) = (vec![0.0; count], vec![None; count]);
        let (mut tiles, mut one_by_one) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (id, instruction) in program.instructions.iter() {
            let product = tiles_of(program, id, target);
            tiles.push(product.map(|product| product.evaluations()));
            one_by_one.push(product.is_some_and(|product| product.transforms));
            let operands = || instruction.operands.iter().map(|operand| operand.index());
            if is_loop(&instruction.op) {
                let folds_rows = || HeroKind::of(program, id).is_some_and(|kind| kind.pays().is_ok());
                let takes_in = match instruction.op {
                    Op::Reduce { .. } => folds_rows(),
                    _ => tiles[id.index()].is_some(),
                };
                loops[id.index()] = Some((id, takes_in));
            } else if !is_read(id) {
                let below: f64 = operands().map(|operand| units[operand]).sum();
                units[id.index()] = operation_cost(&instruction.op) * weight(instruction) + below;
                loops[id.index()] =
                    operands().filter_map(|operand| loops[operand]).min_by_key(|(_, takes_in)| *takes_in);
            }
        }
        let feeds = feeding(program, |id| tiles[id.index()].is_some());
        Prologues { tiles, one_by_one, units, loops, feeds }
    }

    /// How often a sum of products has elements of an operand computed for its tiles, if it has some; what a loop yields is no part of its kernel.
    pub(super) fn evaluations(&self, id: InstrId, sum: InstrId, operand: usize) -> Option<f64> {
        let tiles = self.tiles[sum.index()].filter(|_| self.loops[id.index()].is_none())?;
        tiles.get(operand).copied()
    }

    /// Whether an instruction is a sum of products in tiles.
    pub(super) fn is_in_tiles(&self, id: InstrId) -> bool {
        self.tiles[id.index()].is_some()
    }

    /// Whether an instruction is a sum of products in tiles in which branches are taken for each element.
    pub(super) fn branches(&self, id: InstrId) -> bool {
        self.is_in_tiles(id) && !self.one_by_one[id.index()]
    }

    /// Whether an operand of a sum of products in tiles is computed of a value, without a loop in between.
    pub(super) fn feeds_tiles(&self, id: InstrId) -> bool {
        self.feeds[id.index()] && self.loops[id.index()].is_none()
    }

    /// Whether a value in the kernel of a root is computed for tiles of the operands of sums of products.
    pub(super) fn is_of_tiles(&self, id: InstrId, root: InstrId) -> bool {
        self.tiles[root.index()].is_some() && self.loops[id.index()].is_none()
    }

    /// The loop whose kernel can compute a value once, which else would be computed in tiles of the sums of products that root a kernel.
    pub(super) fn once_in(&self, id: InstrId, root: InstrId) -> Option<InstrId> {
        let (of, takes_in) = self.loops[id.index()].filter(|_| self.tiles[root.index()].is_some())?;
        takes_in.then_some(of)
    }

    /// Units of work of an element of a value, of all that it is computed of from what lies in memory on.
    pub(super) fn units(&self, id: InstrId) -> f64 {
        self.units[id.index()]
    }
}

fn tiles_of(program: &Computation, id: InstrId, target: &Target) -> Option<Product> {
    let instruction = &program.instructions[id];
    if !matches!(instruction.op, Op::Dot { .. } | Op::Convolution { .. }) {
        return None;
    }
    let result = instruction.shape.as_array()?.element_type;
    Product::of(program, id, (&[result], 1), target).ok().map(|(product, _)| product)
}
