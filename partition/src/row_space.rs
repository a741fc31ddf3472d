//! The elements of reductions as rows.

use crate::access::{identity, row_major};
use crate::plan::leaf_extents;
use crate::scan::Scan;
use weft_affine::{Expr, Var};
use weft_hlo::ir::{Computation, InstrId, Op};
use weft_indexing::IndexingMap;

/// The elements that a reduction or a scan folds, numbered `(o, r, i)`: result `(o, i)` of a reduction is folded of the elements along `r`, and result `(o, r, i)` of a scan of those up to
/// `r`, or from there on.
///
/// Of the operand's dimensions those that are kept and stand behind all that are reduced are `i`, the other ones that are kept are `o`, and those that are
/// reduced are `r`, each in row-major order, whether they are neighbors or not. Where `i` has one element the elements of a result lie side by side,
/// else `i` results do.
#[derive(Clone, Debug)]
pub(crate) struct RowSpace {
    /// Elements along `o`, `r` and `i`.
    pub(crate) extents: [i64; 3],
    /// From `(o, r, i)` to the element of the operand.
    pub(crate) elements: IndexingMap,
    /// From `(o, i)` to the element of a reduction's result; from `(o, r, i)` to that of a scan's.
    pub(crate) results: IndexingMap,
    /// How many of the elements that a result is folded of follow one another without a gap.
    pub(crate) stretch: i64,
    /// The extents of the operand.
    operand: Vec<i64>,
}

impl RowSpace {
    /// That of an instruction; `None` where it is no reduction and no scan with a result for each element, has dimensions of unknown extent, or an index leaves 64 bits.
    pub(crate) fn of(computation: &Computation, id: InstrId) -> Option<RowSpace> {
        let instruction = &computation.instructions[id];
        let (dimensions, is_scan) = match &instruction.op {
            Op::Reduce { dimensions, .. } => (dimensions.clone(), false),
            _ => {
                let scan = Scan::of(&computation.instructions, instruction)?;
                scan.is_exclusive()?;
                (vec![i64::try_from(scan.dimension).ok()?], true)
            }
        };
        let array = computation.instructions[*instruction.operands.first()?].shape.as_array()?;
        if !array.dynamic.is_empty() || array.element_count().is_none() {
            return None;
        }
        let is_reduced = |dimension: usize| dimensions.iter().any(|own| usize::try_from(*own) == Ok(dimension));
        let rank = array.extents.len();
        // Dimensions of one element stand anywhere.
        let behind =
            (0..rank).rev().find(|own| is_reduced(*own) && array.extents[*own] != 1).map_or(rank, |last| last + 1);
        let role = |dimension: usize| match dimension {
            _ if is_reduced(dimension) => 1,
            _ if dimension >= behind => 2,
            _ => 0,
        };
        let mut extents = [1i64; 3];
        let mut elements = vec![Expr::constant(0); rank];
        for dimension in (0..rank).rev() {
            let (role, extent) = (role(dimension), array.extents[dimension]);
            let variable = Expr::dim(u32::try_from(role).ok()?);
            let digit = variable.checked_floor_div(extents[role].max(1)).ok()?;
            elements[dimension] = digit.checked_modulo(extent.max(1)).ok()?;
            extents[role] = extents[role].checked_mul(extent)?;
        }
        let last = (0..behind).rev().take_while(|own| is_reduced(*own) || array.extents[*own] == 1);
        let stretch = last.map(|own| array.extents[own]).product();
        let mut elements = IndexingMap::of_extents(&extents, &[], elements).ok()?;
        elements.simplify();
        let results = match is_scan {
            true => elements.clone(),
            false => row_major(&[extents[0], extents[2]], &leaf_extents(&instruction.shape)).ok()?,
        };
        Some(RowSpace { extents, elements, results, stretch, operand: array.extents.clone() })
    }

    /// How many elements there are.
    pub(crate) fn count(&self) -> i64 {
        self.extents.iter().copied().fold(1, i64::saturating_mul)
    }

    /// How many results there are.
    pub(crate) fn rows(&self) -> i64 {
        self.extents[0].saturating_mul(self.extents[2])
    }

