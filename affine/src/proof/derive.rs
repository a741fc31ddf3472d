//! Reduction of the log of a simplification to the steps that its result needs.

use std::collections::BTreeSet;

use super::closure::{Claim, reasons_for};
use super::condition::{Domain, Evidence, evidence};
use super::{Link, Proof, Step, chain};
use crate::law::WideSum;
use crate::{Constraint, Expr, Ranges};

/// With more steps than this the derivation is neither minimized nor put in order: its reader is a machine.
const MAX_READABLE_STEPS: usize = 64;
/// Times that the needed steps are sought again among the needed steps.
const MAX_ROUNDS: usize = 4;

impl Proof {
    /// The derivation of `before = after` from the steps of a log, each of which may lean on those before it.
    pub(crate) fn derive(
        before: Expr,
        after: Expr,
        log: Vec<Step>,
        ranges: Ranges,
        constraints: Vec<Constraint>,
    ) -> Proof {
        let mut proof = Proof { before, after, ranges, constraints, steps: Vec::new(), links: Vec::new() };
        if proof.before == proof.after {
            return proof;
        }
        let mut domain = Domain::new(&proof.ranges, &proof.constraints);
        let log: Vec<Logged> = distinct(log).into_iter().map(|step| Logged::new(step, &mut domain)).collect();
        let claim = (&proof.before, &proof.after);
        let all: BTreeSet<usize> = (0..log.len()).collect();
        let needed = minimal(claim, &log, &all).unwrap_or(all);
        let chain = if needed.len() <= MAX_READABLE_STEPS { chain_of(claim, &log, &needed) } else { None };
        let (used, links) = chain.unwrap_or_else(|| {
            let links = vec![Link { steps: needed.iter().copied().collect(), whole: proof.after.clone() }];
            (needed, links)
        });
        // Places in the log become places among the steps that are kept.
        let place = |i: &usize| used.iter().position(|kept| kept == i);
        let renumbered = |link: Link| Link { steps: link.steps.iter().filter_map(place).collect(), whole: link.whole };
        proof.links = links.into_iter().map(renumbered).collect();
        let kept = log.into_iter().enumerate().filter(|(i, _)| used.contains(i));
        proof.steps = kept.map(|(_, logged)| logged.step).collect();
        proof
    }
}

/// A step, and what must be zero by earlier ones for it to hold.
struct Logged {
    step: Step,
    owed: Vec<WideSum>,
}

impl Logged {
    /// Of the ranges that were asked for, only those that prove a condition matter to a reader.
    fn new(mut step: Step, domain: &mut Domain<'_>) -> Logged {
        let mut owed = Vec::new();
        if let Ok(all) = evidence(&step, domain) {
            step.ranges.clear();
            for (_, evidence) in all {
                match evidence {
                    Evidence::Range(e, range) if !step.ranges.iter().any(|(known, _)| *known == e) => {
                        step.ranges.push((e, range));
                    }
                    Evidence::Owed(sum) => owed.push(sum),
                    _ => {}
                }
            }
        }
        Logged { step, owed }
    }
}

/// The steps that say something, each equality once.
fn distinct(log: Vec<Step>) -> Vec<Step> {
    let mut seen = BTreeSet::new();
    let says = |step: &Step| (step.before.structural_hash(), step.after.structural_hash());
    log.into_iter().filter(|step| step.before != step.after && seen.insert(says(step))).collect()
}

/// Steps from which the claim follows, and none of which can be left out.
fn minimal(claim: (&Expr, &Expr), log: &[Logged], all: &BTreeSet<usize>) -> Option<BTreeSet<usize>> {
    let mut needed = sufficient(claim, log, all)?;
    for _ in 0..MAX_ROUNDS {
        let again = sufficient(claim, log, &needed)?;
        if again.len() == needed.len() {
            break;
        }
        needed = again;
    }
    if needed.len() > MAX_READABLE_STEPS {
        return Some(needed);
    }
    // The last found goes first: what the directed pass says reads better than what the e-graph says.
    let mut last = usize::MAX;
    while let Some(&candidate) = needed.range(..last).next_back() {
        last = candidate;
        let mut without = needed.clone();
        without.remove(&candidate);
        if let Some(fewer) = sufficient(claim, log, &without) {
            needed = fewer;
        }
    }
    Some(needed)
}

/// Those of the steps `among` from which the claim was found to follow, with all that they owe to.
fn sufficient(claim: (&Expr, &Expr), log: &[Logged], among: &BTreeSet<usize>) -> Option<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<usize> = follows(Claim::Equal(claim.0, claim.1), log, among.iter())?;
    while let Some(i) = waiting.pop() {
        if found.insert(i) {
            for zero in &log[i].owed {
                waiting.extend(follows(Claim::Zero(zero), log, among.range(..i))?);
            }
        }
    }
    Some(found)
}

fn follows<'a>(claim: Claim<'_>, log: &[Logged], among: impl Iterator<Item = &'a usize> + Clone) -> Option<Vec<usize>> {
    reasons_for(claim, among.map(|&i| (i, &log[i].step.before, &log[i].step.after)))
}

/// The claim as a chain of single replacements, and the steps that it takes with all that they owe to.
fn chain_of(claim: (&Expr, &Expr), log: &[Logged], needed: &BTreeSet<usize>) -> Option<(BTreeSet<usize>, Vec<Link>)> {
    let places: Vec<usize> = needed.iter().copied().collect();
    let equalities: Vec<(&Expr, &Expr)> = places.iter().map(|&i| (&log[i].step.before, &log[i].step.after)).collect();
    let chain = chain::search(claim.0, claim.1, &equalities)?;
    let links: Vec<Link> = chain.into_iter().map(|(i, whole)| Link { steps: vec![places[i]], whole }).collect();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut waiting: Vec<usize> = links.iter().flat_map(|link| link.steps.iter().copied()).collect();
    while let Some(i) = waiting.pop() {
        if used.insert(i) {
            for zero in &log[i].owed {
                waiting.extend(follows(Claim::Zero(zero), log, needed.range(..i))?);
            }
        }
    }
    Some((used, links))
}
