//! Tiles of products whose rows are folded: those that have a row of results have all of its columns.

use super::together::{TOGETHER_SIDE, TOGETHER_STEP};
use super::{BYTES, OWN_INVOCATIONS, OWN_THREADS, Product, VECTOR, balanced, parts, power_of_two};
use crate::Target;
use crate::contraction::{Contraction, Rows};
use crate::transposed::TileOwner;
use weft_hlo::ir::{Computation, ElementType, InstrId};

/// Results of an invocation in software whose subgroup reads together, and of one that reads for itself, at most; of either without vectors; columns with vectors and without, and rows of one that reads for itself. What is
/// computed of a result stands in the kernel as often as there are results.
const RESULTS: i64 = 256;
const OWN_RESULTS: i64 = 512;
const RESULTS_APART: i64 = 64;
const COLUMNS: i64 = 64;
const COLUMNS_APART: i64 = 16;
const ROWS: i64 = 8;

/// How many times fewer results an invocation has where its kernel is to be small: what is computed of each stands there, too.
const FEWER_RESULTS_OF_ROWS: i64 = 8;

/// Columns that are folded, at least.
const FEW_COLUMNS: i64 = 2;

/// How many registers a tuple takes that is folded, of rows that lie within one workgroup.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Folding {
    pub(super) tuple: i64,
}

impl Product {
    /// The tiles of a dot whose rows are folded, or why there are none, in a kernel that writes results of these types, has so many such sums, and folds tuples of so many registers. It fits if the columns of
    /// one matrix lie with one workgroup:
    ///
    /// - Devices in software whose subgroups are all of one size, 4 or 8: the columns are divided into as many parts as a subgroup has invocations, or the most fewer that divide them into whole vectors, if those are more than
    ///   half; an invocation has such a part, 64 columns at most (16 without vectors), of up to 4 × the subgroup's size rows and 256 results (64 without vectors).
    /// - Other devices in software, and where there is no such part: an invocation has all columns, 64 at most (16 without vectors), of up to 8 rows and 512 results (64).
    /// - In software, of fewer than 2^22 multiply-adds an eighth of the rows, but one at least.
    /// - None in software that has [few registers](crate::Hardware::few_registers): 4096 × 256 by 256 × 64 with a softmax takes SwiftShader 1.5 times as long in one kernel as in two, and its compiler 8 times.
    /// - GPUs: the tiles of workgroups that [other products](Product::of_gpus) have, whose invocations lie along columns as far as these go, `tile[1] * group[1]` columns, and along rows with what are left; the first
    ///   shape is taken whose tiles, and the tuples that its invocations combine, fit in workgroup memory. So do those of GPUs whose invocations else read for themselves.
    pub(crate) fn of_rows(
        computation: &Computation,
        id: InstrId,
        (results, sums, tuple): (&[ElementType], usize, u32),
        target: &Target,
    ) -> Result<(Product, Contraction), String> {
        let contraction = Contraction::of(computation, id, Rows::Places)?;
        if contraction.columns < FEW_COLUMNS {
            return Err(format!("rows have {} columns", contraction.columns));
        }
        let folding = Folding { tuple: i64::from(tuple.max(1)) };
        Product::of_contraction(contraction, computation, id, (results, sums, Some(folding)), target)
    }

    /// Tiles in software of invocations that have all columns of their rows, or a subgroup's.
    pub(super) fn own_rows(self, sums: i64, target: &Target) -> Result<Product, String> {
        if target.hardware.few_registers {
            return Err("the target has few registers, and an invocation would keep its rows in them".to_owned());
        }
        let lanes = i64::from(self.lanes);
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x)).max(1);
        let wanted = OWN_INVOCATIONS.saturating_mul(i64::from(target.hardware.cores.max(1)));
        let sizes = target.features.subgroup.filter(|sizes| sizes.min == sizes.max && matches!(sizes.min, 4 | 8));
        let size = sizes.map_or(1, |sizes| i64::from(sizes.min)).min(most);
        let vectors = self.columns / lanes;
        let blocks = (size / 2 + 1..=size).rfind(|blocks| vectors % blocks == 0).unwrap_or(1);
        let members = if blocks > 1 { size } else { 1 };
        let columns = self.columns / blocks;
        let [most_results, most_columns] = match (lanes, members) {
            (1, _) => [RESULTS_APART / sums, COLUMNS_APART],
            (_, 1) => [OWN_RESULTS / sums, COLUMNS],
            _ => [RESULTS / sums, COLUMNS],
        };
        if columns > most_columns.min(most_results) {
            return Err(format!(
                "an invocation would have {columns} of {} columns, and has {most_columns} at most",
                self.columns
            ));
        }
        let most_rows = if members > 1 { TOGETHER_SIDE * members } else { ROWS };
        let results = if self.is_small() { most_results / FEWER_RESULTS_OF_ROWS } else { most_results };
        let mut limit = most_rows.min(results / columns).max(1);
        let rows = loop {
            let rows = balanced(self.rows, limit);
            let invocations = members.saturating_mul(parts(self.rows, rows)).saturating_mul(self.batch);
            if rows == 1 || invocations >= wanted {
                break rows;
            }
            limit = rows / 2;
        };
        let own = Product { tile: [rows, columns], ..self };
        Ok(match members {
            1 => {
                let threads = power_of_two(OWN_THREADS.min(most) + 1) / 2;
                let group = [threads.min(power_of_two(parts(self.rows, rows))), 1];
                let step = if self.depth % VECTOR == 0 { VECTOR } else { 1 };
                Product { group, step, ..own }.in_stretches()
            }
            _ => Product { group: [1, members], step: TOGETHER_STEP, members, ..own }.in_stretches_of_steps(),
        })
    }

    /// Bytes of workgroup memory in which the invocations of a workgroup combine tuples, one for each of their rows.
    pub(super) fn folding_bytes(&self, folding: Option<Folding>) -> i64 {
        let invocations = self.group[0] * self.group[1];
        let tuple = folding.filter(|_| self.group[1] > 1).map_or(0, |folding| folding.tuple);
        BYTES * tuple * self.tile[0] * invocations
    }

    /// Who has the columns of a row of results that is folded.
    pub(crate) fn rows_explanation(&self) -> String {
        let Product { tile: [rows, columns], group: [_, along], members, columns: all, .. } = self;
        match (self.tiles, members) {
            (TileOwner::Invocation, 1) => format!("an invocation has all {all} columns of {rows} rows"),
            (TileOwner::Invocation, _) => {
                format!("{} invocations of a subgroup have {columns} columns each, of {rows} rows", all / columns)
            }
            (TileOwner::Workgroup, _) => {
                format!("{along} invocations of a workgroup have {columns} columns each, of {rows} rows")
            }
        }
    }
}
