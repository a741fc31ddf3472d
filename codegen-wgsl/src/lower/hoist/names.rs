//! Names for parts of indices.

use crate::kernel::{Block, Function, Known, Memory, MemoryId, Space, Statement};
use crate::lower::copy::unbound;
use std::collections::{BTreeMap, HashMap};
use weft_affine::{Atom, Error, Expr, Interval, Term, Var};
use weft_hlo::ir::Arena;

/// Names what a function needs of indices more than once, or in every round of a loop alike.
pub(super) fn name(function: &mut Function, memories: &Memories) -> Result<(), Error> {
    let mut scopes = Scopes::of(function, memories)?;
    scopes.choose();
    let mut names = Names { first: unbound(&function.body), at: HashMap::new(), number: HashMap::new() };
    names.number(&scopes);
    if names.number.is_empty() {
        return Ok(());
    }
    names.block(&mut function.body, (&scopes, memories), &mut 0)
}

type Memories = Arena<MemoryId, Memory>;

/// An index of a statement as what may get a name, and how far it is behind that.
fn base(statement: &Statement, index: &Expr, memories: &Memories) -> Result<(Expr, i64), Error> {
    let is_tile = statement.memory().is_some_and(|memory| memories[memory].space == Space::Workgroup);
    let distance = if is_tile { index.constant_term().max(0) } else { 0 };
    Ok((index.checked_add_constant(-distance)?, distance))
}

/// A place before a statement: the number of its block in the order of the text, and of the statement there.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    block: usize,
    statement: usize,
}

struct Scope {
    /// The statement that the block is part of.
    around: Option<Place>,
    depth: usize,
    /// Whether it is run over and over.
    is_repeated: bool,
    /// Loop variables in sight.
    loops: usize,
    known: Known,
}

/// A part of an index, as often as it is the same: the block in which its innermost variable has its value, and the part.
type Part = (usize, Expr);

struct Use {
    part: Part,
    count: usize,
    /// The first use, in the order of the text.
    first: Place,
    /// Before all uses, in the innermost block around them.
    before_all: Place,
    /// Where it gets its name.
    named: Option<Place>,
}

struct Scopes {
    scopes: Vec<Scope>,
    /// The block that binds each runtime variable.
    bound: HashMap<u32, usize>,
    uses: Vec<Use>,
    /// The number of a part among the uses.
    numbers: HashMap<Part, usize>,
    /// Parts that are yet to be looked into, by how much they may contain of each other.
    pending: BTreeMap<u32, Vec<usize>>,
}

impl Scopes {
    fn of(function: &Function, memories: &Memories) -> Result<Self, Error> {
        let mut scopes = Scopes {
            scopes: Vec::new(),
            bound: HashMap::new(),
            uses: Vec::new(),
            numbers: HashMap::new(),
            pending: BTreeMap::new(),
        };
        let known = Known::new(&function.extents);
        let scope = Scope { around: None, depth: 0, is_repeated: false, loops: 0, known };
        scopes.enter(&function.body, scope, memories)?;
        Ok(scopes)
    }

