//! Maps taken apart into lists that a test may change, and put together again.

use weft_indexing::{Constraint, Expr, IndexingMap, Interval, RuntimeVariable, Variable};

/// The parts of a map.
pub(crate) struct Parts {
    pub(crate) dims: Vec<Variable>,
    pub(crate) ranges: Vec<Variable>,
    pub(crate) runtime: Vec<RuntimeVariable>,
    pub(crate) results: Vec<Expr>,
    pub(crate) constraints: Vec<Constraint>,
}

/// The map of changed parts. It is undefined, or known to be empty, where the given map is.
pub(crate) fn changed(map: &IndexingMap, change: impl FnOnce(&mut Parts)) -> IndexingMap {
    if map.is_undefined() {
        return map.clone();
    }
    let mut parts = Parts {
        dims: map.dims().to_vec(),
        ranges: map.ranges().to_vec(),
        runtime: map.runtime().to_vec(),
        results: map.results().to_vec(),
        constraints: map.constraints().to_vec(),
    };
    change(&mut parts);
    if map.is_known_empty() {
        parts.constraints.push(Constraint::new(Expr::constant(0), Interval::point(1)));
    }
    let Parts { dims, ranges, runtime, results, constraints } = parts;
    IndexingMap::try_new(dims, ranges, runtime, results, constraints).expect("the changed parts fit together")
}
