//! Transfer functions of partial knowledge, from an operation's operands to its results.

use super::apply::{apply, compare, default_message};
use super::known::EXTENT;
use super::{ErrorKind, Kind, Known, KnownShape, MAX_LIST, MAX_RANK, ShapeError, Value};
use weft_affine::Interval;

/// Whether an operation fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Not for any operands that are possible.
    Never,
    /// For some, or that could not be told.
    Possible,
    /// Always, with this error.
    Certain(ShapeError),
}

/// Applies the operation, which has no regions and is no `call` or `attribute`, to what is known.
pub(super) fn transfer(kind: &Kind, error: Option<&str>, operands: &[&Known]) -> (Vec<Known>, Failure) {
    let exact: Option<Vec<Value>> = operands.iter().map(|known| known.exact()).collect();
    if let Some(values) = exact {
        return match apply(kind, error, &values.iter().collect::<Vec<_>>()) {
            Ok(values) => (values.into_iter().map(Known::Exact).collect(), Failure::Never),
            Err(error) => (Vec::new(), Failure::Certain(error)),
        };
    }
    // Operands of which not all is known may still be sure to differ.
    let differ = match kind {
        Kind::Meet | Kind::CstrEq => !may_be_equal(operands),
        Kind::Broadcast | Kind::CstrBroadcastable => !may_broadcast(operands),
        _ => false,
    };
    if differ {
        let message = error.unwrap_or_else(|| default_message(kind)).to_owned();
        let error = ShapeError::new(ErrorKind::Constraint, message);
        return match kind {
            Kind::Meet | Kind::Broadcast => (Vec::new(), Failure::Certain(error)),
            _ => (vec![Known::Exact(Value::Witness(Some(error)))], Failure::Never),
        };
    }
    // Of an index that is outside of every list there may be, the usual message would say more than is known.
    if let Some(message) = error.filter(|_| is_outside(kind, operands)) {
        return (Vec::new(), Failure::Certain(ShapeError::new(ErrorKind::Index, message)));
    }
    let (known, safe) = inexact(kind, operands);
    (known, if safe { Failure::Never } else { Failure::Possible })
}

/// Whether the operation reads a list at an index that it does not have, whatever list and index turn out to be.
fn is_outside(kind: &Kind, operands: &[&Known]) -> bool {
    let (list, index) = match (kind, operands) {
        (Kind::GetExtent | Kind::SplitAt, [list, index]) => (list.as_list(), index.as_size()),
        _ => return false,
    };
    let longest = list.rank().hi;
    let inside = match kind {
        Kind::GetExtent => Interval::new(0, longest - 1),
        _ => Interval::new(-longest, longest),
    };
    inside.intersect(index).is_empty()
}

