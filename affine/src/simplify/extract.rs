//! Which of two equal expressions is preferred: a total order, so that the choice never depends on how they were found.

use crate::Expr;

/// True when `a` is strictly better: cheaper; at equal cost with fewer nodes as a DAG; then first in structural order.
pub(super) fn is_better(a: &Expr, b: &Expr) -> bool {
    if a == b {
        return false;
    }
    let by_cost = a.cost().cmp(&b.cost());
    let by_size = || a.operation_count().cmp(&b.operation_count());
    by_cost.then_with(by_size).then_with(|| a.cmp(b)).is_lt()
}
