//! The WGSL of a function's statements.

use super::Names;
use super::index::{self, Variables};
use super::lanes::{type_text, vector_text, write_call};
use super::scalar::literal;
use super::writer::{Writer, value_type};
use crate::kernel::{
    Binding, Block, Condition, Function, FunctionId, Hiding, Kernel, Known, Operand, OutOfBounds, ScalarOp, Scope,
    Statement, ValueId,
};
use crate::math;
use weft_affine::{Expr, Interval};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Scalar, Span};

/// Invocations of a quad.
const QUAD: i64 = 4;

/// The text of one function, or of the entry, as it grows.
pub(super) struct FunctionText<'w, 'k> {
    pub(super) writer: &'w mut Writer<'k>,
    pub(super) function: &'k Function,
    /// How each value is written where it is used: its name or, if it is inlined, its expression.
    pub(super) names: Vec<String>,
    /// The names taken so far.
    pub(super) scope: Names,
    pub(super) inlined: Vec<bool>,
    pub(super) variables: Variables,
    pub(super) out: String,
}

impl<'w, 'k> FunctionText<'w, 'k> {
    /// The whole text, with what is returned.
    pub(super) fn finish(self, result: &str) -> String {
        let results: Vec<String> = self.function.body.results.iter().map(|operand| self.operand(*operand)).collect();
        match results.as_slice() {
            [single] => self.out + &format!("    return {};\n}}\n", strip(single)),
            _ => self.out + &format!("    return {result}({});\n}}\n", results.join(", ")),
        }
    }

    /// Statements in order; what they bind is known from there on.
    pub(super) fn statements(&mut self, block: &Block, known: &mut Known, depth: usize) -> Result<(), Diagnostics> {
        for statement in &block.statements {
            self.statement(statement, known, depth)?;
            known.after(statement);
        }
        Ok(())
    }

    pub(super) fn line(&mut self, depth: usize, text: &str) {
        self.out += &format!("{:indent$}{text}\n", "", indent = depth * 4);
    }