/// The results, and whether the operation cannot fail.
fn inexact(kind: &Kind, operands: &[&Known]) -> (Vec<Known>, bool) {
    let size = |position: usize| operands[position].as_size();
    let list = |position: usize| operands[position].as_list();
    let one = |known: Known, safe: bool| (vec![known], safe);
    let truth = |may_hold: bool, may_fail: bool| match (may_hold, may_fail) {
        (true, false) => Known::Exact(Value::Bool(true)),
        (false, true) => Known::Exact(Value::Bool(false)),
        _ => Known::Truth { may_hold, may_fail },
    };
    let evidence = |may_hold: bool, may_fail: bool| {
        if may_fail { Known::Truth { may_hold, may_fail } } else { Known::Exact(Value::Witness(None)) }
    };
    match kind {
        Kind::ShapeOf | Kind::ToExtentTensor => one(operands[0].clone(), true),
        Kind::Rank => one(Known::Size(list(0).rank()), true),
        Kind::GetExtent => {
            let (list, at) = (list(0), size(1));
            let safe = Interval::new(0, list.rank().lo - 1).contains_interval(at);
            one(Known::Size(list.extent(at)), safe)
        }
        Kind::SplitAt => split(&list(0), size(1)),
        Kind::Concat => {
            let lists: Vec<KnownShape> = operands.iter().map(|known| known.as_list()).collect();
            let ranks = lists.iter().map(KnownShape::rank);
            let rank = ranks.fold(Interval::point(0), |a, b| Interval::new(a.lo + b.lo, a.hi + b.hi));
            let ranked = lists.iter().map(|list| match list {
                KnownShape::Ranked(dims) => Some(dims.as_slice()),
                KnownShape::Unranked { .. } => None,
            });
            let joined = match ranked.collect::<Option<Vec<_>>>() {
                Some(parts) => KnownShape::Ranked(parts.concat()),
                None => {
                    let all = |list: &KnownShape| list.extent(Interval::EVERYTHING);
                    let extent = lists.iter().map(all).fold(Interval::EMPTY, Interval::hull);
                    KnownShape::Unranked { rank: rank.intersect(Interval::new(0, MAX_RANK as i64)), extent }
                }
            };
            one(Known::List(joined), rank.hi <= MAX_RANK as i64)
        }
        Kind::FromExtents => {
            let dims: Vec<Interval> = operands.iter().map(|known| known.as_size()).collect();
            let safe = dims.iter().all(|dim| dim.lo >= 0);
            let dims = dims.into_iter().map(|dim| dim.intersect(EXTENT)).collect();
            one(Known::List(KnownShape::Ranked(dims)), safe)
        }
        Kind::FromElements => {
            let dims = operands.iter().map(|known| known.as_size()).collect();
            one(Known::List(KnownShape::Ranked(dims)), true)
        }
        Kind::FromExtentTensor => {
            let safe = list(0).extent(Interval::EVERYTHING).lo >= 0;
            one(Known::List(list(0).meet(&KnownShape::unknown())), safe)
        }
        Kind::NumElements => {
            let (count, safe) = element_count(&list(0));
            one(Known::Size(count), safe)
        }
        Kind::Add | Kind::Sub | Kind::Mul | Kind::Div | Kind::CeilDiv | Kind::Mod | Kind::Min | Kind::Max => {
            let (known, safe) = arithmetic(kind, size(0), size(1));
            one(Known::Size(known), safe)
        }
        Kind::Eq | Kind::Ne | Kind::Lt | Kind::Le | Kind::Gt | Kind::Ge => {
            let (may_hold, may_fail) = relation(kind, size(0), size(1));
            one(truth(may_hold, may_fail), true)
        }
        Kind::Select => one(
            match operands[0].as_truth() {
                (true, false) => operands[1].clone(),
                (false, true) => operands[2].clone(),
                _ => operands[1].join(operands[2]),
            },
            true,
        ),
        Kind::And | Kind::AssumingAll => {
            let all = operands.iter().map(|known| known.as_truth());
            let (may_hold, may_fail) = all.fold((true, false), |(h, f), (a, b)| (h && a, f || b));
            one(if *kind == Kind::And { truth(may_hold, may_fail) } else { evidence(may_hold, may_fail) }, true)
        }
        Kind::Or => {
            let all = operands.iter().map(|known| known.as_truth());
            let (may_hold, may_fail) = all.fold((false, true), |(h, f), (a, b)| (h || a, f && b));
            one(truth(may_hold, may_fail), true)
        }
        Kind::Not => {
            let (may_hold, may_fail) = operands[0].as_truth();
            one(truth(may_fail, may_hold), true)
        }
        Kind::ShapeEq => one(truth(may_be_equal(operands), true), true),
        Kind::CstrEq => one(evidence(true, true), true),
        Kind::Meet => one(combined(operands), false),
        Kind::Any => one(operands[0].clone(), true),
        Kind::Require => {
            let (_, may_fail) = operands[0].as_truth();
            one(Known::Exact(Value::Bool(true)), !may_fail)
        }
        Kind::Assert => (Vec::new(), !operands[0].as_truth().1),
        Kind::CstrRequire => {
            let (may_hold, may_fail) = operands[0].as_truth();
            one(evidence(may_hold, may_fail), true)
        }
        Kind::IsBroadcastable | Kind::Broadcast | Kind::CstrBroadcastable => {
            let (shape, sound) = broadcast(operands);
            match kind {
                Kind::IsBroadcastable => one(truth(true, !sound), true),
                Kind::CstrBroadcastable => one(evidence(true, !sound), true),
                _ => one(Known::List(shape), sound),
            }
        }
        Kind::Length => one(
            match operands[0].as_shapes() {
                Ok(shapes) => Known::Exact(Value::Size(shapes.len() as i64)),
                Err(count) => Known::Size(count),
            },
            true,
        ),
        Kind::GetShape => match operands[0].as_shapes() {
            Err(count) => {
                let safe = Interval::new(0, count.lo - 1).contains_interval(size(1));
                one(Known::List(KnownShape::unknown()), safe)
            }
            Ok(shapes) => {
                let safe = Interval::of_extent(shapes.len() as i64).contains_interval(size(1));
                let within =
                    (0i64..).zip(&shapes).filter(|(index, _)| size(1).contains(*index)).map(|(_, shape)| shape);
                let joined = within.cloned().reduce(|a, b| a.join(&b)).unwrap_or_else(KnownShape::unknown);
                one(Known::List(joined), safe)
            }
        },
        Kind::ListOf => one(Known::Shapes(Ok(operands.iter().map(|known| known.as_list()).collect())), true),
        Kind::Append => match operands[0].as_shapes() {
            Ok(mut shapes) => {
                shapes.push(list(1));
                let safe = shapes.len() <= MAX_RANK;
                one(Known::Shapes(Ok(shapes)), safe)
            }
            Err(count) => {
                let safe = count.hi < MAX_RANK as i64;
                let more = Interval::new(count.lo + 1, (count.hi + 1).min(MAX_LIST as i64));
                one(Known::Shapes(Err(more)), safe)
            }
        },
        Kind::Repeat => {
            let possible = Interval::new(0, MAX_LIST as i64);
            let shapes = match size(0).as_point() {
                Some(count @ 0..=64) => Ok(vec![list(1); count as usize]),
                _ => Err(size(0).intersect(possible)),
            };
            one(Known::Shapes(shapes), possible.contains_interval(size(0)))
        }
        // Constants have no operands, all of which are known; the others have regions or callees.
        _ => (Vec::new(), false),
    }
}

