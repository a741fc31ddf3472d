//! Conversion of range and runtime variables to dimensions.

use weft_affine::{Expr, Var};

use crate::{IndexingMap, RuntimeVariable, Variable};

impl IndexingMap {
    /// Makes dimensions of the range variables, after the dimensions there are and in their order. Runtime variables stay.
    ///
    /// The points of the domain and the results at them are the same, with the values of the range variables among the
    /// dimensions.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let mut map: IndexingMap = "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 7], rt0 in [0, 4]".parse()?;
    /// map.ranges_to_dims();
    /// assert_eq!(map.to_string(), "(d0, d1){rt0} -> (d0 + rt0, d1), domain: d0 in [0, 3], d1 in [0, 7], rt0 in [0, 4]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn ranges_to_dims(&mut self) {
        let first = self.dims.len();
        self.dims.append(&mut self.ranges);
        self.rename(|v| match v {
            Var::Range(i) => dim(first, i),
            _ => None,
        });
    }

    /// Makes a dimension of one range or runtime variable, after the dimensions there are; the variables of its kind behind it
    /// move up. Returns the new dimension; for a dimension, and for a variable that the map does not have, nothing changes and
    /// there is none.
    ///
    /// The points of the domain and the results at them are the same. What a runtime variable was is forgotten, as by
    /// [`IndexingMap::symbols_to_dims`].
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Var};
    ///
    /// let mut map: IndexingMap = "(d0)[s0, s1] -> (d0 + s0, s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 4]".parse()?;
    /// assert_eq!(map.symbol_to_dim(Var::Range(0)), Some(Var::Dim(1)));
    /// assert_eq!(map.to_string(), "(d0, d1)[s0] -> (d0 + d1, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 4]");
    /// assert_eq!(map.symbol_to_dim(Var::Range(1)), None);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn symbol_to_dim(&mut self, symbol: Var) -> Option<Var> {
        let position = |i: u32, count: usize| usize::try_from(i).ok().filter(|i| *i < count);
        let new = Var::Dim(u32::try_from(self.dims.len()).ok()?);
        let variable = match symbol {
            Var::Dim(_) => return None,
            Var::Range(i) => self.ranges.remove(position(i, self.ranges.len())?),
            Var::Runtime(i) => {
                let RuntimeVariable { bounds, name, .. } = self.runtime.remove(position(i, self.runtime.len())?);
                Variable { bounds, name }
            }
        };
        self.dims.push(variable);
        self.rename(|v| match (v, symbol) {
            _ if v == symbol => Some(Expr::var(new)),
            (Var::Range(i), Var::Range(gone)) if i > gone => Some(Expr::range(i - 1)),
            (Var::Runtime(i), Var::Runtime(gone)) if i > gone => Some(Expr::runtime(i - 1)),
            _ => None,
        });
        // What is said of a variable that clamped is now a condition on a dimension.
        self.sort_out_constraints();
        Some(new)
    }

    /// Makes dimensions of the range variables and of the runtime variables, in this order, after the dimensions there are.
    ///
    /// What the runtime variables were is forgotten: the map then relates every value within their bounds, so it holds more
    /// than can happen at run time where one value determines another.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let mut map: IndexingMap = "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 7], rt0 in [0, 4]".parse()?;
    /// map.symbols_to_dims();
    /// assert_eq!(map.to_string(), "(d0, d1, d2) -> (d0 + d2, d1), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 4]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn symbols_to_dims(&mut self) {
        self.ranges_to_dims();
        let first = self.dims.len();
        let variable = |RuntimeVariable { bounds, name, .. }: RuntimeVariable| Variable { bounds, name };
        self.dims.extend(std::mem::take(&mut self.runtime).into_iter().map(variable));
        self.rename(|v| match v {
            Var::Runtime(i) => dim(first, i),
            _ => None,
        });
        // What is said of a variable that clamped is now a condition on a dimension.
        self.sort_out_constraints();
    }
}

fn dim(first: usize, i: u32) -> Option<Expr> {
    Some(Expr::dim(u32::try_from(first).ok()?.checked_add(i)?))
}
