//! The parser of laws.

use super::{Claim, Condition, Operator, Pattern, Relation};
use crate::Error;
use crate::text::Cursor;

/// Parentheses nest at most this deep.
const MAX_NESTING: usize = 64;
/// Texts of more bytes are refused, so that no pattern is too deep for the stack.
const MAX_LENGTH: usize = 1024;

/// Reads an equation or an equivalence.
pub(super) fn claim(source: &str) -> Result<Claim, Error> {
    let mut parser = Parser::new(source)?;
    let mut left = parser.conditions()?;
    if parser.cursor.accept("<=>") {
        let right = parser.conditions()?;
        parser.cursor.expect_end()?;
        return Ok(Claim::Equivalent(left, right));
    }
    parser.cursor.expect_end()?;
    match (left.pop(), left.is_empty()) {
        (Some(Condition::Compare { left, relation: Relation::Equal, right }), true) => Ok(Claim::Equal(left, right)),
        _ => Err(Error::Syntax {
            message: "a law is one equation, or conditions on both sides of `<=>`".to_owned(),
            span: 0..source.len(),
        }),
    }
}

/// Reads a condition; chains are taken apart.
pub(super) fn conditions(source: &str) -> Result<Vec<Condition>, Error> {
    let mut parser = Parser::new(source)?;
    let conditions = parser.conditions()?;
    parser.cursor.expect_end()?;
    Ok(conditions)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    nesting: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Result<Parser<'a>, Error> {
        if source.len() > MAX_LENGTH {
            return Err(Error::Syntax {
                message: format!("a law has at most {MAX_LENGTH} bytes"),
                span: MAX_LENGTH..source.len(),
            });
        }
        Ok(Parser { cursor: Cursor::new(source)?, nesting: 0 })
    }

    fn conditions(&mut self) -> Result<Vec<Condition>, Error> {
        let mut found = Vec::new();
        loop {
            self.condition(&mut found)?;
            if !self.cursor.accept(",") {
                return Ok(found);
            }
        }
    }

    fn condition(&mut self, found: &mut Vec<Condition>) -> Result<(), Error> {
        let mut left = self.sum()?;
        if self.cursor.accept("|") {
            found.push(Condition::Divides { divisor: left, dividend: self.sum()? });
            return Ok(());
        }
        let Some(mut relation) = self.relation() else { return Err(self.cursor.unexpected("a relation")) };
        loop {
            let right = self.sum()?;
            found.push(Condition::Compare { left, relation, right: right.clone() });
            match self.relation() {
                Some(next) => (left, relation) = (right, next),
                None => return Ok(()),
            }
        }
    }

    fn relation(&mut self) -> Option<Relation> {
        const RELATIONS: [(&str, Relation); 5] = [
            ("=", Relation::Equal),
            ("<", Relation::Less),
            ("<=", Relation::LessOrEqual),
            (">", Relation::Greater),
            (">=", Relation::GreaterOrEqual),
        ];
        RELATIONS.into_iter().find_map(|(mark, relation)| self.cursor.accept(mark).then_some(relation))
    }

    fn sum(&mut self) -> Result<Pattern, Error> {
        let mut sum = self.product()?;
        loop {
            let operator = if self.cursor.accept("+") {
                Operator::Add
            } else if self.cursor.accept("-") {
                Operator::Sub
            } else {
                return Ok(sum);
            };
            sum = Pattern::binary(operator, sum, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Pattern, Error> {
        let mut product = self.factor()?;
        loop {
            let operator = if self.cursor.accept("*") {
                Operator::Mul
            } else if self.cursor.accept("floordiv") {
                Operator::FloorDiv
            } else if self.cursor.accept("mod") {
                Operator::Mod
            } else {
                return Ok(product);
            };
            product = Pattern::binary(operator, product, self.factor()?);
        }
    }

    fn factor(&mut self) -> Result<Pattern, Error> {
        if self.nesting >= MAX_NESTING {
            return Err(Error::Syntax {
                message: format!("parentheses nest deeper than {MAX_NESTING}"),
                span: self.cursor.span(),
            });
        }
        self.nesting += 1;
        // Signs bind before any operator, as in the text of expressions.
        let mut signs = 0;
        while self.cursor.accept("-") {
            signs += 1;
        }
        let unsigned = self.factor_within()?;
        self.nesting -= 1;
        Ok((0..signs).fold(unsigned, |factor, _| Pattern::Neg(Box::new(factor))))
    }

    fn factor_within(&mut self) -> Result<Pattern, Error> {
        if self.cursor.accept("(") {
            let inner = self.sum()?;
            self.cursor.expect(")")?;
            Ok(inner)
        } else if self.cursor.accept("ceildiv") {
            self.cursor.expect("(")?;
            let dividend = self.sum()?;
            self.cursor.expect(",")?;
            let divisor = self.sum()?;
            self.cursor.expect(")")?;
            Ok(Pattern::binary(Operator::CeilDiv, dividend, divisor))
        } else if self.cursor.accept("sum") {
            self.cursor.expect("(")?;
            let index = self.letter()?;
            self.cursor.expect(",")?;
            let count = Box::new(self.sum()?);
            self.cursor.expect(",")?;
            let body = Box::new(self.sum()?);
            self.cursor.expect(")")?;
            Ok(Pattern::Sum { index, count, body })
        } else if self.cursor.peek_is_integer() {
            self.cursor.integer().map(Pattern::Number)
        } else {
            self.letter().map(Pattern::Letter)
        }
    }

    fn letter(&mut self) -> Result<char, Error> {
        let wanted = self.cursor.unexpected("a letter, an integer or `(`");
        match self.cursor.name().map(|name| (name.chars().next(), name.len())) {
            Ok((Some(letter), 1)) if letter.is_ascii_lowercase() => Ok(letter),
            _ => Err(wanted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> String {
        let list = conditions(source).expect("a condition");
        list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn text_round_trips() {
        for text in [
            "c > 0",
            "x floordiv (-c) = (-x) floordiv c",
            "k*((x floordiv k + z) mod c) >= (x + k*z) mod (k*c) - (x + k*z) mod k",
            "c - 1 - (-x - 1) mod c < -(y - (z - 1))",
            "sum(i, n, (x + i) floordiv n) = x*(y*z)",
            "ceildiv(l, a) <= x, c | x - y + 1",
            "-(x*y) = x*y*z mod c floordiv 2",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn signs_bind_before_operators() {
        for (text, wanted) in [
            ("-x mod c = -x*y floordiv c", "(-x) mod c = (-x)*y floordiv c"),
            ("x + -y = x - -y", "x + (-y) = x - (-y)"),
            ("--x = -(x mod c)", "-(-x) = -(x mod c)"),
            ("x*-y = -7 floordiv c", "x*(-y) = (-7) floordiv c"),
        ] {
            assert_eq!(shown(text), wanted);
            assert_eq!(shown(wanted), wanted);
        }
    }

    #[test]
    fn chains_are_taken_apart() {
        assert_eq!(shown("c*q <= z < c*q + c, c | m*k"), "c*q <= z, z < c*q + c, c | m*k");
        assert_eq!(shown("l <= x = y"), "l <= x, x = y");
    }

    #[test]
    fn errors_have_places() {
        for (text, message, place) in [
            ("c >", "expected a letter, an integer or `(`, found the end", 3..3),
            ("c", "expected a relation, found the end", 1..1),
            ("c > 0,", "expected a letter, an integer or `(`, found the end", 6..6),
            ("xy > 0", "expected a letter, an integer or `(`, found `xy`", 0..2),
            ("X > 0", "expected a letter, an integer or `(`, found `X`", 0..1),
            ("c > 99999999999999999999", "integer literal out of range", 4..24),
            ("c > 9223372036854775808", "integer overflow in an integer literal", 4..23),
            ("(c > 0", "expected `)`, found `>`", 3..4),
            ("sum(2, n, x) = 0", "expected a letter, an integer or `(`, found `2`", 4..5),
            ("c ! 0", "unexpected character '!'", 2..3),
            ("c | x > 0", "expected the end, found `>`", 6..7),
            ("c > 0 0", "expected the end, found `0`", 6..7),
        ] {
            let Err(Error::Syntax { message: found, span }) = conditions(text) else { panic!("{text} was read") };
            assert_eq!((found.as_str(), span), (message, place), "{text}");
        }
        let deep = "(".repeat(MAX_LENGTH);
        assert!(conditions(&deep).is_err_and(|e| e.to_string().contains("nest deeper")));
        assert!(conditions(&format!("{deep} ")).is_err_and(|e| e.to_string().contains("at most")));
    }

    #[test]
    fn claims_are_equations_or_equivalences() {
        assert!(matches!(claim("x mod 1 = 0"), Ok(Claim::Equal(..))));
        assert!(matches!(claim("l <= a*x <= h <=> ceildiv(l, a) <= x <= h floordiv a"), Ok(Claim::Equivalent(l, r))
            if l.len() == 2 && r.len() == 2));
        for text in ["x > 0", "x = y = z", "x = y, y = z", "c | x", "x = y <=> y = x <=> x = y", ""] {
            assert!(claim(text).is_err(), "{text}");
        }
    }
}
