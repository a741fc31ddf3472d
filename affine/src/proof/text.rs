//! A derivation as a calculation, one form of the whole expression on each line.

use std::collections::BTreeSet;
use std::fmt;

use super::{Proof, Step};

/// Reasons stand beside forms of at most this many characters, and below longer ones.
const MAX_BESIDE: usize = 60;

/// The calculation, then the laws it goes by. With `#` also what the letters of the laws stand for.
///
/// ```text
/// (d0 * 8 + d1) floordiv 8
///   = d0 + d1 floordiv 8    by floordiv-of-multiple
///   = d0                    by floordiv-in-range, since d1 in [0, 7]: d1 floordiv 8 = 0
/// where
///   floordiv-of-multiple: (c*y + z) floordiv c = y + z floordiv c if c > 0
///   floordiv-in-range: (c*y + z) floordiv c = y + q if c*q <= z < c*q + c
/// ```
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.before)?;
        let forms: Vec<String> = self.links.iter().map(|link| link.whole.to_string()).collect();
        let lengths = forms.iter().map(|form| form.chars().count());
        let width = lengths.filter(|length| *length <= MAX_BESIDE).max().unwrap_or(0);
        let mut before = &self.before;
        for (link, form) in self.links.iter().zip(&forms) {
            let steps: Vec<&Step> = link.steps.iter().filter_map(|i| self.steps.get(*i)).collect();
            match steps.as_slice() {
                [step] => {
                    let mut reason = step.reason(f.alternate());
                    if (&step.before, &step.after) != (before, &link.whole) {
                        reason += &format!(": {} = {}", step.before, step.after);
                    }
                    if form.chars().count() <= width {
                        write!(f, "\n  = {form:width$}    {reason}")?;
                    } else {
                        write!(f, "\n  = {form}\n      {reason}")?;
                    }
                }
                _ => {
                    write!(f, "\n  = {form}\n      by all of these together")?;
                    steps.iter().try_for_each(|step| step.write(f, 8))?;
                }
            }
            before = &link.whole;
        }
        self.write_lemmas(f)?;
        self.write_laws(f)
    }
}

impl Proof {
    /// The steps that only conditions of others rest on.
    fn write_lemmas(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let linked: BTreeSet<usize> = self.links.iter().flat_map(|link| link.steps.iter().copied()).collect();
        let lemmas = self.steps.iter().enumerate().filter(|(i, _)| !linked.contains(i));
        for (i, (_, lemma)) in lemmas.enumerate() {
            f.write_str(if i == 0 { "\nknowing" } else { "" })?;
            lemma.write(f, 2)?;
        }
        Ok(())
    }

    fn write_laws(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut named: Vec<&str> = Vec::new();
        for step in &self.steps {
            if !named.contains(&step.law.name) {
                named.push(step.law.name);
                write!(f, "{}  {}", if named.len() == 1 { "\nwhere\n" } else { "\n" }, step.law)?;
            }
        }
        Ok(())
    }
}

impl Step {
    /// Writes the step on a line of its own.
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let reason = self.reason(f.alternate());
        write!(f, "\n{:indent$}{} = {} {reason}", "", self.before, self.after)
    }
}
