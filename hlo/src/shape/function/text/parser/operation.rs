//! Parsing of operations and regions.

use super::super::codes;
use super::super::lexer::Token;
use super::{Parsed, Parser};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::nearest;
use crate::ir::Span;
use crate::shape::function::builder::Builder;
use crate::shape::function::{Extents, Kind, MAX_DEPTH, Region, Type, ValueId};
use std::collections::HashMap;

/// How the operands of an operation are written.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Spelling {
    /// `shape.meet %a, %b, error="…"`
    Pretty,
    /// `"shape.meet"(%a, %b) {error = "…"} : (…) -> …`
    Generic,
}

/// The types that stand after an operation, before the arrow and after it.
struct Signature {
    given: Option<Vec<Type>>,
    yielded: Option<Vec<Type>>,
}

impl<'t> Parser<'t> {
    /// Operations up to the terminator; the values it yields.
    pub(super) fn statements(&mut self, builder: &mut Builder, terminator: &str) -> Parsed<Vec<ValueId>> {
        loop {
            match self.token {
                Token::Word(word) if word == terminator => return self.terminator(builder),
                Token::Word("return" | "shape.yield" | "shape.assuming_yield") => {
                    return self.expected(&format!("`{terminator}`"));
                }
                Token::Mark('}') | Token::End => return self.expected(&format!("an operation or `{terminator}`")),
                _ => self.statement(builder)?,
            }
        }
    }

    fn terminator(&mut self, builder: &Builder) -> Parsed<Vec<ValueId>> {
        self.advance()?;
        let results = self.operands(false)?;
        if self.is(':') {
            self.advance()?;
            let place = self.span;
            if self.types()? != builder.types(&results) {
                let message = "the types are not those of the values";
                return Err(Diagnostic::new(codes::TYPE, place, message));
            }
        }
        Ok(results)
    }

