//! Indexing maps between positions in memory, by the layouts of both arrays.

use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, Owner, Variable};

use super::context::dim;
use super::reshape::bitcast_map;
use super::{ElementMap, Undefined};
use crate::ir::ArrayShape;

/// The same map between positions in memory: from the position of an element of `from` to that of an element of `to`, each in
/// the order of its layout and counted in elements; simplified. A shape without a layout is in row-major order.
///
/// ```
/// use weft_hlo::indexing::physical;
/// use weft_hlo::ir::{ArrayShape, ElementType, Layout};
/// use weft_indexing::IndexingMap;
///
/// // A transpose that only changes the layout moves nothing.
/// let transpose: IndexingMap = "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]".parse()?;
/// let input = ArrayShape::new(ElementType::F32, [8, 4]);
/// let output = ArrayShape { layout: Some(Layout::new([0, 1])), ..ArrayShape::new(ElementType::F32, [4, 8]) };
/// let map = physical(&transpose, &output, &input).map_err(|reason| reason.to_string())?;
/// assert_eq!(map.to_string(), "(d0) -> (d0), domain: d0 in [0, 31]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Undefined::Tiles`] where a layout has tiles, [`Undefined::Overflow`] where the arithmetic exceeds 64 bits,
/// [`Undefined::Misfit`] where the map is undefined or leads from or to arrays of other ranks.
pub fn physical(map: &IndexingMap, from: &ArrayShape, to: &ArrayShape) -> Result<IndexingMap, Undefined> {
    Ok(ElementMap::exact(map.clone()).physical(Some(from), Some(to), &|_| None)?.map)
}

impl ElementMap {
    /// The same map between positions in memory, as [`physical`] has it, with what says which replica holds the elements. A
    /// side without an array, as what is computed from no input has one, stays as it is.
    ///
    /// `read` gives the arrays that runtime variables are elements of, by their owners: the element is a position there as
    /// well. Without an array it stays an index.
    ///
    /// # Errors
    /// As [`physical`].
    pub fn physical<'a>(
        &self,
        from: Option<&ArrayShape>,
        to: Option<&ArrayShape>,
        read: &dyn Fn(Owner) -> Option<&'a ArrayShape>,
    ) -> Result<ElementMap, Undefined> {
        if self.map.is_undefined() {
            return Err(weft_indexing::Error::Undefined.into());
        }
        let mut logical = self.map.clone();
        let mut runtime = logical.runtime().to_vec();
        for variable in &mut runtime {
            let Some(array) = variable.owner().and_then(read) else { continue };
            if variable.access().len() >= array.rank() {
                let mut access = variable.access().to_vec();
                access.splice(..array.rank(), [position(array, variable.access())?]);
                *variable = variable.clone().with_access(access);
            }
        }
        logical.set_runtime(runtime)?;
        let mut moved = self.clone();
        // The members asked go along as further results.
        let steps = moved.replica_id.iter_mut().flat_map(|id| &mut id.steps);
        let members: Vec<&mut Expr> = steps.map(|step| &mut step.member).collect();
        let own = logical.results().len();
        logical.extend_results(members.iter().map(|member| (**member).clone()))?;
        let mut maps = vec![logical];
        if let Some(from) = from {
            maps.insert(0, bitcast_map(&flat(from)?, from)?);
        }
        if let Some(to) = to {
            let mut position = bitcast_map(to, &flat(to)?)?;
            let kept = (own..).map(dim).take(members.len());
            for _ in &members {
                position.add_dim(Variable::new(Interval::EVERYTHING))?;
            }
            position.extend_results(kept)?;
            maps.push(position);
        }
        moved.map = IndexingMap::compose_in_order(&maps)?;
        let asked = moved.map.split_off_results(moved.map.results().len() - members.len());
        for (member, asked) in members.into_iter().zip(asked) {
            *member = asked;
        }
        Ok(moved)
    }
}

/// An array of one dimension with as many elements.
fn flat(shape: &ArrayShape) -> Result<ArrayShape, Undefined> {
    if shape.layout.as_ref().is_some_and(|layout| layout.is_tiled()) {
        return Err(Undefined::Tiles);
    }
    let count = shape.element_count().ok_or(Undefined::Overflow { what: "the number of elements of a shape" })?;
    Ok(ArrayShape::new(shape.element_type, [count]))
}

/// The position of the element at an index.
fn position(array: &ArrayShape, index: &[Expr]) -> Result<Expr, Undefined> {
    flat(array)?;
    let mut position = Expr::constant(0);
    for dimension in array.minor_to_major().into_iter().rev() {
        position = position.checked_mul(array.extents[dimension])?.checked_add(&index[dimension])?;
    }
    Ok(position)
}
