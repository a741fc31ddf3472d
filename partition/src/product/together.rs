//! Tiles of invocations whose subgroup reads the left operand together.

use super::{FEWER_RESULTS, OWN_INVOCATIONS, Product, balanced, parts, power_of_two};
use crate::Target;

/// Results of an invocation whose subgroup reads together, at most, and its rows, or columns where there are fewer rows, for each member. In software a read takes every invocation of a subgroup a turn, and what it read is handed on for
/// little: of 1024³ `f32` the times are 0.60 (llvmpipe, subgroups of 8: 32 × 8) and 0.66 (SwiftShader, of 4: 16 × 16) of those that invocations take which read for themselves.
///
/// Half as many rows again where registers are few: every operand is in memory then, and code that reads four elements, a kilobyte, is for all rows. 1024³ `f32` takes SwiftShader 0.9 of the time, 32 rows 0.8, and it compiles these
/// for 2.1 s instead of 0.9. Not of windows that lie half outside, of 32 rows of which it compiles no kernel in a minute.
const TOGETHER_RESULTS: i64 = 256;
pub(super) const TOGETHER_SIDE: i64 = 4;

/// Products of a result that are added at a time by an invocation whose subgroup reads together.
pub(super) const TOGETHER_STEP: i64 = 8;

/// The same of a place of a window whose products are no whole such steps. With 3 products of each of 16 × 16 results, those of three features, SwiftShader takes 141 ms for 7 × 7 windows of 224² places and half a second to compile them; with 6, of
/// two places, it compiles 8 × 16 results in 0.6 s, which then take 190 ms, and 16 × 16 in more than a minute. With 10 to 12,
/// of as many features, it compiles 16 × 16 results in 1.3 to 1.7 s (155 to 210 ms for windows of 224² places).
const FEWEST_OF_PLACE: i64 = 3;
const MOST_OF_PLACE: i64 = 12;

impl Product {
    /// Tiles of invocations of a subgroup that read the left operand together; none where half of it had no columns.
    pub(super) fn together(self, sums: i64, is_partial: bool, target: &Target) -> Option<Product> {
        let sizes = target.features.subgroup.filter(|sizes| sizes.min == sizes.max && matches!(sizes.min, 4 | 8))?;
        if sizes.max > target.max_invocations_per_workgroup.min(target.max_workgroup_size_x) {
            return None;
        }
        let members = i64::from(sizes.min);
        let least = i64::from(self.lanes);
        let results = TOGETHER_RESULTS / sums / if self.is_small() { FEWER_RESULTS } else { 1 };
        let side = TOGETHER_SIDE * members;
        let most_rows = side.min(results / least).max(members).min(power_of_two(self.rows));
        let mut columns = (results / most_rows).min(side).max(least);
        while columns > least && (self.columns % columns != 0 || self.columns / columns < members) {
            columns /= 2;
        }
        let (blocks, groups) = (self.columns / columns, parts(self.columns / columns, members));
        if self.columns % columns != 0 || 2 * blocks < groups * members {
            return None;
        }
        let wanted = OWN_INVOCATIONS.saturating_mul(i64::from(target.hardware.cores.max(1)));
        let taller = target.hardware.few_registers && !is_partial && !self.is_small();
        let mut limit = if taller { most_rows + most_rows / 2 } else { most_rows };
        loop {
            let rows = balanced(self.rows, limit);
            let invocations = (groups * members).saturating_mul(parts(self.rows, rows)).saturating_mul(self.batch);
            if rows == 1 || invocations >= wanted {
                let (tile, group) = ([rows, columns], [1, members]);
                let together = Product { tile, group, step: TOGETHER_STEP, members, ..self };
                return Some(together.in_stretches_of_steps());
            }
            limit = rows / 2;
        }
    }

    /// The same with steps that are each of one place of a window, of which so many products in a row are; of half as many rows where there are none of at least 3, as a kernel has more operations for each product then.
    /// Nothing is to be done for windows of one place.
    pub(super) fn in_places(self, run: i64) -> Product {
        let Product { step, tile: [rows, columns], .. } = self;
        if run % step == 0 || run >= self.depth {
            return self;
        }
        match (FEWEST_OF_PLACE..=MOST_OF_PLACE).rfind(|step| run % step == 0) {
            Some(step) => Product { step, ..self }.in_stretches_of_steps(),
            None => Product { crosses: if run % 2 == 0 { 2 } else { 1 }, tile: [parts(rows, 2), columns], ..self },
        }
    }
}
