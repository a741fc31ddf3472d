//! The rules within one function.

use super::Findings;
use crate::kernel::{Block, Function, FunctionId, Kernel, Operand, ScalarOp, Statement, ValueId};
use weft_affine::{Expr, Var};
use weft_hlo::ir::{ArenaId, ElementType, UnaryOp};

/// The types a function returns; `None` for an operand that is no value of it.
pub(super) fn result_types(function: &Function) -> Vec<Option<ElementType>> {
    function.body.results.iter().map(|result| type_of(function, *result)).collect()
}

fn type_of(function: &Function, operand: Operand) -> Option<ElementType> {
    match operand {
        Operand::Value(value) => function.values.get(value).map(|value| value.element_type),
        Operand::Constant(scalar) => Some(scalar.element_type()),
    }
}

pub(super) struct FunctionRules<'k, 'f> {
    kernel: &'k Kernel,
    id: FunctionId,
    function: &'k Function,
    place: String,
    /// For each value whether it has been defined, and whether it is in sight.
    defined: Vec<bool>,
    visible: Vec<bool>,
    /// What is in sight, innermost block last.
    shown: Vec<ValueId>,
    /// Loop variables in sight.
    ranges: usize,
    findings: &'f mut Findings,
}

impl<'k, 'f> FunctionRules<'k, 'f> {
    pub(super) fn check(kernel: &'k Kernel, id: FunctionId, function: &'k Function, findings: &'f mut Findings) {
        let count = function.values.len();
        let mut rules = FunctionRules {
            kernel,
            id,
            function,
            place: format!("@{}", function.name),
            defined: vec![false; count],
            visible: vec![false; count],
            shown: Vec::new(),
            ranges: 0,
            findings,
        };
        rules.extents(&function.extents);
        rules.block(&function.body, &[]);
    }

    fn find(&mut self, message: impl Into<String>) {
        self.findings.add(&self.place, message);
    }

    fn extents(&mut self, extents: &[i64]) {
        if extents.iter().any(|extent| *extent < 0) {
            self.find("an extent is negative");
        }
    }

    /// A block that sees what is in sight and, besides, some values of its own.
    fn block(&mut self, block: &Block, own: &[ValueId]) {
        let outside = self.shown.len();
        own.iter().for_each(|value| self.define(*value));
        for statement in &block.statements {
            self.statement(statement);
        }
        block.results.iter().for_each(|result| self.used(*result));
        for value in self.shown.drain(outside..) {
            self.visible[value.index()] = false;
        }
    }

    fn define(&mut self, value: ValueId) {
        match self.defined.get_mut(value.index()) {
            None => self.find(format!("there is no value %{}", value.index())),
            Some(true) => self.find(format!("%{} is defined twice", value.index())),
            Some(defined) => {
                *defined = true;
                self.visible[value.index()] = true;
                self.shown.push(value);
            }
        }
    }

    fn used(&mut self, operand: Operand) {
        let Operand::Value(value) = operand else { return };
        let message = match (self.defined.get(value.index()), self.visible.get(value.index())) {
            (Some(_), Some(true)) => return,
            (Some(true), _) => format!("%{} is used out of sight of its definition", value.index()),
            (Some(false), _) => format!("%{} is used before it is defined", value.index()),
            (None, _) => format!("there is no value %{}", value.index()),
        };
        self.find(message);
    }

