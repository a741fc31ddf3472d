//! Affine maps: a list of results over counted variables, without a domain.

use std::fmt;

use crate::expr::{Shared, postorder};
use crate::text::{self, Cursor, Printer, Scope};
use crate::{Atom, Error, Expr, Point, Var};

/// A function from index variables to a list of integers: `(d0, d1)[s0] -> (d0 + s0, d1)`.
///
/// It knows how many variables of each kind there are, and nothing of their bounds.
/// [`affine_map!`](crate::affine_map) writes one down in Rust, and `parse` reads one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AffineMap {
    dims: u32,
    ranges: u32,
    runtime: u32,
    results: Vec<Expr>,
}

impl AffineMap {
    /// A map over the given numbers of variables, each of which its results may mention.
    ///
    /// # Errors
    /// When a result mentions a variable beyond those numbers.
    pub fn new(dims: u32, ranges: u32, runtime: u32, results: Vec<Expr>) -> Result<AffineMap, Error> {
        let map = AffineMap { dims, ranges, runtime, results };
        for node in postorder(&map.results) {
            for term in node.terms() {
                if let Atom::Var(v) = term.atom
                    && !map.has(v)
                {
                    return Err(Error::Unbound { variable: v.to_string() });
                }
            }
        }
        Ok(map)
    }

    /// `(d0, …) -> (d0, …)`.
    pub fn identity(dims: u32) -> AffineMap {
        AffineMap { dims, ranges: 0, runtime: 0, results: (0..dims).map(Expr::dim).collect() }
    }

    /// The number of dimension variables.
    pub fn dims(&self) -> u32 {
        self.dims
    }

    /// The number of range variables.
    pub fn ranges(&self) -> u32 {
        self.ranges
    }

    /// The number of runtime variables.
    pub fn runtime(&self) -> u32 {
        self.runtime
    }

    /// The results, over those variables.
    pub fn results(&self) -> &[Expr] {
        &self.results
    }

    /// The results, taken out.
    pub fn into_results(self) -> Vec<Expr> {
        self.results
    }

    /// The map with `f` applied to every result.
    ///
    /// # Errors
    /// When a new result mentions a variable that the map does not have.
    ///
    /// ```
    /// use weft_affine::{Interval, Ranges, Simplifier, affine_map};
    ///
    /// let map = affine_map!((d0) -> (d0.floor_div(8), d0.modulo(8)));
    /// let mut simplifier = Simplifier::new(&Ranges::of_dims([Interval::of_extent(8)]), &[]);
    /// let simple = map.map_results(|e| simplifier.simplify(e))?;
    /// assert_eq!(simple.to_string(), "(d0) -> (0, d0)");
    /// # Ok::<(), weft_affine::Error>(())
    /// ```
    pub fn map_results(&self, f: impl FnMut(&Expr) -> Expr) -> Result<AffineMap, Error> {
        AffineMap::new(self.dims, self.ranges, self.runtime, self.results.iter().map(f).collect())
    }

    /// True when `v` is one of the map's variables.
    pub fn has(&self, v: Var) -> bool {
        match v {
            Var::Dim(i) => i < self.dims,
            Var::Range(i) => i < self.ranges,
            Var::Runtime(i) => i < self.runtime,
        }
    }

    /// The results at a point.
    ///
    /// # Errors
    /// On overflow, and for a variable the point does not have.
    pub fn evaluate(&self, point: &Point<'_>) -> Result<Vec<i64>, Error> {
        self.results.iter().map(|e| e.evaluate_at(point)).collect()
    }

