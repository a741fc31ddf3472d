//! Functions of vectors, made of those of scalars.
//!
//! A function of the library computes with each number by itself, and its text says so for vectors too: types become those of
//! vectors, and what it calls is called in the same number of lanes. A branch is taken where any lane needs it.

use super::{Function, HIDING, function};

/// Functions that loops or arrays keep from being written so: they are applied to each lane.
const LANE_BY_LANE: [&str; 4] = ["power_i32", "power_u32", "reduce_precision_f32", "remainder_f32"];

/// What a function of vectors is called, whose scalar form has this name: `exp_f32_x4`.
pub fn lane_wise_name(name: &str, lanes: u32) -> String {
    format!("{name}_x{lanes}")
}

/// The letters of the lanes of a vector.
pub fn components(lanes: u32) -> impl Iterator<Item = char> {
    "xyzw".chars().take(lanes as usize)
}

/// Functions of vectors with all that they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneWise {
    /// Their declarations: what a function calls stands before it.
    pub declarations: Vec<String>,
    /// The functions of scalars that some of them apply to each lane, for [`closure`](super::closure).
    pub scalar: Vec<&'static str>,
}

/// The functions of vectors that are called for these of the library, or for `keep` and its relatives, each in so many lanes. Other
/// names are passed over.
pub fn lane_wise<'a>(called: impl IntoIterator<Item = (&'a str, u32)>) -> LaneWise {
    let (mut found, mut seen) = (LaneWise::default(), Vec::new());
    called.into_iter().for_each(|(name, lanes)| visit(name, lanes, &mut found, &mut seen));
    found
}

fn visit(name: &str, lanes: u32, found: &mut LaneWise, seen: &mut Vec<String>) {
    let own = lane_wise_name(name, lanes);
    if seen.contains(&own) {
        return;
    }
    seen.push(own);
    if let Some((name, zero)) = HIDING.iter().find(|(known, _)| *known == name) {
        found.declarations.push(keep(name, zero, lanes));
    }
    let Some(function) = function(name) else { return };
    if LANE_BY_LANE.contains(&name) {
        found.scalar.push(function.name);
        found.declarations.push(lane_by_lane(function, lanes));
        return;
    }
    let hiding = HIDING.iter().map(|(name, _)| *name).filter(|name| function.source.contains(&format!("{name}(")));
    hiding.chain(function.depends_on.iter().copied()).for_each(|needed| visit(needed, lanes, found, seen));
    found.declarations.push(written_for(function.source, lanes));
}

fn keep(name: &str, zero: &str, lanes: u32) -> String {
    format!(
        "fn {}(x: vec{lanes}<f32>) -> vec{lanes}<f32> {{
    return bitcast<vec{lanes}<f32>>(bitcast<vec{lanes}<u32>>(x) ^ vec{lanes}<u32>(zeros.{zero}));
}}
",
        lane_wise_name(name, lanes)
    )
}

fn lane_by_lane(function: &Function, lanes: u32) -> String {
    let (parameters, result) = function.signature();
    let typed: Vec<String> = parameters.iter().map(|(name, ty)| format!("{name}: vec{lanes}<{ty}>")).collect();
    let lane = |component: char| {
        let arguments: Vec<String> = parameters.iter().map(|(name, _)| format!("{name}.{component}")).collect();
        format!("{}({})", function.name, arguments.join(", "))
    };
    let each: Vec<String> = components(lanes).map(lane).collect();
    format!(
        "fn {}({}) -> vec{lanes}<{result}> {{\n    return vec{lanes}<{result}>({});\n}}\n",
        lane_wise_name(function.name, lanes),
        typed.join(", "),
        each.join(", ")
    )
}

/// The text of a function with every type and every function of the library that of vectors.
fn written_for(source: &str, lanes: u32) -> String {
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let lines = source.split_inclusive('\n');
    lines.map(|line| if is_comment(line) { line.to_owned() } else { line_for(line, lanes) }).collect()
}

fn line_for(line: &str, lanes: u32) -> String {
    let mut text = String::with_capacity(line.len() * 2);
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        text += before;
        text += &match word {
            "f32" | "i32" | "u32" | "bool" => format!("vec{lanes}<{word}>"),
            name if function(name).is_some() || HIDING.iter().any(|(known, _)| *known == name) => {
                lane_wise_name(name, lanes)
            }
            other => other.to_owned(),
        };
        rest = after;
        if let ("if", Some((condition, after))) = (word, rest.split_once(')')) {
            text += &format!("{condition}))").replacen('(', "(any(", 1);
            rest = after;
        }
    }
    text + rest
}