fn split(list: &KnownShape, at: Interval) -> (Vec<Known>, bool) {
    let rank = list.rank();
    let safe = Interval::new(-rank.lo, rank.lo).contains_interval(at);
    if let (KnownShape::Ranked(dims), Some(at)) = (list, at.as_point()) {
        let from_start = if at < 0 { at + dims.len() as i64 } else { at };
        if let Some(index) = usize::try_from(from_start).ok().filter(|&index| index <= dims.len()) {
            let (head, tail) = dims.split_at(index);
            let part = |dims: &[Interval]| Known::List(KnownShape::Ranked(dims.to_vec()));
            return (vec![part(head), part(tail)], safe);
        }
    }
    let extent = list.extent(Interval::EVERYTHING);
    let part = |rank: Interval| Known::List(KnownShape::Unranked { rank, extent }.normal());
    let known = match at.as_point() {
        // What is left where the rank is too small does not matter: then the operation fails.
        Some(at @ 0..) if at <= rank.hi => {
            (part(Interval::point(at)), part(Interval::new((rank.lo - at).max(0), rank.hi - at)))
        }
        _ => (part(Interval::new(0, rank.hi)), part(Interval::new(0, rank.hi))),
    };
    (vec![known.0, known.1], safe)
}

fn element_count(list: &KnownShape) -> (Interval, bool) {
    let KnownShape::Ranked(dims) = list else { return (EXTENT, false) };
    let product =
        |end: fn(&Interval) -> i64| dims.iter().try_fold(1i64, |count, dim| count.checked_mul(end(dim).max(0)));
    // One extent of 0 makes any product 0, which fits: but the product of the others must fit as well to know it.
    match (product(|dim| dim.lo), product(|dim| dim.hi)) {
        (low, Some(high)) => (Interval::new(low.unwrap_or(0), high), true),
        (low, None) => (Interval::new(low.unwrap_or(0), i64::MAX), false),
    }
}

/// The interval of results that fit, and whether all do.
fn arithmetic(kind: &Kind, a: Interval, b: Interval) -> (Interval, bool) {
    let wide = |interval: Interval| (i128::from(interval.lo), i128::from(interval.hi));
    let ((al, ah), (bl, bh)) = (wide(a), wide(b));
    let all = Interval::EVERYTHING;
    let fitting = |lo: i128, hi: i128| {
        let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let clamp = |end: i128| i64::try_from(end.clamp(least, most)).unwrap_or(i64::MAX);
        (Interval::new(clamp(lo), clamp(hi)), least <= lo && hi <= most)
    };
    match kind {
        _ if a.is_empty() || b.is_empty() => (all, false),
        Kind::Add => fitting(al + bl, ah + bh),
        Kind::Sub => fitting(al - bh, ah - bl),
        Kind::Mul => {
            let corners = [al * bl, al * bh, ah * bl, ah * bh];
            let least = corners.iter().copied().fold(i128::MAX, i128::min);
            fitting(least, corners.iter().copied().fold(i128::MIN, i128::max))
        }
        Kind::Min => (Interval::new(a.lo.min(b.lo), a.hi.min(b.hi)), true),
        Kind::Max => (Interval::new(a.lo.max(b.lo), a.hi.max(b.hi)), true),
        // By a positive divisor the quotient is monotone in the dividend, and extreme at an end of the divisor.
        Kind::Div if b.lo >= 1 => {
            let quotient = |x: i128, y: i128| x.div_euclid(y);
            fitting(quotient(al, bl).min(quotient(al, bh)), quotient(ah, bl).max(quotient(ah, bh)))
        }
        Kind::CeilDiv if b.lo >= 1 => {
            let quotient = |x: i128, y: i128| -((-x).div_euclid(y));
            fitting(quotient(al, bl).min(quotient(al, bh)), quotient(ah, bl).max(quotient(ah, bh)))
        }
        Kind::Mod if b.lo >= 1 && a.lo >= 0 && a.hi < b.lo => (a, true),
        Kind::Mod if b.lo >= 1 => (Interval::new(0, b.hi - 1), true),
        _ => (all, false),
    }
}