    /// From `(o, r, i)` to the element of an array of these extents that lies where the operand's element does; `None` where an index leaves 64 bits.
    pub(crate) fn elements_of(&self, extents: &[i64]) -> Option<IndexingMap> {
        if extents == self.operand {
            return Some(self.elements.clone());
        }
        let mut map = self.elements.then(&row_major(&self.operand, extents).ok()?).ok()?;
        map.simplify();
        Some(map)
    }

    /// From `(o, i)` to the element of an array of these extents, which has as many as there are results; `None` where an index leaves 64 bits.
    pub(crate) fn results_of(&self, extents: &[i64]) -> Option<IndexingMap> {
        row_major(&[self.extents[0], self.extents[2]], extents).ok()
    }

    /// The identity on `(o, r, i)`, or on `(o, i)`.
    pub(crate) fn identity(&self, of_elements: bool) -> IndexingMap {
        let [outer, reduced, inner] = self.extents;
        if of_elements { identity(&[outer, reduced, inner]) } else { identity(&[outer, inner]) }
    }

    /// A map from `(o, r, i)` as one from `(o, i)`; `None` where it depends on `r`.
    pub(crate) fn along_rows(&self, map: &IndexingMap) -> Option<IndexingMap> {
        let row = |variable: Var| match variable {
            Var::Dim(2) => Some(Expr::dim(1)),
            _ => None,
        };
        let depends = |expr: &Expr| expr.find_variable(&mut |variable| variable == Var::Dim(1));
        if map.results().iter().any(depends) {
            return None;
        }
        let results = map.results().iter().map(|result| result.substitute(row)).collect::<Result<Vec<_>, _>>().ok()?;
        let mut map = IndexingMap::of_extents(&[self.extents[0], self.extents[2]], &[], results).ok()?;
        map.simplify();
        Some(map)
    }
}

#[cfg(test)]
mod tests {
    use super::RowSpace;
    use weft_hlo::ir::ArenaId;
    use weft_hlo::text::parse;

    /// The space of a reduction of an array of these extents along these dimensions, as text.
    fn space(extents: &str, dimensions: &str, result: &str) -> String {
        let text = format!(
            "HloModule m\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}}\n\
             ENTRY e {{\n  x = f32[{extents}] parameter(0)\n  z = f32[] constant(0)\n  \
             ROOT r = f32[{result}] reduce(x, z), dimensions={{{dimensions}}}, to_apply=add\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let computation = module.entry_computation();
        let space = RowSpace::of(computation, computation.root).unwrap();
        let list = |map: &weft_indexing::IndexingMap| {
            map.results().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(computation.root.index(), 2);
        format!("{:?}: {} | {}", space.extents, list(&space.elements), list(&space.results))
    }

    #[test]
    fn reduced_dimensions_are_brought_together() {
        assert_eq!(space("5,7", "1", "5"), "[5, 7, 1]: d0, d1 | d0");
        assert_eq!(space("5,7", "0", "7"), "[1, 5, 7]: d1, d2 | d1");
        assert_eq!(space("5,7", "0,1", ""), "[1, 35, 1]: d1 floordiv 7, d1 mod 7 | ");
        assert_eq!(space("3,5,7", "1", "3,7"), "[3, 5, 7]: d0, d1, d2 | d0, d1");
        // Several stretches, the last of which ends the operand, or not.
        assert_eq!(
            space("3,5,7,2", "1,3", "3,7"),
            "[21, 10, 1]: d0 floordiv 7, d1 floordiv 2, d0 mod 7, d1 mod 2 | d0 floordiv 7, d0 mod 7"
        );
        assert_eq!(space("3,5,7,2", "0,2", "5,2"), "[5, 21, 2]: d1 floordiv 7, d0, d1 mod 7, d2 | d0, d1");
        assert_eq!(space("3,5,1", "1", "3,1"), "[3, 5, 1]: d0, d1, 0 | d0, 0");
        assert_eq!(space("3,5,4,1", "1,3", "3,4"), "[3, 5, 4]: d0, d1, d2, 0 | d0, d1");
    }
}
