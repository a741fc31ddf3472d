//! The parser of expressions: a cursor over tokens that other crates extend with their own notation.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lexer::{Token, tokens};
use crate::{Error, Expr, Interval, Var};

/// The names in scope while an expression is parsed.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    names: BTreeMap<String, Expr>,
    standard: bool,
}

impl Scope {
    /// No name is known until it is defined.
    pub fn empty() -> Scope {
        Scope::default()
    }

    /// `d0, s0, rt0` and so on name the variables; other names can be defined.
    pub fn standard() -> Scope {
        Scope { names: BTreeMap::new(), standard: true }
    }

    /// Gives a name its meaning. False, with nothing changed, when the name already has one.
    pub fn define(&mut self, name: &str, meaning: Expr) -> bool {
        if self.get(name).is_some() {
            return false;
        }
        self.names.insert(name.to_owned(), meaning);
        true
    }

    /// The expression that `name` stands for.
    pub fn get(&self, name: &str) -> Option<Expr> {
        self.names
            .get(name)
            .cloned()
            .or_else(|| if self.standard { standard_variable(name).map(Expr::var) } else { None })
    }
}

/// The variable that `name` is the printed form of.
fn standard_variable(name: &str) -> Option<Var> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let (kind, number) = name.split_at(digits);
    if number.len() > 1 && number.starts_with('0') {
        return None;
    }
    let i = number.parse().ok()?;
    match kind {
        "d" => Some(Var::Dim(i)),
        "s" => Some(Var::Range(i)),
        "rt" => Some(Var::Runtime(i)),
        _ => None,
    }
}

/// Words with a meaning of their own, which no variable can be called.
const KEYWORDS: [&str; 6] = ["floordiv", "ceildiv", "mod", "where", "in", "domain"];

/// The variable names in front of `->`, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Names in parentheses.
    pub dims: Vec<String>,
    /// Names in brackets.
    pub ranges: Vec<String>,
    /// Names in braces.
    pub runtime: Vec<String>,
}

/// Parentheses nest at most this deep; deeper terms are written with `where`.
const MAX_NESTING: usize = 200;

