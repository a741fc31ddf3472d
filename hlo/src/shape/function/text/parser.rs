//! The parser of shape functions.

mod operation;

use super::codes;
use super::lexer::{Lexer, Token};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Span;
use crate::shape::function::builder::Builder;
use crate::shape::function::{Function, Library, LibraryError, Type, ValueId};
use std::collections::HashMap;

/// Reads one function, `func.func @name(…) … { … }`.
///
/// # Errors
/// The first finding, with line and column.
pub fn parse_function(text: &str) -> Result<Function, Diagnostics> {
    let read = || {
        let mut parser = Parser::new(text)?;
        let function = parser.function()?;
        parser.end()?;
        Ok(function)
    };
    read().map_err(|finding: Diagnostic| Diagnostics::from(finding).locate(text))
}

impl Library {
    /// Reads a library, `shape.function_library @name { … } mapping { … }`, and if there are operations that need no
    /// function, `without { operation = "reason" … }`.
    ///
    /// # Errors
    /// The first finding, with line and column.
    pub fn parse(text: &str) -> Result<Library, Diagnostics> {
        let mut library = Library::default();
        library.name = library.read(text)?;
        Ok(library)
    }

    /// Adds the functions of a library's text to this one; they may call those that are here already. In case of an
    /// error this library stays as it was.
    ///
    /// # Errors
    /// The first finding, with line and column.
    pub fn extend_from_text(&mut self, text: &str) -> Result<(), Diagnostics> {
        self.read(text).map(drop)
    }

    fn read(&mut self, text: &str) -> Result<String, Diagnostics> {
        let mut read = || {
            let mut parser = Parser::new(text)?;
            let parts = parser.library()?;
            parser.end()?;
            let mut grown = self.clone();
            let extended = grown.extend(parts.functions, parts.mapping);
            extended.and_then(|()| grown.extend_without(parts.without)).map_err(|error| {
                let about = match &error {
                    LibraryError::DuplicateFunction(name) => parts.places.get(&format!("@{name}")),
                    LibraryError::DuplicateMapping(name) | LibraryError::DuplicateReason(name) => {
                        parts.places.get(name)
                    }
                    _ => None,
                };
                Diagnostic::new(codes::LIBRARY, about.copied().unwrap_or(parts.start), error.to_string())
            })?;
            *self = grown;
            Ok(parts.name)
        };
        read().map_err(|finding: Diagnostic| Diagnostics::from(finding).locate(text))
    }
}

/// What stands in the text of a library.
struct LibraryParts {
    name: String,
    functions: Vec<Function>,
    mapping: Vec<(String, String)>,
    without: Vec<(String, String)>,
    /// Where the last function, mapping or reason of each name stands, functions with `@`.
    places: HashMap<String, Span>,
    start: Span,
}

