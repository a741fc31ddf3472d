//! Expressions: immutable, shared integer values in one canonical form.
//!
//! An expression is a constant plus a sum of `coefficient * atom`, its atoms distinct and sorted; an atom is a variable,
//! a floor division or a remainder by a positive constant. `d0 + d1` and `d1 + d0` are therefore one value, and no rule
//! about associativity or commutativity is ever needed.
//!
//! Expressions are DAGs that may be huge when written out as trees. Each node keeps a 128-bit hash of its structure
//! (with no random seed): equality is equality of hashes, and order follows only the first difference.

mod build;
mod hash;
mod operators;
mod visit;

pub use visit::Point;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

pub(crate) use build::OPERATION_COST;
pub(crate) use visit::{Shared, postorder, postorder_past};

/// A variable, of one of the three kinds of the specification; it prints as `d0`, `s0`, `rt0`.
///
/// The number counts within its kind, so adding a range variable never renames a runtime variable. Variables take part in
/// arithmetic like the expressions that they are:
///
/// ```
/// use weft_affine::Var;
///
/// let [d0, d1] = Var::dims();
/// assert_eq!((d0 * 8 + d1).floor_div(4).to_string(), "(d0 * 8 + d1) floordiv 4");
/// assert_eq!(Var::Runtime(0).to_string(), "rt0");
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Var {
    /// An index of the tensor or grid mapped from.
    Dim(u32),
    /// One of several values visited for one index, such as a contracted dimension.
    Range(u32),
    /// A value known only when the program runs, such as the start of a dynamic slice.
    Runtime(u32),
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Var::Dim(i) => write!(f, "d{i}"),
            Var::Range(i) => write!(f, "s{i}"),
            Var::Runtime(i) => write!(f, "rt{i}"),
        }
    }
}

/// The factor of a term besides its coefficient: a variable, a floor division or a remainder. Divisors and moduli are
/// greater than one.
///
/// Atoms order as they print: variables, then floor divisions, then remainders.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// `⌊expr / divisor⌋`.
    FloorDiv(Expr, i64),
    /// `expr − modulus · ⌊expr / modulus⌋`, in `[0, modulus − 1]`.
    Mod(Expr, i64),
}

impl Atom {
    /// The argument of a floor division or remainder.
    pub fn argument(&self) -> Option<&Expr> {
        match self {
            Atom::Var(_) => None,
            Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) => Some(inner),
        }
    }

    /// False for an atom made by hand that stands for something simpler, or for nothing.
    fn is_canonical(&self) -> bool {
        match self {
            Atom::Var(_) => true,
            Atom::FloorDiv(x, c) | Atom::Mod(x, c) => *c > 1 && x.as_constant().is_none(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Atom::Var(_) => 0,
            Atom::FloorDiv(..) => 1,
            Atom::Mod(..) => 2,
        }
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Atom) -> Ordering {
        compare_atoms(self, other)
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Atom) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Expr::from_atom(self.clone()), f)
    }
}

/// One summand, `coefficient * atom`; the coefficient is never zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term {
    /// The factor.
    pub coefficient: i64,
    /// The atom that the coefficient multiplies.
    pub atom: Atom,
}

/// An integer expression: cheap to clone, `Send + Sync`, compared by structure.
///
/// It is made by the operators of [`Var`] and its own, by `parse`, or by the constructors below; all of them keep the
/// canonical form, so that equal sums are one value.
///
/// ```
/// use weft_affine::{Expr, Var};
///
/// let [d0] = Var::dims();
/// let quarter = d0.floor_div(4);
/// assert_eq!(&quarter * 4 + d0 - &quarter * 4, Expr::from(d0));
/// assert_eq!("(d0 ceildiv 4) * 2".parse(), Ok((d0 + 3).floor_div(4) * 2));
/// ```
#[derive(Clone)]
pub struct Expr(Arc<Node>);

/// The summands of a node. Most sums are short, and an allocation saved in each is a third of the time of simplification.
pub(crate) type Terms = SmallVec<[Term; 2]>;

struct Node {
    hash: u128,
    constant: i64,
    terms: Terms,
    /// Nodes when written out as a tree, saturating: decides whether sharing must be respected to stay fast.
    tree_size: u64,
    /// Total cost order's first part; see [`Expr::cost`].
    cost: u64,
    /// Floor divisions and remainders, as a tree, saturating.
    operations: u32,
    /// Longest chain of nested divisions and remainders.
    depth: u32,
}

impl Expr {
    /// The constant summand.
    pub fn constant_term(&self) -> i64 {
        self.0.constant
    }

