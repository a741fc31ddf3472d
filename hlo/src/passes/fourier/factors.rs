//! Which factors a length is transformed by.

use std::collections::BTreeMap;

/// The largest prime that a product with a matrix of its order transforms by.
pub(super) const MOST_PRIME: i64 = 61;

/// The largest number with factors of its own that is taken at once.
const MOST_COMPOSITE: i64 = 32;

/// What a step costs besides its products, in products an element: the traffic of reading and writing everything once more.
const STEP: i64 = 24;

/// Factors of the length, each of which one step transforms by: those of the least cost, where a step by `r` costs `r`
/// complex products an element and its traffic. `None` if a prime factor is too large. The length 1 has none.
pub(super) fn factors(length: i64) -> Option<Vec<i64>> {
    let mut known = BTreeMap::new();
    cheapest(length, &mut known)?;
    let (mut factors, mut rest) = (Vec::new(), length);
    while rest > 1 {
        let (_, factor) = known[&rest]?;
        factors.push(factor);
        rest /= factor;
    }
    factors.sort_unstable();
    Some(factors)
}

/// The least cost of each length that is reached, with the first factor.
type Known = BTreeMap<i64, Option<(i64, i64)>>;

fn cheapest(length: i64, known: &mut Known) -> Option<i64> {
    if length == 1 {
        return Some(0);
    }
    if let Some(found) = known.get(&length) {
        return found.map(|(cost, _)| cost);
    }
    let mut least: Option<(i64, i64)> = None;
    for factor in (2..=MOST_PRIME).filter(|factor| length % factor == 0) {
        let is_one_step = factor <= MOST_COMPOSITE || (2..factor).all(|divisor| factor % divisor != 0);
        if is_one_step && let Some(rest) = cheapest(length / factor, known) {
            let cost = rest + factor + STEP;
            if least.is_none_or(|(known, _)| cost < known) {
                least = Some((cost, factor));
            }
        }
    }
    known.insert(length, least);
    least.map(|(cost, _)| cost)
}

#[cfg(test)]
mod tests {
    use super::factors;

    #[test]
    fn factors_multiply_to_the_length_or_a_prime_is_too_large() {
        for length in 1..3000 {
            let large = (62..=length).any(|p| length % p == 0 && (2..p).take_while(|d| d * d <= p).all(|d| p % d != 0));
            match factors(length) {
                Some(found) => {
                    assert!(!large);
                    assert_eq!(found.iter().product::<i64>(), length);
                }
                None => assert!(large, "{length}"),
            }
        }
    }

    #[test]
    fn steps_are_few_and_even() {
        assert_eq!(factors(1), Some(vec![]));
        assert_eq!(factors(32), Some(vec![32]));
        assert_eq!(factors(61), Some(vec![61]));
        assert_eq!(factors(64), Some(vec![8, 8]));
        assert_eq!(factors(1000), Some(vec![10, 10, 10]));
        assert_eq!(factors(1 << 20), Some(vec![16; 5]));
        assert_eq!(factors(2 * 67), None);
    }
}
