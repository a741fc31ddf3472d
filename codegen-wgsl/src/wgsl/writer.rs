//! The WGSL of a kernel.

use super::Names;
use super::index::{Variables, check_extent, condition, exact_index, index};
use super::inline::inlined;
use super::repeated::repeated;
use super::scalar::{Hidden, Protection, hidden_zero, is_zero, literal};
use crate::kernel::{Block, Function, FunctionId, Kernel, Known, Operand, ScalarOp, Statement, TensorId, ValueId};
use crate::math;
use std::collections::BTreeSet;
use weft_affine::Expr;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Span};

/// The name of every kernel's entry point.
pub const ENTRY_POINT: &str = "main";

/// The WGSL of a flattened kernel.
///
/// Bindings are those of [`Shader`](crate::Shader): one storage buffer per tensor, then the parameter block.
///
/// Where all loops of an invocation may make only so many rounds ([`Target::max_loop_iterations`]), called functions counted
/// at each call, long loops handle several elements a round.
///
/// # Errors
/// `HLO414` for an operation that HLO does not define on its operands' type, `HLO418` for loops that are too long even so.
///
/// [`Target::max_loop_iterations`]: crate::Target::max_loop_iterations
pub fn write(kernel: &Kernel, max_loop_iterations: Option<u32>) -> Result<String, Diagnostics> {
    let mut names = Names::globals();
    kernel.tensors.values().for_each(|tensor| {
        names.take(&tensor.name);
    });
    kernel.functions.values().for_each(|function| {
        names.take(&function.name);
    });
    let structures =
        kernel.functions.values().map(|function| names.take(&format!("Result_{}", function.name))).collect();
    let copies = max_loop_iterations.map(|limit| kernel.copies_within(limit).map_err(|least| too_long(limit, least)));
    let copies = copies.transpose()?.unwrap_or_default();
    let mut writer = Writer { kernel, library: BTreeSet::new(), names, structures, copies };
    let mut functions = String::new();
    let protections = Protection::of(kernel, |id| writer.is_output(id));
    for (id, protection) in kernel.functions.ids().zip(protections) {
        functions += "\n";
        functions += &writer.function(id, protection)?;
    }
    let entry = writer.entry();
    let mut text = format!("// {}\n\n", kernel.name);
    for (id, tensor) in kernel.tensors.iter() {
        let access = if tensor.writable { "read_write" } else { "read" };
        let element = stored_type(tensor.shape.element_type);
        let binding = id.index();
        text += &format!(
            "@group(0) @binding({binding}) var<storage, {access}> {}: array<{element}>;  // {}\n",
            tensor.name, tensor.shape
        );
    }
    text += &math::prelude(u32::try_from(kernel.tensors.len()).unwrap_or(u32::MAX));
    text += &functions;
    text += "\n";
    text += &entry;
    for function in math::closure(writer.library.iter().copied()) {
        text += "\n";
        text += function.source.trim_end();
        text += "\n";
    }
    Ok(text)
}

fn too_long(limit: u32, least: u64) -> Diagnostics {
    let message = format!(
        "its loops make {least} rounds or more for one element, and the device makes {limit}; the evaluator can run it"
    );
    Diagnostic::new("HLO418", Span::default(), message).into()
}

/// The type of an element in a buffer; `bool` is not host-shareable.
fn stored_type(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::Pred => "u32",
        other => value_type(other),
    }
}

/// The type of an element in a function.
fn value_type(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::S32 => "i32",
        ElementType::U32 => "u32",
        ElementType::F32 => "f32",
        _ => "bool",
    }
}

struct Writer<'k> {
    kernel: &'k Kernel,
    library: BTreeSet<&'static str>,
    /// The names of module scope.
    names: Names,
    /// For each function the name of the structure it returns, where it returns several values.
    structures: Vec<String>,
    /// For each function how many elements a round of each of its loops handles, where that is not one; empty where rounds
    /// are not limited.
    copies: Vec<Vec<Option<u64>>>,
}

