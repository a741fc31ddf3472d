//! Maps between positions in memory.

use super::Undefined;
use super::reshape::bitcast_map;
use crate::ir::ArrayShape;
use weft_indexing::IndexingMap;

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
/// [`Undefined::Tiles`] where a layout has tiles, [`Undefined::Overflow`] where the arithmetic exceeds 64 bits.
pub fn physical(map: &IndexingMap, from: &ArrayShape, to: &ArrayShape) -> Result<IndexingMap, Undefined> {
    let is_tiled = |shape: &ArrayShape| shape.layout.as_ref().is_some_and(|layout| layout.is_tiled());
    if is_tiled(from) || is_tiled(to) {
        return Err(Undefined::Tiles);
    }
    let flat = |shape: &ArrayShape| -> Result<ArrayShape, Undefined> {
        let count = shape.element_count().ok_or(Undefined::Overflow)?;
        Ok(ArrayShape::new(shape.element_type, [count]))
    };
    let index = bitcast_map(&flat(from)?, from)?;
    let position = bitcast_map(to, &flat(to)?)?;
    Ok(IndexingMap::compose_all([&index, map, &position])?)
}
