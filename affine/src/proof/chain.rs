//! The search for an order in which a few equalities turn one expression into another.
//!
//! A search over whole expressions, best first: by the number of links so far and of equalities not used yet. So a chain in
//! which each is used once is found at once. Where there is none, a second search goes from both ends, since both may be
//! rewritten from left to right until they meet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::postorder;
use crate::{Atom, Expr};

/// Forms that a search goes on from, at each end.
const MAX_VISITS: usize = 300;
/// Forms that it looks at, at each end.
const MAX_FORMS: usize = 12_000;
/// Forms with more distinct sums are not looked at.
const MAX_SUMS: usize = 64;
/// Forms larger than both ends are allowed this many times their size.
const MAX_GROWTH: u64 = 4;
/// Weight of an unused equality, in links, where the search goes from both ends: finding a chain matters more than a short one.
const UNUSED_WEIGHT: u32 = 2;

/// The equality used by each link, and the whole after it; nothing when none is found within bounds. At most 64 equalities.
pub(super) fn search(first: &Expr, last: &Expr, equalities: &[(&Expr, &Expr)]) -> Option<Vec<(usize, Expr)>> {
    let mut search = [Frontier::new(first, 1), Frontier::new(last, 1)];
    for _ in 0..MAX_VISITS {
        match advance(&mut search, 0, equalities) {
            Some(Some(links)) => return Some(links),
            Some(None) => {}
            // Too many forms from this end alone.
            None => break,
        }
    }
    let mut search = [Frontier::new(first, UNUSED_WEIGHT), Frontier::new(last, UNUSED_WEIGHT)];
    for _ in 0..MAX_VISITS {
        for side in [0, 1] {
            if let Some(links) = advance(&mut search, side, equalities)? {
                return Some(links);
            }
        }
    }
    None
}

/// A form of the whole on the way.
struct Form {
    whole: Expr,
    /// The equalities used so far, as bits.
    used: u64,
    /// Links from the end, and what was added for those that do not read well.
    cost: u32,
    /// The form it was made from, and the equality that it took.
    from: Option<(usize, usize)>,
}

/// What is reached from one end.
struct Frontier {
    forms: Vec<Form>,
    /// Forms by the hash of the whole; the first one found.
    by_whole: FxHashMap<u128, usize>,
    seen: FxHashSet<(u128, u64)>,
    waiting: BinaryHeap<Reverse<(u32, u32, usize)>>,
    /// How many links one unused equality counts as.
    weight: u32,
}

impl Frontier {
    fn new(end: &Expr, weight: u32) -> Frontier {
        Frontier {
            forms: vec![Form { whole: end.clone(), used: 0, cost: 0, from: None }],
            by_whole: FxHashMap::from_iter([(end.structural_hash(), 0)]),
            seen: FxHashSet::from_iter([(end.structural_hash(), 0)]),
            waiting: BinaryHeap::from([Reverse((0, 0, 0))]),
            weight,
        }
    }

    /// The equalities and forms from the end to this form, the end itself left out.
    fn path(&self, mut at: usize) -> Vec<(usize, usize)> {
        let mut path = Vec::new();
        while let Some((before, equality)) = self.forms[at].from {
            path.push((equality, at));
            at = before;
        }
        path.reverse();
        path
    }
}

/// Goes on from the best form of one side: the links of the chain when that meets the other side, and nothing when there is
/// no way on.
#[expect(clippy::option_option, reason = "the outer one ends the search, the inner one ends it with a chain")]
fn advance(
    search: &mut [Frontier; 2],
    side: usize,
    equalities: &[(&Expr, &Expr)],
) -> Option<Option<Vec<(usize, Expr)>>> {
    let largest = search.iter().map(|frontier| frontier.forms[0].whole.tree_size()).max()?.checked_mul(MAX_GROWTH)?;
    let Reverse((.., at)) = search[side].waiting.pop()?;
    let form = &search[side].forms[at];
    let (whole, used, cost) = (form.whole.clone(), form.used, form.cost);
    for Move { equality, detour, whole } in moves(&whole, equalities) {
        let used = used | 1 << equality;
        let meets = search[1 - side].by_whole.get(&whole.structural_hash()).copied();
        let frontier = &mut search[side];
        if whole.tree_size() > largest || !frontier.seen.insert((whole.structural_hash(), used)) {
            continue;
        }
        if frontier.forms.len() >= MAX_FORMS {
            return None;
        }
        let new = frontier.forms.len();
        let unused = (equalities.len() as u32).saturating_sub(used.count_ones()) * frontier.weight;
        let cost = cost + 1 + detour;
        frontier.waiting.push(Reverse((cost + unused, unused, new)));
        frontier.by_whole.entry(whole.structural_hash()).or_insert(new);
        frontier.forms.push(Form { whole, used, cost, from: Some((at, equality)) });
        if let Some(other) = meets {
            return Some(Some(if side == 0 { joined(search, new, other) } else { joined(search, other, new) }));
        }
    }
    Some(None)
}

