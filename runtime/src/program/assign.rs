//! Which tensors share a buffer.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A tensor that lives from the step that makes it to the last that needs it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    /// Bytes it needs.
    pub(crate) bytes: u64,
    /// The step that makes it.
    pub(crate) first: usize,
    /// The last step that touches it, at least `first`.
    pub(crate) last: usize,
    /// What it asks of its buffer.
    pub(crate) wish: Wish,
}

/// What a tensor asks of its buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// It is large enough.
    Room,
    /// It takes at most twice as much, as what a device keeps idle for it may: whoever is given it in the end holds no more than that.
    Snug,
    /// It is no larger than the tensor: it changes places with others of its size.
    Exact,
    /// It is made for this tensor, which is there before any step.
    Own,
    /// It is that of this tenant, which is one with a buffer of its own, if both are of one size and never live at the same time; else as
    /// [`Exact`](Wish::Exact). It is decided before those of tenants without such a wish, however large.
    After(usize),
}

impl Tenant {
    /// Whether a buffer of so many bytes is as it wishes.
    fn fits(&self, bytes: u64) -> bool {
        match self.wish {
            Wish::Room => bytes >= self.bytes,
            Wish::Snug => bytes >= self.bytes && bytes <= self.bytes.saturating_mul(2),
            Wish::Exact | Wish::Own | Wish::After(_) => bytes == self.bytes,
        }
    }
}

/// Buffers and who lives in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// Bytes of each buffer.
    pub(crate) buffers: Vec<u64>,
    /// The buffer of each tenant.
    pub(crate) place: Vec<usize>,
}

/// How many gaps are looked at for a tenant before it gets a buffer of its own: so the time is in proportion to `n log n`.
const MAX_TRIED: usize = 64;

/// A stretch of steps during which nobody lives in a buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Gap {
    first: usize,
    buffer: usize,
    last: usize,
}

/// Gives each tenant a buffer such that no two tenants of one buffer live during the same step.
///
/// The largest come first, so that whatever has a buffer already leaves one that is large enough; among those of one size the earlier. Of the
/// gaps that a tenant fits in it takes the one that begins last. This is greedy assignment by size to shared buffers (Pisarchyk and Lee,
/// "Efficient memory management for deep neural net inference", 2020).
pub(crate) fn assign(tenants: &[Tenant]) -> Assignment {
    let mut order: Vec<usize> = (0..tenants.len()).collect();
    order.sort_by_key(|&number| {
        let tenant = &tenants[number];
        let class = match tenant.wish {
            Wish::Own => 0,
            Wish::After(_) => 1,
            Wish::Exact | Wish::Snug | Wish::Room => 2,
        };
        (class, Reverse(tenant.bytes), tenant.first)
    });
    let mut assignment = Assignment { buffers: Vec::new(), place: vec![usize::MAX; tenants.len()] };
    let mut gaps: BTreeSet<Gap> = BTreeSet::new();
    for number in order {
        let tenant = &tenants[number];
        let found = find(tenant, &assignment, &gaps);
        let gap = found.unwrap_or_else(|| {
            assignment.buffers.push(tenant.bytes);
            Gap { first: 0, buffer: assignment.buffers.len() - 1, last: usize::MAX }
        });
        gaps.remove(&gap);
        if gap.first < tenant.first {
            gaps.insert(Gap { last: tenant.first - 1, ..gap });
        }
        if tenant.last < gap.last {
            gaps.insert(Gap { first: tenant.last + 1, ..gap });
        }
        assignment.place[number] = gap.buffer;
    }
    assignment
}

