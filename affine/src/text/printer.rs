//! The printer of expressions, which defines the canonical text.

use std::fmt::{self, Write};

use rustc_hash::FxHashMap;

use crate::expr::postorder;
use crate::{Atom, Expr, Var};

/// Things whose trees have more nodes than this get shared terms named.
const MAX_UNNAMED_NODES: u64 = 400;
/// Every chain of nested terms gets a name at this many levels, so that text nests less than the parser allows.
const MAX_LEVELS: u32 = 100;

/// Writes expressions that may share terms, each large shared term once.
#[derive(Debug, Default)]
pub struct Printer {
    variables: FxHashMap<Var, String>,
    /// Names of shared terms, in the order of their definition.
    named: Vec<(Expr, String)>,
    name_of: FxHashMap<u128, usize>,
}

impl Printer {
    /// A printer for `roots`, which will be written with it.
    pub fn new<'a>(roots: impl IntoIterator<Item = &'a Expr>) -> Printer {
        Printer::with_names(roots, |_| None)
    }

    /// As [`Printer::new`], with names of the caller's choice for some variables. The caller sees to it that they are
    /// identifiers and distinct.
    pub fn with_names<'a>(roots: impl IntoIterator<Item = &'a Expr>, name: impl Fn(Var) -> Option<String>) -> Printer {
        let roots: Vec<&Expr> = roots.into_iter().collect();
        let mut printer = Printer::default();
        for v in roots.iter().flat_map(|e| e.variables()) {
            if let Some(chosen) = name(v) {
                printer.variables.insert(v, chosen);
            }
        }
        let total = roots.iter().fold(0u64, |n, e| n.saturating_add(e.tree_size()));
        if total > MAX_UNNAMED_NODES {
            printer.name_shared(&roots);
        }
        printer
    }

    fn name_shared(&mut self, roots: &[&Expr]) {
        let order = postorder(roots.iter().copied());
        let mut uses: FxHashMap<u128, usize> = FxHashMap::default();
        for node in &order {
            for argument in node.terms().iter().filter_map(|t| t.atom.argument()) {
                *uses.entry(argument.structural_hash()).or_default() += 1;
            }
        }
        for root in roots {
            *uses.entry(root.structural_hash()).or_default() += 1;
        }
        let mut prefix = "t".to_owned();
        while self.variables.values().any(|name| name.starts_with(&prefix)) {
            prefix.push('_');
        }
        // Levels of the text since the last name, so that very deep chains are cut as well.
        let mut levels: FxHashMap<u128, u32> = FxHashMap::default();
        for node in order {
            let key = node.structural_hash();
            let level =
                node.terms()
                    .iter()
                    .filter_map(|t| t.atom.argument())
                    .map(|a| {
                        if self.name_of.contains_key(&a.structural_hash()) {
                            1
                        } else {
                            levels[&a.structural_hash()] + 1
                        }
                    })
                    .max()
                    .unwrap_or(0);
            let shared = uses.get(&key).is_some_and(|n| *n > 1) && node.tree_size() > 4;
            if shared || level >= MAX_LEVELS {
                self.name_of.insert(key, self.named.len());
                let name = format!("{prefix}{}", self.named.len());
                self.named.push((node, name));
            }
            levels.insert(key, level);
        }
    }

    /// Writes one of the roots, or a term of one.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn write(&self, f: &mut dyn Write, e: &Expr) -> fmt::Result {
        match self.name_of.get(&e.structural_hash()) {
            Some(&i) => f.write_str(&self.named[i].1),
            None => self.write_sum(f, e),
        }
    }

    /// Writes several, separated by commas.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn write_list<'a>(&self, f: &mut dyn Write, list: impl IntoIterator<Item = &'a Expr>) -> fmt::Result {
        for (i, e) in list.into_iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            self.write(f, e)?;
        }
        Ok(())
    }

    /// Writes the definitions of the named terms, if there are any, with ` where ` in front.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn write_where(&self, f: &mut dyn Write) -> fmt::Result {
        for (i, (node, name)) in self.named.iter().enumerate() {
            write!(f, "{}{name} = ", if i == 0 { " where " } else { ", " })?;
            self.write_sum(f, node)?;
        }
        Ok(())
    }

    /// The name of a variable, as this printer writes it.
    pub fn variable(&self, v: Var) -> String {
        self.variables.get(&v).cloned().unwrap_or_else(|| v.to_string())
    }

    fn write_sum(&self, f: &mut dyn Write, e: &Expr) -> fmt::Result {
        if e.terms().is_empty() {
            return write!(f, "{}", e.constant_term());
        }
        for (i, term) in e.terms().iter().enumerate() {
            let c = term.coefficient;
            if i == 0 {
                match c {
                    1 => self.write_atom(f, &term.atom, false)?,
                    -1 => {
                        f.write_char('-')?;
                        self.write_atom(f, &term.atom, true)?;
                    }
                    _ => {
                        self.write_atom(f, &term.atom, true)?;
                        write!(f, " * {c}")?;
                    }
                }
                continue;
            }
            // The least i64 cannot be written as a subtracted magnitude.
            let (sign, magnitude) = if c < 0 && c != i64::MIN { (" - ", -c) } else { (" + ", c) };
            f.write_str(sign)?;
            self.write_atom(f, &term.atom, magnitude != 1)?;
            if magnitude != 1 {
                write!(f, " * {magnitude}")?;
            }
        }
        match e.constant_term() {
            0 => Ok(()),
            k if k < 0 => write!(f, " - {}", k.unsigned_abs()),
            k => write!(f, " + {k}"),
        }
    }

    fn write_atom(&self, f: &mut dyn Write, atom: &Atom, bracket: bool) -> fmt::Result {
        let (inner, word, number) = match atom {
            Atom::Var(v) => {
                return match self.variables.get(v) {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{v}"),
                };
            }
            Atom::FloorDiv(inner, c) => (inner, "floordiv", c),
            Atom::Mod(inner, c) => (inner, "mod", c),
        };
        if bracket {
            f.write_char('(')?;
        }
        let simple = inner.as_var().is_some() || self.name_of.contains_key(&inner.structural_hash());
        if simple {
            self.write(f, inner)?;
        } else {
            f.write_char('(')?;
            self.write(f, inner)?;
            f.write_char(')')?;
        }
        write!(f, " {word} {number}")?;
        if bracket { f.write_char(')') } else { Ok(()) }
    }
}