    /// The summands other than the constant, sorted by atom, coefficients non-zero, atoms distinct.
    pub fn terms(&self) -> &[Term] {
        &self.0.terms
    }

    /// The value, where the expression is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        self.0.terms.is_empty().then_some(self.0.constant)
    }

    /// The variable, where the expression is just that.
    pub fn as_var(&self) -> Option<Var> {
        match self.as_atom()? {
            Atom::Var(v) => Some(*v),
            _ => None,
        }
    }

    /// The atom, where the expression is `1 * atom + 0`.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self.0.terms.as_slice() {
            [Term { coefficient: 1, atom }] if self.0.constant == 0 => Some(atom),
            _ => None,
        }
    }

    /// The hash of the structure: equal for equal expressions on every machine and in every run.
    ///
    /// Equality of expressions is equality of this hash. It is not meant to withstand somebody who builds collisions.
    pub fn structural_hash(&self) -> u128 {
        self.0.hash
    }

    /// The cost of the expression, written out as a tree: 20 for each floor division or remainder, and one for each
    /// variable, each factor other than one and each constant. Saturates.
    ///
    /// The weight is flat on purpose: were it nested, `d0 floordiv 2 - (d0 floordiv 24) * 12` would beat
    /// `(d0 floordiv 2) mod 12`.
    pub fn cost(&self) -> u64 {
        self.0.cost
    }

    /// Floor divisions and remainders, written out as a tree; saturates.
    pub fn operation_count(&self) -> u32 {
        self.0.operations
    }

    /// Nodes when written out as a tree; saturates.
    pub fn tree_size(&self) -> u64 {
        self.0.tree_size
    }

    /// The longest chain of divisions and remainders within one another.
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// True for sums of variables without any division or remainder.
    pub fn is_linear(&self) -> bool {
        self.0.depth == 0
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.0.hash == other.0.hash
    }
}

impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.0.hash);
    }
}

/// A structural order in which terms are compared from the first, so that it is also the order of printing.
impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> Ordering {
        compare(self, other)
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The text of the expression, see [`crate::text`].
impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Compares along the first difference only: equal parts are cut off by their hash, and the first unequal pair decides.
/// So the work is one path through the DAG, and no stack is used.
fn compare<'a>(mut a: &'a Expr, mut b: &'a Expr) -> Ordering {
    loop {
        if a == b {
            return Ordering::Equal;
        }
        let first = a.terms().iter().zip(b.terms()).find(|(s, t)| s != t);
        let Some((s, t)) = first else {
            return (a.terms().len(), a.constant_term()).cmp(&(b.terms().len(), b.constant_term()));
        };
        match step(&s.atom, &t.atom) {
            Ok(Ordering::Equal) => return s.coefficient.cmp(&t.coefficient),
            Ok(decided) => return decided,
            Err((x, y)) => (a, b) = (x, y),
        }
    }
}

fn compare_atoms(a: &Atom, b: &Atom) -> Ordering {
    match step(a, b) {
        Ok(decided) => decided,
        Err((x, y)) => compare(x, y),
    }
}

/// Decides between two atoms, or says which pair of arguments decides.
fn step<'a>(a: &'a Atom, b: &'a Atom) -> Result<Ordering, (&'a Expr, &'a Expr)> {
    match (a, b) {
        (Atom::Var(v), Atom::Var(w)) => Ok(v.cmp(w)),
        (Atom::FloorDiv(x, c), Atom::FloorDiv(y, d)) | (Atom::Mod(x, c), Atom::Mod(y, d)) => {
            if x == y {
                Ok(c.cmp(d))
            } else {
                Err((x, y))
            }
        }
        _ => Ok(a.rank().cmp(&b.rank())),
    }
}

/// Below this depth the compiler's own recursion is safe and quick.
const MAX_RECURSION: u32 = 64;

/// Dropping a deep chain must not recurse once per link.
impl Drop for Node {
    fn drop(&mut self) {
        if self.depth <= MAX_RECURSION {
            return;
        }
        let mut waiting: Vec<Arc<Node>> = Vec::new();
        take_arguments(&mut self.terms, &mut waiting);
        while let Some(node) = waiting.pop() {
            if let Some(mut last) = Arc::into_inner(node) {
                take_arguments(&mut last.terms, &mut waiting);
            }
        }
    }
}

fn take_arguments(terms: &mut Terms, waiting: &mut Vec<Arc<Node>>) {
    for term in terms.drain(..) {
        if let Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) = term.atom {
            waiting.push(inner.0);
        }
    }
}
