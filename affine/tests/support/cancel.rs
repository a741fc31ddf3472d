//! Random chains that should cancel: running them, and cutting short those that do not.

use super::chain::{Op, chain};
use super::random::Random;

/// Failures shown, those of the shortest chains first.
const MAX_SHOWN: usize = 8;
/// The most operations of a chain, inverses aside.
const MAX_OPERATIONS: usize = 6;

/// Follows a chain and its inverse; an error says what became of it where that is not the identity.
pub(crate) type Check = fn(&[Op]) -> Result<(), String>;

/// Random chains of one to six operations.
pub(crate) struct Chains<'a> {
    pub(crate) seed: u64,
    pub(crate) count: usize,
    /// The numbers of elements of their tensors.
    pub(crate) elements: &'a [i64],
    pub(crate) slices: bool,
}

/// Checks random chains; those that fail are cut at both ends while they still fail.
pub(crate) fn random_chains_cancel(chains: &Chains<'_>, check: Check) {
    let Chains { seed, count, elements, slices } = *chains;
    let mut random = Random::new(seed);
    let mut failures = Vec::new();
    for _ in 0..count {
        let (elements, length) = (random.pick(elements), 1 + random.below(MAX_OPERATIONS));
        let ops = chain(&mut random, elements, length, slices);
        let Err(mut became) = check(&ops) else { continue };
        let mut short = &ops[..];
        while let Some((ops, found)) = [&short[1..], &short[..short.len() - 1]]
            .into_iter()
            .filter(|ops| !ops.is_empty())
            .find_map(|ops| check(ops).err().map(|found| (ops, found)))
        {
            (short, became) = (ops, found);
        }
        failures.push((short.to_vec(), became));
    }
    none_failed(count, failures);
}

/// Fails with the shortest of the chains that failed, where there are any.
pub(crate) fn none_failed(count: usize, mut failures: Vec<(Vec<Op>, String)>) {
    failures.sort_by_key(|(ops, became)| (ops.len(), became.len()));
    let listed = |ops: &[Op]| ops.iter().map(|op| format!("  {op}\n")).collect::<String>();
    let shown: Vec<String> =
        failures.iter().take(MAX_SHOWN).map(|(ops, became)| format!("{}  became {became}\n", listed(ops))).collect();
    assert!(failures.is_empty(), "{} of {count} chains did not cancel\n{}", failures.len(), shown.join("\n"));
}
