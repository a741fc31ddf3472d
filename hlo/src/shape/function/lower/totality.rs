//! Totality: the operations of a function that cannot fail, whatever the operands are.

use crate::shape::function::transfer::{Failure, transfer};
use crate::shape::function::{Function, Kind, Known, Operation, Region, Type, ValueId};
use weft_affine::Interval;

/// For every operation, in the order of [`Region::visit`], whether it cannot fail. Nothing is derived from constraints:
/// what does not fail may be moved before them.
pub(super) fn totality(function: &Function) -> Vec<bool> {
    let known = function.values.iter().map(|data| Known::of_type(data.ty)).collect();
    let mut analysis = Analysis { function, known, total: Vec::new() };
    analysis.region(&function.body);
    analysis.total
}

struct Analysis<'a> {
    function: &'a Function,
    known: Vec<Known>,
    total: Vec<bool>,
}

impl Analysis<'_> {
    /// Whether nothing in the region fails.
    fn region(&mut self, region: &Region) -> bool {
        // Every operation is to be visited, also after one that fails.
        region.operations.iter().fold(true, |total, operation| self.operation(operation) & total)
    }

    fn operation(&mut self, operation: &Operation) -> bool {
        let position = self.total.len();
        self.total.push(false);
        let total = match &operation.kind {
            Kind::Attribute(..) | Kind::Call(..) => false,
            Kind::Meet | Kind::Require | Kind::Assert | Kind::Assuming => {
                for region in &operation.regions {
                    self.region(region);
                }
                // A constraint may be assumed after what follows from it is computed.
                false
            }
            Kind::Reduce => {
                self.enter_loop(operation);
                self.region(&operation.regions[0])
            }
            Kind::If => operation.regions.iter().fold(true, |total, region| self.region(region) & total),
            kind => {
                let operands: Vec<&Known> = operation.operands.iter().map(|&id| self.of(id)).collect();
                let (known, failure) = transfer(kind, None, &operands);
                let total = failure == Failure::Never;
                // What fails has results only where it did not.
                for (&id, known) in operation.results.iter().zip(known) {
                    self.known[id.index()] = known;
                }
                total
            }
        };
        self.total[position] = total;
        total
    }

    fn of(&self, id: ValueId) -> &Known {
        &self.known[id.index()]
    }

    fn enter_loop(&mut self, operation: &Operation) {
        let list = operation.operands[0];
        let (count, element) = match self.function.ty(list) {
            Type::Shapes => {
                (self.of(list).as_shapes().map_or_else(|count| count.hi, |shapes| shapes.len() as i64), None)
            }
            _ => {
                let list = self.of(list).as_list();
                (list.rank().hi, Some(Known::Size(list.extent(Interval::EVERYTHING))))
            }
        };
        let arguments = &operation.regions[0].arguments;
        self.known[arguments[0].index()] = Known::Size(Interval::new(0, count - 1));
        if let Some(element) = element {
            self.known[arguments[1].index()] = element;
        }
    }
}
