//! `weft simplify`, which is `weft map simplify`: an indexing map made cheaper, and the reasons.

use crate::args::{Format, Simplify};
use crate::reader::Reader;
use crate::report::{Failure, Outcome, complain, note};
use crate::subject::Subject;
use crate::{is_json, output};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use weft_affine::{
    Constraint, ConstraintStep, EgraphPicture, Expr, Interval, Obstacle, Proof, Simplifier, Step, Trial, WhyNot,
};
use weft_indexing::{Explanation, SimplifyOptions};

/// Pictures with more edges are laid out in less time.
const MANY_EDGES: usize = 64;

/// `weft simplify`
pub(crate) fn simplify(arguments: &Simplify, format: Format) -> Result<Outcome, Failure> {
    let mut reader = Reader::new(1, arguments.verbose);
    let mut subject = reader.subject(&arguments.map)?.subject;
    let (given, before) = (subject.map.clone(), reader.text(&subject));
    let picture = arguments.egraph.as_deref().map(|path| (path, egraph(&subject)));
    let options = SimplifyOptions::default().with_point_variables(arguments.keep_point_dimensions);
    let why = subject.explain(&options);
    let after = reader.text(&subject);
    let why_not = if arguments.why_not { remaining(&subject) } else { Vec::new() };
    if let Some((path, picture)) = picture {
        draw(path, &picture?)?;
    }
    if arguments.egraph.as_deref() != Some(Path::new("-")) {
        if is_json(format) {
            let has_results = !subject.map.is_undefined() && !subject.map.is_known_empty();
            let results = given.results().iter().zip(subject.map.results()).enumerate().filter(|_| has_results);
            let proofs = |i: usize| why.results.get(i).map_or(&[][..], Vec::as_slice);
            let result = |(i, (before, after)): (usize, (&Expr, &Expr))| {
                let mut value = result_json(before, after, proofs(i));
                if let Some(why_not) = why_not.get(i) {
                    value["why_not"] = why_not_json(why_not);
                }
                value
            };
            let results: Vec<Value> = results.map(result).collect();
            output::json(&json!({
                "before": before,
                "map": after,
                "known_empty": subject.map.is_known_empty(),
                "undefined": subject.map.is_undefined(),
                "changed": subject.map != given,
                "capped": subject.map.is_capped(),
                "domain": why.domain.iter().map(domain_json).collect::<Vec<_>>(),
                "results": results,
            }))?;
        } else {
            let reasons = if arguments.why { reasons(&why) } else { String::new() };
            let obstacles = if arguments.why_not { obstacles(&why_not) } else { String::new() };
            output::text(&format!("{after}\n{reasons}{obstacles}"))?;
        }
    }
    if subject.map.is_capped() {
        note("note: this is too large to be simplified as a whole; only the upper levels were", format)?;
    }
    replayed(&why, format)
}