impl<'k> Writer<'k> {
    fn is_output(&self, id: FunctionId) -> bool {
        self.kernel.entry.stores.iter().any(|store| store.function == id)
    }

    /// The extents of the tensor that an output function computes.
    fn output_extents(&self, id: FunctionId) -> &'k [i64] {
        let store = self.kernel.entry.stores.iter().find(|store| store.function == id);
        let tensor = store.and_then(|store| store.tensors.first());
        tensor.map(|tensor| self.kernel.tensors[*tensor].shape.extents.as_slice()).unwrap_or_default()
    }

    fn function(&mut self, id: FunctionId, protection: Protection) -> Result<String, Diagnostics> {
        let kernel = self.kernel;
        let function = &kernel.functions[id];
        let is_output = self.is_output(id);
        let dims: Vec<String> = match function.extents.as_slice() {
            [_] if is_output => vec!["i".to_owned()],
            extents => (0..extents.len()).map(|dimension| format!("d{dimension}")).collect(),
        };
        let mut scope = self.names.clone();
        let names: Vec<String> = function.values.values().map(|value| scope.take(&value.name)).collect();
        let inlined = inlined(function);
        let parameters: Vec<String> = dims.iter().map(|dim| format!("{dim}: u32")).collect();
        let result = self.result_type(id);
        let known = Known::new(&function.extents);
        let (variables, lets) = repeated(function, self.output_extents(id), Variables::new(dims), &known);
        let mut text = FunctionText {
            writer: self,
            id,
            function,
            names,
            scope,
            inlined,
            protection,
            variables,
            loops: 0,
            out: String::new(),
        };
        text.out += &format!("fn {}({}) -> {result} {{\n", function.name, parameters.join(", "));
        lets.iter().for_each(|line| text.line(1, line));
        text.statements(&function.body, &known, 1)?;
        let results: Vec<String> = function.body.results.iter().map(|operand| text.operand(*operand)).collect();
        let mut out = text.out;
        if results.len() == 1 {
            out += &format!("    return {};\n}}\n", strip(&results[0]));
        } else {
            out += &format!("    return {result}({});\n}}\n", results.join(", "));
        }
        if results.len() != 1 {
            let fields: Vec<String> = Kernel::result_types(function)
                .iter()
                .enumerate()
                .map(|(position, ty)| format!("    r{position}: {},\n", value_type(*ty)))
                .collect();
            out = format!("struct {result} {{\n{}}}\n\n{out}", fields.concat());
        }
        Ok(out)
    }

    /// The type a function returns: that of its result, or a structure of several.
    fn result_type(&self, id: FunctionId) -> String {
        let function = &self.kernel.functions[id];
        match Kernel::result_types(function).as_slice() {
            [single] => value_type(*single).to_owned(),
            _ => self.structures[id.index()].clone(),
        }
    }

    fn entry(&self) -> String {
        let entry = &self.kernel.entry;
        let size = entry.workgroup_size;
        let mut text = format!(
            "@compute @workgroup_size({size})\nfn {ENTRY_POINT}(@builtin(workgroup_id) group: vec3<u32>, \
             @builtin(local_invocation_index) lane: u32) {{\n"
        );
        let group = match entry.workgroups {
            [_, 1, 1] => "group.x".to_owned(),
            [row, _, 1] => format!("(group.y * {row}u + group.x)"),
            [row, rows, _] => format!("((group.z * {rows}u + group.y) * {row}u + group.x)"),
        };
        text += &format!("    let i = {group} * {size}u + lane;\n");
        for store in &entry.stores {
            let function = &self.kernel.functions[store.function];
            let count: i64 = function.extents.iter().product();
            let arguments = if function.extents.len() == 1 { "i" } else { "" };
            text += &format!("    if i < {count}u {{\n");
            let stored = |tensor: &TensorId, value: String| {
                let tensor = &self.kernel.tensors[*tensor];
                let value =
                    if tensor.shape.element_type == ElementType::Pred { format!("u32({value})") } else { value };
                format!("        {}[i] = {value};\n", tensor.name)
            };
            let call = format!("{}({arguments})", function.name);
            if let [tensor] = store.tensors.as_slice() {
                text += &stored(tensor, call);
            } else {
                text += &format!("        let element = {call};\n");
                for (position, tensor) in store.tensors.iter().enumerate() {
                    text += &stored(tensor, format!("element.r{position}"));
                }
            }
            text += "    }\n";
        }
        text + "}\n"
    }
}