/// The links from the first end to the last, through two equal forms.
fn joined(search: &[Frontier; 2], first: usize, last: usize) -> Vec<(usize, Expr)> {
    let [forwards, backwards] = search;
    let to_middle = forwards.path(first).into_iter().map(|(equality, at)| (equality, forwards.forms[at].whole.clone()));
    // Seen from the last end each link leads the other way, to the form that it was made from.
    let from_middle = backwards.path(last).into_iter().rev().filter_map(|(equality, at)| {
        let (before, _) = backwards.forms[at].from?;
        Some((equality, backwards.forms[before].whole.clone()))
    });
    to_middle.chain(from_middle).collect()
}

/// A replacement of one side of an equality by the other.
struct Move {
    equality: usize,
    /// What it costs beyond one link: nothing from left to right where the side stands there whole.
    detour: u32,
    whole: Expr,
}

fn moves(whole: &Expr, equalities: &[(&Expr, &Expr)]) -> Vec<Move> {
    let sums = postorder([whole]);
    let mut found = Vec::new();
    if sums.len() > MAX_SUMS {
        return found;
    }
    for (equality, (left, right)) in equalities.iter().enumerate() {
        for (backwards, side, other) in [(0, left, right), (1, right, left)] {
            let mut tried: FxHashSet<Vec<(usize, i64)>> = FxHashSet::default();
            let mut offer = |places: Vec<(usize, i64)>| {
                if places.is_empty() || tried.contains(&places) {
                    return;
                }
                let whole_sides = places.iter().all(|(i, factor)| contains(&sums[*i], side, *factor));
                if let Some(whole) = rewritten(whole, &sums, &places, side, other) {
                    found.push(Move { equality, detour: backwards + if whole_sides { 0 } else { 2 }, whole });
                }
                tried.insert(places);
            };
            for term in side.terms() {
                let everywhere: Vec<(usize, i64)> = sums
                    .iter()
                    .enumerate()
                    .filter_map(|(i, sum)| Some((i, times(coefficient(sum, &term.atom)?, term.coefficient)?)))
                    .collect();
                offer(everywhere.clone());
                for place in everywhere {
                    offer(vec![place]);
                }
            }
            if let Some(value) = side.as_constant() {
                for (i, sum) in sums.iter().enumerate() {
                    match times(sum.constant_term(), value) {
                        Some(factor) => offer(vec![(i, factor)]),
                        None => [1, -1].into_iter().for_each(|factor| offer(vec![(i, factor)])),
                    }
                }
            }
        }
    }
    found
}

/// How many times `part` goes into `whole`, where that is not zero and leaves nothing.
fn times(whole: i64, part: i64) -> Option<i64> {
    let factor = whole.checked_div(part)?;
    (factor != 0 && factor.checked_mul(part) == Some(whole)).then_some(factor)
}

fn coefficient(sum: &Expr, atom: &Atom) -> Option<i64> {
    let i = sum.terms().binary_search_by(|t| t.atom.cmp(atom)).ok()?;
    sum.terms().get(i).map(|t| t.coefficient)
}

/// True where all terms of the side stand in the sum, the factor times each.
fn contains(sum: &Expr, side: &Expr, factor: i64) -> bool {
    side.terms().iter().all(|t| coefficient(sum, &t.atom) == t.coefficient.checked_mul(factor))
}

/// The whole, where in each sum at a place the other side stands for the one side as often as the place says; nothing on
/// overflow. Only what holds such a place is made again.
fn rewritten(whole: &Expr, sums: &[Expr], places: &[(usize, i64)], side: &Expr, other: &Expr) -> Option<Expr> {
    let mut became: FxHashMap<u128, Expr> = FxHashMap::default();
    for (i, sum) in sums.iter().enumerate() {
        let factor = places.iter().find(|(place, _)| *place == i).map_or(0, |(_, factor)| *factor);
        let kept = sum.checked_add_scaled(side, factor.checked_neg()?).ok()?;
        let new = with_arguments(&kept, &became)?.checked_add_scaled(other, factor).ok()?;
        if new != *sum {
            became.insert(sum.structural_hash(), new);
        }
    }
    Some(became.remove(&whole.structural_hash()).unwrap_or_else(|| whole.clone()))
}

/// The sum with what its arguments have become.
fn with_arguments(sum: &Expr, became: &FxHashMap<u128, Expr>) -> Option<Expr> {
    let changed = |atom: &Atom| match atom {
        Atom::Var(_) => None,
        Atom::FloorDiv(x, _) | Atom::Mod(x, _) => became.get(&x.structural_hash()),
    };
    if sum.terms().iter().all(|term| changed(&term.atom).is_none()) {
        return Some(sum.clone());
    }
    let unchanged = sum.terms().iter().filter(|term| changed(&term.atom).is_none()).cloned().collect();
    let mut new = Expr::from_sorted(sum.constant_term(), unchanged);
    for term in sum.terms() {
        let Some(x) = changed(&term.atom) else { continue };
        let atom = match &term.atom {
            Atom::Var(_) => continue,
            Atom::FloorDiv(_, c) => x.checked_floor_div(*c).ok()?,
            Atom::Mod(_, c) => x.checked_modulo(*c).ok()?,
        };
        new = new.checked_add_scaled(&atom, term.coefficient).ok()?;
    }
    Some(new)
}
