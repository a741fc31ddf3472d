//! The rules within one function.

use super::{Findings, matrices};
use crate::kernel::{
    Access, AtomicOp, Binding, Block, Combination, Combiner, Condition, Function, FunctionId, Kernel, Memory, MemoryId,
    Operand, ScalarOp, Scope, Space, Statement, Value, ValueId, ValueType,
};
use std::collections::BTreeSet;
use weft_affine::{Expr, Var};
use weft_hlo::ir::{ArenaId, ElementType, FloatFormat, UnaryOp};
use weft_partition::Form;

/// The types a function returns; `None` for an operand that is no value of it.
pub(super) fn result_types(function: &Function) -> Vec<Option<ValueType>> {
    function.body.results.iter().map(|result| type_of(function, *result)).collect()
}

pub(super) fn type_of(function: &Function, operand: Operand) -> Option<ValueType> {
    match operand {
        Operand::Value(value) => function.values.get(value).map(Value::ty),
        Operand::Constant(scalar) => Some(ValueType::scalar(scalar.element_type())),
    }
}

/// Whether an operand of one type may stand where another is expected: a constant stands in every lane.
fn fits(operand: Operand, from: ValueType, to: ValueType) -> bool {
    match operand {
        Operand::Value(_) => from == to,
        Operand::Constant(_) => from.element_type == to.element_type,
    }
}

