//! Running a check over a series of cases: how many, and what is said of those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::case::Case;
use super::cores::on_all_cores;
use super::generate;
use super::shrink::shrink;

/// Failures that are made small and printed before a run gives up.
const MAX_REPORTED: usize = 5;
/// Cases that are checked before what was found is looked at.
const AT_ONCE: usize = 500;

/// Checks the first `count` cases of a series on all cores; `seen` is told of each that holds, in their order. Fails with minimal
/// cases where the check fails or panics.
pub(crate) fn run<T: Send>(
    count: u64,
    constrained: bool,
    check: impl Fn(&Case) -> Result<T, String> + Sync,
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
    let numbers: Vec<u64> = (0..count).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        let mut found = on_all_cores(numbers, |&number| {
            let case = generate::case(number, constrained);
            let found = guarded(&case);
            (number, case, found)
        });
        found.sort_unstable_by_key(|(number, ..)| *number);
        for (number, case, found) in found {
            match found {
                Ok(found) => seen(&case, found),
                Err(_) if failures.len() >= MAX_REPORTED => {}
                Err(message) => {
                    let (small, message) = shrink(case, message, |c| guarded(c).map(|_| ()));
                    failures.push(format!("case {number}: {message}\n{small}"));
                }
            }
        }
        if failures.len() >= MAX_REPORTED {
            break;
        }
    }
    assert!(failures.is_empty(), "{} cases failed\n{}", failures.len(), failures.join("\n"));
}
