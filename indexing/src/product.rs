//! Products and concatenations of maps, and maps of single results.

use weft_affine::Expr;

use crate::{Error, IndexingMap};

impl IndexingMap {
    /// `(a, b) -> (self(a), other(b))`: the dimensions of `self`, then those of `other`, and the results likewise. The domain is
    /// the product of both.
    ///
    /// Runtime variables that always have the same value become one.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let rows: IndexingMap = "(d0) -> (d0 * 2), domain: d0 in [0, 3]".parse()?;
    /// let columns: IndexingMap = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 2]".parse()?;
    /// assert_eq!(
    ///     rows.product(&columns)?.to_string(),
    ///     "(d0, d1)[s0] -> (d0 * 2, d1 + s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 2]"
    /// );
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are more variables than numbers for them.
    pub fn product(&self, other: &IndexingMap) -> Result<IndexingMap, Error> {
        if self.is_undefined() || other.is_undefined() {
            return Ok(IndexingMap::undefined());
        }
        let mut both = self.clone();
        both.dims.extend(other.dims.iter().cloned());
        let dims = both.index().split_off(self.dims.len());
        both.beside(other, dims)
    }

    /// `d -> (self(d), other(d))`: the results of both over one index. The domain is where both are defined.
    ///
    /// Range variables are those of `self`, then those of `other`; runtime variables that always have the same value become
    /// one.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let row: IndexingMap = "(d0) -> (d0 floordiv 8), domain: d0 in [0, 63]".parse()?;
    /// let column: IndexingMap = "(d0) -> (d0 mod 8), domain: d0 in [8, 99]".parse()?;
    /// assert_eq!(
    ///     row.concatenate(&column)?.to_string(),
    ///     "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [8, 63]"
    /// );
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the numbers of dimensions differ.
    pub fn concatenate(&self, other: &IndexingMap) -> Result<IndexingMap, Error> {
        if self.is_undefined() || other.is_undefined() {
            return Ok(IndexingMap::undefined());
        }
        if self.dims.len() != other.dims.len() {
            return Err(Error::Arity { what: "dimensions", expected: self.dims.len(), found: other.dims.len() });
        }
        let mut both = self.clone();
        let index = both.index();
        for (d, dim) in index.iter().zip(&other.dims) {
            both.constrain(d.clone(), dim.bounds);
        }
        both.beside(other, index)
    }

    /// The map with one of its results only, over the same variables and the same domain.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let split: IndexingMap = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]".parse()?;
    /// assert_eq!(split.of_result(1)?.to_string(), "(d0) -> (d0 mod 8), domain: d0 in [0, 63]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the map has no result of this number, or is undefined.
    pub fn of_result(&self, result: usize) -> Result<IndexingMap, Error> {
        if self.is_undefined() {
            return Err(Error::Undefined);
        }
        let expected = result.saturating_add(1);
        let found = self.results.len();
        let only = self.results.get(result).ok_or(Error::Arity { what: "results, at least", expected, found })?;
        Ok(IndexingMap { results: vec![only.clone()], ..self.clone() })
    }

    /// The results of `other` after those of `self`, where the dimensions of `other` are `dims`.
    fn beside(mut self, other: &IndexingMap, dims: Vec<Expr>) -> Result<IndexingMap, Error> {
        let renaming = self.take_in(other, dims)?;
        for e in &other.results {
            self.results.push(renaming.of(e)?);
        }
        if self.variable_ranges().has_empty() {
            self.set_known_empty();
        }
        Ok(self)
    }
}