/// The type of the parts of a complex type; any other itself.
fn part(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

/// Whether elements of a packed type are held in registers of a type.
fn is_register_of(register: ElementType, element_type: ElementType) -> bool {
    Form::of(element_type).is_some_and(|form| form.is_packed() && form.register() == register)
}

pub(super) struct FunctionRules<'k, 'f> {
    kernel: &'k Kernel,
    /// `None` for the entry.
    id: Option<FunctionId>,
    function: &'k Function,
    place: String,
    /// For each value whether it has been defined, and whether it is in sight.
    defined: Vec<bool>,
    visible: Vec<bool>,
    /// What is in sight, innermost block last.
    shown: Vec<ValueId>,
    /// Loop variables in sight.
    ranges: usize,
    /// Runtime variables in sight, and all that were bound.
    bound: Vec<u32>,
    ever_bound: BTreeSet<u32>,
    findings: &'f mut Findings,
}

impl<'k, 'f> FunctionRules<'k, 'f> {
    pub(super) fn check(
        kernel: &'k Kernel,
        id: Option<FunctionId>,
        function: &'k Function,
        findings: &'f mut Findings,
    ) {
        let count = function.values.len();
        let place = if id.is_some() { format!("@{}", function.name) } else { "entry".to_owned() };
        let mut rules = FunctionRules {
            kernel,
            id,
            function,
            place,
            defined: vec![false; count],
            visible: vec![false; count],
            shown: Vec::new(),
            ranges: 0,
            bound: Vec::new(),
            ever_bound: BTreeSet::new(),
            findings,
        };
        rules.extents(&function.extents);
        if id.is_none() && !(function.parameters.is_empty() && function.body.results.is_empty()) {
            rules.find("it is given values or returns some");
        }
        rules.block(&function.body, &function.parameters, &[]);
    }

    fn find(&mut self, message: impl Into<String>) {
        self.findings.add(&self.place, message);
    }

    fn extents(&mut self, extents: &[i64]) {
        if extents.iter().any(|extent| *extent < 0) {
            self.find("an extent is negative");
        }
    }

    /// A block that sees what is in sight and, besides, some values and runtime variables of its own.
    fn block(&mut self, block: &Block, own: &[ValueId], bound: &[Binding]) {
        let (outside, bound_outside) = (self.shown.len(), self.bound.len());
        own.iter().for_each(|value| self.define(*value));
        bound.iter().for_each(|binding| self.bind(binding));
        for statement in &block.statements {
            self.statement(statement);
        }
        block.results.iter().for_each(|result| self.used(*result));
        self.bound.truncate(bound_outside);
        for value in self.shown.drain(outside..) {
            self.visible[value.index()] = false;
        }
    }

    /// Brings a runtime variable in sight.
    fn show(&mut self, variable: u32) {
        if !self.ever_bound.insert(variable) {
            self.find(format!("rt{variable} is bound twice"));
        }
        self.bound.push(variable);
    }

    fn bind(&mut self, binding: &Binding) {
        let variable = binding.variable;
        self.show(variable);
        if binding.bounds.is_empty() {
            self.find(format!("rt{variable} has no value within {}", binding.bounds));
        }
        let ty = type_of(self.function, binding.value);
        let is_index = |ty: &ValueType| ty.element_type.is_integer() || ty.element_type == ElementType::Pred;
        if let Some(ty) = ty.filter(|ty| !is_index(ty) || ty.lanes != 1) {
            self.find(format!("rt{variable} is bound to a {ty}, which is no index"));
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
                Var::Runtime(number) => self.bound.contains(&number),
            };
            if !known {
                self.find(format!("{variable} is not in sight of the index {index}"));
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        statement.operands().into_iter().for_each(|operand| self.used(operand));
        statement.indices().into_iter().for_each(|index| self.index(index));
        if statement.is_effect() && self.id.is_some() {
            self.find("only the entry writes, waits and combines");
        }
        match statement {
            Statement::Let { value, op } => {
                self.op(*value, op);
                self.define(*value);
            }
            Statement::Call { values, function, indices, arguments } => {
                self.call(values, *function, indices.len(), arguments);
                values.iter().for_each(|value| self.define(*value));
            }
            Statement::If { values, condition, then, otherwise } => {
                if let Condition::Value(operand) = condition
                    && type_of(self.function, *operand).is_some_and(|ty| ty != ValueType::scalar(ElementType::Pred))
                {
                    self.find("a condition is no pred");
                }
                for (block, bound) in [(then, condition.bindings()), (otherwise, &[])] {
                    self.block(block, &[], bound);
                    self.agree("a branch yields", &block.results, values);
                }
                values.iter().for_each(|value| self.define(*value));
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                self.extents(extents);
                self.agree("a loop begins with", init, accumulators);
                self.ranges += extents.len();
                self.block(body, accumulators, &[]);
                self.ranges -= extents.len();
                self.carried(values, accumulators, body);
            }
            Statement::While { values, init, accumulators, condition, body } => {
                self.agree("a loop begins with", init, accumulators);
                let outside = self.shown.len();
                accumulators.iter().for_each(|value| self.define(*value));
                self.block(condition, &[], &[]);
                let yielded: Vec<_> = condition.results.iter().map(|result| type_of(self.function, *result)).collect();
                if yielded != [Some(ValueType::scalar(ElementType::Pred))] {
                    self.find("the condition of a loop does not yield one pred");
                }
                self.block(body, &[], &[]);
                for value in self.shown.drain(outside..) {
                    self.visible[value.index()] = false;
                }
                self.carried(values, accumulators, body);
            }
            Statement::Bind { binding, .. } => self.bind(binding),
            Statement::Name { variable, .. } => self.show(*variable),
            Statement::Store { memory, indices, value } => self.element(*memory, indices.len(), *value, "store"),
            Statement::Merge { memory, indices, value, .. } => {
                self.element(*memory, indices.len(), *value, "merge");
                if self.kernel.memories.get(*memory).is_some_and(|memory| memory.packed.is_none()) {
                    self.find("an element is merged into a word that holds no packed elements");
                }
            }
            Statement::Update { memory, indices, combiner, value } => {
                self.element(*memory, indices.len(), *value, "update");
                match combiner {
                    Combiner::Function(function) => self.combiner(*function, &[*value]),
                    Combiner::Atomic(op) => self.atomic(*op, *memory),
                }
            }
            Statement::Share { value, memory, indices } => {
                self.op(*value, &ScalarOp::Extract { memory: *memory, indices: indices.clone() });
                if self.kernel.memories.get(*memory).is_some_and(|memory| memory.space != Space::Workgroup) {
                    self.find("what is shared is in no memory of the workgroup");
                }
                self.define(*value);
            }
            Statement::Collective { values, scope, combination, function, operands, tiles } => {
                self.parts(*scope);
                self.through(tiles, operands, (*scope, *combination));
                self.combiner(*function, operands);
                self.agree("a collective yields", operands, values);
                values.iter().for_each(|value| self.define(*value));
            }
            Statement::Barrier => {}
            Statement::Matrix(op) => {
                if let Some(message) = matrices::broken(self.kernel, op) {
                    self.find(message);
                }
            }
        }
    }

    /// Whether a workgroup has whole parts.
    fn parts(&mut self, scope: Scope) {
        let Scope::Part { count, apart } = scope else { return };
        let part = i64::from(count).saturating_mul(i64::from(apart));
        if part < 1 || self.kernel.threads() % part != 0 {
            let threads = self.kernel.threads();
            self.find(format!("{threads} invocations are no whole number of parts of {count} apart {apart}"));
        }
    }

    /// Whether subgroups may go through these tiles.
    fn through(&mut self, tiles: &[MemoryId], operands: &[Operand], of: (Scope, Combination)) {
        if tiles.is_empty() {
            return;
        }
        let is_tile = |(tile, operand): (&MemoryId, &Operand)| {
            let memory = self.kernel.memories.get(*tile);
            let ty = type_of(self.function, *operand);
            let fits = memory
                .zip(ty)
                .is_some_and(|(memory, ty)| memory.shape.element_type == ty.element_type && ty.lanes == 1);
            fits && memory.is_some_and(|memory| memory.space == Space::Workgroup)
        };
        let distinct = tiles.iter().enumerate().all(|(place, tile)| !tiles[..place].contains(tile));
        let all = tiles.len() == operands.len() && distinct && tiles.iter().zip(operands).all(is_tile);
        if !all || of != (Scope::Workgroup, Combination::Combine) {
            self.find("what subgroups come to goes through other memory than a tile for each operand of a workgroup");
        }
    }

    /// What a loop leaves with.
    fn carried(&mut self, values: &[ValueId], accumulators: &[ValueId], body: &Block) {
        self.agree("a round of a loop yields", &body.results, accumulators);
        let carried: Vec<Operand> = accumulators.iter().map(|value| Operand::Value(*value)).collect();
        self.agree("a loop ends with", &carried, values);
        values.iter().for_each(|value| self.define(*value));
    }

    /// An element of a memory that is written.
    fn element(&mut self, memory: MemoryId, indices: usize, value: Operand, what: &str) {
        let Some(memory) = self.kernel.memories.get(memory) else {
            self.find(format!("there is no memory number {}", memory.index()));
            return;
        };
        if !memory.is_writable() {
            self.find(format!("%{} is written, but only to be read", memory.name));
        }
        if what == "update" && !memory.is_readable() {
            self.find(format!("%{} is updated, but only to be written", memory.name));
        }
        let Some(ty) = type_of(self.function, value) else { return };
        let of_memory = memory.shape.element_type;
        let fits = ty.element_type == of_memory || is_register_of(ty.element_type, of_memory);
        if !fits || (what != "store" && ty.lanes != 1) {
            self.find(format!("a {what} puts {ty} into %{}, {}", memory.name, memory.shape));
        }
        self.indexed(memory, indices, ty.lanes);
    }

    fn indexed(&mut self, memory: &Memory, indices: usize, lanes: u32) {
        if matches!(memory.space, Space::Matrix { .. }) {
            self.find(format!("an element of the matrix %{} is touched alone", memory.name));
        }
        if lanes > 1 && indices != 1 {
            self.find(format!("a vector of %{}, {}, has no single position", memory.name, memory.shape));
        }
        // What is updated in place is proved element by element.
        if lanes > 1 && !matches!(memory.space, Space::Buffer { access, .. } if access != Access::ReadWrite) {
            self.find(format!("a vector of %{}, which is no buffer that is read or written alone", memory.name));
        }
        if indices != memory.shape.rank() && indices != 1 {
            self.find(format!("{indices} indices into %{}, {}", memory.name, memory.shape));
        }
    }

    /// A function of two tuples of the operands' types that returns such a tuple.
    fn combiner(&mut self, callee: FunctionId, operands: &[Operand]) {
        let types: Vec<Option<ValueType>> = operands.iter().map(|operand| type_of(self.function, *operand)).collect();
        let Some(signature) = self.kernel.callee(callee) else {
            self.find(format!("there is no function number {}", callee.index()));
            return;
        };
        let twice: Vec<Option<ValueType>> = types.iter().chain(&types).copied().collect();
        if signature.indices != 0 || signature.parameters != twice || signature.results != types {
            let name = &self.kernel.functions[callee].name;
            self.find(format!("@{name} does not combine two values of the operands' types"));
        }
    }

    /// An operation of devices on an element.
    fn atomic(&mut self, op: AtomicOp, memory: MemoryId) {
        let Some(memory) = self.kernel.memories.get(memory) else { return };
        if !op.takes(memory.shape.element_type) {
            self.find(format!("'{}' of %{}, {}, is no single step", op.name(), memory.name, memory.shape));
        }
        if memory.space == Space::Thread {
            self.find(format!("%{} is each invocation's own, and updated in one step", memory.name));
        }
    }

    /// Operands that become values, one by one.
    fn agree(&mut self, what: &str, operands: &[Operand], values: &[ValueId]) {
        let adapted = |(position, operand): (usize, &Operand)| {
            let from = type_of(self.function, *operand)?;
            let to = type_of(self.function, Operand::Value(*values.get(position)?));
            Some(to.filter(|to| fits(*operand, from, *to)).unwrap_or(from))
        };
        let types: Vec<Option<ValueType>> = operands.iter().enumerate().map(adapted).collect();
        self.become_values(what, &types, values);
    }

    fn become_values(&mut self, what: &str, types: &[Option<ValueType>], values: &[ValueId]) {
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

    fn call(&mut self, values: &[ValueId], callee: FunctionId, indices: usize, arguments: &[Operand]) {
        let Some(signature) = self.kernel.callee(callee) else {
            self.find(format!("there is no function number {}", callee.index()));
            return;
        };
        let name = &self.kernel.functions[callee].name;
        if self.id.is_some_and(|id| callee <= id) {
            self.find(format!("@{name}, which is called, does not come after its caller"));
        }
        if indices != signature.indices {
            self.find(format!("@{name} takes {} indices, not {indices}", signature.indices));
        }
        if arguments.len() != signature.parameters.len() {
            self.find(format!("@{name} takes {} values, not {}", signature.parameters.len(), arguments.len()));
        }
        for (argument, parameter) in arguments.iter().zip(signature.parameters) {
            if let (Some(from), Some(to)) = (type_of(self.function, *argument), parameter)
                && !fits(*argument, from, to)
            {
                self.find(format!("@{name} takes a {to}, not a {from}"));
            }
        }
        self.become_values(&format!("@{name} returns"), &signature.results, values);
    }

    fn op(&mut self, value: ValueId, op: &ScalarOp) {
        let operands = op.operands();
        let types: Vec<ValueType> = operands.iter().filter_map(|operand| type_of(self.function, *operand)).collect();
        if types.len() != operands.len() {
            return;
        }
        let Some(defined) = type_of(self.function, Operand::Value(value)) else { return };
        self.lanes(value, op, &operands, &types, defined.lanes);
        let types: Vec<ElementType> = types.into_iter().map(|ty| ty.element_type).collect();
        // The operands that must be of one type, and the type of the result.
        let (alike, result) = match op {
            ScalarOp::Index { element_type, .. } => (&types[..], *element_type),
            ScalarOp::Extract { memory, indices } => {
                let Some(memory) = self.kernel.memories.get(*memory) else {
                    self.find(format!("there is no memory number {}", memory.index()));
                    return;
                };
                if !memory.is_readable() {
                    self.find(format!("%{} is read, but only to be written", memory.name));
                }
                self.indexed(memory, indices.len(), defined.lanes);
                (&types[..], memory.shape.element_type)
            }
            ScalarOp::Unary { op: UnaryOp::IsFinite, .. } => (&types[..], ElementType::Pred),
            ScalarOp::Unary { op: UnaryOp::Abs, .. } | ScalarOp::Real { .. } | ScalarOp::Imag { .. } => {
                (&types[..], part(types[0]))
            }
            ScalarOp::Complex { .. } => {
                let result = if types[0] == ElementType::F64 { ElementType::C128 } else { ElementType::C64 };
                if part(result) != types[0] {
                    self.find(format!("%{} has parts of type {}", value.index(), types[0]));
                }
                (&types[..], result)
            }
            ScalarOp::Unary { .. }
            | ScalarOp::Binary { .. }
            | ScalarOp::MultiplyAdd { .. }
            | ScalarOp::Clamp { .. }
            | ScalarOp::ReducePrecision { .. } => (&types[..], types[0]),
            ScalarOp::Keep { .. } => {
                if !matches!(types[0], ElementType::F32 | ElementType::F64) {
                    self.find(format!("%{} keeps a {}, which no driver changes", value.index(), types[0]));
                }
                (&types[..], types[0])
            }
            ScalarOp::Encode { to: format, .. } | ScalarOp::Decode { from: format, .. } => {
                let (given, result) = match op {
                    ScalarOp::Encode { .. } => (ElementType::F32, ElementType::U32),
                    _ => (ElementType::U32, ElementType::F32),
                };
                if types[0] != given || FloatFormat::of(*format).is_none() {
                    self.find(format!("%{} takes a {} for a float of type {format}", value.index(), types[0]));
                }
                (&types[..], result)
            }
            ScalarOp::Join { .. } | ScalarOp::Half { .. } => {
                let (given, result) = match op {
                    ScalarOp::Join { .. } => (ElementType::U32, ElementType::F64),
                    _ => (ElementType::F64, ElementType::U32),
                };
                if types[0] != given {
                    self.find(format!("%{} takes a {given}, not a {}", value.index(), types[0]));
                }
                (&types[..], result)
            }
            ScalarOp::Compare { .. } => (&types[..], ElementType::Pred),
            ScalarOp::Select { .. } => {
                if types[0] != ElementType::Pred {
                    self.find(format!("%{} selects by a {}", value.index(), types[0]));
                }
                (&types[1..], types[1])
            }
            ScalarOp::Bitcast { to, .. } | ScalarOp::Convert { to, .. } => (&types[..], *to),
            ScalarOp::Splat { .. } | ScalarOp::Lane { .. } => (&types[..], types[0]),
            ScalarOp::Member { number, apart, .. } => {
                let threads = if self.id.is_none() { self.kernel.threads() } else { 0 };
                if (i64::from(*number) + 1) * i64::from(*apart) > threads {
                    self.find(format!("%{} is of an invocation that there is not", value.index()));
                }
                (&types[..], types[0])
            }
            ScalarOp::Pack { .. } => {
                if !types[0].is_integer() || types[0].bits() > 32 {
                    self.find(format!("%{} packs a {}", value.index(), types[0]));
                }
                (&types[..], ElementType::U32)
            }
            ScalarOp::PackedDot { is_signed, .. } => {
                if types[0] != ElementType::U32 {
                    self.find(format!("%{} takes a {} for a word", value.index(), types[0]));
                }
                (&types[..], if *is_signed { ElementType::S32 } else { ElementType::U32 })
            }
            ScalarOp::Compose { .. } => (&types[..], types.first().copied().unwrap_or(ElementType::Pred)),
        };
        if alike.windows(2).any(|pair| pair[0] != pair[1]) {
            let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
            self.find(format!("%{} has operands of types {}", value.index(), names.join(", ")));
        }
        let is_register = matches!(op, ScalarOp::Extract { .. }) && is_register_of(defined.element_type, result);
        if defined.element_type != result && !is_register {
            self.find(format!("%{} is {defined}, and its operation gives {result}", value.index()));
        }
    }

    /// Whether the lanes of an operation's operands are as many as those of its value ask for.
    fn lanes(&mut self, value: ValueId, op: &ScalarOp, operands: &[Operand], types: &[ValueType], lanes: u32) {
        if !ValueType::LANES.contains(&lanes) {
            self.find(format!("%{} has {lanes} lanes", value.index()));
        }
        let agree = match op {
            ScalarOp::Index { .. } => lanes == 1,
            ScalarOp::Splat { .. } => lanes > 1 && types[0].lanes == 1,
            ScalarOp::Compose { .. } => {
                lanes > 1 && operands.len() == lanes as usize && types.iter().all(|ty| ty.lanes == 1)
            }
            ScalarOp::Lane { lane, .. } => lanes == 1 && types[0].lanes > 1 && *lane < types[0].lanes,
            _ => operands.iter().zip(types).all(|(operand, ty)| match operand {
                Operand::Value(_) => ty.lanes == lanes,
                Operand::Constant(_) => true,
            }),
        };
        if !agree {
            let lanes_of: Vec<String> = types.iter().map(|ty| ty.lanes.to_string()).collect();
            let message = match lanes_of.as_slice() {
                [] => format!("%{} has {lanes} lanes, and its operation gives 1", value.index()),
                some => format!("%{} has {lanes} lanes, and its operands have {}", value.index(), some.join(", ")),
            };
            self.find(message);
        }
    }
}
