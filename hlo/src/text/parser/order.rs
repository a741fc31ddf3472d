//! Topological orders of instructions and computations.

#[derive(Copy, Clone, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// An order of `0..count` in which each item comes after its dependencies, and in which items that already stand so
/// keep their places. `dependency(item, k)` is the `k`-th dependency of an item.
///
/// Fails with the items of a cycle, each depending on the next and the last on the first. Linear in items and
/// dependencies; does not recurse.
pub(super) fn dependencies_first(
    count: usize,
    dependency: impl Fn(usize, usize) -> Option<usize>,
) -> Result<Vec<usize>, Vec<usize>> {
    let mut marks = vec![Mark::New; count];
    let mut order = Vec::with_capacity(count);
    let mut open: Vec<(usize, usize)> = Vec::new();
    for first in 0..count {
        if marks[first] != Mark::New {
            continue;
        }
        marks[first] = Mark::Open;
        open.push((first, 0));
        while let Some((item, next)) = open.last_mut() {
            let item = *item;
            let Some(on) = dependency(item, *next) else {
                marks[item] = Mark::Done;
                order.push(item);
                open.pop();
                continue;
            };
            *next += 1;
            match marks[on] {
                Mark::Done => {}
                Mark::New => {
                    marks[on] = Mark::Open;
                    open.push((on, 0));
                }
                Mark::Open => {
                    let from = open.iter().position(|&(item, _)| item == on).unwrap_or(0);
                    return Err(open[from..].iter().map(|&(item, _)| item).collect());
                }
            }
        }
    }
    Ok(order)
}

/// The items of a cycle as a message names them, a few at most.
pub(super) fn describe_cycle<'n>(cycle: &[usize], name: impl Fn(usize) -> &'n str) -> String {
    const MAX_NAMED: usize = 6;
    let mut text: Vec<String> = cycle.iter().take(MAX_NAMED).map(|&item| format!("`{}`", name(item))).collect();
    if cycle.len() > MAX_NAMED {
        text.push("…".to_owned());
    }
    text.push(format!("`{}`", name(cycle[0])));
    text.join(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(dependencies: &[&[usize]]) -> Result<Vec<usize>, Vec<usize>> {
        dependencies_first(dependencies.len(), |item, k| dependencies[item].get(k).copied())
    }

    #[test]
    fn what_is_in_order_stays() {
        assert_eq!(order(&[&[], &[0], &[], &[2, 1]]), Ok(vec![0, 1, 2, 3]));
    }

    #[test]
    fn dependencies_move_before_their_users() {
        assert_eq!(order(&[&[2], &[], &[3], &[]]), Ok(vec![3, 2, 0, 1]));
    }

    #[test]
    fn cycles_are_named() {
        assert_eq!(order(&[&[0]]), Err(vec![0]));
        assert_eq!(order(&[&[1], &[2], &[1]]), Err(vec![1, 2]));
        assert_eq!(describe_cycle(&[1, 2], |item| ["a", "b", "c"][item]), "`b` -> `c` -> `b`");
    }

    #[test]
    fn long_chains_need_no_stack() {
        let count = 1_000_000;
        let order = dependencies_first(count, |item, k| (k == 0 && item + 1 < count).then_some(item + 1)).unwrap();
        assert_eq!(order[0], count - 1);
    }
}
