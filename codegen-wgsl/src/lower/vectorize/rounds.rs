//! Short loops of an invocation, each round of which is a lane.

use super::entry::with_entry;
use super::function::vectorized_block;
use super::length::length;
use super::{Gains, Held, MAX_LENGTH, MAX_TIMES, Pass, Refusal};
use crate::kernel::{Block, Function, Kernel, Known, Memory, Statement};
use crate::lower::copy::unbound;
use crate::lower::inline::inline_all_into_entry;
use weft_affine::{Error, Expr, Interval, Var};
use weft_hlo::ir::ArenaId;
use weft_partition::Form;

/// Statements that the entry may become where functions are written in it.
const MAX_STATEMENTS: usize = 64;

/// The kernel in which the loops of an invocation that make as many rounds as there are lanes, and carry nothing, are vectors: what is stored in
/// consecutive rounds lies side by side, or is each round's own register. The others stay loops. Words are made of all that results are written by, or of none: these may
/// still be vectors.
pub(super) fn vectorized_rounds(kernel: &Kernel, held: Held) -> Result<Kernel, Refusal> {
    let lanes = i64::from(held.lanes());
    let inlined = match steps_several(&kernel.entry.body, 0, lanes) {
        true => inline_all_into_entry(kernel, MAX_STATEMENTS)?,
        false => None,
    };
    let kernel = inlined.as_ref().unwrap_or(kernel);
    let mut entry = kernel.entry.clone();
    let mut body = std::mem::take(&mut entry.body);
    let mut loops = Loops { pass: Pass::new(kernel, held), entry: &mut entry, found: false, refusal: None };
    loops.block(&mut body, Known::new(&kernel.entry.extents))?;
    let Loops { pass, found, refusal, .. } = loops;
    if let Some(refusal) = refusal.filter(|_| !found || !held.is_vector()) {
        return Err(refusal);
    }
    if !found {
        return Err(Refusal::Rounds);
    }
    entry.body = body;
    let vectors = with_entry(pass, entry);
    // Rounds that are not lanes are written out so that registers are values.
    let rounds = u64::from(held.lanes());
    let most = length(kernel, rounds).saturating_mul(MAX_TIMES).max(MAX_LENGTH);
    if length(&vectors, rounds) > most { Err(Refusal::Long) } else { Ok(vectors) }
}

/// Whether a loop of so many rounds, of those within so many loops, calls a function with several indices that differ from round to round. What lies side by side shows only in the position that
/// they are of, and so in the entry.
fn steps_several(block: &Block, loops: u32, lanes: i64) -> bool {
    let differ = |statement: &Statement, round: Var| {
        let indices = statement.indices().into_iter().filter(|index| index.variables().contains(&round));
        matches!(statement, Statement::Call { .. }) && indices.count() > 1
    };
    block.statements.iter().any(|statement| match statement {
        Statement::Loop { extents, body, .. } => {
            let is_short = extents.as_slice() == [lanes];
            let own = is_short && body.statements.iter().any(|it| differ(it, Var::Range(loops)));
            let inner = loops.saturating_add(u32::try_from(extents.len()).unwrap_or(u32::MAX));
            own || steps_several(body, inner, lanes)
        }
        _ => statement.blocks().into_iter().any(|block| steps_several(block, loops, lanes)),
    })
}

struct Loops<'k, 'e> {
    pass: Pass<'k>,
    entry: &'e mut Function,
    /// Whether one has become vectors.
    found: bool,
    /// Why the last that has not did not.
    refusal: Option<Refusal>,
}

