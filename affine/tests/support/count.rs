//! The numbers of random cases and their first seed.

/// How many random cases a test tries: `standard`, times what the environment variable `WEFT_CASES` says. The judge tries
/// `standard`, a hundredth of the long run `WEFT_CASES=100`.
pub(crate) fn cases(standard: u64) -> u64 {
    standard * number("WEFT_CASES", 1)
}

/// The first seed of the tests that draw one module for each seed: 0, or what the environment variable `WEFT_SEED` says.
pub(crate) fn first_seed() -> u64 {
    number("WEFT_SEED", 0)
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("the variable holds a number"))
}