    fn enter(&mut self, block: &Block, scope: Scope, memories: &Memories) -> Result<(), Error> {
        let number = self.scopes.len();
        self.scopes.push(scope);
        for (position, statement) in block.statements.iter().enumerate() {
            let place = Place { block: number, statement: position };
            for index in statement.indices() {
                self.used(&base(statement, index, memories)?.0, place);
            }
            let outer = &self.scopes[number];
            let (known, depth, loops) = (outer.known.clone(), outer.depth + 1, outer.loops);
            let inner = |known: Known, is_repeated: bool, loops: usize| Scope {
                around: Some(place),
                depth,
                is_repeated,
                loops,
                known,
            };
            match statement {
                Statement::Bind { binding, .. } => {
                    self.scopes[number].known.bind(binding);
                    self.bound.insert(binding.variable, number);
                }
                Statement::Name { variable, index } => {
                    self.scopes[number].known.name(*variable, index);
                    self.bound.insert(*variable, number);
                }
                Statement::If { condition, then, otherwise, .. } => {
                    for binding in condition.bindings() {
                        self.bound.insert(binding.variable, self.scopes.len());
                    }
                    self.enter(then, inner(known.inside(condition), false, loops), memories)?;
                    self.enter(otherwise, inner(known.outside(condition), false, loops), memories)?;
                }
                Statement::Loop { extents, body, .. } => {
                    self.enter(body, inner(known.in_loop(extents), true, loops + extents.len()), memories)?;
                }
                _ => {
                    for block in statement.blocks() {
                        self.enter(block, inner(known.clone(), true, loops), memories)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The block in which the innermost variable of an expression has its value, seen from another within it.
    fn home(&self, expr: &Expr, block: usize) -> usize {
        let mut home = 0;
        let deepest = |a: usize, b: usize| if self.scopes[b].depth > self.scopes[a].depth { b } else { a };
        for variable in expr.variables() {
            home = deepest(
                home,
                match variable {
                    Var::Dim(_) => 0,
                    Var::Runtime(number) => self.bound.get(&number).copied().unwrap_or(block),
                    Var::Range(number) => {
                        let binds = |block: usize| match self.scopes[block].around {
                            Some(outer) => self.scopes[outer.block].loops <= number as usize,
                            None => true,
                        };
                        let mut at = block;
                        while !binds(at) {
                            at = self.scopes[at].around.map_or(0, |outer| outer.block);
                        }
                        at
                    }
                },
            );
        }
        home
    }

    /// Counts a use of a part.
    fn used(&mut self, expr: &Expr, place: Place) {
        if is_plain(expr) {
            return;
        }
        let part = (self.home(expr, place.block), expr.clone());
        match self.numbers.get(&part).copied() {
            Some(number) => {
                let before_all = self.common(self.uses[number].before_all, place);
                let found = &mut self.uses[number];
                found.count += 1;
                found.before_all = before_all;
            }
            None => {
                let number = self.uses.len();
                self.numbers.insert(part.clone(), number);
                self.uses.push(Use { part, count: 1, first: place, before_all: place, named: None });
                let is_sum = u32::from(single_atom(expr).is_none());
                self.pending.entry(2 * expr.depth() + is_sum).or_default().push(number);
            }
        }
    }

    /// The place before both, in the innermost block around them.
    fn common(&self, mut a: Place, mut b: Place) -> Place {
        while a.block != b.block {
            let (of_a, of_b) = (&self.scopes[a.block], &self.scopes[b.block]);
            let outward = if of_a.depth >= of_b.depth { &mut a } else { &mut b };
            let Some(around) = self.scopes[outward.block].around else { return *outward };
            *outward = around;
        }
        a.min(b)
    }

    /// The place before the loops that a part does not depend on, and whether there are any.
    fn out_of_loops(&self, place: Place, home: usize) -> (Place, bool) {
        let (mut out, mut at) = (place, place);
        while at.block != home {
            let is_repeated = self.scopes[at.block].is_repeated;
            let Some(around) = self.scopes[at.block].around else { break };
            at = around;
            if is_repeated {
                out = at;
            }
        }
        (out, out != place)
    }

    /// Decides which parts get names, and where: what contains others first, for those are then needed there.
    fn choose(&mut self) {
        while let Some((_, numbers)) = self.pending.pop_last() {
            for number in numbers {
                let Use { part: (home, expr), count, first, before_all, .. } = &self.uses[number];
                let (expr, first) = (expr.clone(), *first);
                let (place, leaves_loop) = self.out_of_loops(*before_all, *home);
                let is_named = (*count > 1 || leaves_loop) && fits(&expr, &self.scopes[place.block].known);
                self.uses[number].named = is_named.then_some(place);
                for inner in parts(&expr) {
                    self.used(&inner, if is_named { place } else { first });
                }
            }
        }
    }

    /// Whether a place is before another in a block around it.
    fn is_before(&self, place: Place, mut other: Place) -> bool {
        while self.scopes[other.block].depth > self.scopes[place.block].depth {
            let Some(around) = self.scopes[other.block].around else { break };
            other = around;
        }
        place.block == other.block && place.statement <= other.statement
    }
}

/// Whether an expression is a variable or a constant.
fn is_plain(expr: &Expr) -> bool {
    expr.terms().is_empty() || expr.as_var().is_some()
}

/// The quotient or remainder that an expression is, if it is one.
fn single_atom(expr: &Expr) -> Option<&Atom> {
    match expr.terms() {
        [Term { coefficient: 1, atom }] if expr.constant_term() == 0 => Some(atom),
        _ => None,
    }
}

/// The parts that an expression is made of: the operand of a quotient or remainder, the quotients and remainders of a sum.
fn parts(expr: &Expr) -> Vec<Expr> {
    if let Some(Atom::FloorDiv(inner, _) | Atom::Mod(inner, _)) = single_atom(expr) {
        return vec![inner.clone()];
    }
    let divided = expr.terms().iter().filter(|term| !matches!(term.atom, Atom::Var(_)));
    divided.filter_map(|term| alone(&term.atom).ok()).collect()
}

fn alone(atom: &Atom) -> Result<Expr, Error> {
    Expr::sum(0, [Term { coefficient: 1, atom: atom.clone() }])
}

/// Whether 32 bits are enough for every division of an expression.
fn fits(expr: &Expr, known: &Known) -> bool {
    expr.terms().iter().all(|term| match &term.atom {
        Atom::Var(_) => true,
        Atom::FloorDiv(inner, divisor) | Atom::Mod(inner, divisor) => {
            let Interval { lo, hi } = known.range(inner);
            i128::from(hi) - i128::from(lo) + i128::from(*divisor) < 1 << 32 && fits(inner, known)
        }
    })
}

/// Puts names into a function.
struct Names {
    /// The number of the first name.
    first: u32,
    /// The parts named at each place, inner ones first.
    at: HashMap<Place, Vec<usize>>,
    /// The variable that each named part is.
    number: HashMap<usize, u32>,
}

impl Names {
    /// Numbers the names in the order of the text.
    fn number(&mut self, scopes: &Scopes) {
        let mut named: Vec<(Place, u32, usize)> = Vec::new();
        for (number, found) in scopes.uses.iter().enumerate() {
            let (_, expr) = &found.part;
            let order = 2 * expr.depth() + u32::from(single_atom(expr).is_none());
            named.extend(found.named.map(|place| (place, order, number)));
        }
        named.sort_unstable();
        for (variable, (place, _, number)) in (self.first..).zip(named) {
            self.at.entry(place).or_default().push(number);
            self.number.insert(number, variable);
        }
    }

    /// `block_number` is that of the block, and afterwards the last one within it.
    fn block(
        &self,
        block: &mut Block,
        (scopes, memories): (&Scopes, &Memories),
        block_number: &mut usize,
    ) -> Result<(), Error> {
        let own = *block_number;
        let mut statements = Vec::with_capacity(block.statements.len());
        for (position, mut statement) in std::mem::take(&mut block.statements).into_iter().enumerate() {
            let place = Place { block: own, statement: position };
            for number in self.at.get(&place).into_iter().flatten() {
                let (_, expr) = &scopes.uses[*number].part;
                let index = self.of_parts(expr, place, scopes)?;
                statements.push(Statement::Name { variable: self.number[number], index });
            }
            let indices: Vec<Expr> = statement.indices().into_iter().cloned().collect();
            let bases: Vec<(Expr, i64)> =
                indices.iter().map(|index| base(&statement, index, memories)).collect::<Result<_, _>>()?;
            for (index, (base, distance)) in statement.indices_mut().into_iter().zip(bases) {
                *index = self.rewritten(&base, place, scopes)?.checked_add_constant(distance)?;
            }
            for inner in statement.blocks_mut() {
                *block_number += 1;
                self.block(inner, (scopes, memories), block_number)?;
            }
            statements.push(statement);
        }
        block.statements = statements;
        Ok(())
    }

    /// An expression by its name, or else by those of its parts.
    fn rewritten(&self, expr: &Expr, place: Place, scopes: &Scopes) -> Result<Expr, Error> {
        if is_plain(expr) {
            return Ok(expr.clone());
        }
        let part = (scopes.home(expr, place.block), expr.clone());
        if let Some(number) = scopes.numbers.get(&part)
            && let Some(named) = scopes.uses[*number].named
            && scopes.is_before(named, place)
        {
            return Ok(Expr::runtime(self.number[number]));
        }
        self.of_parts(expr, place, scopes)
    }

    fn of_parts(&self, expr: &Expr, place: Place, scopes: &Scopes) -> Result<Expr, Error> {
        match single_atom(expr) {
            Some(Atom::FloorDiv(inner, divisor)) => {
                return self.rewritten(inner, place, scopes)?.checked_floor_div(*divisor);
            }
            Some(Atom::Mod(inner, divisor)) => return self.rewritten(inner, place, scopes)?.checked_modulo(*divisor),
            _ => {}
        }
        let mut sum = Expr::constant(expr.constant_term());
        for term in expr.terms() {
            let part = self.rewritten(&alone(&term.atom)?, place, scopes)?;
            sum = sum.checked_add_scaled(&part, term.coefficient)?;
        }
        Ok(sum)
    }
}