impl Loops<'_, '_> {
    fn block(&mut self, block: &mut Block, mut known: Known) -> Result<(), Refusal> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            if let Statement::Loop { extents, accumulators, body, .. } = &statement
                && extents.as_slice() == [i64::from(self.pass.held.lanes())]
                && accumulators.is_empty()
                && body.statements.iter().any(Statement::has_effects)
                && !body.statements.iter().any(has_loops)
            {
                match self.lanes(body, &known) {
                    Ok(vectors) => {
                        self.found = true;
                        statements.extend(vectors);
                        continue;
                    }
                    Err(Refusal::Index(error)) => return Err(error.into()),
                    Err(refusal) => {
                        tracing::debug!(kernel = %self.pass.kernel.name, %refusal, "a loop stays one");
                        if self.pass.held.is_vector() || self.stores_packed(body) {
                            self.refusal = Some(refusal);
                        }
                    }
                }
            }
            let within = known.within(&statement);
            for (block, known) in statement.blocks_mut().into_iter().zip(within) {
                self.block(block, known)?;
            }
            known.after(&statement);
            statements.push(statement);
        }
        block.statements = statements;
        Ok(())
    }

    /// The statements of all rounds of a loop at once.
    fn lanes(&mut self, body: &Block, known: &Known) -> Result<Vec<Statement>, Refusal> {
        // Variables that the rounds bind would have the same numbers as those of the next loop.
        if unbound(body) > 0 {
            return Err(Refusal::Effects);
        }
        let dimension = u32::try_from(self.entry.extents.len()).unwrap_or(u32::MAX);
        let round = Var::Range(u32::try_from(known.loops()).unwrap_or(u32::MAX));
        let mut source = Function { extents: self.entry.extents.clone(), body: body.clone(), ..self.entry.clone() };
        source.extents.push(i64::from(self.pass.held.lanes()));
        replace(&mut source.body, round, &Expr::dim(dimension))?;
        let mut inside = known.clone();
        inside.ranges.dims.push(Interval { lo: 0, hi: 0 });
        let before = std::mem::take(&mut self.pass.gains);
        let vectorized = vectorized_block(&mut self.pass, &source, dimension, inside);
        let Gains { vectors, shared, stored, composed } = std::mem::replace(&mut self.pass.gains, before);
        let (statements, values) = vectorized?;
        let own = self.pass.kernel.functions.len();
        let of_vectors = |it: &Statement| it.callee().is_some_and(|callee| callee.index() >= own);
        let has_vectors = vectors + stored > 0 || statements.iter().any(of_vectors);
        // Whole words of packed elements can be written only together.
        let fills_words = stored > 0 && self.stores_packed(body);
        if !has_vectors || !fills_words && vectors + shared + stored < composed {
            return Err(Refusal::Apart);
        }
        let mut block = Block { statements, results: Vec::new() };
        replace(&mut block, Var::Dim(dimension), &Expr::constant(0))?;
        self.entry.values = values;
        Ok(block.statements)
    }

    /// Whether a block stores elements that do not fill words alone.
    fn stores_packed(&self, block: &Block) -> bool {
        block.statements.iter().any(|statement| {
            let is_packed = |memory: &Memory| {
                memory.is_buffer() && Form::of(memory.shape.element_type).is_some_and(Form::is_packed)
            };
            let own = match statement {
                Statement::Store { memory, .. } => is_packed(&self.pass.kernel.memories[*memory]),
                _ => false,
            };
            own || statement.blocks().into_iter().any(|block| self.stores_packed(block))
        })
    }
}

fn has_loops(statement: &Statement) -> bool {
    let is_loop = matches!(statement, Statement::Loop { .. } | Statement::While { .. });
    is_loop || statement.blocks().into_iter().any(|block| block.statements.iter().any(has_loops))
}

/// Writes an expression for a variable in all indices of a block.
fn replace(block: &mut Block, variable: Var, by: &Expr) -> Result<(), Error> {
    for statement in &mut block.statements {
        for index in statement.indices_mut() {
            *index = index.substitute(|found| (found == variable).then(|| by.clone()))?;
        }
        for block in statement.blocks_mut() {
            replace(block, variable, by)?;
        }
    }
    Ok(())
}
