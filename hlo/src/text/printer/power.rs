//! Powers of ten, to 128 bits.

/// The least power that is held: the greatest `f64` times this has one digit before the point.
const MIN_EXPONENT: i32 = -308;

/// The greatest power that is held: the least `f64` times this has 17 digits before the point.
const MAX_EXPONENT: i32 = 340;

/// How many are held.
const COUNT: usize = (MAX_EXPONENT - MIN_EXPONENT + 1) as usize;

/// The powers that are exact, since 5^55 fits 128 bits.
const EXACT: std::ops::RangeInclusive<i32> = 0..=55;

/// The bit that the significand of each power has.
const TOP: u128 = 1 << 127;

static SIGNIFICANDS: [u128; COUNT] = significands();

/// `10^power = significand * 2^exponent`, with a significand of 128 bits. Where that is not exact, the significand is too
/// small by less than one part in 2^117: each step from 10^0 loses less than two units, and there are at most 340.
#[derive(Copy, Clone, Debug)]
pub(super) struct PowerOfTen {
    pub(super) significand: u128,
    pub(super) exponent: i32,
    pub(super) exact: bool,
}

impl PowerOfTen {
    /// The power, if it is one that some float needs.
    pub(super) fn of(power: i32) -> Option<Self> {
        let significand = *SIGNIFICANDS.get(usize::try_from(power - MIN_EXPONENT).ok()?)?;
        // 1741647 / 2^19 is the logarithm of 10 to the base 2, closely enough that this is its floor for these powers.
        let exponent = ((power * 1_741_647) >> 19) - 127;
        Some(PowerOfTen { significand, exponent, exact: EXACT.contains(&power) })
    }
}

const fn significands() -> [u128; COUNT] {
    let zero = -MIN_EXPONENT as usize;
    let mut powers = [TOP; COUNT];
    let mut index = zero;
    while index + 1 < COUNT {
        let last = powers[index];
        // Times 10/8, or 10/16 where that would not fit.
        powers[index + 1] = match last.checked_add(last / 4) {
            Some(next) => next,
            None => last / 2 + last / 8,
        };
        index += 1;
    }
    index = zero;
    while index > 0 {
        let (quotient, remainder) = (powers[index] / 5, powers[index] % 5);
        // Times 4/5, or 8/5 where the top bit would be lost.
        let next = 4 * quotient + 4 * remainder / 5;
        powers[index - 1] = if next >= TOP { next } else { 8 * quotient + 8 * remainder / 5 };
        index -= 1;
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integer as its limbs of 32 bits, the lowest first.
    fn times(limbs: &mut Vec<u32>, factor: u32) {
        let mut carry = 0;
        for limb in limbs.iter_mut() {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }

    /// The 128 highest bits of an integer, and how many there are below.
    fn top(limbs: &[u32]) -> (u128, i32) {
        let mut bits = limbs.iter().rev().flat_map(|limb| (0..32).rev().map(move |bit| limb >> bit & 1));
        let length = limbs.len() as i32 * 32 - limbs[limbs.len() - 1].leading_zeros() as i32;
        let skipped = limbs.len() * 32 - length as usize;
        let value = bits.by_ref().skip(skipped).take(128).fold(0u128, |value, bit| value << 1 | u128::from(bit));
        let held = length.min(128);
        (value << (128 - held), length - 128)
    }

    #[test]
    fn powers_are_close_and_exact_where_they_say_so() {
        let mut integer = vec![1];
        for power in 0..=MAX_EXPONENT {
            let found = PowerOfTen::of(power).unwrap();
            let (expected, exponent) = top(&integer);
            assert_eq!(found.exponent, exponent, "10^{power}");
            assert!(found.significand <= expected && expected - found.significand < 1 << 10, "10^{power}");
            assert!(!found.exact || found.significand == expected, "10^{power}");
            times(&mut integer, 10);
        }
        assert!(PowerOfTen::of(MAX_EXPONENT + 1).is_none() && PowerOfTen::of(MIN_EXPONENT - 1).is_none());
    }

    #[test]
    fn a_power_times_its_inverse_is_one() {
        for power in MIN_EXPONENT..0 {
            let (low, high) = (PowerOfTen::of(power).unwrap(), PowerOfTen::of(-power).unwrap());
            // The upper halves suffice for 60 bits.
            let product = (low.significand >> 64) * (high.significand >> 64);
            let one = 1u128.checked_shl((-low.exponent - high.exponent - 128) as u32).unwrap();
            assert!(product.abs_diff(one) >> 66 == 0, "10^{power}");
        }
    }
}