/// Sees to it that what is claimed holds: every derivation is checked, whether it is shown or not.
fn replayed(why: &Explanation, format: Format) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Done;
    for (i, proofs) in why.results.iter().enumerate() {
        if let Some(error) = proofs.iter().find_map(|proof| proof.check().err()) {
            complain("CLI005", &format!("the derivation of result {i} does not replay: {error}"), format)?;
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

/// The derivation of the domain, where it changed, and those of results that changed, each under the number of its result.
fn reasons(why: &Explanation) -> String {
    let mut text = String::new();
    for (i, step) in why.domain.iter().enumerate() {
        text += &format!("{}  {step}\n", if i == 0 { "\ndomain\n" } else { "" });
    }
    for (i, proof) in why.results.iter().enumerate().flat_map(|(i, proofs)| proofs.iter().map(move |proof| (i, proof)))
    {
        text += &format!("\nresult {i}\n");
        for line in proof.to_string().lines() {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// What kept the divisions and remainders of each result.
fn remaining(subject: &Subject) -> Vec<WhyNot> {
    let map = &subject.map;
    if map.is_undefined() || map.is_known_empty() {
        return Vec::new();
    }
    let mut simplifier = Simplifier::new(&map.variable_ranges(), map.constraints());
    map.results().iter().map(|result| simplifier.why_not(result)).collect()
}

/// Each remaining division or remainder with the laws that were tried on it, under the number of its result.
fn obstacles(why_not: &[WhyNot]) -> String {
    let mut text = String::new();
    for (i, why) in why_not.iter().enumerate().filter(|(_, why)| !why.divisions.is_empty()) {
        text += &format!("\nwhat is left of result {i}\n");
        for line in why.to_string().lines() {
            text += &format!("  {line}\n");
        }
    }
    if text.is_empty() { "\nno division and no remainder is left\n".to_owned() } else { text }
}

fn why_not_json(why: &WhyNot) -> Value {
    let divisions = why.divisions.iter().map(|division| {
        json!({
            "division": division.expr.to_string(),
            "range": interval_json(division.range),
            "trials": division.trials.iter().map(trial_json).collect::<Vec<_>>(),
        })
    });
    divisions.collect()
}

fn trial_json(trial: &Trial) -> Value {
    let letters = trial.letters.iter().map(|(letter, e)| (letter.to_string(), Value::from(e.to_string())));
    let mut value = json!({
        "law": trial.law.name,
        "equation": trial.law.equation,
        "condition": trial.law.condition,
        "on": trial.on.to_string(),
        "letters": letters.collect::<serde_json::Map<_, _>>(),
    });
    let becomes = match &trial.obstacle {
        Obstacle::Unproved(conditions) => {
            let conditions = conditions.iter().map(|unproved| {
                json!({
                    "condition": unproved.condition,
                    "expression": unproved.expr.to_string(),
                    "needs": interval_json(unproved.needs),
                    "range": interval_json(unproved.range),
                })
            });
            value["unproved"] = conditions.collect();
            None
        }
        Obstacle::NotCheaper { becomes, cost, instead_of } => {
            value["cost"] = (*cost).into();
            value["instead_of"] = (*instead_of).into();
            Some(becomes)
        }
        Obstacle::WiderRange { becomes, range, instead_of } => {
            value["range"] = interval_json(*range);
            value["instead_of"] = interval_json(*instead_of);
            Some(becomes)
        }
        Obstacle::HidesDigits { becomes } | Obstacle::NotUsed { becomes } => Some(becomes),
        _ => None,
    };
    value["obstacle"] = obstacle_name(&trial.obstacle).into();
    if let Some(becomes) = becomes {
        value["becomes"] = becomes.to_string().into();
    }
    value
}

fn obstacle_name(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Unproved(_) => "unproved",
        Obstacle::NotCheaper { .. } => "not-cheaper",
        Obstacle::WiderRange { .. } => "wider-range",
        Obstacle::HidesDigits { .. } => "hides-digits",
        Obstacle::NotUsed { .. } => "not-used",
        _ => "other-form",
    }
}

/// Both ends, `null` where there is no bound.
fn interval_json(interval: Interval) -> Value {
    let end = |end: i64, none: i64| (end != none).then_some(end);
    json!([end(interval.lo, i64::MIN), end(interval.hi, i64::MAX)])
}

fn domain_json(step: &ConstraintStep) -> Value {
    let texts = |all: &[Constraint]| all.iter().map(|c| Value::from(c.to_string())).collect::<Vec<_>>();
    json!({
        "law": step.law.name,
        "equivalence": step.law.equation,
        "condition": step.law.condition,
        "before": texts(&step.before),
        "after": texts(&step.after),
    })
}

/// A result before and after, with the steps of all its derivations.
fn result_json(before: &Expr, after: &Expr, proofs: &[Proof]) -> Value {
    json!({
        "before": before.to_string(),
        "after": after.to_string(),
        "cost_before": before.cost(),
        "cost_after": after.cost(),
        "derivation": proofs.iter().flat_map(derivation).collect::<Vec<_>>(),
    })
}

/// The steps: lemmas first, then those of the chain.
fn derivation(proof: &Proof) -> Vec<Value> {
    let linked: BTreeSet<usize> = proof.links().iter().flat_map(|link| link.steps.iter().copied()).collect();
    let lemmas = proof.steps().iter().enumerate().filter(|(i, _)| !linked.contains(i));
    let mut derivation: Vec<Value> = lemmas.map(|(_, step)| step_json(step, None)).collect();
    for link in proof.links() {
        for (n, step) in link.steps.iter().filter_map(|i| proof.steps().get(*i)).enumerate() {
            let is_last = n + 1 == link.steps.len();
            derivation.push(step_json(step, is_last.then(|| link.whole.to_string())));
        }
    }
    derivation
}

/// One step; `whole` is the result after it, where the step completes a form of it.
fn step_json(step: &Step, whole: Option<String>) -> Value {
    let letters = step.letters.iter().map(|(letter, e)| (letter.to_string(), Value::from(e.to_string())));
    let ranges =
        step.ranges.iter().map(|(e, range)| json!({ "expression": e.to_string(), "range": [range.lo, range.hi] }));
    json!({
        "law": step.law.name,
        "equation": step.law.equation,
        "condition": step.law.condition,
        "before": step.before.to_string(),
        "after": step.after.to_string(),
        "whole": whole,
        "letters": letters.collect::<serde_json::Map<_, _>>(),
        "ranges": ranges.collect::<Vec<_>>(),
    })
}

/// The equal forms of the first result that is no constant.
fn egraph(subject: &Subject) -> Result<EgraphPicture, Failure> {
    let map = &subject.map;
    let drawn = map.results().iter().find(|e| e.as_constant().is_none());
    let e = drawn.ok_or_else(|| Failure::message("there is no result to draw: all are constants"))?;
    Ok(Simplifier::new(&map.variable_ranges(), map.constraints()).egraph(e))
}

fn draw(path: &Path, picture: &EgraphPicture) -> Result<(), Failure> {
    let dot = picture.to_dot();
    if path == Path::new("-") {
        return Ok(output::text(&dot)?);
    }
    let is_dot = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dot"));
    let drawing = if is_dot { dot } else { svg(&dot)? };
    std::fs::write(path, drawing).map_err(|error| Failure::not_written(path, &error))
}

fn svg(dot: &str) -> Result<String, Failure> {
    use layout::backends::svg::SVGWriter;
    use layout::gv::{DotParser, GraphBuilder};
    let graph = DotParser::new(dot).process().map_err(|error| Failure::message(format!("cannot draw: {error}")))?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut writer = SVGWriter::new();
    // Moving boxes to shorten edges takes seconds where there are hundreds of edges, and improves little there.
    let is_large = dot.matches("->").count() > MANY_EDGES;
    builder.get().do_it(false, is_large, false, &mut writer);
    // Colours with an opacity are newer than many viewers of SVG, which then draw black on black.
    let plain = [("#ffffffff", "#ffffff"), ("#000000ff", "#000000"), ("#00000000", "none")];
    Ok(plain.into_iter().fold(writer.finalize(), |drawing, (colour, plain)| drawing.replace(colour, plain)))
}