/// Whether the relation may hold, and whether it may not.
fn relation(kind: &Kind, a: Interval, b: Interval) -> (bool, bool) {
    let apart = a.hi < b.lo || b.hi < a.lo;
    let same = a.as_point().is_some() && a == b;
    match kind {
        Kind::Eq => (!apart, !same),
        Kind::Ne => (!same, !apart),
        Kind::Lt | Kind::Le => (compare(kind, a.lo, b.hi), !compare(kind, a.hi, b.lo)),
        _ => (compare(kind, a.hi, b.lo), !compare(kind, a.lo, b.hi)),
    }
}

/// Whether the values may all be one.
fn may_be_equal(operands: &[&Known]) -> bool {
    operands.windows(2).all(|pair| match (pair[0], pair[1]) {
        (Known::Size(_) | Known::Exact(Value::Size(_)), b) => {
            let (a, b) = (pair[0].as_size(), b.as_size());
            a.lo <= b.hi && b.lo <= a.hi
        }
        (a, b) => match (a.as_list(), b.as_list()) {
            (KnownShape::Ranked(a), KnownShape::Ranked(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi)
            }
            (a, b) => a.rank().lo <= b.rank().hi && b.rank().lo <= a.rank().hi,
        },
    })
}

/// What is known of a value that all operands are.
fn combined(operands: &[&Known]) -> Known {
    let first = operands[0];
    operands[1..].iter().fold(first.clone(), |have, more| match (&have, more) {
        (Known::Size(_) | Known::Exact(Value::Size(_)), _) => {
            let both = have.as_size().intersect(more.as_size());
            Known::Size(if both.is_empty() { have.as_size() } else { both })
        }
        _ => Known::List(have.as_list().meet(&more.as_list())),
    })
}

/// The common shape, and whether there surely is one.
fn broadcast(operands: &[&Known]) -> (KnownShape, bool) {
    let lists: Vec<KnownShape> = operands.iter().map(|known| known.as_list()).collect();
    let ranked: Option<Vec<&Vec<Interval>>> = lists
        .iter()
        .map(|list| match list {
            KnownShape::Ranked(dims) => Some(dims),
            KnownShape::Unranked { .. } => None,
        })
        .collect();
    let Some(ranked) = ranked else {
        let rank = lists
            .iter()
            .map(KnownShape::rank)
            .fold(Interval::point(0), |a, b| Interval::new(a.lo.max(b.lo), a.hi.max(b.hi)));
        return (KnownShape::Unranked { rank, extent: EXTENT }, false);
    };
    let rank = ranked.iter().map(|dims| dims.len()).max().unwrap_or(0);
    let mut sound = true;
    let dims = (0..rank).map(|position| {
        let here = ranked.iter().filter_map(|dims| dims.get((position + dims.len()).checked_sub(rank)?).copied());
        let wide: Vec<Interval> = here.filter(|dim| *dim != Interval::point(1)).collect();
        match wide.as_slice() {
            [] => Interval::point(1),
            [only] => *only,
            [first, rest @ ..] => {
                sound &= first.as_point().is_some() && rest.iter().all(|dim| dim == first);
                wide.iter().copied().fold(Interval::EMPTY, Interval::hull)
            }
        }
    });
    (KnownShape::Ranked(dims.collect()), sound)
}

/// Whether there may be a common shape.
fn may_broadcast(operands: &[&Known]) -> bool {
    let lists: Vec<KnownShape> = operands.iter().map(|known| known.as_list()).collect();
    let ranked = || {
        lists.iter().filter_map(|list| match list {
            KnownShape::Ranked(dims) => Some(dims),
            KnownShape::Unranked { .. } => None,
        })
    };
    let rank = ranked().map(|dims| dims.len()).max().unwrap_or(0);
    (1..=rank).all(|from_end| {
        let here = ranked().filter_map(|dims| Some(dims[dims.len().checked_sub(from_end)?]));
        let wide: Vec<Interval> = here.filter(|dim| !dim.contains(1)).collect();
        wide.windows(2).all(|pair| pair[0].lo <= pair[1].hi && pair[1].lo <= pair[0].hi)
    })
}