struct FunctionText<'w, 'k> {
    writer: &'w mut Writer<'k>,
    id: FunctionId,
    function: &'k Function,
    /// How each value is written where it is used: its name or, if it is inlined, its expression.
    names: Vec<String>,
    /// The names taken so far.
    scope: Names,
    inlined: Vec<bool>,
    protection: Protection,
    variables: Variables,
    /// Loops written so far.
    loops: usize,
    out: String,
}

impl FunctionText<'_, '_> {
    fn statements(&mut self, block: &Block, known: &Known, depth: usize) -> Result<(), Diagnostics> {
        for statement in &block.statements {
            self.statement(statement, known, depth)?;
        }
        Ok(())
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out += &format!("{:indent$}{text}\n", "", indent = depth * 4);
    }

    fn statement(&mut self, statement: &Statement, known: &Known, depth: usize) -> Result<(), Diagnostics> {
        match statement {
            Statement::Let { value, op } => {
                let expression = self.op(op, known)?;
                let expression = match self.protection.is_kept(*value) {
                    true => format!("keep({})", strip(&expression)),
                    false => expression,
                };
                if self.inlined[value.index()] {
                    self.names[value.index()] = expression;
                    return Ok(());
                }
                let name = self.name(*value).to_owned();
                self.line(depth, &format!("let {name} = {};", strip(&expression)));
            }
            Statement::Call { values, function, indices } => self.call(values, *function, indices, known, depth)?,
            Statement::If { values, condition: tests, then, otherwise } => {
                for value in values {
                    let declaration = format!("var {}: {};", self.name(*value), self.type_of(*value));
                    self.line(depth, &declaration);
                }
                let test = condition(tests, known, &self.variables)?;
                self.line(depth, &format!("if {test} {{"));
                self.branch(values, then, &known.when(tests), depth)?;
                self.line(depth, "} else {");
                self.branch(values, otherwise, &known.unless(tests), depth)?;
                self.line(depth, "}");
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                for (accumulator, init) in accumulators.iter().zip(init) {
                    // A driver would fold what it accumulates onto a zero.
                    let init = if is_zero(*init) { hidden_zero() } else { self.operand(*init) };
                    let declaration =
                        format!("var {}: {} = {init};", self.name(*accumulator), self.type_of(*accumulator));
                    self.line(depth, &declaration);
                }
                for extent in extents {
                    check_extent(*extent)?;
                }
                let number = self.loops;
                self.loops += 1;
                let copies = self.writer.copies.get(self.id.index()).and_then(|loops| loops.get(number).copied());
                if let Some(copies) = copies.flatten() {
                    self.long_loop(extents, copies, body, accumulators, known, depth)?;
                    self.after_loop(values, accumulators, depth);
                    return Ok(());
                }
                for (variable, extent) in extents.iter().enumerate() {
                    let header = format!("for (var s{variable} = 0u; s{variable} < {extent}u; s{variable}++) {{");
                    self.line(depth + variable, &header);
                }
                let inner = depth + extents.len();
                // Without a loop variable the body still needs a scope of its own.
                let scope = usize::from(extents.is_empty());
                if extents.is_empty() {
                    self.line(depth, "{");
                }
                self.statements(body, &known.in_loop(extents), inner + scope)?;
                self.assign(accumulators, &body.results, inner + scope);
                for level in (depth..(inner + scope)).rev() {
                    self.line(level, "}");
                }
                self.after_loop(values, accumulators, depth);
            }
        }
        Ok(())
    }