/// The gap that a tenant takes, if there is one.
fn find(tenant: &Tenant, assignment: &Assignment, gaps: &BTreeSet<Gap>) -> Option<Gap> {
    let starting = gaps.range(..=Gap { first: tenant.first, buffer: usize::MAX, last: usize::MAX }).rev();
    let holds = |gap: &&Gap| {
        let bytes = assignment.buffers[gap.buffer];
        tenant.last <= gap.last && tenant.fits(bytes)
    };
    match tenant.wish {
        Wish::Own => None,
        Wish::After(other) => {
            let mut wished = starting.clone().filter(|gap| gap.buffer == assignment.place[other]);
            wished.next().filter(holds).or_else(|| starting.take(MAX_TRIED).find(holds)).copied()
        }
        Wish::Exact | Wish::Snug | Wish::Room => starting.take(MAX_TRIED).find(holds).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tenant(bytes: u64, first: usize, last: usize) -> Tenant {
        Tenant { bytes, first, last, wish: Wish::Room }
    }

    #[test]
    fn a_chain_needs_two_buffers() {
        let tenants: Vec<Tenant> = (0..10).map(|step| tenant(100, step, step + 1)).collect();
        assert_eq!(assign(&tenants).buffers, [100, 100]);
    }

    #[test]
    fn what_comes_early_lies_where_something_larger_will() {
        let tenants = [tenant(10, 0, 1), tenant(100, 2, 3), tenant(9, 4, 4)];
        let assignment = assign(&tenants);
        assert_eq!(assignment.place, [0, 0, 0]);
        assert_eq!(assignment.buffers, [100]);
    }

    #[test]
    fn who_asks_for_no_more_than_it_needs_gets_that() {
        let exact = Tenant { wish: Wish::Exact, ..tenant(9, 4, usize::MAX) };
        let assignment = assign(&[tenant(100, 0, 1), exact, tenant(5, 0, 0)]);
        assert_eq!(assignment.buffers, [100, 9]);
        assert_eq!(assignment.place, [0, 1, 1]);
    }

    #[test]
    fn who_asks_for_little_more_than_it_needs_gets_that() {
        let snug = |bytes| Tenant { wish: Wish::Snug, ..tenant(bytes, 4, usize::MAX) };
        let assignment = assign(&[tenant(100, 0, 1), snug(49), snug(50)]);
        assert_eq!((assignment.buffers, assignment.place), (vec![100, 49], vec![0, 1, 0]));
    }

    #[test]
    fn what_is_there_from_the_beginning_is_followed_by_others() {
        let own = Tenant { wish: Wish::Own, ..tenant(10, 0, 1) };
        let after = Tenant { wish: Wish::After(0), ..tenant(10, 5, usize::MAX) };
        let early = Tenant { wish: Wish::After(0), ..tenant(10, 1, usize::MAX) };
        let assignment = assign(&[own, after, tenant(10, 2, 4)]);
        assert_eq!(assignment.place, [0, 0, 0]);
        assert_eq!(assign(&[own, early]).place, [0, 1]);
    }

    #[test]
    fn many_that_live_for_ever_cost_no_more_than_few() {
        let forever = (0..20_000).map(|step| tenant(64, 2 * step, usize::MAX));
        let chain = (0..20_000).map(|step| tenant(64, 2 * step + 1, 2 * step + 1));
        let tenants: Vec<Tenant> = forever.chain(chain).collect();
        assert_eq!(assign(&tenants).buffers.len(), 20_001);
    }

    proptest! {
        #[test]
        fn no_two_live_tenants_share_a_buffer(
            spans in prop::collection::vec((1u64..1000, 0usize..40, 0usize..10, 0u8..5, 0usize..60), 0..60)
        ) {
            let wish = |kind: u8, number: usize| match kind {
                0 => Wish::Own,
                1 => Wish::Exact,
                4 => Wish::Snug,
                2 if spans.get(number).is_some_and(|span| span.3 == 0) => Wish::After(number),
                _ => Wish::Room,
            };
            let tenants: Vec<Tenant> = spans
                .iter()
                .map(|&(bytes, first, length, kind, number)| Tenant { wish: wish(kind, number), ..tenant(bytes, first, first + length) })
                .collect();
            let assignment = assign(&tenants);
            prop_assert_eq!(assignment.place.len(), tenants.len());
            for (a, tenant) in tenants.iter().enumerate() {
                let bytes = assignment.buffers[assignment.place[a]];
                prop_assert!(tenant.fits(bytes));
                for (b, other) in tenants.iter().enumerate().skip(a + 1) {
                    let overlap = tenant.first <= other.last && other.first <= tenant.last;
                    prop_assert!(!overlap || assignment.place[a] != assignment.place[b]);
                }
            }
            let total: u64 = assignment.buffers.iter().sum();
            prop_assert!(total <= tenants.iter().map(|tenant| tenant.bytes).sum());
        }
    }
}