    fn index(&mut self, index: &Expr) {
        for variable in index.variables() {
            let known = match variable {
                Var::Dim(dimension) => (dimension as usize) < self.function.extents.len(),
                Var::Range(range) => (range as usize) < self.ranges,
                Var::Runtime(_) => false,
            };
            if !known {
                self.find(format!("{variable} is not in sight of the index {index}"));
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { value, op } => {
                op.operands().into_iter().for_each(|operand| self.used(operand));
                self.op(*value, op);
                self.define(*value);
            }
            Statement::Call { values, function, indices } => {
                indices.iter().for_each(|index| self.index(index));
                self.call(values, *function, indices.len());
                values.iter().for_each(|value| self.define(*value));
            }
            Statement::If { values, condition, then, otherwise } => {
                condition.iter().for_each(|constraint| self.index(&constraint.expr));
                for block in [then, otherwise] {
                    self.block(block, &[]);
                    self.agree("a branch yields", &block.results, values);
                }
                values.iter().for_each(|value| self.define(*value));
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                self.extents(extents);
                init.iter().for_each(|operand| self.used(*operand));
                self.agree("a loop begins with", init, accumulators);
                let outside = std::mem::replace(&mut self.ranges, extents.len());
                self.block(body, accumulators);
                self.ranges = outside;
                self.agree("a round of a loop yields", &body.results, accumulators);
                let carried: Vec<Operand> = accumulators.iter().map(|value| Operand::Value(*value)).collect();
                self.agree("a loop ends with", &carried, values);
                values.iter().for_each(|value| self.define(*value));
            }
        }
    }

    /// Operands that become values, one by one.
    fn agree(&mut self, what: &str, operands: &[Operand], values: &[ValueId]) {
        let types: Vec<Option<ElementType>> = operands.iter().map(|operand| type_of(self.function, *operand)).collect();
        self.become_values(what, &types, values);
    }

    fn become_values(&mut self, what: &str, types: &[Option<ElementType>], values: &[ValueId]) {
        if types.len() != values.len() {
            self.find(format!("{what} {} values for {}", types.len(), values.len()));
        }
        for (ty, value) in types.iter().zip(values) {
            if let (Some(from), Some(to)) = (ty, type_of(self.function, Operand::Value(*value)))
                && *from != to
            {
                self.find(format!("{what} {from} for %{}: {to}", value.index()));
            }
        }
    }

    fn call(&mut self, values: &[ValueId], callee: FunctionId, arguments: usize) {
        let Some((indices, results)) = self.kernel.callee(callee) else {
            self.find(format!("there is no function number {}", callee.index()));
            return;
        };
        let name = &self.kernel.functions[callee].name;
        if callee <= self.id {
            self.find(format!("@{name}, which is called, does not come after its caller"));
        }
        if arguments != indices {
            self.find(format!("@{name} takes {indices} indices, not {arguments}"));
        }
        self.become_values(&format!("@{name} returns"), &results, values);
    }

    fn op(&mut self, value: ValueId, op: &ScalarOp) {
        let types: Vec<ElementType> =
            op.operands().into_iter().filter_map(|operand| type_of(self.function, operand)).collect();
        if types.len() != op.operands().len() {
            return;
        }
        // The operands that must be of one type, and the type of the result.
        let (alike, result) = match op {
            ScalarOp::Index { index, element_type } => {
                self.index(index);
                (&types[..], *element_type)
            }
            ScalarOp::Extract { tensor, indices } => {
                indices.iter().for_each(|index| self.index(index));
                let Some(tensor) = self.kernel.tensors.get(*tensor) else {
                    self.find(format!("there is no tensor number {}", tensor.index()));
                    return;
                };
                if tensor.writable {
                    self.find(format!("%{} is read, but only to be written", tensor.name));
                }
                if indices.len() != tensor.shape.rank() && indices.len() != 1 {
                    self.find(format!("{} indices into %{}, {}", indices.len(), tensor.name, tensor.shape));
                }
                (&types[..], tensor.shape.element_type)
            }
            ScalarOp::Unary { op: UnaryOp::IsFinite, .. } => (&types[..], ElementType::Pred),
            ScalarOp::Unary { .. } | ScalarOp::Binary { .. } | ScalarOp::Clamp { .. } => (&types[..], types[0]),
            ScalarOp::Compare { .. } => (&types[..], ElementType::Pred),
            ScalarOp::Select { .. } => {
                if types[0] != ElementType::Pred {
                    self.find(format!("%{} selects by a {}", value.index(), types[0]));
                }
                (&types[1..], types[1])
            }
            ScalarOp::Bitcast { to, .. } | ScalarOp::Convert { to, .. } => (&types[..], *to),
        };
        if alike.windows(2).any(|pair| pair[0] != pair[1]) {
            let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
            self.find(format!("%{} has operands of types {}", value.index(), names.join(", ")));
        }
        if let Some(defined) = type_of(self.function, Operand::Value(value))
            && defined != result
        {
            self.find(format!("%{} is {defined}, and its operation gives {result}", value.index()));
        }
    }
}