    /// `self` first, then `next`: `next(self(x))`. The results of `self` are the dimensions of `next`. Range and runtime
    /// variables of both are kept, those of `self` first.
    ///
    /// # Errors
    /// When the number of results is not the number of dimensions of `next`, and on overflow.
    ///
    /// ```
    /// use weft_affine::affine_map;
    ///
    /// let flatten = affine_map!((row, column) -> (row * 8 + column));
    /// let tile = affine_map!((i)[k] -> (i.floor_div(4), i.modulo(4) + k));
    /// let both = flatten.then(&tile)?;
    /// assert_eq!(both.to_string(), "(d0, d1)[s0] -> ((d0 * 8 + d1) floordiv 4, s0 + (d0 * 8 + d1) mod 4)");
    /// assert_eq!(tile.then(&tile).unwrap_err().code(), "AFF005");
    /// # Ok::<(), weft_affine::Error>(())
    /// ```
    pub fn then(&self, next: &AffineMap) -> Result<AffineMap, Error> {
        let wanted = usize::try_from(next.dims).map_err(|_| Error::overflow("a number of dimensions"))?;
        if self.results.len() != wanted {
            return Err(Error::Arity { what: "results of the first map", expected: wanted, found: self.results.len() });
        }
        let plus = |a: u32, b: u32| a.checked_add(b).ok_or(Error::overflow("a number of variables"));
        let (ranges, runtime) = (plus(self.ranges, next.ranges)?, plus(self.runtime, next.runtime)?);
        let rename = |v: Var| match v {
            Var::Dim(i) => self.results.get(usize::try_from(i).ok()?).cloned(),
            Var::Range(i) => Some(Expr::range(self.ranges.saturating_add(i))),
            Var::Runtime(i) => Some(Expr::runtime(self.runtime.saturating_add(i))),
        };
        let mut shared = Shared::new();
        let results =
            next.results.iter().map(|e| e.substitute_sharing(&rename, &mut shared)).collect::<Result<_, _>>()?;
        Ok(AffineMap { dims: self.dims, ranges, runtime, results })
    }
}

/// An [`AffineMap`] in the notation of the specification, its results being Rust expressions.
///
/// Parentheses name the dimension variables, brackets the range variables and braces the runtime variables. The names
/// are `Copy` values of type [`Var`], numbered from zero; each result is an [`Expr`], a [`Var`] or an `i64`, and may
/// use whatever else is in sight. A name that nobody declared does not compile.
///
/// ```
/// use weft_affine::affine_map;
///
/// let tile = 4;
/// let map = affine_map!((i, j)[k] -> (i.floor_div(tile), (i * 8 + j).modulo(tile) + k, 0));
/// assert_eq!(map.to_string(), "(d0, d1)[s0] -> (d0 floordiv 4, s0 + (d0 * 8 + d1) mod 4, 0)");
/// ```
///
/// # Panics
/// On overflow and for divisors without a meaning, as operators do, and when a result mentions a variable beyond
/// those declared.
#[macro_export]
macro_rules! affine_map {
    (
        ($($dim:ident),* $(,)?) $([$($range:ident),* $(,)?])? $({$($runtime:ident),* $(,)?})?
        -> ($($result:expr),* $(,)?)
    ) => {{
        #[allow(unused_variables, reason = "not every variable occurs in a result")]
        let (dims @ [$($dim),*], ranges @ [$($($range),*)?], runtimes @ [$($($runtime),*)?]) =
            ($crate::Var::dims(), $crate::Var::ranges(), $crate::Var::runtimes());
        let results = vec![$($crate::Expr::from($result)),*];
        $crate::AffineMap::new(dims.len() as u32, ranges.len() as u32, runtimes.len() as u32, results)
            .expect("results of a map written by hand use its own variables")
    }};
}

/// The text of the specification, for example `(d0)[s0]{rt0} -> (d0 + s0, rt0)`.
impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer::new(&self.results);
        text::write_variables(f, (0..self.dims).map(Var::Dim), '(', ')')?;
        if self.ranges > 0 {
            text::write_variables(f, (0..self.ranges).map(Var::Range), '[', ']')?;
        }
        if self.runtime > 0 {
            text::write_variables(f, (0..self.runtime).map(Var::Runtime), '{', '}')?;
        }
        f.write_str(" -> (")?;
        printer.write_list(f, &self.results)?;
        f.write_str(")")?;
        printer.write_where(f)
    }
}

/// Reads what `Display` writes; the names in the header may be any identifiers.
impl std::str::FromStr for AffineMap {
    type Err = Error;

    fn from_str(source: &str) -> Result<AffineMap, Error> {
        let mut cursor = Cursor::new(source)?;
        let mut scope = Scope::empty();
        let header = cursor.header(&mut scope)?;
        let results_at = cursor.skip_results()?;
        cursor.where_clause(&mut scope)?;
        cursor.expect_end()?;
        let results = cursor.at(results_at).expression_list(&scope, ")")?;
        let count = |names: &[String]| u32::try_from(names.len()).map_err(|_| Error::overflow("a number of variables"));
        AffineMap::new(count(&header.dims)?, count(&header.ranges)?, count(&header.runtime)?, results)
    }
}
