//! Addresses: the position of an element in row-major order.

use weft_affine::Expr;

use crate::{Error, IndexingMap};

impl IndexingMap {
    /// The map whose one result is the position of the element in row-major order, the last dimension fastest, counted in
    /// elements. It is not simplified.
    ///
    /// The results of this map are taken to lie within the shape. A scalar has the position 0.
    ///
    /// # Errors
    /// When there is not one result for each extent, and when a stride or a coefficient leaves `i64`.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let transposed: IndexingMap = "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]".parse()?;
    /// let address = transposed.linearized(&[8, 4])?;
    /// assert_eq!(address.to_string(), "(d0, d1) -> (d0 + d1 * 4), domain: d0 in [0, 3], d1 in [0, 7]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn linearized(&self, shape: &[i64]) -> Result<IndexingMap, Error> {
        if self.is_undefined() {
            return Ok(IndexingMap::undefined());
        }
        if self.results.len() != shape.len() {
            return Err(Error::Arity { what: "results of the map", expected: shape.len(), found: self.results.len() });
        }
        let mut address = Expr::constant(0);
        for (index, extent) in self.results.iter().zip(shape) {
            // Horner's scheme: ((i₀·n₁ + i₁)·n₂ + i₂) …
            address = index.checked_add_scaled(&address, *extent)?;
        }
        Ok(IndexingMap { results: vec![address], ..self.clone() })
    }
}
