//! Quotients and remainders that a function needs more than once.

use super::index::Variables;
use crate::kernel::{Block, Function, Known};
use weft_affine::{Atom, Expr, Var};

/// Names every quotient or remainder of the function's own index variables that occurs more than once, and returns the
/// definitions to stand at its top. In a function that computes an output of these extents from a position, the
/// former indices get their names back: `let d1 = i % 64u;`.
pub(super) fn repeated(
    function: &Function,
    output_extents: &[i64],
    mut variables: Variables,
    known: &Known,
) -> (Variables, Vec<String>) {
    let mut counts: Vec<(Atom, usize)> = Vec::new();
    count(&function.body, &mut counts);
    let indices = position_indices(output_extents);
    let mut definitions = Vec::new();
    for (atom, uses) in counts {
        if uses > 1 {
            let index = indices.iter().position(|index| index.as_ref() == Some(&atom));
            let name = index.map_or_else(|| format!("i{}", definitions.len()), |dimension| format!("d{dimension}"));
            // What cannot be computed here, where nothing is known of conditions, stays where it is needed.
            definitions.extend(variables.define(&atom, name, known));
        }
    }
    (variables, definitions)
}

/// For each dimension the quotient or remainder of the position `d0` that is its index, where it is just one.
fn position_indices(extents: &[i64]) -> Vec<Option<Atom>> {
    let mut stride: i64 = extents.iter().product();
    let position = Expr::dim(0);
    extents
        .iter()
        .enumerate()
        .map(|(dimension, extent)| {
            stride = stride.checked_div(*extent)?;
            match (dimension, stride) {
                (0, 1) => None,
                (0, _) => Some(Atom::FloorDiv(position.clone(), stride)),
                (_, 1) => Some(Atom::Mod(position.clone(), *extent)),
                _ => None,
            }
        })
        .collect()
}

fn count(block: &Block, counts: &mut Vec<(Atom, usize)>) {
    for statement in &block.statements {
        statement.indices().into_iter().for_each(|index| atoms(index, counts));
        statement.blocks().into_iter().for_each(|block| count(block, counts));
    }
}

/// Names every sum of index variables that occurs more than once as a whole, and returns the definitions to stand at the top
/// of the entry: the number of the invocation is one.
pub(super) fn repeated_sums(entry: &Function, mut variables: Variables, known: &Known) -> (Variables, Vec<String>) {
    let mut counts: Vec<(Expr, usize)> = Vec::new();
    count_sums(&entry.body, &mut counts);
    let mut definitions = Vec::new();
    for (sum, uses) in counts {
        if uses > 1 {
            let name = if definitions.is_empty() { "i".to_owned() } else { format!("i{}", definitions.len()) };
            definitions.extend(variables.define_sum(&sum, name, known));
        }
    }
    (variables, definitions)
}

fn count_sums(block: &Block, counts: &mut Vec<(Expr, usize)>) {
    for statement in &block.statements {
        for index in statement.indices() {
            let is_own = index.variables().iter().all(|variable| matches!(variable, Var::Dim(_)));
            match counts.iter_mut().find(|(known, _)| known == index) {
                _ if !is_own || index.operation_count() == 0 => {}
                Some((_, uses)) => *uses += 1,
                None => counts.push((index.clone(), 1)),
            }
        }
        statement.blocks().into_iter().for_each(|block| count_sums(block, counts));
    }
}

/// Counts the outermost quotients and remainders of an expression in which only the function's own indices occur.
fn atoms(expr: &Expr, counts: &mut Vec<(Atom, usize)>) {
    for term in expr.terms() {
        let (Atom::FloorDiv(inner, _) | Atom::Mod(inner, _)) = &term.atom else { continue };
        let in_loop = inner.variables().iter().any(|variable| !matches!(variable, Var::Dim(_)));
        match counts.iter_mut().find(|(known, _)| *known == term.atom) {
            _ if in_loop => {}
            Some((_, uses)) => *uses += 1,
            None => counts.push((term.atom.clone(), 1)),
        }
    }
}
