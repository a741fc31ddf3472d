//! The random number generator SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).

/// A source of numbers that depend on the seed alone, the same on every machine.
///
/// ```
/// use weft_hlo::random::Rng;
///
/// let mut rng = Rng::new(7);
/// let die: Vec<i64> = (0..100).map(|_| rng.between(1, 6)).collect();
/// assert!((1..=6).all(|side| die.contains(&side)));
/// ```
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of a seed; those of neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds would else start with neighbouring numbers.
        let mut rng = Rng(seed ^ 0x5851_f42d_4c95_7f2d);
        rng.next_u64();
        rng
    }

    /// Any 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..count`; 0 where that is empty.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next_u64()) * count as u128) >> 64) as usize
    }

    /// A number in `low..=high`; `low` where that is empty.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let count = i128::from(high) - i128::from(low) + 1;
        low + self.below(usize::try_from(count).unwrap_or(0)) as i64
    }

    /// An extent up to `high`, in one of twenty cases 0.
    pub fn extent(&mut self, high: i64) -> i64 {
        if self.chance(5) { 0 } else { self.between(1, high) }
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items, if there are any.
    pub fn choose<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let index = self.below(items.len());
        items.get(index).copied()
    }

    /// The index of one of the weights, each as often as it weighs; 0 where they weigh nothing.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut rest = self.below(weights.iter().sum());
        for (index, &weight) in weights.iter().enumerate() {
            if rest < weight {
                return index;
            }
            rest -= weight;
        }
        0
    }

    /// Brings the items into any order, each as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }

    /// `count` distinct dimensions of `0..rank`, in random order.
    pub fn dimensions(&mut self, rank: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..rank).collect();
        self.shuffle(&mut all);
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn numbers_are_those_of_the_seed_and_within_their_bounds() {
        let mut rng = Rng::new(1);
        assert_eq!(Rng::new(1).next_u64(), rng.clone().next_u64());
        assert_ne!(Rng::new(2).next_u64(), rng.clone().next_u64());
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.below(5)] = true;
            assert!((-3..=3).contains(&rng.between(-3, 3)));
            assert_eq!(rng.weighted(&[0, 7, 0]), 1);
        }
        assert_eq!((seen, rng.below(0), rng.between(4, 3)), ([true; 5], 0, 4));
        let mut all = rng.dimensions(6, 6);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    }
}
