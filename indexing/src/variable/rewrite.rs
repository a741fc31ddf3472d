//! Substitution in results, constraints and accesses at once.

use weft_affine::{Expr, Var};

use crate::{Error, IndexingMap};

impl IndexingMap {
    /// Each variable replaced for which `f` gives an expression, everywhere at once. Constraints that become bounds of a
    /// variable are taken for that; nothing changes on overflow.
    ///
    /// # Errors
    /// When a coefficient or a constant leaves `i64`.
    pub(crate) fn substitute(&mut self, f: impl Fn(Var) -> Option<Expr>) -> Result<(), Error> {
        let all: Vec<Expr> = self.expressions().map(|e| e.substitute(&f)).collect::<Result<_, _>>()?;
        for (e, new) in self.expressions_mut().zip(all) {
            *e = new;
        }
        self.sort_out_constraints();
        Ok(())
    }

    /// Takes constraints on a variable alone for its bounds, and those on one expression together.
    pub(crate) fn sort_out_constraints(&mut self) {
        for constraint in std::mem::take(&mut self.constraints) {
            self.constrain(constraint.expr, constraint.bounds);
        }
    }

    /// Only the variables that `keep` keeps, renumbered. No expression may mention another.
    pub(crate) fn retain_variables(&mut self, keep: impl Fn(Var) -> bool) {
        let kept = |kind: fn(u32) -> Var, n: usize| -> Vec<bool> { (0..).take(n).map(|i| keep(kind(i))).collect() };
        let dims = kept(Var::Dim, self.dims.len());
        let ranges = kept(Var::Range, self.ranges.len());
        let runtime = kept(Var::Runtime, self.runtime.len());
        retain(&mut self.dims, &dims);
        retain(&mut self.ranges, &ranges);
        retain(&mut self.runtime, &runtime);
        // Nothing for a variable that the map does not have: it keeps its number.
        let position = |flags: &[bool], i: u32| {
            let before = flags.get(..usize::try_from(i).ok()?).filter(|_| i as usize != flags.len())?;
            u32::try_from(before.iter().filter(|keep| **keep).count()).ok()
        };
        let renamed = |v: Var| match v {
            Var::Dim(i) => position(&dims, i).map(Expr::dim),
            Var::Range(i) => position(&ranges, i).map(Expr::range),
            Var::Runtime(i) => position(&runtime, i).map(Expr::runtime),
        };
        self.rename(renamed);
    }

    /// Each variable replaced by the one that `f` gives for it. No two may become one.
    pub(crate) fn rename(&mut self, f: impl Fn(Var) -> Option<Expr>) {
        for e in self.expressions_mut() {
            *e = e.substitute(&f).expect("renaming variables one to one changes no coefficient");
        }
    }
}

fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    list.retain(|_| flags.next().copied().unwrap_or(true));
}
