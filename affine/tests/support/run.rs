//! Running a check over a series of cases: how many, and what is said of those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::case::Case;
use super::generate;
use super::shrink::shrink;

/// Failures that are made small and printed before a run gives up.
const MAX_REPORTED: usize = 5;

/// Checks the first `count` cases of a series; `seen` is told of each that holds. Fails with minimal cases where the check
/// fails or panics.
pub(crate) fn run<T>(
    count: u64,
    constrained: bool,
    check: impl Fn(&Case) -> Result<T, String>,
    mut seen: impl FnMut(&Case, T),
) {
    let guarded = |case: &Case| {
        catch_unwind(AssertUnwindSafe(|| check(case))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(format!(
                "panicked: {}",
                text.or(panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
            ))
        })
    };
    let mut failures = Vec::new();
    for number in 0..count {
        let case = generate::case(number, constrained);
        match guarded(&case) {
            Ok(found) => seen(&case, found),
            Err(message) => {
                let (small, message) = shrink(case, message, |c| guarded(c).map(|_| ()));
                failures.push(format!("case {number}: {message}\n{small}"));
                if failures.len() >= MAX_REPORTED {
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} cases failed\n{}", failures.len(), failures.join("\n"));
}
