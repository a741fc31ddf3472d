//! Which tensors share a buffer.

/// A tensor that lives from the launch that writes it to the last that reads it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    /// Bytes it needs.
    pub(crate) bytes: u64,
    /// The launch that writes it.
    pub(crate) first: usize,
    /// The last launch that touches it, at least `first`.
    pub(crate) last: usize,
}

/// Buffers and who lives in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// Bytes of each buffer.
    pub(crate) buffers: Vec<u64>,
    /// The buffer of each tenant.
    pub(crate) place: Vec<usize>,
}

/// Gives each tenant a buffer such that no two tenants of one buffer live during the same launch.
///
/// `tenants` are ordered by `first`. Greedy: the smallest free buffer that is large enough, else the largest free one,
/// which grows (that never costs more than a new one), else a new one. Ties go to the buffer made first.
pub(crate) fn assign(tenants: &[Tenant]) -> Assignment {
    let mut assignment = Assignment::default();
    // For each buffer, the last launch that touches its present tenant.
    let mut busy_until: Vec<usize> = Vec::new();
    for tenant in tenants {
        let free = || (0..busy_until.len()).filter(|&buffer| busy_until[buffer] < tenant.first);
        let fitting = free()
            .filter(|&buffer| assignment.buffers[buffer] >= tenant.bytes)
            .min_by_key(|&buffer| assignment.buffers[buffer]);
        let largest = || free().max_by_key(|&buffer| (assignment.buffers[buffer], std::cmp::Reverse(buffer)));
        let place = match fitting.or_else(largest) {
            Some(buffer) => {
                assignment.buffers[buffer] = assignment.buffers[buffer].max(tenant.bytes);
                busy_until[buffer] = tenant.last;
                buffer
            }
            None => {
                assignment.buffers.push(tenant.bytes);
                busy_until.push(tenant.last);
                busy_until.len() - 1
            }
        };
        assignment.place.push(place);
    }
    assignment
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_needs_two_buffers() {
        let tenants: Vec<Tenant> = (0..10).map(|step| Tenant { bytes: 100, first: step, last: step + 1 }).collect();
        assert_eq!(assign(&tenants).buffers, [100, 100]);
    }

    #[test]
    fn the_tightest_free_buffer_is_taken() {
        let tenants = [
            Tenant { bytes: 100, first: 0, last: 0 },
            Tenant { bytes: 10, first: 0, last: 0 },
            Tenant { bytes: 9, first: 1, last: 1 },
            Tenant { bytes: 200, first: 1, last: 1 },
        ];
        let assignment = assign(&tenants);
        assert_eq!(assignment.place, [0, 1, 1, 0]);
        assert_eq!(assignment.buffers, [200, 10]);
    }

    proptest! {
        #[test]
        fn no_two_live_tenants_share_a_buffer(
            spans in prop::collection::vec((1u64..1000, 0usize..40, 0usize..10), 0..60)
        ) {
            let mut tenants: Vec<Tenant> =
                spans.iter().map(|&(bytes, first, length)| Tenant { bytes, first, last: first + length }).collect();
            tenants.sort_by_key(|tenant| tenant.first);
            let assignment = assign(&tenants);
            prop_assert_eq!(assignment.place.len(), tenants.len());
            for (a, tenant) in tenants.iter().enumerate() {
                prop_assert!(assignment.buffers[assignment.place[a]] >= tenant.bytes);
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