    fn statement(&mut self, builder: &mut Builder) -> Parsed<()> {
        let mut names: Vec<(&'t str, Span)> = Vec::new();
        while let Token::Value(name) = self.token {
            names.push((name, self.advance()?.1));
            if !self.eat(',')? {
                break;
            }
        }
        if !names.is_empty() {
            self.expect('=')?;
        }
        let place = self.span;
        let (name, spelling) = match &self.token {
            Token::Word(word) => ((*word).to_owned(), Spelling::Pretty),
            Token::Text(text) => (text.clone(), Spelling::Generic),
            _ => return self.expected("an operation"),
        };
        self.advance()?;
        let results = self.operation(builder, &name, spelling, place)?;
        if results.len() != names.len() {
            let message = format!("{name} has {} results, {} are named", results.len(), names.len());
            return Err(Diagnostic::new(codes::COUNT, place, message));
        }
        for (id, (name, span)) in results.into_iter().zip(names) {
            builder.rename(id, name);
            self.define(name, id, span)?;
        }
        Ok(())
    }

    fn operation(
        &mut self,
        builder: &mut Builder,
        name: &str,
        spelling: Spelling,
        place: Span,
    ) -> Parsed<Vec<ValueId>> {
        let mut kind = self.kind(name, place)?;
        let parentheses = spelling == Spelling::Generic || self.is('(');
        if parentheses {
            self.expect('(')?;
        }
        let mut operands = self.operands(parentheses)?;
        if parentheses {
            self.expect(')')?;
        }
        let error = self.error(&kind)?;
        let types_place = self.span;
        let Signature { given, mut yielded } = self.signature()?;
        match &mut kind {
            Kind::Attribute(_, ty) => {
                let [only] = given.as_deref().or(yielded.as_deref()).unwrap_or_default() else {
                    return self.expected("`: ` and the type of the attribute");
                };
                *ty = *only;
            }
            Kind::ConstShape(extents) => {
                let written = given.as_deref().or(yielded.as_deref());
                if written == Some(&[Type::Sizes]) {
                    kind = Kind::ConstSizes(std::mem::take(extents));
                }
            }
            Kind::Call(_, results) => match yielded.take() {
                Some(types) => *results = types,
                None => return self.expected("`: (…) -> (…)`, the types of the call"),
            },
            _ => {}
        }
        let regions = self.regions(builder, &kind, &operands)?;
        let operand_types = builder.types(&operands);
        let results = builder
            .push(kind.clone(), std::mem::take(&mut operands), regions, error)
            .map_err(|message| Diagnostic::new(codes::TYPE, place, message))?;
        let result_types = builder.types(&results);
        let fits_operands = |types: &[Type]| {
            types == operand_types
                || (kind == Kind::Reduce && operand_types.first() == types.first() && types.len() == 1)
        };
        // Without an arrow the types may be those of the operands or, as the document has it, of the results.
        let sound = match (&given, &yielded) {
            (None, None) => true,
            (Some(types), None) => fits_operands(types) || *types == result_types,
            (None, Some(types)) => *types == result_types,
            (Some(types), Some(results)) => fits_operands(types) && *results == result_types,
        };
        if !sound {
            let show = |types: &[Type]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
            let message = format!("{} is here ({}) -> ({})", kind.name(), show(&operand_types), show(&result_types));
            return Err(Diagnostic::new(codes::TYPE, types_place, message));
        }
        Ok(results)
    }

    /// The operation of this name, with what stands between name and operands.
    fn kind(&mut self, name: &str, place: Span) -> Parsed<Kind> {
        Ok(match name {
            "shape.const_size" => Kind::ConstSize(self.integer()?),
            "shape.const_bool" => Kind::ConstBool(self.truth()?),
            "shape.const_witness" => Kind::ConstWitness(self.truth()?),
            "shape.const_shape" => {
                let mut extents = Extents::new();
                self.expect('[')?;
                while !self.is(']') {
                    extents.push(self.integer()?);
                    if !self.eat(',')? {
                        break;
                    }
                }
                self.expect(']')?;
                Kind::ConstShape(extents)
            }
            "shape.attribute" => Kind::Attribute(self.string("the name of an attribute, in quotes")?, Type::Size),
            "func.call" | "call" => Kind::Call(self.symbol()?.to_owned(), Vec::new()),
            // As the document's form 3 has it, without the name of the dialect.
            "and" => Kind::And,
            "concat" => Kind::Concat,
            _ => match Kind::plain(name) {
                Some(kind) => kind,
                None => {
                    let known = Kind::PLAIN.iter().map(Kind::name).chain(["shape.const_size", "shape.const_shape"]);
                    let hint =
                        nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    let message = format!("there is no operation `{name}`{hint}");
                    return Err(Diagnostic::new(codes::OPERATION, place, message));
                }
            },
        })
    }

    /// `, error="…"`, `{error = "…"}`, or for `assert` `, "…"`.
    fn error(&mut self, kind: &Kind) -> Parsed<Option<String>> {
        if self.is('{') && kind.region_count() == 0 {
            self.advance()?;
            self.expect_word("error")?;
            self.expect('=')?;
            let error = self.string("an error message, in quotes")?;
            self.expect('}')?;
            return Ok(Some(error));
        }
        self.eat(',')?;
        if self.is_word("error") {
            self.advance()?;
            self.expect('=')?;
            return self.string("an error message, in quotes").map(Some);
        }
        match self.token {
            Token::Text(_) if *kind == Kind::Assert => self.string("a message").map(Some),
            _ => Ok(None),
        }
    }

    /// `: types`, `: types -> types`, `-> types` or nothing.
    fn signature(&mut self) -> Parsed<Signature> {
        let mut given = None;
        if self.eat(':')? && self.token != Token::Arrow {
            given = Some(self.types()?);
        }
        let mut yielded = None;
        if self.token == Token::Arrow {
            self.advance()?;
            yielded = Some(self.types()?);
        }
        Ok(Signature { given, yielded })
    }

    fn regions(&mut self, builder: &mut Builder, kind: &Kind, operands: &[ValueId]) -> Parsed<Vec<Region>> {
        let mut regions = Vec::new();
        for position in 0..kind.region_count() {
            if position > 0 {
                self.expect_word("else")?;
            }
            let start = self.expect('{')?;
            if builder.depth() >= MAX_DEPTH {
                let message = format!("regions nest deeper than {MAX_DEPTH}");
                return Err(Diagnostic::new(codes::TOO_DEEP, start, message));
            }
            builder.open();
            self.scope.push(HashMap::new());
            if let Token::Block(_) = self.token {
                let (_, place) = self.advance()?;
                let types = match kind {
                    Kind::Reduce => builder.loop_types(operands).unwrap_or_default(),
                    _ => Vec::new(),
                };
                self.block_arguments(builder, &types, place)?;
            }
            let terminator = if *kind == Kind::Assuming { "shape.assuming_yield" } else { "shape.yield" };
            let results = self.statements(builder, terminator)?;
            self.expect('}')?;
            self.scope.pop();
            regions.push(builder.close(results));
        }
        Ok(regions)
    }

    fn block_arguments(&mut self, builder: &mut Builder, types: &[Type], place: Span) -> Parsed<()> {
        self.expect('(')?;
        let mut count = 0;
        while !self.is(')') {
            let Some(&ty) = types.get(count) else { break };
            self.argument(builder, Some(ty))?;
            count += 1;
            if !self.eat(',')? {
                break;
            }
        }
        if count != types.len() || !self.is(')') {
            let message = format!("this region takes {} arguments", types.len());
            return Err(Diagnostic::new(codes::COUNT, place, message));
        }
        self.expect(')')?;
        self.expect(':').map(drop)
    }
}