    fn statement(&mut self, statement: &Statement, known: &Known, depth: usize) -> Result<(), Diagnostics> {
        match statement {
            Statement::Let { value, op } => {
                let expression = self.op(op, self.function.values[*value].lanes, known)?;
                if self.inlined[value.index()] {
                    self.names[value.index()] = expression;
                    return Ok(());
                }
                let name = self.name(*value).to_owned();
                self.line(depth, &format!("let {name} = {};", strip(&expression)));
            }
            Statement::Call { values, function, indices, arguments } => {
                self.call(values, *function, (indices, arguments), known, depth)?;
            }
            Statement::If { values, condition: tested, then, otherwise } => {
                for value in values {
                    let declaration = format!("var {}: {};", self.name(*value), self.type_of(*value));
                    self.line(depth, &declaration);
                }
                let test = self.condition(tested, known)?;
                self.line(depth, &format!("if {} {{", strip(&test)));
                for Binding { variable, value, .. } in tested.bindings() {
                    let text = self.as_index(*value);
                    self.line(depth + 1, &format!("let rt{variable} = {text};"));
                }
                let tested = self.variables.meant(tested)?;
                self.branch(values, then, &known.inside(&tested), depth)?;
                if *otherwise != Block::default() {
                    self.line(depth, "} else {");
                    self.branch(values, otherwise, &known.outside(&tested), depth)?;
                }
                self.line(depth, "}");
            }
            Statement::While { values, init, accumulators, condition, body } => {
                self.declare(accumulators, init, depth);
                self.line(depth, "loop {");
                self.statements(condition, &mut known.clone(), depth + 1)?;
                let holds = condition.results.first().map(|result| self.operand(*result)).unwrap_or_default();
                self.line(depth + 1, &format!("if !({}) {{ break; }}", strip(&holds)));
                self.statements(body, &mut known.clone(), depth + 1)?;
                self.assign(accumulators, &body.results, depth + 1);
                self.line(depth, "}");
                self.after_loop(values, accumulators);
            }
            Statement::Bind { binding: Binding { variable, bounds, value }, out_of_bounds } => {
                let text = match out_of_bounds {
                    OutOfBounds::Clamp => self.clamped(*value, *bounds),
                    OutOfBounds::Assume => self.as_index(*value),
                };
                self.line(depth, &format!("let rt{variable} = {text};"));
            }
            Statement::Name { variable, index } => {
                let definition = self.variables.define(*variable, index, known)?;
                self.line(depth, &definition);
            }
            Statement::Store { memory, indices, value } => self.store((*memory, indices), *value, known, depth)?,
            Statement::Merge { memory, indices, place, value } => {
                let word = self.element(*memory, indices, 1, known)?;
                let bits = 32 / self.writer.kernel.memories[*memory].per_word();
                let mask = u32::MAX >> (32 - bits);
                let place = index::operand(place, known, &self.variables)?;
                // Other invocations change other bits of the word: taking the old bits away and putting the new ones in can be two steps.
                self.line(depth, &format!("atomicAnd(&{word}, ~({mask:#x}u << {place}));"));
                let value = self.operand(*value);
                self.line(depth, &format!("atomicOr(&{word}, {value} << {place});"));
            }
            Statement::Barrier => self.line(depth, "workgroupBarrier();"),
            Statement::Matrix(op) => self.matrix(op, known, depth)?,
            Statement::Update { memory, indices, combiner, value } => {
                self.update(*memory, indices, *combiner, *value, known, depth)?;
            }
            Statement::Share { value, memory, indices } => {
                let element = self.element(*memory, indices, 1, known)?;
                let shared = format!("workgroupUniformLoad(&{element})");
                let is_pred = self.function.values[*value].element_type == ElementType::Pred;
                let shared = if is_pred { format!("{shared} != 0u") } else { shared };
                let name = self.name(*value).to_owned();
                self.line(depth, &format!("let {name} = {shared};"));
            }
            Statement::Collective { values, scope: Scope::Workgroup, function, operands, tiles, .. }
                if !tiles.is_empty() =>
            {
                self.through_subgroups(values, *function, operands, tiles, depth);
            }
            Statement::Collective { scope: Scope::Workgroup | Scope::Part { .. }, .. } => {
                return Err(not_lowered("a collective of a workgroup"));
            }
            Statement::Collective { values, combination, function, operands, .. } => {
                self.subgroup(values, *combination, *function, operands, depth);
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                self.declare(accumulators, init, depth);
                for extent in extents {
                    index::check_extent(*extent)?;
                }
                let rolled = self.writer.kernel.rolled && !Kernel::is_together(body);
                for (level, extent) in extents.iter().enumerate() {
                    let s = format!("s{}", known.loops() + level);
                    let rounds = format!("{extent}u");
                    let rounds = if rolled { format!("({rounds} ^ zeros.zero_constant)") } else { rounds };
                    self.line(depth + level, &format!("for (var {s} = 0u; {s} < {rounds}; {s}++) {{"));
                }
                let inner = depth + extents.len();
                // Without a loop variable the body still needs a scope of its own.
                let scope = usize::from(extents.is_empty());
                if extents.is_empty() {
                    self.line(depth, "{");
                }
                self.statements(body, &mut known.in_loop(extents), inner + scope)?;
                self.assign(accumulators, &body.results, inner + scope);
                for level in (depth..(inner + scope)).rev() {
                    self.line(level, "}");
                }
                self.after_loop(values, accumulators);
            }
        }
        Ok(())
    }

    /// Declares what a loop carries.
    fn declare(&mut self, accumulators: &[ValueId], init: &[Operand], depth: usize) {
        for (accumulator, init) in accumulators.iter().zip(init) {
            let init = self.operand_in(*init, self.function.values[*accumulator].lanes);
            let declaration = format!("var {}: {} = {init};", self.name(*accumulator), self.type_of(*accumulator));
            self.line(depth, &declaration);
        }
    }

    /// A value as an index: its bits, where it is below zero.
    fn as_index(&self, value: Operand) -> String {
        let text = self.operand(value);
        match Kernel::operand_type(self.function, value) {
            ElementType::U32 => strip(&text).to_owned(),
            _ => format!("u32({})", strip(&text)),
        }
    }

    /// The bounds of an index that a type has, as literals.
    fn bounds(element_type: ElementType, bounds: Interval) -> Option<(String, String)> {
        let (least, greatest) = match element_type {
            ElementType::S32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            ElementType::U32 => (0, i64::from(u32::MAX)),
            _ => return None,
        };
        let literal = |bound: i64| match element_type {
            ElementType::S32 => literal(Scalar::S32(i32::try_from(bound).unwrap_or(i32::MIN))),
            _ => literal(Scalar::U32(u32::try_from(bound).unwrap_or(0))),
        };
        Some((literal(bounds.lo.clamp(least, greatest)), literal(bounds.hi.clamp(least, greatest))))
    }