/// A position in the tokens of a text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    tokens: std::sync::Arc<[(Token<'a>, Range<usize>)]>,
    next: usize,
    end: usize,
    nesting: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of `source`.
    ///
    /// # Errors
    /// For a character that begins no token, and an integer beyond 64 bits.
    pub fn new(source: &'a str) -> Result<Cursor<'a>, Error> {
        Ok(Cursor { tokens: tokens(source)?.into(), next: 0, end: source.len(), nesting: 0 })
    }

    /// The position of the cursor, to return to with [`Cursor::at`].
    pub fn position(&self) -> usize {
        self.next
    }

    /// The same text from another position.
    #[must_use]
    pub fn at(&self, position: usize) -> Cursor<'a> {
        Cursor { next: position, nesting: 0, ..self.clone() }
    }

    /// True when nothing is left.
    pub fn at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(t, _)| *t)
    }

    /// The bytes of the next token, or the end of the source.
    pub fn span(&self) -> Range<usize> {
        self.tokens.get(self.next).map_or(self.end..self.end, |(_, s)| s.clone())
    }

    /// True when the next token is this word or mark.
    pub fn peek_is(&self, text: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(t) | Token::Mark(t)) if t == text)
    }

    /// True when the next token is an integer without a sign.
    pub fn peek_is_integer(&self) -> bool {
        matches!(self.peek(), Some(Token::Integer(_)))
    }

    /// Steps over the word or mark if it is next.
    pub fn accept(&mut self, text: &str) -> bool {
        let found = self.peek_is(text);
        self.next += usize::from(found);
        found
    }

    /// Steps over the word or mark.
    ///
    /// # Errors
    /// When something else is next.
    pub fn expect(&mut self, text: &str) -> Result<(), Error> {
        if self.accept(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// Makes sure that nothing is left.
    ///
    /// # Errors
    /// When something is.
    pub fn expect_end(&self) -> Result<(), Error> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    /// The error that `wanted` was expected here.
    pub fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Name(t) | Token::Mark(t)) => format!("`{t}`"),
            Some(Token::Integer(v)) => format!("`{v}`"),
        };
        Error::Syntax { message: format!("expected {wanted}, found {found}"), span: self.span() }
    }

    /// Reads any identifier that is not a keyword.
    ///
    /// # Errors
    /// When none is next.
    pub fn name(&mut self) -> Result<&'a str, Error> {
        match self.peek() {
            Some(Token::Name(name)) if !KEYWORDS.contains(&name) => {
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Reads an integer with an optional minus sign.
    ///
    /// # Errors
    /// When none is next, or it does not fit `i64`.
    pub fn integer(&mut self) -> Result<i64, Error> {
        let negative = self.accept("-");
        let Some(Token::Integer(magnitude)) = self.peek() else { return Err(self.unexpected("an integer")) };
        let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        let value = i64::try_from(value).map_err(|_| Error::overflow("an integer literal").at(self.span()))?;
        self.next += 1;
        Ok(value)
    }

    /// Reads an integer without a sign.
    ///
    /// # Errors
    /// When none is next.
    pub fn magnitude(&mut self) -> Result<u64, Error> {
        let Some(Token::Integer(magnitude)) = self.peek() else { return Err(self.unexpected("an integer")) };
        self.next += 1;
        Ok(magnitude)
    }

    /// Reads `[lo, hi]`.
    ///
    /// # Errors
    /// When the text is something else.
    pub fn interval(&mut self) -> Result<Interval, Error> {
        self.expect("[")?;
        let lo = self.integer()?;
        self.expect(",")?;
        let hi = self.integer()?;
        self.expect("]")?;
        Ok(Interval::new(lo, hi))
    }

    /// Steps to the first occurrence of `stop` outside parentheses, brackets and braces, or to the end.
    ///
    /// # Errors
    /// When a bracket closes that was not opened.
    pub fn skip_balanced(&mut self, stop: &str) -> Result<(), Error> {
        let mut open = 0usize;
        while let Some(token) = self.peek() {
            if open == 0 && self.peek_is(stop) {
                break;
            }
            match token {
                Token::Mark("(" | "[" | "{") => open += 1,
                Token::Mark(")" | "]" | "}") => {
                    open = open.checked_sub(1).ok_or_else(|| self.unexpected(&format!("`{stop}`")))?;
                }
                _ => {}
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Steps over `-> (…)`, whose expressions may use names that are defined later, and returns where they begin; see
    /// [`Cursor::at`].
    ///
    /// # Errors
    /// When the text is something else, or a bracket closes that was not opened.
    pub fn skip_results(&mut self) -> Result<usize, Error> {
        self.expect("->")?;
        self.expect("(")?;
        let position = self.position();
        self.skip_balanced(")")?;
        self.expect(")")?;
        Ok(position)
    }

    /// Reads `(names)[names]{names}` and defines the names as variables by position.
    ///
    /// # Errors
    /// When a name is repeated, or the text is something else.
    pub fn header(&mut self, scope: &mut Scope) -> Result<Header, Error> {
        self.expect("(")?;
        let dims = self.names(scope, ")", Var::Dim)?;
        let ranges = if self.accept("[") { self.names(scope, "]", Var::Range)? } else { Vec::new() };
        let runtime = if self.accept("{") { self.names(scope, "}", Var::Runtime)? } else { Vec::new() };
        Ok(Header { dims, ranges, runtime })
    }

    fn names(&mut self, scope: &mut Scope, close: &str, kind: fn(u32) -> Var) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        while !self.accept(close) {
            if !names.is_empty() {
                self.expect(",")?;
            }
            let span = self.span();
            let name = self.name()?;
            let i =
                u32::try_from(names.len()).map_err(|_| Error::overflow("a number of variables").at(span.clone()))?;
            if !scope.define(name, Expr::var(kind(i))) {
                return Err(Error::Syntax { message: format!("the name `{name}` is already taken"), span });
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }

    /// Reads `where a = …, b = …` if it is next, and defines the names; stops before a name that no `=` follows.
    ///
    /// # Errors
    /// When a name is repeated, or the text is something else.
    pub fn where_clause(&mut self, scope: &mut Scope) -> Result<(), Error> {
        if !self.accept("where") {
            return Ok(());
        }
        loop {
            let span = self.span();
            let name = self.name()?;
            self.expect("=")?;
            let meaning = self.expression(scope)?;
            if !scope.define(name, meaning) {
                return Err(Error::Syntax { message: format!("the name `{name}` is already taken"), span });
            }
            let again = matches!(
                self.tokens.get(self.next..self.next + 3),
                Some([(Token::Mark(","), _), (Token::Name(_), _), (Token::Mark("="), _)])
            );
            if !again {
                return Ok(());
            }
            self.next += 1;
        }
    }

    /// Reads expressions separated by commas up to `close`, which is read too.
    ///
    /// # Errors
    /// When the text is something else, and on overflow.
    pub fn expression_list(&mut self, scope: &Scope, close: &str) -> Result<Vec<Expr>, Error> {
        let mut list = Vec::new();
        while !self.accept(close) {
            if !list.is_empty() {
                self.expect(",")?;
            }
            list.push(self.expression(scope)?);
        }
        Ok(list)
    }

    /// Reads an expression.
    ///
    /// # Errors
    /// When the text is something else, on overflow, and when parentheses nest more than 200 deep.
    pub fn expression(&mut self, scope: &Scope) -> Result<Expr, Error> {
        let start = self.span().start;
        let first = self.product(scope)?;
        // Summands are collected and added up once, so that long sums are read in little more than linear time.
        let (mut constant, mut terms, mut is_alone) = (first.constant_term(), Vec::new(), true);
        loop {
            let span = self.span();
            let negative = if self.accept("+") {
                false
            } else if self.accept("-") {
                true
            } else if is_alone {
                return Ok(first);
            } else {
                return Expr::sum(constant, terms).map_err(|e| e.at(start..span.start));
            };
            if std::mem::take(&mut is_alone) {
                terms.extend_from_slice(first.terms());
            }
            let next = if negative { self.subtrahend(scope)? } else { self.product(scope)? };
            constant = constant.checked_add(next.constant_term()).ok_or(Error::overflow("a sum").at(span))?;
            terms.extend_from_slice(next.terms());
        }
    }

    /// Reads a product with a minus in front of it that is no sign: its negative.
    fn subtrahend(&mut self, scope: &Scope) -> Result<Expr, Error> {
        // The least i64 has no positive counterpart, so it is read together with the minus.
        if self.peek() == Some(Token::Integer(1 << 63)) && !self.operator_follows() {
            self.next += 1;
            return Ok(Expr::constant(i64::MIN));
        }
        let product = self.product(scope)?;
        product.checked_neg().map_err(|e| e.at(self.span()))
    }

    fn product(&mut self, scope: &Scope) -> Result<Expr, Error> {
        let mut left = self.factor(scope)?;
        loop {
            let span = self.span();
            let implied = matches!(self.peek(), Some(Token::Name(n)) if !KEYWORDS.contains(&n))
                && left.as_constant().is_some()
                && matches!(self.tokens.get(self.next.wrapping_sub(1)), Some((Token::Integer(_), s)) if s.end == span.start);
            let made = if self.accept("*") || implied {
                let right = self.factor(scope)?;
                match (left.as_constant(), right.as_constant()) {
                    (_, Some(factor)) => left.checked_mul(factor),
                    (Some(factor), _) => right.checked_mul(factor),
                    _ => {
                        let message = "one side of a product must be a constant".to_owned();
                        return Err(Error::Syntax { message, span });
                    }
                }
            } else if self.accept("floordiv") || self.accept("floorDiv") {
                let divisor = self.constant(scope)?;
                left.checked_floor_div(divisor)
            } else if self.accept("ceildiv") || self.accept("ceilDiv") {
                let divisor = self.constant(scope)?;
                left.checked_ceil_div(divisor)
            } else if self.accept("mod") {
                let modulus = self.constant(scope)?;
                left.checked_modulo(modulus)
            } else {
                return Ok(left);
            };
            left = made.map_err(|e| e.at(span))?;
        }
    }

    fn operator_follows(&self) -> bool {
        match self.tokens.get(self.next + 1) {
            Some((Token::Mark(m), _)) => *m == "*",
            Some((Token::Name(n), _)) => !["where", "in"].contains(n),
            _ => false,
        }
    }

    fn constant(&mut self, scope: &Scope) -> Result<i64, Error> {
        let span = self.span();
        self.factor(scope)?
            .as_constant()
            .ok_or_else(|| Error::Syntax { message: "a divisor or modulus must be a constant".to_owned(), span })
    }

    /// Reads a factor with the signs in front of it, which bind before any operator.
    fn factor(&mut self, scope: &Scope) -> Result<Expr, Error> {
        let start = self.span().start;
        let mut negative = false;
        while self.peek_is("-") && !self.is_signed_integer() {
            self.next += 1;
            negative = !negative;
        }
        let unsigned = self.operand(scope)?;
        if negative { unsigned.checked_neg().map_err(|e| e.at(start..self.span().start)) } else { Ok(unsigned) }
    }

    /// True when a sign and an integer are next.
    fn is_signed_integer(&self) -> bool {
        matches!(self.tokens.get(self.next..self.next + 2), Some([(Token::Mark("-"), _), (Token::Integer(_), _)]))
    }

    fn operand(&mut self, scope: &Scope) -> Result<Expr, Error> {
        let span = self.span();
        match self.peek() {
            Some(Token::Integer(_) | Token::Mark("-")) => Ok(Expr::constant(self.integer()?)),
            Some(Token::Mark("(")) => {
                if self.nesting >= MAX_NESTING {
                    let message =
                        format!("parentheses nest more than {MAX_NESTING} deep; name inner terms with `where`");
                    return Err(Error::Syntax { message, span });
                }
                self.next += 1;
                self.nesting += 1;
                let inner = self.expression(scope)?;
                self.nesting -= 1;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Token::Name(_)) => {
                let name = self.name()?;
                scope.get(name).ok_or_else(|| Error::Syntax { message: format!("unknown name `{name}`"), span })
            }
            _ => Err(self.unexpected("a variable, an integer or `(`")),
        }
    }
}
