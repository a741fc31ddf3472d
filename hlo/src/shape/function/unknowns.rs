//! Unknown sizes, and the substitution that makes two of them equal.

/// A size that is not known yet, of one [`Unknowns`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unknown(u32);

/// A size as far as it is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// It is this.
    Known(i64),
    /// It is `factor * unknown + offset`, the factor not 0.
    Linear {
        /// What it depends on.
        unknown: Unknown,
        /// How often.
        factor: i64,
        /// What is added.
        offset: i64,
    },
    /// It depends on unknowns in another way.
    Opaque,
}

impl From<i64> for Term {
    fn from(size: i64) -> Term {
        Term::Known(size)
    }
}

impl Term {
    /// The size, if it is known.
    pub fn as_known(self) -> Option<i64> {
        match self {
            Term::Known(size) => Some(size),
            Term::Linear { .. } | Term::Opaque => None,
        }
    }

    /// `factor * self + offset`.
    pub(super) fn scaled(self, factor: i64, offset: i64) -> Term {
        let apply = |value: i64, add: i64| value.checked_mul(factor)?.checked_add(add);
        let made = match self {
            Term::Known(size) => apply(size, offset).map(Term::Known),
            Term::Linear { .. } if factor == 0 => Some(Term::Known(offset)),
            Term::Linear { unknown, factor: inner, offset: add } => {
                apply(inner, 0).zip(apply(add, offset)).map(|(factor, offset)| Term::Linear { unknown, factor, offset })
            }
            Term::Opaque => None,
        };
        made.unwrap_or(Term::Opaque)
    }
}

/// The value of each unknown: none yet, or a term in unknowns that are not known themselves.
#[derive(Clone, Debug, Default)]
pub struct Unknowns {
    terms: Vec<Option<Term>>,
    /// How many of them something is known of.
    settled: usize,
}

impl Unknowns {
    /// A new unknown.
    pub fn fresh(&mut self) -> Term {
        self.terms.push(None);
        let index = u32::try_from(self.terms.len() - 1).expect("there are fewer than 2^32 dimensions");
        Term::Linear { unknown: Unknown(index), factor: 1, offset: 0 }
    }

    /// The number of equations that told something new. It only grows, at most to the number of unknowns.
    pub fn settled(&self) -> usize {
        self.settled
    }

    /// The term with everything put in that is known by now.
    pub fn resolve(&mut self, term: Term) -> Term {
        let Term::Linear { unknown, factor, offset } = term else { return term };
        // Follow the chain to its end, then shorten it.
        let mut chain = Vec::new();
        let mut end = unknown;
        while let Some(Term::Linear { unknown: next, .. }) = self.terms[end.0 as usize] {
            chain.push(end);
            end = next;
        }
        let mut tail = match self.terms[end.0 as usize] {
            Some(found) => found,
            None => Term::Linear { unknown: end, factor: 1, offset: 0 },
        };
        for link in chain.into_iter().rev() {
            if let Some(Term::Linear { factor, offset, .. }) = self.terms[link.0 as usize] {
                tail = tail.scaled(factor, offset);
                self.terms[link.0 as usize] = Some(tail);
            }
        }
        tail.scaled(factor, offset)
    }

    /// Notes that two sizes are equal, as far as something follows from that for one unknown. Sizes that cannot be equal
    /// are let be: the evaluation of the function says so once all is known.
    pub fn equate(&mut self, a: Term, b: Term) {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (a, b) {
            (Term::Known(size), Term::Linear { unknown, factor, offset })
            | (Term::Linear { unknown, factor, offset }, Term::Known(size)) => {
                // factor * unknown + offset = size
                let rest = size.checked_sub(offset);
                if let Some(value) = rest.filter(|rest| rest % factor == 0).and_then(|rest| rest.checked_div(factor)) {
                    self.settle(unknown, Term::Known(value));
                }
            }
            (Term::Linear { unknown: u, factor: f, offset: o }, Term::Linear { unknown: w, factor: g, offset: p }) => {
                self.equate_linear((u, f, o), (w, g, p))
            }
            _ => {}
        }
    }

    /// `f * u + o = g * w + p`
    fn equate_linear(&mut self, (u, f, o): (Unknown, i64, i64), (w, g, p): (Unknown, i64, i64)) {
        if u == w {
            // (f - g) * u = p - o
            let (Some(factor), Some(rest)) = (f.checked_sub(g), p.checked_sub(o)) else { return };
            if factor != 0
                && rest % factor == 0
                && let Some(value) = rest.checked_div(factor)
            {
                self.settle(u, Term::Known(value));
            }
        } else if (f, o) == (g, p) {
            self.settle(u, Term::Linear { unknown: w, factor: 1, offset: 0 });
        } else if f == 1 {
            if let Some(offset) = p.checked_sub(o) {
                self.settle(u, Term::Linear { unknown: w, factor: g, offset });
            }
        } else if g == 1
            && let Some(offset) = o.checked_sub(p)
        {
            self.settle(w, Term::Linear { unknown: u, factor: f, offset });
        }
    }

    fn settle(&mut self, unknown: Unknown, term: Term) {
        self.terms[unknown.0 as usize] = Some(term);
        self.settled += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_pass_through_chains() {
        let mut unknowns = Unknowns::default();
        let terms: Vec<Term> = (0..1000).map(|_| unknowns.fresh()).collect();
        for pair in terms.windows(2) {
            // next = 2 * this - this, in three spellings
            unknowns.equate(pair[1].scaled(1, 3), pair[0].scaled(1, 3));
        }
        unknowns.equate(terms[0].scaled(4, 2), Term::Known(30));
        assert_eq!(unknowns.resolve(terms[999]), Term::Known(7));
        assert_eq!(unknowns.settled(), 1000);
    }

    #[test]
    fn what_has_no_whole_solution_stays_unknown() {
        let mut unknowns = Unknowns::default();
        let (a, b) = (unknowns.fresh(), unknowns.fresh());
        unknowns.equate(a.scaled(3, 0), Term::Known(7));
        unknowns.equate(a.scaled(3, 0), b.scaled(2, 0));
        assert_eq!(unknowns.settled(), 0);
        unknowns.equate(a, b.scaled(2, 1));
        unknowns.equate(a.scaled(1, 0), b.scaled(3, 0));
        assert_eq!((unknowns.resolve(a), unknowns.resolve(b)), (Term::Known(3), Term::Known(1)));
    }

    #[test]
    fn overflow_leaves_the_size_open() {
        let mut unknowns = Unknowns::default();
        let a = unknowns.fresh().scaled(i64::MAX, 0);
        assert_eq!(a.scaled(2, 0), Term::Opaque);
        unknowns.equate(a, Term::Known(i64::MIN));
        assert_eq!(unknowns.resolve(a), a);
    }
}
