//! Computations.

use super::{Arena, Attribute, InstrId, Instruction, Op, Shape, Span};

/// A function: parameters in, the value of its root out.
#[derive(Clone, Debug)]
pub struct Computation {
    /// Its name, without `%`; unique within the module.
    pub name: String,
    /// Its instructions, operands before users.
    pub instructions: Arena<InstrId, Instruction>,
    /// The instruction whose value is returned.
    pub root: InstrId,
    /// What stands after the closing brace (`execution_thread="main"`).
    pub attributes: Vec<Attribute>,
    /// Where its header stands in the text; no part of equality.
    pub span: Span,
}

impl PartialEq for Computation {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.instructions == other.instructions
            && self.root == other.root
            && self.attributes == other.attributes
    }
}

impl Eq for Computation {}

impl Computation {
    /// The `parameter` instructions by number. A number that is missing is skipped; the verifier reports it.
    pub fn parameters(&self) -> Vec<InstrId> {
        let mut parameters: Vec<(i64, InstrId)> = self
            .instructions
            .iter()
            .filter_map(|(id, instruction)| match instruction.op {
                Op::Parameter { number } => Some((number, id)),
                _ => None,
            })
            .collect();
        parameters.sort_unstable();
        parameters.into_iter().map(|(_, id)| id).collect()
    }

    /// The shape of the root.
    pub fn result_shape(&self) -> &Shape {
        &self.instructions[self.root].shape
    }

    /// For each instruction, those that read it, ascending, each once.
    pub fn users(&self) -> Vec<Vec<InstrId>> {
        let mut users = vec![Vec::new(); self.instructions.len()];
        for (id, instruction) in self.instructions.iter() {
            for operand in &instruction.operands {
                let list: &mut Vec<InstrId> = &mut users[super::ArenaId::index(*operand)];
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
        users
    }
}