    /// After a loop its values are what the accumulators hold, hidden where they must be.
    fn after_loop(&mut self, values: &[ValueId], accumulators: &[ValueId], depth: usize) {
        for (value, accumulator) in values.iter().zip(accumulators) {
            let last = self.name(*accumulator).to_owned();
            if self.protection.is_kept(*value) {
                let line = format!("let {} = {};", self.name(*value), Hidden::Once.write(&last));
                self.line(depth, &line);
            } else {
                self.names[value.index()] = last;
            }
        }
    }

    /// A single loop whose rounds each handle `copies` elements, one after the other; no loop where one round is all.
    fn long_loop(
        &mut self,
        extents: &[i64],
        copies: u64,
        body: &Block,
        accumulators: &[ValueId],
        known: &Known,
        depth: usize,
    ) -> Result<(), Diagnostics> {
        let total: u64 = extents.iter().map(|extent| u64::try_from(*extent).unwrap_or(0)).product();
        let position = self.scope.take("position");
        let lap = (copies < total).then(|| self.scope.take("lap"));
        let depth = match &lap {
            Some(lap) => {
                self.line(depth, &format!("for (var {lap} = 0u; {lap} < {}u; {lap}++) {{", total.div_ceil(copies)));
                depth + 1
            }
            None => depth,
        };
        // Each copy of the body counts its loops anew.
        let loops = self.loops;
        for copy in 0..copies.min(total) {
            self.loops = loops;
            self.line(depth, "{");
            match &lap {
                Some(lap) => self.line(depth + 1, &format!("let {position} = {lap} * {copies}u + {copy}u;")),
                None => self.line(depth + 1, &format!("let {position} = {copy}u;")),
            }
            // Only the last round may reach beyond the end.
            let guarded = lap.is_some() && !total.is_multiple_of(copies) && copy >= total % copies;
            if guarded {
                self.line(depth + 1, &format!("if {position} < {total}u {{"));
            }
            let inner = depth + 1 + usize::from(guarded);
            let mut stride = total;
            for (variable, extent) in extents.iter().enumerate() {
                stride /= u64::try_from(*extent).unwrap_or(1).max(1);
                let index = format!("{position} / {stride}u % {extent}u");
                self.line(inner, &format!("let s{variable} = {index};"));
            }
            self.statements(body, &known.in_loop(extents), inner)?;
            self.assign(accumulators, &body.results, inner);
            if guarded {
                self.line(depth + 1, "}");
            }
            self.line(depth, "}");
        }
        if lap.is_some() {
            self.line(depth - 1, "}");
        }
        Ok(())
    }