    /// The bound nearest to a value, compared in the value's own type, as an index.
    fn clamped(&self, value: Operand, bounds: Interval) -> String {
        let ty = Kernel::operand_type(self.function, value);
        let text = self.operand(value);
        let text = strip(&text);
        match (Self::bounds(ty, bounds), ty) {
            (Some((low, high)), ElementType::U32) => format!("clamp({text}, {low}, {high})"),
            (Some((low, high)), _) => format!("u32(clamp({text}, {low}, {high}))"),
            (None, _) => {
                let bound = |bound: i64| u32::try_from(bound.clamp(0, 1)).unwrap_or(0);
                format!("clamp(u32({text}), {}u, {}u)", bound(bounds.lo), bound(bounds.hi))
            }
        }
    }

    fn condition(&mut self, condition: &Condition, known: &Known) -> Result<String, Diagnostics> {
        match condition {
            Condition::Indices(constraints) => index::condition(constraints, known, &self.variables),
            Condition::Value(operand) => Ok(self.operand(*operand)),
            Condition::InBounds(bindings) => {
                let mut tests = Vec::with_capacity(2 * bindings.len());
                for Binding { bounds, value, .. } in bindings {
                    let ty = Kernel::operand_type(self.function, *value);
                    let text = self.operand(*value);
                    match Self::bounds(ty, *bounds) {
                        Some((low, high)) => tests.extend([format!("{text} >= {low}"), format!("{text} <= {high}")]),
                        None => {
                            tests.push(format!("u32({text}) >= {}u", bounds.lo.clamp(0, 2)));
                            tests.push(format!("u32({text}) <= {}u", bounds.hi.clamp(0, 2)));
                        }
                    }
                }
                Ok(index::conjunction(&tests))
            }
        }
    }

    /// After a loop its values are what the accumulators hold.
    fn after_loop(&mut self, values: &[ValueId], accumulators: &[ValueId]) {
        for (value, accumulator) in values.iter().zip(accumulators) {
            self.names[value.index()] = self.name(*accumulator).to_owned();
        }
    }

    fn call(
        &mut self,
        values: &[ValueId],
        function: FunctionId,
        (indices, arguments): (&[Expr], &[Operand]),
        known: &Known,
        depth: usize,
    ) -> Result<(), Diagnostics> {
        let indices = indices.iter().map(|argument| index::index(argument, known, &self.variables));
        let mut given = indices.collect::<Result<Vec<String>, Diagnostics>>()?;
        let called = &self.writer.kernel.functions[function];
        for (argument, parameter) in arguments.iter().zip(&called.parameters) {
            given.push(strip(&self.operand_in(*argument, called.values[*parameter].lanes)).to_owned());
        }
        let callee = &called.name;
        let call = format!("{callee}({})", given.join(", "));
        if let [value] = values {
            if self.inlined[value.index()] {
                self.names[value.index()] = call;
                return Ok(());
            }
            let name = self.name(*value).to_owned();
            self.line(depth, &format!("let {name} = {call};"));
            return Ok(());
        }
        let Some(first) = values.first() else { return Ok(()) };
        // The structure is named after its first part, and each part read from it.
        let structure = format!("{}_all", self.name(*first));
        let structure = self.scope.take(&structure);
        self.line(depth, &format!("let {structure} = {call};"));
        for (position, value) in values.iter().enumerate() {
            let name = self.name(*value).to_owned();
            self.line(depth, &format!("let {name} = {structure}.r{position};"));
        }
        Ok(())
    }

    fn branch(&mut self, values: &[ValueId], block: &Block, known: &Known, depth: usize) -> Result<(), Diagnostics> {
        self.statements(block, &mut known.clone(), depth + 1)?;
        for (value, result) in values.iter().zip(&block.results) {
            let text = self.operand_in(*result, self.function.values[*value].lanes);
            let assignment = format!("{} = {};", self.name(*value), strip(&text));
            self.line(depth + 1, &assignment);
        }
        Ok(())
    }

