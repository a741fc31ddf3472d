//! Parsing of layouts: `{1,0:T(8,128)(2,1)E(4)S(1)}`.

use super::shape::MAX_RANK;
use crate::diagnostic::did_you_mean;
use crate::ir::{DimensionLevel, ElementType, Layout, LevelFormat, PhysicalLayout, SplitConfig, Tile};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, quote};

/// What may stand after the colon of a layout, in this order, with what it is for.
const MARKS: [(&str, &str); 10] = [
    ("D", "how dimensions are stored"),
    ("T", "tiles"),
    ("L", "a padding of the tail"),
    ("#", "the type of indices"),
    ("*", "the type of pointers"),
    ("E", "the bits of an element"),
    ("S", "a memory space"),
    ("SC", "a split between memories"),
    ("P", "a physical shape"),
    ("M", "the bytes of a prefix"),
];

impl Cursor<'_> {
    /// Whether a layout comes next: a brace with a number or a colon after it. (What else has braces after a shape, a
    /// computation or a literal, has not.)
    pub(super) fn at_layout(&mut self) -> bool {
        let start = self.position();
        let found = self.eat(b'{') && matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b':'));
        self.set_position(start);
        found
    }

    /// The layout that starts here.
    pub(super) fn layout(&mut self, rank: usize) -> Result<Layout, Failure> {
        self.skip_trivia();
        let start = self.position();
        self.bump();
        let mut layout = Layout { minor_to_major: Vec::with_capacity(rank), physical: None };
        let mut seen = [false; MAX_RANK];
        while !matches!(self.peek(), Some(b'}' | b':')) {
            if !layout.minor_to_major.is_empty() {
                self.expect(b',', "`,`, `:` or `}` in a layout")?;
            }
            self.skip_trivia();
            let at = self.position();
            let dimension = self.integer("a dimension of the layout")?;
            match usize::try_from(dimension).ok().filter(|&dimension| dimension < rank && !seen[dimension]) {
                Some(dimension) => {
                    seen[dimension] = true;
                    layout.minor_to_major.push(dimension);
                }
                None => {
                    let message = format!(
                        "a layout names each of the {rank} dimensions once, from 0 on; found {dimension} out of place"
                    );
                    return Err(failure(codes::SHAPE, self.since(at), message));
                }
            }
        }
        if self.eat(b':') {
            let physical = self.physical_layout()?;
            layout.physical = (physical != PhysicalLayout::default()).then(|| Box::new(physical));
        }
        self.expect(b'}', "`}` at the end of a layout")?;
        if layout.minor_to_major.len() != rank {
            let found = layout.minor_to_major.len();
            let message = format!("a layout names all of the shape's dimensions, which are {rank}; found {found}");
            return Err(failure(codes::SHAPE, self.since(start), message));
        }
        Ok(layout)
    }

    /// What stands between the colon and the closing brace.
    fn physical_layout(&mut self) -> Result<PhysicalLayout, Failure> {
        let mut physical = PhysicalLayout::default();
        let mut last: Option<usize> = None;
        while self.peek().is_some_and(|byte| byte != b'}') {
            let start = self.position();
            let mark = match self.byte() {
                Some(b'#') => "#",
                Some(b'*') => "*",
                _ => self.word().map_or("", |word| word.text),
            };
            if matches!(mark, "#" | "*") {
                self.bump();
            }
            let Some(rank) = MARKS.iter().position(|(known, _)| *known == mark) else {
                self.set_position(start);
                return Err(self.no_mark(mark));
            };
            if let Some(before) = last.filter(|&before| before >= rank) {
                let message = match before == rank {
                    true => format!("a layout says `{mark}` once, found it twice"),
                    false => format!("in a layout `{mark}` stands before `{}`, found it after", MARKS[before].0),
                };
                return Err(failure(codes::SHAPE, self.since(start), message));
            }
            last = Some(rank);
            self.mark(mark, start, &mut physical)?;
        }
        Ok(physical)
    }

    fn no_mark(&mut self, found: &str) -> Failure {
        let known: Vec<String> = MARKS.iter().map(|(mark, meaning)| format!("`{mark}` ({meaning})")).collect();
        let expected = format!("`}}` or a mark of a layout: {}", known.join(", "));
        let mut failure = self.unexpected_as(codes::SHAPE, &expected);
        failure.message += &did_you_mean(found, MARKS.iter().map(|(mark, _)| *mark));
        failure
    }

    /// What a mark of a layout, which starts at `start`, has in its parentheses.
    fn mark(&mut self, mark: &str, start: usize, physical: &mut PhysicalLayout) -> Result<(), Failure> {
        match mark {
            "D" => physical.levels = self.list(b'(', b')', "`D`, `C`, `S` or `H`", Self::dimension_level)?,
            "T" => {
                while physical.tiles.is_empty() || self.peek() == Some(b'(') {
                    let extents = self.list(b'(', b')', "an extent of a tile or `*`", Self::tile_extent)?;
                    physical.tiles.push(Tile { extents });
                }
            }
            "L" => physical.tail_padding = self.number_of_mark("a padding of the tail", 1)?,
            "#" => physical.index_type = Some(self.type_of_mark()?),
            "*" => physical.pointer_type = Some(self.type_of_mark()?),
            "E" => physical.element_bits = self.number_of_mark("a number of bits", 0)?,
            "S" => physical.memory_space = self.number_of_mark("the number of a memory space", i64::MIN)?,
            "SC" => {
                while physical.splits.is_empty() || self.peek() == Some(b'(') {
                    physical.splits.push(self.split()?);
                }
            }
            "M" => physical.metadata_prefix_bytes = self.number_of_mark("a number of bytes", 0)?,
            _ => {
                let message = "`P` is for sparse arrays, and HLO text has none: every dimension is dense";
                return Err(failure(codes::SHAPE, self.since(start), message));
            }
        }
        Ok(())
    }

    /// `C+~`
    fn dimension_level(&mut self) -> Result<DimensionLevel, Failure> {
        self.skip_trivia();
        let start = self.position();
        let word = self.word().map_or("", |word| word.text);
        let Some((format, _)) = LevelFormat::LETTERS.into_iter().find(|(_, letter)| word == letter.to_string()) else {
            self.set_position(start);
            let expected = "`D` (dense), `C` (compressed), `S` (singleton) or `H` (loosely compressed)";
            return Err(self.unexpected_as(codes::SHAPE, expected));
        };
        Ok(DimensionLevel { format, repeats: self.eat(b'+'), unordered: self.eat(b'~') })
    }

    /// `8` or `*`
    fn tile_extent(&mut self) -> Result<Option<i64>, Failure> {
        if self.eat(b'*') {
            return Ok(None);
        }
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected("an extent of a tile or `*`"));
        }
        self.at_least("an extent of a tile", 0).map(Some)
    }

    /// `(1:20,40)`
    fn split(&mut self) -> Result<SplitConfig, Failure> {
        self.expect(b'(', "`(` and the dimension that is split")?;
        let dimension = self.at_least("the dimension that is split", 0)?;
        self.expect(b':', "`:` and where the dimension is split")?;
        let mut indices = Vec::new();
        loop {
            indices.push(self.at_least("where the dimension is split", 0)?);
            if self.list_ends(b')', "where the dimension is split")? {
                return Ok(SplitConfig { dimension, indices });
            }
        }
    }

    /// `(4)`
    fn number_of_mark(&mut self, what: &str, least: i64) -> Result<i64, Failure> {
        self.expect(b'(', &format!("`(` and {what}"))?;
        let number = self.at_least(what, least)?;
        self.expect(b')', &format!("`)` after {what}"))?;
        Ok(number)
    }

    /// `(u32)`
    fn type_of_mark(&mut self) -> Result<ElementType, Failure> {
        self.expect(b'(', "`(` and an element type")?;
        let Some(word) = self.word() else { return Err(self.unexpected("an element type")) };
        let Ok(element_type) = word.text.parse::<ElementType>() else {
            let hint = did_you_mean(word.text, ElementType::ALL.iter().map(|element_type| element_type.name()));
            let message = format!("expected an element type, found {}{hint}", quote(word.text));
            return Err(failure(codes::ELEMENT_TYPE, word.span, message));
        };
        self.expect(b')', "`)` after an element type")?;
        Ok(element_type)
    }

    /// A number from `least` on.
    pub(super) fn at_least(&mut self, what: &str, least: i64) -> Result<i64, Failure> {
        self.skip_trivia();
        let start = self.position();
        let number = self.integer(what)?;
        if number >= least {
            return Ok(number);
        }
        Err(failure(codes::NUMBER, self.since(start), format!("{what} is at least {least}, found {number}")))
    }
}
