//! Copies of blocks, with values and runtime variables of their own.

use crate::kernel::{Block, Condition, Operand, Statement, Value, ValueId};
use std::collections::HashMap;
use weft_affine::{Error, Expr, Var};
use weft_hlo::ir::Arena;

/// What a function has room for: the values it holds, and numbers for its runtime variables.
pub(super) struct Room<'f> {
    pub(super) values: &'f mut Arena<ValueId, Value>,
    /// The first number that no runtime variable has.
    pub(super) runtime: u32,
}

impl<'f> Room<'f> {
    /// That of a function of these values and this body.
    pub(super) fn new(values: &'f mut Arena<ValueId, Value>, body: &Block) -> Self {
        Room { values, runtime: unbound(body) }
    }
}

/// The first number that no runtime variable bound within a block has.
pub(super) fn unbound(block: &Block) -> u32 {
    let after = |variable: u32| variable.saturating_add(1);
    let within = |statement: &Statement| {
        let own = match statement {
            Statement::Bind { binding, .. } => after(binding.variable),
            Statement::Name { variable, .. } => after(*variable),
            Statement::If { condition, .. } => {
                condition.bindings().iter().map(|binding| after(binding.variable)).max().unwrap_or(0)
            }
            _ => 0,
        };
        statement.blocks().into_iter().map(unbound).fold(own, u32::max)
    };
    block.statements.iter().map(within).max().unwrap_or(0)
}

/// Replaces an operand by what is known of it.
pub(super) fn rename(operand: &mut Operand, known: &HashMap<ValueId, Operand>) {
    if let Operand::Value(value) = operand
        && let Some(known) = known.get(value)
    {
        *operand = *known;
    }
}

/// A copy in the making.
pub(super) struct Copy<'c> {
    /// The values of the function that the block is from, where it is another than the one that the copy is for.
    pub(super) from: Option<&'c Arena<ValueId, Value>>,
    /// What values become that are defined outside the block, where they do not stay what they are.
    pub(super) known: HashMap<ValueId, Operand>,
    /// What index variables of the block become, runtime variables that it binds excepted.
    pub(super) variable: &'c dyn Fn(Var) -> Option<Expr>,
}

impl Copy<'_> {
    /// The copy.
    ///
    /// # Errors
    /// If an index leaves 64 bits.
    pub(super) fn of(self, block: &Block, room: &mut Room<'_>) -> Result<Block, Error> {
        let Copy { from, known, variable } = self;
        let mut copy = block.clone();
        Rewrite { from, known, variable, bound: HashMap::new(), room }.block(&mut copy)?;
        Ok(copy)
    }
}

struct Rewrite<'c, 'r, 'f> {
    from: Option<&'c Arena<ValueId, Value>>,
    known: HashMap<ValueId, Operand>,
    variable: &'c dyn Fn(Var) -> Option<Expr>,
    bound: HashMap<u32, u32>,
    room: &'r mut Room<'f>,
}

impl Rewrite<'_, '_, '_> {
    fn block(&mut self, block: &mut Block) -> Result<(), Error> {
        for statement in &mut block.statements {
            self.statement(statement)?;
        }
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
        Ok(())
    }

    fn bind(&mut self, variable: &mut u32) {
        self.bound.insert(*variable, self.room.runtime);
        *variable = self.room.runtime;
        self.room.runtime = self.room.runtime.saturating_add(1);
    }

    fn statement(&mut self, statement: &mut Statement) -> Result<(), Error> {
        statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
        for index in statement.indices_mut() {
            let (bound, variable) = (&self.bound, self.variable);
            *index = index.substitute(|found| match found {
                Var::Runtime(number) if bound.contains_key(&number) => Some(Expr::runtime(bound[&number])),
                _ => variable(found),
            })?;
        }
        match statement {
            Statement::Bind { binding, .. } => self.bind(&mut binding.variable),
            Statement::Name { variable, .. } => self.bind(variable),
            Statement::If { condition: Condition::InBounds(bindings), .. } => {
                bindings.iter_mut().for_each(|binding| self.bind(&mut binding.variable));
            }
            _ => {}
        }
        for value in statement.defines_mut() {
            let like = self.from.unwrap_or(self.room.values)[*value].clone();
            let copy = self.room.values.push(like);
            self.known.insert(*value, Operand::Value(copy));
            *value = copy;
        }
        for block in statement.blocks_mut() {
            self.block(block)?;
        }
        Ok(())
    }
}