/// A reader with one token of look-ahead.
pub(super) struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    span: Span,
    /// The values that are visible, by name, with the depth of the region that defines them.
    scope: Vec<HashMap<&'t str, ValueId>>,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Parsed<Self> {
        let mut lexer = Lexer::new(text);
        let (token, span) = lexer.next()?;
        Ok(Parser { lexer, token, span, scope: Vec::new() })
    }

    fn advance(&mut self) -> Parsed<(Token<'t>, Span)> {
        let (token, span) = self.lexer.next()?;
        Ok((std::mem::replace(&mut self.token, token), std::mem::replace(&mut self.span, span)))
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(Diagnostic::new(codes::SYNTAX, self.span, format!("expected {what}, found {}", self.token.describe())))
    }

    fn is(&self, mark: char) -> bool {
        self.token == Token::Mark(mark)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token == Token::Word(word)
    }

    /// Passes over the mark if it is here.
    fn eat(&mut self, mark: char) -> Parsed<bool> {
        let here = self.is(mark);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect(&mut self, mark: char) -> Parsed<Span> {
        if self.is(mark) { Ok(self.advance()?.1) } else { self.expected(&format!("`{mark}`")) }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.is_word(word) { self.advance().map(drop) } else { self.expected(&format!("`{word}`")) }
    }

    fn end(&mut self) -> Parsed<()> {
        if self.token == Token::End { Ok(()) } else { self.expected("the end of the text") }
    }

    fn symbol(&mut self) -> Parsed<&'t str> {
        let Token::Symbol(name) = self.token else { return self.expected("a name such as `@f`") };
        self.advance()?;
        Ok(name)
    }

    fn string(&mut self, what: &str) -> Parsed<String> {
        let Token::Text(text) = &self.token else { return self.expected(what) };
        let text = text.clone();
        self.advance()?;
        Ok(text)
    }

    fn integer(&mut self) -> Parsed<i64> {
        let Token::Integer(digits) = self.token else { return self.expected("a number") };
        let Ok(value) = digits.parse() else {
            return Err(Diagnostic::new(codes::NUMBER, self.span, format!("{digits} does not fit 64 bits")));
        };
        self.advance()?;
        Ok(value)
    }

    fn truth(&mut self) -> Parsed<bool> {
        let value = match self.token {
            Token::Word("true") => true,
            Token::Word("false") => false,
            _ => return self.expected("`true` or `false`"),
        };
        self.advance()?;
        Ok(value)
    }

    fn ty(&mut self) -> Parsed<Type> {
        let Token::Word(word) = self.token else { return self.expected("a type") };
        let Some(ty) = Type::from_name(word) else {
            let names: Vec<&str> = Type::ALL.iter().map(|ty| ty.name()).collect();
            return self.expected(&format!("a type, one of {}", names.join(", ")));
        };
        self.advance()?;
        Ok(ty)
    }

    /// Types with commas between them, in parentheses or without.
    fn types(&mut self) -> Parsed<Vec<Type>> {
        let parentheses = self.eat('(')?;
        let mut types = Vec::new();
        if parentheses && self.eat(')')? {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            if !self.eat(',')? {
                break;
            }
        }
        if parentheses {
            self.expect(')')?;
        }
        Ok(types)
    }

    fn library(&mut self) -> Parsed<LibraryParts> {
        let start = self.span;
        self.expect_word("shape.function_library")?;
        let name = self.symbol()?.to_owned();
        self.expect('{')?;
        let mut parts = LibraryParts {
            name,
            functions: Vec::new(),
            mapping: Vec::new(),
            without: Vec::new(),
            places: HashMap::new(),
            start,
        };
        while !self.is('}') {
            let place = self.span;
            let function = self.function()?;
            parts.places.insert(format!("@{}", function.name()), place);
            parts.functions.push(function);
        }
        self.expect('}')?;
        self.expect_word("mapping")?;
        self.expect('{')?;
        while !self.is('}') {
            let place = self.span;
            let operation = self.operation_name()?;
            self.expect('=')?;
            parts.places.insert(operation.clone(), place);
            parts.mapping.push((operation, self.symbol()?.to_owned()));
            self.eat(',')?;
        }
        self.expect('}')?;
        if self.is_word("without") {
            self.advance()?;
            self.expect('{')?;
            while !self.is('}') {
                let place = self.span;
                let operation = self.operation_name()?;
                self.expect('=')?;
                parts.places.insert(operation.clone(), place);
                parts.without.push((operation, self.string("the reason, as a string")?));
                self.eat(',')?;
            }
            self.expect('}')?;
        }
        Ok(parts)
    }

    /// An opcode or the target of a custom call, as a word or a string.
    fn operation_name(&mut self) -> Parsed<String> {
        match &self.token {
            Token::Word(word) => {
                let word = (*word).to_owned();
                self.advance()?;
                Ok(word)
            }
            _ => self.string("the name of an operation"),
        }
    }

    fn function(&mut self) -> Parsed<Function> {
        let start = self.span;
        if !self.is_word("func.func") {
            return self.expected("`func.func`");
        }
        self.advance()?;
        let mut builder = Builder::new(self.symbol()?);
        self.scope = vec![HashMap::new()];
        self.expect('(')?;
        while !self.is(')') {
            self.argument(&mut builder, None)?;
            if !self.eat(',')? {
                break;
            }
        }
        self.expect(')')?;
        let declared_place = self.span;
        let declared = if self.token == Token::Arrow {
            self.advance()?;
            self.types()?
        } else {
            Vec::new()
        };
        self.expect('{')?;
        let results = self.statements(&mut builder, "return")?;
        self.expect('}')?;
        if builder.types(&results) != declared {
            let message = "the values returned are not of the types that the function declares";
            return Err(Diagnostic::new(codes::TYPE, declared_place, message));
        }
        builder.finish(results).map_err(|message| Diagnostic::new(codes::TYPE, start, message))
    }

    /// `%name: type`; the type may be left out where it is known.
    fn argument(&mut self, builder: &mut Builder, known: Option<Type>) -> Parsed<()> {
        let Token::Value(name) = self.token else { return self.expected("a name such as `%x`") };
        let (_, span) = self.advance()?;
        let ty = match known {
            None => {
                self.expect(':')?;
                self.ty()?
            }
            Some(known) => {
                if self.eat(':')? {
                    let place = self.span;
                    let given = self.ty()?;
                    if given != known {
                        let message = format!("%{name} is {known}, not {given}");
                        return Err(Diagnostic::new(codes::TYPE, place, message));
                    }
                }
                known
            }
        };
        let id = builder.argument(ty, name);
        self.define(name, id, span)
    }

    fn define(&mut self, name: &'t str, id: ValueId, span: Span) -> Parsed<()> {
        if self.scope.iter().any(|values| values.contains_key(name)) {
            return Err(Diagnostic::new(codes::DUPLICATE, span, format!("%{name} is defined already")));
        }
        self.scope.last_mut().expect("a function is being read").insert(name, id);
        Ok(())
    }

    fn operand(&mut self) -> Parsed<ValueId> {
        let Token::Value(name) = self.token else { return self.expected("a value such as `%x`") };
        let found = self.scope.iter().rev().find_map(|values| values.get(name)).copied();
        let Some(id) = found else {
            return Err(Diagnostic::new(codes::VALUE, self.span, format!("%{name} is not defined here")));
        };
        self.advance()?;
        Ok(id)
    }

    /// Values with commas between them, none where there is no value. The first stands on the line of what it belongs
    /// to, unless that is open: a value at the start of a line is the result of the next operation.
    fn operands(&mut self, open: bool) -> Parsed<Vec<ValueId>> {
        let mut operands = Vec::new();
        if !open && self.lexer.began_line(self.span) {
            return Ok(operands);
        }
        while let Token::Value(_) = self.token {
            operands.push(self.operand()?);
            // The comma may also stand before an error message.
            if !self.eat(',')? {
                break;
            }
            if !matches!(self.token, Token::Value(_)) {
                self.pending_comma()?;
                break;
            }
        }
        Ok(operands)
    }

    /// After a comma that no value follows, an error message must.
    fn pending_comma(&self) -> Parsed<()> {
        if self.is_word("error") || matches!(self.token, Token::Text(_)) {
            return Ok(());
        }
        self.expected("a value or `error=`")
    }
}