    fn call(
        &mut self,
        values: &[ValueId],
        function: FunctionId,
        indices: &[Expr],
        known: &Known,
        depth: usize,
    ) -> Result<(), Diagnostics> {
        let arguments = indices.iter().map(|argument| index(argument, known, &self.variables));
        let arguments = arguments.collect::<Result<Vec<String>, Diagnostics>>()?;
        let callee = &self.writer.kernel.functions[function].name;
        let call = format!("{callee}({})", arguments.join(", "));
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
        self.statements(block, known, depth + 1)?;
        for (value, result) in values.iter().zip(&block.results) {
            let assignment = format!("{} = {};", self.name(*value), strip(&self.operand(*result)));
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
            let text = self.operand(*result);
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

    fn op(&mut self, op: &ScalarOp, known: &Known) -> Result<String, Diagnostics> {
        let operands = op.operands();
        let mut texts: Vec<String> = operands.iter().map(|operand| self.operand(*operand)).collect();
        let ty = operands.first().map(|operand| Kernel::operand_type(self.function, *operand));
        let ty = ty.unwrap_or(ElementType::Pred);
        for (position, text) in texts.iter_mut().enumerate() {
            if let Some(hidden) = self.protection.hide(self.function, op, position) {
                *text = hidden.write(strip(text));
            }
        }
        let call = match op {
            ScalarOp::Extract { tensor, indices } => {
                let tensor = &self.writer.kernel.tensors[*tensor];
                let position =
                    indices.first().map(|at| index(at, known, &self.variables)).transpose()?.unwrap_or_default();
                let element = format!("{}[{position}]", tensor.name);
                let is_pred = tensor.shape.element_type == ElementType::Pred;
                return Ok(if is_pred { format!("({element} != 0u)") } else { element });
            }
            ScalarOp::Index { index: at, element_type } => {
                let text = match element_type {
                    ElementType::U32 | ElementType::S32 => index(at, known, &self.variables)?,
                    _ => exact_index(at, known, &self.variables)?,
                };
                return Ok(match element_type {
                    ElementType::U32 => text,
                    ElementType::Pred => format!("bool({text})"),
                    other => format!("{}({text})", value_type(*other)),
                });
            }
            ScalarOp::Select { .. } => return Ok(format!("select({}, {}, {})", texts[2], texts[1], texts[0])),
            ScalarOp::Clamp { .. } => {
                let low = self.binary(BinaryOp::Maximum, ty, &[&texts[1], &texts[0]])?;
                return self.binary(BinaryOp::Minimum, ty, &[&low, &texts[2]]);
            }
            ScalarOp::Binary { op, .. } => {
                let operands: Vec<&str> = texts.iter().map(String::as_str).collect();
                return self.binary(*op, ty, &operands);
            }
            ScalarOp::Unary { op, .. } => (math::unary(*op, ty), op.name().to_owned()),
            ScalarOp::Compare { direction, order: None | Some(ComparisonType::Float), operands: [a, b] }
                if a == b && ty == ElementType::F32 =>
            {
                // A number is compared with itself to learn whether it is NaN.
                let call = math::Call::Function("is_nan_f32");
                let is_nan = self.write_call(Some(call), "compare", ty, &[&self.operand(*a)])?;
                return Ok(match direction {
                    ComparisonDirection::Ne => is_nan,
                    ComparisonDirection::Eq | ComparisonDirection::Ge | ComparisonDirection::Le => {
                        format!("(!{is_nan})")
                    }
                    ComparisonDirection::Gt | ComparisonDirection::Lt => "false".to_owned(),
                });
            }
            ScalarOp::Compare { direction, order, .. } => {
                (math::compare(*direction, *order, ty), format!("compare {}", direction.name()))
            }
            ScalarOp::Bitcast { to, .. } => {
                // Constants must not become NaN or infinity while the shader is compiled.
                let bits = format!("bitcast<u32>({}) ^ params.zero", strip(&texts[0]));
                return Ok(format!("bitcast<{}>({bits})", value_type(*to)));
            }
            ScalarOp::Convert { to, .. } => (math::convert(ty, *to), format!("convert to {to}")),
        };
        let operands: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.write_call(call.0, &call.1, ty, &operands)
    }

    fn binary(&mut self, op: BinaryOp, ty: ElementType, operands: &[&str]) -> Result<String, Diagnostics> {
        self.write_call(math::binary(op, ty), op.name(), ty, operands)
    }

    fn write_call(
        &mut self,
        call: Option<math::Call>,
        name: &str,
        ty: ElementType,
        operands: &[&str],
    ) -> Result<String, Diagnostics> {
        let Some(call) = call else {
            let message = format!("'{name}' is not defined on elements of type {ty}");
            return Err(Diagnostic::new("HLO414", Span::default(), message).about(&self.function.name).into());
        };
        self.writer.library.extend(call.function());
        Ok(call.write(operands))
    }

    fn name(&self, value: ValueId) -> &str {
        &self.names[value.index()]
    }

    fn type_of(&self, value: ValueId) -> &'static str {
        value_type(self.function.values[value].element_type)
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.name(value).to_owned(),
            Operand::Constant(scalar) => literal(scalar),
        }
    }
}

/// An expression without the parentheses around the whole of it.
fn strip(expression: &str) -> &str {
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
