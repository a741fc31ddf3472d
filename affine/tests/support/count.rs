//! How long the tests over series of random cases run.

/// How many cases to run: `standard`, or what the environment variable says.
pub(crate) fn cases(variable: &str, standard: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("the variable holds a number of cases"),
        Err(_) => standard,
    }
}