    /// Assigns all accumulators at once: a result that is another accumulator is read before it is overwritten.
    fn assign(&mut self, accumulators: &[ValueId], results: &[Operand], depth: usize) {
        let clobbered = |result: &Operand, position: usize| match result {
            Operand::Value(value) => accumulators[..position].contains(value),
            Operand::Constant(_) => false,
        };
        let mut texts = Vec::with_capacity(results.len());
        for (position, result) in results.iter().enumerate() {
            let text = self.operand_in(*result, self.function.values[accumulators[position]].lanes);
            if clobbered(result, position) {
                let before = format!("{}_before", self.name(accumulators[position]));
                let before = self.scope.take(&before);
                self.line(depth, &format!("let {before} = {text};"));
                texts.push(before);
            } else {
                texts.push(text);
            }
        }
        for (accumulator, text) in accumulators.iter().zip(texts) {
            let name = self.name(*accumulator).to_owned();
            if name != text {
                self.line(depth, &format!("{name} = {};", strip(&text)));
            }
        }
    }

    fn op(&mut self, op: &ScalarOp, lanes: u32, known: &Known) -> Result<String, Diagnostics> {
        let operands = op.operands();
        let texts: Vec<String> = operands.iter().map(|operand| self.operand_in(*operand, lanes)).collect();
        let ty = operands.first().map(|operand| Kernel::operand_type(self.function, *operand));
        let ty = ty.unwrap_or(ElementType::Pred);
        let are_constants = operands.iter().all(|operand| matches!(operand, Operand::Constant(_)));
        let texts = match op {
            // Hidden twice behind one zero a literal is bare.
            ScalarOp::Keep { .. } => texts,
            _ if ty == ElementType::F64 && are_constants => self.hidden_doubles(&texts),
            _ => texts,
        };
        let call = match op {
            ScalarOp::Extract { memory, indices } => return self.read(*memory, indices, lanes, known),
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } if ty == ElementType::F32 => {
                let call = math::Call::Function("reduce_precision_f32");
                let bits = |count: u32| self.operand_in(Operand::Constant(Scalar::U32(count)), lanes);
                let operands = [strip(&texts[0]), &bits(*exponent_bits), &bits(*mantissa_bits)];
                return self.write_call(Some(call), "reduce-precision", ty, lanes, &operands);
            }
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } if ty == ElementType::F64 => {
                let call = math::Call::Function("reduce_precision_f64");
                let operands = [strip(&texts[0]), &format!("{exponent_bits}u"), &format!("{mantissa_bits}u")];
                return self.write_call(Some(call), "reduce-precision", ty, lanes, &operands);
            }
            ScalarOp::ReducePrecision { .. } => (None, "reduce-precision".to_owned()),
            ScalarOp::Index { index: at, element_type } => {
                let text = match element_type {
                    ElementType::U32 | ElementType::S32 => index::index(at, known, &self.variables)?,
                    _ => index::exact_index(at, known, &self.variables)?,
                };
                return Ok(match element_type {
                    ElementType::U32 => text,
                    ElementType::Pred => format!("bool({text})"),
                    other => format!("{}({text})", value_type(*other)),
                });
            }
            ScalarOp::Select { .. } => return Ok(format!("select({}, {}, {})", texts[2], texts[1], texts[0])),
            ScalarOp::Join { .. } => (Some(math::Call::Function("join_f64")), "join".to_owned()),
            ScalarOp::Half { is_high, .. } => {
                let function = if *is_high { "high_f64" } else { "low_f64" };
                (Some(math::Call::Function(function)), "half".to_owned())
            }
            ScalarOp::Keep { hiding, .. } if ty == ElementType::F64 => {
                let function = match hiding {
                    Hiding::Value => "keep_f64",
                    Hiding::Chosen => "keep_chosen_f64",
                    Hiding::Apart => "keep_apart_f64",
                };
                (Some(math::Call::Function(function)), hiding.name().to_owned())
            }
            ScalarOp::Keep { hiding, .. } => {
                let function = match hiding {
                    Hiding::Value => "keep",
                    Hiding::Chosen => "keep_chosen",
                    Hiding::Apart => "keep_apart",
                };
                let call = if lanes > 1 {
                    self.writer.of_lanes.insert((function, lanes));
                    math::lane_wise_name(function, lanes)
                } else {
                    function.to_owned()
                };
                return Ok(format!("{call}({})", strip(&texts[0])));
            }
            ScalarOp::Splat { operand } => return Ok(self.vector(std::slice::from_ref(operand), ty, lanes)),
            ScalarOp::Compose { operands } => return Ok(self.vector(operands, ty, lanes)),
            ScalarOp::Lane { operand, lane } => return Ok(self.lane(*operand, *lane)),
            ScalarOp::MultiplyAdd { is_one: true, .. } if ty == ElementType::F32 => {
                return Ok(format!("fma({}, {}, {})", strip(&texts[0]), strip(&texts[1]), strip(&texts[2])));
            }
            ScalarOp::MultiplyAdd { .. } => return Ok(format!("({} + {} * {})", texts[2], texts[0], texts[1])),
            ScalarOp::Pack { .. } => return Ok(self.packed(ty, lanes, &texts)),
            ScalarOp::PackedDot { operands, is_signed } => return Ok(self.packed_dot(operands, *is_signed, lanes)),
            ScalarOp::Member { number, apart: 1, .. } => {
                // What lies in a quad need not be looked for among the members of a subgroup.
                let function = if self.writer.kernel.threads() <= QUAD { "quadBroadcast" } else { "subgroupBroadcast" };
                return Ok(format!("{function}({}, {number}u)", strip(&texts[0])));
            }
            ScalarOp::Member { .. } => return Err(not_lowered("'member'")),
            ScalarOp::Clamp { .. } => return Err(not_lowered("'clamp'")),
            ScalarOp::Complex { .. } => return Err(not_lowered("a complex number")),
            ScalarOp::Real { .. } => return Ok(texts[0].clone()),
            ScalarOp::Imag { .. } => return Ok(self.operand_in(Operand::Constant(Scalar::from_bits(0, ty)), lanes)),
            ScalarOp::Binary { op, operands: [_, by] } => {
                if let Some((operator, places)) = shift(*op, ty, *by) {
                    // Bits of a constant may be lost, which is an error in WGSL.
                    if let (BinaryOp::ShiftLeft, Some(shifted)) = (op, shifted_left(operands[0], places)) {
                        return Ok(self.operand_in(Operand::Constant(shifted), lanes));
                    }
                    let places = self.operand_in(Operand::Constant(Scalar::U32(places)), lanes);
                    return Ok(format!("({} {operator} {places})", texts[0]));
                }
                (math::binary(*op, ty), op.name().to_owned())
            }
            ScalarOp::Unary { op, .. } => (math::unary(*op, ty), op.name().to_owned()),
            ScalarOp::Compare { direction, order: None | Some(ComparisonType::Float), operands: [a, b] }
                if a == b && matches!(ty, ElementType::F32 | ElementType::F64) =>
            {
                // A number is compared with itself to learn whether it is NaN.
                let function = if ty == ElementType::F64 { "is_nan_f64" } else { "is_nan_f32" };
                let call = math::Call::Function(function);
                let is_nan = self.write_call(Some(call), "compare", ty, lanes, &[&self.operand(*a)])?;
                return Ok(match direction {
                    ComparisonDirection::Ne => is_nan,
                    ComparisonDirection::Eq | ComparisonDirection::Ge | ComparisonDirection::Le => {
                        format!("(!{is_nan})")
                    }
                    ComparisonDirection::Gt | ComparisonDirection::Lt if lanes > 1 => {
                        format!("vec{lanes}<bool>(false)")
                    }
                    ComparisonDirection::Gt | ComparisonDirection::Lt => "false".to_owned(),
                });
            }
            ScalarOp::Compare { direction, order, .. } => {
                (math::compare(*direction, *order, ty), format!("compare {}", direction.name()))
            }
            ScalarOp::Bitcast { to, .. } => {
                let words = vector_text("u32", lanes);
                if *to != ElementType::F32 {
                    return Ok(format!("bitcast<{}>({})", vector_text(value_type(*to), lanes), strip(&texts[0])));
                }
                let is_named = texts[0].chars().all(|c| c.is_alphanumeric() || c == '_')
                    && texts[0].starts_with(|c: char| !c.is_ascii_digit());
                if is_named {
                    return Ok(format!("bitcast<{}>({})", vector_text(value_type(*to), lanes), texts[0]));
                }
                // Constants must not become NaN or infinity while the shader is compiled.
                let zero =
                    if lanes > 1 { format!("{words}(zeros.zero_constant)") } else { "zeros.zero_constant".into() };
                let bits = format!("bitcast<{words}>({}) ^ {zero}", strip(&texts[0]));
                return Ok(format!("bitcast<{}>({bits})", vector_text(value_type(*to), lanes)));
            }
            ScalarOp::Convert { to, .. } => (math::convert(ty, *to), format!("convert to {to}")),
            ScalarOp::Encode { to, .. } => return self.coding(math::encode(*to), "encode", *to, lanes, &texts[0]),
            ScalarOp::Decode { from, .. } => {
                return self.coding(math::decode(*from), "decode", *from, lanes, &texts[0]);
            }
        };
        let operands: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.write_call(call.0, &call.1, ty, lanes, &operands)
    }

    /// Literals of `f64`, with which naga does not compute, so that it need not.
    fn hidden_doubles(&mut self, texts: &[String]) -> Vec<String> {
        self.writer.library.insert("keep_f64");
        texts.iter().map(|text| format!("keep_f64({})", strip(text))).collect()
    }

    /// A float of at most 16 bits as its bits, or the other way.
    fn coding(
        &mut self,
        coding: Option<math::Coding>,
        name: &str,
        format: ElementType,
        lanes: u32,
        operand: &str,
    ) -> Result<String, Diagnostics> {
        let arguments = coding.iter().flat_map(|coding| &coding.arguments);
        let constant = |bits: &u32| self.operand_in(Operand::Constant(Scalar::U32(*bits)), lanes);
        let constants: Vec<String> = arguments.map(constant).collect();
        let operands: Vec<&str> = std::iter::once(strip(operand)).chain(constants.iter().map(String::as_str)).collect();
        let call = coding.as_ref().map(|coding| math::Call::Function(coding.function));
        self.write_call(call, name, format, lanes, &operands)
    }

    fn write_call(
        &mut self,
        call: Option<math::Call>,
        name: &str,
        ty: ElementType,
        lanes: u32,
        operands: &[&str],
    ) -> Result<String, Diagnostics> {
        let Some(call) = call else {
            let message = format!("'{name}' is not defined on elements of type {ty}");
            return Err(Diagnostic::new("HLO414", Span::default(), message).about(&self.function.name).into());
        };
        if lanes == 1 {
            self.writer.library.extend(call.function());
            return Ok(call.write(operands));
        }
        self.writer.of_lanes.extend(call.function().map(|function| (function, lanes)));
        Ok(write_call(call, lanes, operands))
    }

    pub(super) fn name(&self, value: ValueId) -> &str {
        &self.names[value.index()]
    }

    pub(super) fn type_of(&self, value: ValueId) -> String {
        type_text(self.function.values[value].ty())
    }

    pub(super) fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.name(value).to_owned(),
            Operand::Constant(scalar) => literal(scalar),
        }
    }
}

