//! Vectors that lie in a buffer as numbers of 64 bits.

use super::function::{FunctionText, strip};
use super::lanes::vector_text;
use super::writer::stored_type;
use weft_hlo::ir::ElementType;

/// A function between words and the numbers that hold two of them each, the first in the lower bits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pairing {
    /// To words.
    Words,
    /// From words.
    Pairs,
}

/// The names of all functions, in the order of their declarations.
pub(super) const NAMES: [&str; 4] = ["words_x2", "words_x4", "pairs_x2", "pairs_x4"];

impl Pairing {
    /// Its name for vectors of two words, or four.
    fn name(self, lanes: u32) -> &'static str {
        match (self, lanes) {
            (Pairing::Words, 2) => NAMES[0],
            (Pairing::Words, _) => NAMES[1],
            (Pairing::Pairs, 2) => NAMES[2],
            (Pairing::Pairs, _) => NAMES[3],
        }
    }

    /// Its declaration.
    pub(super) fn declaration(self, lanes: u32) -> String {
        let (name, words, pairs) = (self.name(lanes), vector_text("u32", lanes), array_element(lanes));
        let halves: &[(&str, &str, &str)] =
            if lanes == 2 { &[("x", "", "y")] } else { &[("x", ".x", "y"), ("z", ".y", "w")] };
        match self {
            Pairing::Words => {
                let parts = halves.iter().map(|(_, pair, _)| format!("u32(pairs{pair}), u32(pairs{pair} >> 32u)"));
                let parts: Vec<String> = parts.collect();
                format!("fn {name}(pairs: {pairs}) -> {words} {{\n    return {words}({});\n}}\n", parts.join(", "))
            }
            Pairing::Pairs => {
                let parts =
                    halves.iter().map(|(low, _, high)| format!("u64(words.{low}) | (u64(words.{high}) << 32u)"));
                let parts: Vec<String> = parts.collect();
                format!("fn {name}(words: {words}) -> {pairs} {{\n    return {pairs}({});\n}}\n", parts.join(", "))
            }
        }
    }

    /// Its call.
    pub(super) fn call(self, lanes: u32, operand: &str) -> String {
        format!("{}({})", self.name(lanes), strip(operand))
    }
}

/// The type of what holds a vector of so many words.
pub(super) fn array_element(lanes: u32) -> String {
    vector_text("u64", lanes / 2)
}

impl FunctionText<'_, '_> {
    /// A vector of what is stored, out of the pairs that hold it.
    pub(super) fn read_from_pairs(&mut self, stored: ElementType, lanes: u32, pairs: &str) -> String {
        self.writer.pairings.insert((Pairing::Words, lanes));
        let words = Pairing::Words.call(lanes, pairs);
        match stored_type(stored) {
            "u32" => words,
            ty => format!("bitcast<{}>({words})", vector_text(ty, lanes)),
        }
    }

    /// The pairs that hold a vector of what is stored.
    pub(super) fn written_in_pairs(&mut self, stored: ElementType, lanes: u32, vector: &str) -> String {
        self.writer.pairings.insert((Pairing::Pairs, lanes));
        match stored_type(stored) {
            "u32" => Pairing::Pairs.call(lanes, vector),
            _ => Pairing::Pairs.call(lanes, &format!("bitcast<{}>({vector})", vector_text("u32", lanes))),
        }
    }
}
