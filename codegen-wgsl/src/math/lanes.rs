//! Functions of vectors, made of those of scalars.

use super::{Function, HIDING};

/// What a function of vectors is called, whose scalar form has this name: `exp_f32_x4`.
pub fn lane_wise_name(name: &str, lanes: u32) -> String {
    format!("{name}_x{lanes}")
}

/// The declaration of the function that applies one of this library to each lane of vectors.
///
/// Drivers compute one lane of many invocations at a time whatever is written, so a form of its own gains nothing but shorter text.
pub fn lane_wise(function: &Function, lanes: u32) -> String {
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

/// The declaration of a `keep` of the [`prelude`](super::prelude) for vectors.
pub fn keep_lane_wise(name: &str, lanes: u32) -> String {
    let zero = HIDING.iter().find(|(known, _)| *known == name).map_or("zero", |(_, zero)| *zero);
    format!(
        "fn {}(x: vec{lanes}<f32>) -> vec{lanes}<f32> {{
    return bitcast<vec{lanes}<f32>>(bitcast<vec{lanes}<u32>>(x) ^ vec{lanes}<u32>(zeros.{zero}));
}}
",
        lane_wise_name(name, lanes)
    )
}

/// The letters of the lanes of a vector.
pub fn components(lanes: u32) -> impl Iterator<Item = char> {
    "xyzw".chars().take(lanes as usize)
}