/// The operator of a shift of a word by a number of places that the word has, and that number.
fn shift(op: BinaryOp, ty: ElementType, by: Operand) -> Option<(&'static str, u32)> {
    let places = match by {
        Operand::Constant(Scalar::U32(places)) => places,
        Operand::Constant(Scalar::S32(places)) => u32::try_from(places).ok()?,
        _ => return None,
    };
    let operator = match (op, ty) {
        (BinaryOp::ShiftLeft, _) => "<<",
        (BinaryOp::ShiftRightArithmetic, ElementType::S32) | (BinaryOp::ShiftRightLogical, ElementType::U32) => ">>",
        _ => return None,
    };
    (places < 32).then_some((operator, places))
}

/// A constant whose bits are moved by so many places.
fn shifted_left(operand: Operand, places: u32) -> Option<Scalar> {
    match operand {
        Operand::Constant(Scalar::S32(value)) => Some(Scalar::S32(value.wrapping_shl(places))),
        Operand::Constant(Scalar::U32(value)) => Some(Scalar::U32(value.wrapping_shl(places))),
        _ => None,
    }
}

fn not_lowered(what: &str) -> Diagnostics {
    let message = format!("{what} cannot be written in WGSL as it is");
    Diagnostic::new("HLO413", Span::default(), message).into()
}

/// An expression without the parentheses around the whole of it.
pub(super) fn strip(expression: &str) -> &str {
    let Some(inner) = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return expression };
    let mut depth = 0i32;
    for c in inner.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth < 0 {
            return expression;
        }
    }
    inner
}
