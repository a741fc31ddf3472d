//! Rows in ascending order, worked off stretch by stretch.

use super::{rows_of, scatter_of_rows};
use crate::ir::{
    BinaryOp, ComparisonDirection, ComputationId, ElementType, InstrId, Op, Scalar, Shape, SliceDimension, Window,
    WindowDimension,
};
use crate::passes::build::{Build, Callee};
use crate::passes::counted::counted_all;
use crate::passes::rebuild::Rebuild;
use crate::passes::stable_order::{Ordered, constant, last};

/// What rows of updates make of inputs `[places, …]`, whose places are in ascending order.
pub(super) struct Stretches<'a> {
    pub(super) inputs: Vec<InstrId>,
    /// The places of the rows, and which rows they are.
    pub(super) ordered: Ordered,
    /// `[rows, …]`, in the order in which they were given.
    pub(super) updates: Vec<InstrId>,
    /// What combines elements and updates.
    pub(super) region: ComputationId,
    /// A place that there is none of.
    pub(super) outside: i32,
    /// The extents of a row of the inputs.
    pub(super) rest: &'a [i64],
}

impl Stretches<'_> {
    /// The results, by a loop over stretches of at most so many rows; `None` if the last one would end at a row that `s32` does not count.
    ///
    /// A round takes what the stretch's rows are for out of the inputs, combines it with the updates, and puts it back: the elements of one place lie in the first row
    /// that is for it, in which all rows that follow it are combined. So a round takes the time of its rows, however many places there are.
    pub(super) fn folded(self, rebuild: &mut Rebuild<'_>, most_rows: i64) -> Option<Vec<InstrId>> {
        let rows = rebuild.array(self.ordered.numbers).extents[0];
        let rounds = (rows + most_rows - 1) / most_rows;
        let stretch = (rows + rounds - 1) / rounds;
        i32::try_from(rounds * stretch).ok()?;
        let types: Vec<ElementType> = self.inputs.iter().map(|input| rebuild.element_type(*input)).collect();
        let regions = Regions { own: self.region, last: last(rebuild, &types), greatest: greatest(rebuild) };
        let behind = rounds * stretch - rows;
        let mut filled = |line: InstrId, with: i32| match behind {
            0 => line,
            _ => {
                let more = constant(rebuild, Scalar::S32(with), vec![behind]);
                rebuild.concatenated(vec![line, more], 0)
            }
        };
        let (numbers, from) = (filled(self.ordered.numbers, self.outside), filled(self.ordered.places, 0));
        let count = self.inputs.len();
        let mut carried = self.inputs;
        carried.extend([numbers, from]);
        carried.extend(self.updates);
        let mut made = counted_all(rebuild, rounds, carried, |round, carried| {
            let (inputs, [numbers, from, updates @ ..]) = carried.split_at(count) else { return carried };
            let body = &mut round.body;
            let length = body.scalar(Scalar::S32(stretch as i32));
            let start = body.converted(round.number, ElementType::S32);
            let start = body.binary(BinaryOp::Multiply, start, length);
            let [own, rows] = [numbers, from].map(|line| body.window(*line, &[start], &[stretch]));
            let updates = updates.iter().map(|update| rows_of(body, *update, rows)).collect();
            let results = regions.round(body, inputs, own, updates, (self.outside, self.rest));
            [&results, &carried[count..]].concat()
        });
        made.truncate(count);
        Some(made)
    }
}

/// The regions of a round: of updates, of what is put back, of the greatest number.
struct Regions {
    own: ComputationId,
    last: ComputationId,
    greatest: ComputationId,
}

impl Regions {
    /// What the inputs come to by updates in order at places `own`.
    fn round(
        &self,
        body: &mut Callee,
        inputs: &[InstrId],
        own: InstrId,
        updates: Vec<InstrId>,
        (outside, rest): (i32, &[i64]),
    ) -> Vec<InstrId> {
        let rows = body.array(own).extents[0];
        // Whether a row is the first one for its place, and which row that is.
        let dimensions = vec![SliceDimension { start: 0, limit: rows - 1, stride: 1 }];
        let before = body.add(Shape::array(ElementType::S32, vec![rows - 1]), Op::Slice { dimensions }, vec![own]);
        let none = constant(body, Scalar::S32(-1), vec![1]);
        let before = body.concatenated(vec![none, before], 0);
        let is_first = body.compared(ComparisonDirection::Ne, own, before);
        let row = body.iota(ElementType::S32, vec![rows], 0);
        let least = constant(body, Scalar::S32(i32::MIN), vec![rows]);
        let first = body.selected(is_first, row, least);
        let init = body.scalar(Scalar::S32(i32::MIN));
        let along = WindowDimension { size: rows, padding_low: rows - 1, ..WindowDimension::default() };
        let scan = Op::ReduceWindow { window: Window { dimensions: vec![along] }, to_apply: self.greatest };
        let first = body.like(first, ElementType::S32, scan, vec![first, init]);

        let taken: Vec<InstrId> = inputs.iter().map(|input| rows_of(body, *input, own)).collect();
        let combined = scatter_of_rows(body, (self.own, true), rest, taken, first, updates);
        let outside = constant(body, Scalar::S32(outside), vec![rows]);
        let back = body.selected(is_first, own, outside);
        scatter_of_rows(body, (self.last, false), rest, inputs.to_vec(), back, combined)
    }
}

/// The region of the greater of two numbers.
fn greatest(rebuild: &mut Rebuild<'_>) -> ComputationId {
    let mut callee = Callee::new("greatest", rebuild.span());
    let [left, right] = [0, 1].map(|_| callee.parameter(Shape::scalar(ElementType::S32)));
    let root = callee.binary(BinaryOp::Maximum, left, right);
    rebuild.shared_computation(callee.finish(root))
}
