//! Range and runtime variables that nothing uses.

use std::collections::BTreeSet;

use weft_affine::{Expr, Var};

use crate::IndexingMap;

impl IndexingMap {
    /// Removes range and runtime variables that neither results nor constraints nor the accesses of used runtime variables
    /// mention, and renumbers the others. True when something was removed.
    ///
    /// The related elements stay the same: a range variable without a use only repeats them.
    pub fn remove_unused_symbols(&mut self) -> bool {
        if self.is_undefined() || self.is_known_empty() || self.variable_ranges().has_empty() {
            return false;
        }
        let mut used: BTreeSet<Var> = BTreeSet::new();
        for e in self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)) {
            used.extend(e.variables());
        }
        // An access mentions only variables before its own, so one backward pass finds every use.
        let numbered: Vec<_> = (0..).map(Var::Runtime).zip(&self.runtime).collect();
        for (v, variable) in numbered.into_iter().rev() {
            if used.contains(&v) {
                used.extend(variable.access.iter().flat_map(Expr::variables));
            }
        }
        let kept =
            |kind: fn(u32) -> Var, n: usize| -> Vec<bool> { (0..).take(n).map(|i| used.contains(&kind(i))).collect() };
        let ranges = kept(Var::Range, self.ranges.len());
        let runtime = kept(Var::Runtime, self.runtime.len());
        if ranges.iter().chain(&runtime).all(|k| *k) {
            return false;
        }
        // Nothing for a variable that the map does not have: it keeps its number.
        let position = |flags: &[bool], i: u32| {
            let before = flags.get(..usize::try_from(i).ok()?).filter(|_| i as usize != flags.len())?;
            u32::try_from(before.iter().filter(|keep| **keep).count()).ok()
        };
        let renamed = |v: Var| match v {
            Var::Dim(_) => None,
            Var::Range(i) => position(&ranges, i).map(Expr::range),
            Var::Runtime(i) => position(&runtime, i).map(Expr::runtime),
        };
        retain(&mut self.ranges, &ranges);
        retain(&mut self.runtime, &runtime);
        let constraints = self.constraints.iter_mut().map(|c| &mut c.expr);
        let accesses = self.runtime.iter_mut().flat_map(|v| &mut v.access);
        for e in self.results.iter_mut().chain(constraints).chain(accesses) {
            *e = e.substitute(renamed).expect("renaming variables one to one changes no coefficient");
        }
        true
    }
}

fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    list.retain(|_| flags.next().copied().unwrap_or(true));
}
