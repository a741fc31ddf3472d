//! What lanes combine with those of other invocations.

use super::function::Growing;
use super::{Refusal, Variant};
use crate::kernel::{Combination, FunctionId, Operand, Scope, Statement, Value, ValueId};

impl Growing<'_, '_> {
    /// A collective: where the lanes of an invocation are of one part they are combined first, neighbors with neighbors, and one value goes on; where each is of
    /// another one, vectors are combined.
    pub(super) fn collective(&mut self, statement: &Statement, out: &mut Vec<Statement>) -> Result<(), Refusal> {
        let Statement::Collective { values, scope, combination, function, operands, tiles } = statement else {
            return Err(Refusal::Effects);
        };
        if !matches!(combination, Combination::Reduce | Combination::Combine) || !tiles.is_empty() {
            return Err(Refusal::Effects);
        }
        let lanes = self.lanes();
        let (combination, tiles) = (*combination, Vec::new());
        match *scope {
            Scope::Part { count, apart } if apart > 1 && apart % lanes == 0 => {
                let variant = self.pass.variant(*function, Variant { axis: None }).ok_or(Refusal::Branch)?;
                let operands = operands.iter().map(|operand| self.vector_value(*operand, out)).collect();
                let (values, scope) = (self.defined(values), Scope::Part { count, apart: apart / lanes });
                out.push(Statement::Collective { values, scope, combination, function: variant, operands, tiles });
            }
            Scope::Part { count, apart: 1 } if count % lanes == 0 => {
                let operands = self.combined_lanes(*function, operands, values, out);
                let (values, scope) = (self.defined(values), Scope::Part { count: count / lanes, apart: 1 });
                out.push(Statement::Collective { values, scope, combination, function: *function, operands, tiles });
            }
            Scope::Workgroup => {
                let operands = self.combined_lanes(*function, operands, values, out);
                let (values, scope) = (self.defined(values), Scope::Workgroup);
                out.push(Statement::Collective { values, scope, combination, function: *function, operands, tiles });
            }
            Scope::Part { .. } | Scope::Subgroup => return Err(Refusal::Effects),
        }
        Ok(())
    }

    /// What the lanes of a tuple come to.
    fn combined_lanes(
        &mut self,
        function: FunctionId,
        operands: &[Operand],
        like: &[ValueId],
        out: &mut Vec<Statement>,
    ) -> Vec<Operand> {
        let of_lane = |this: &mut Self, lane: u32, out: &mut Vec<Statement>| -> Vec<Operand> {
            operands.iter().map(|operand| this.lane(*operand, lane, out)).collect()
        };
        let mut tuples: Vec<Vec<Operand>> = (0..self.lanes()).map(|lane| of_lane(self, lane, out)).collect();
        while tuples.len() > 1 {
            let mut pairs = Vec::with_capacity(tuples.len() / 2);
            for pair in tuples.chunks(2) {
                let arguments: Vec<Operand> = pair.iter().flatten().copied().collect();
                let scalar = |value: &ValueId| Value { lanes: 1, ..self.source.values[*value].clone() };
                let scalars: Vec<Value> = like.iter().map(scalar).collect();
                let values: Vec<ValueId> = scalars.into_iter().map(|value| self.values.push(value)).collect();
                pairs.push(values.iter().copied().map(Operand::Value).collect());
                out.push(Statement::Call { values, function, indices: Vec::new(), arguments });
            }
            tuples = pairs;
        }
        tuples.pop().unwrap_or_default()
    }
}
