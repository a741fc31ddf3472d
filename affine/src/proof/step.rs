//! One equality of a derivation.

use std::fmt;

use crate::{Expr, Interval, Law};

/// One equality used on the way: `before = after` over the domain, an instance of a law.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The law.
    pub law: &'static Law,
    /// The left side of the law.
    pub before: Expr,
    /// The right side.
    pub after: Expr,
    /// The instantiation of the law: the expression for each letter. Numbers are constant expressions.
    pub letters: Vec<(char, Expr)>,
    /// The ranges that prove the side condition.
    pub ranges: Vec<(Expr, Interval)>,
}

/// The equality, and what it rests on. With `#` also what the letters of the law stand for.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} {}", self.before, self.after, self.reason(f.alternate()))
    }
}

impl Step {
    /// The step with `f` applied to every expression; nothing where `f` gives nothing.
    pub(crate) fn mapped(self, f: &dyn Fn(&Expr) -> Option<Expr>) -> Option<Step> {
        let letters = self.letters.into_iter().map(|(letter, e)| Some((letter, f(&e)?))).collect::<Option<_>>()?;
        let ranges = self.ranges.into_iter().map(|(e, range)| Some((f(&e)?, range))).collect::<Option<_>>()?;
        Some(Step { law: self.law, before: f(&self.before)?, after: f(&self.after)?, letters, ranges })
    }

    /// The law and the ranges, and the letters on demand: `by floordiv-in-range with c = 8, y = d0, z = d1, q = 0, since d1 in
    /// [0, 7]`.
    pub(super) fn reason(&self, letters: bool) -> String {
        let mut reason = format!("by {}", self.law.name);
        if letters && !self.letters.is_empty() {
            let meanings = self.letters_in_order().into_iter().map(|(letter, meaning)| format!("{letter} = {meaning}"));
            reason += &format!(" with {}", meanings.collect::<Vec<_>>().join(", "));
        }
        if !self.ranges.is_empty() {
            let ranges = self.ranges.iter().map(|(e, range)| format!("{e} in {range}"));
            reason += &format!(", since {}", ranges.collect::<Vec<_>>().join(" and "));
        }
        reason
    }

    /// The letters in the order in which the law mentions them.
    fn letters_in_order(&self) -> Vec<&(char, Expr)> {
        let place = |letter: char| {
            let find = |text: &str| text.find(letter);
            find(self.law.equation).map_or((1, find(self.law.condition)), |at| (0, Some(at)))
        };
        let mut letters: Vec<&(char, Expr)> = self.letters.iter().collect();
        letters.sort_by_key(|(letter, _)| place(*letter));
        letters
    }
}
