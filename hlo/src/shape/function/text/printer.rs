//! The printer of shape functions, in one canonical spelling.

use crate::shape::function::value::show;
use crate::shape::function::{Function, Kind, Library, Operation, Region, Type, ValueId};
use std::borrow::Cow;
use std::fmt::{self, Write as _};

impl fmt::Display for Function {
    /// The function in canonical spelling, which [`parse_function`](crate::shape::function::parse_function) reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<String> =
            self.body.arguments.iter().map(|&id| format!("%{}: {}", self.value(id).name, self.ty(id))).collect();
        write!(f, "func.func @{}({})", self.name, parameters.join(", "))?;
        let results = self.results();
        if !results.is_empty() {
            write!(f, " -> {}", result_list(&results))?;
        }
        f.write_str(" {\n")?;
        let mut text = String::new();
        Printer { function: self, text: &mut text }.region(&self.body, "return", 1)?;
        f.write_str(&text)?;
        f.write_str("}\n")
    }
}

impl fmt::Display for Library {
    /// The library in canonical spelling, which [`Library::parse`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "shape.function_library @{} {{", self.name)?;
        for function in &self.functions {
            writeln!(f, "\n{function}")?;
        }
        f.write_str("} mapping {\n")?;
        for (operation, function) in self.mapping() {
            writeln!(f, "  {} = @{}", operation_name(operation), function.name())?;
        }
        f.write_str("}")?;
        if self.without.is_empty() {
            return f.write_str("\n");
        }
        f.write_str(" without {\n")?;
        for (operation, reason) in self.without() {
            writeln!(f, "  {} = {}", operation_name(operation), quoted(reason))?;
        }
        f.write_str("}\n")
    }
}

fn operation_name(operation: &str) -> Cow<'_, str> {
    if is_word(operation) { Cow::Borrowed(operation) } else { Cow::Owned(quoted(operation)) }
}

struct Printer<'a> {
    function: &'a Function,
    text: &'a mut String,
}

impl Printer<'_> {
    fn region(&mut self, region: &Region, terminator: &str, depth: usize) -> fmt::Result {
        for operation in &region.operations {
            self.operation(operation, depth)?;
        }
        self.indent(depth);
        self.text.push_str(terminator);
        if !region.results.is_empty() {
            let types: Vec<Type> = region.results.iter().map(|&id| self.function.ty(id)).collect();
            write!(self.text, " {} : {}", self.values(&region.results), list(&types))?;
        }
        self.text.push('\n');
        Ok(())
    }

    fn operation(&mut self, operation: &Operation, depth: usize) -> fmt::Result {
        self.indent(depth);
        if !operation.results.is_empty() {
            write!(self.text, "{} = ", self.values(&operation.results))?;
        }
        self.text.push_str(operation.kind.name());
        let operands = self.values(&operation.operands);
        let operand_types: Vec<Type> = operation.operands.iter().map(|&id| self.function.ty(id)).collect();
        let result_types: Vec<Type> = operation.results.iter().map(|&id| self.function.ty(id)).collect();
        match &operation.kind {
            Kind::ConstSize(size) => write!(self.text, " {size}")?,
            Kind::ConstBool(value) | Kind::ConstWitness(value) => write!(self.text, " {value}")?,
            Kind::ConstShape(extents) | Kind::ConstSizes(extents) => {
                write!(self.text, " {} : {}", show(extents), result_types[0])?;
            }
            Kind::Attribute(name, _) => write!(self.text, " {}", quoted(name))?,
            Kind::Call(name, _) => write!(self.text, " @{name}({operands})")?,
            Kind::Reduce => write!(self.text, "({operands})")?,
            Kind::Assert => {
                let message =
                    operation.error.as_deref().map_or_else(String::new, |error| format!(", {}", quoted(error)));
                write!(self.text, " {operands}{message}")?;
            }
            _ if operands.is_empty() => {}
            _ => write!(self.text, " {operands}")?,
        }
        if let Some(error) = operation.error.as_deref().filter(|_| operation.kind != Kind::Assert) {
            let comma = if matches!(operation.kind, Kind::ConstWitness(_))
                || !operands.is_empty()
                || matches!(operation.kind, Kind::Attribute(..))
            {
                ","
            } else {
                ""
            };
            write!(self.text, "{comma} error={}", quoted(error))?;
        }
        match &operation.kind {
            Kind::ConstSize(_)
            | Kind::ConstBool(_)
            | Kind::ConstWitness(_)
            | Kind::ConstShape(_)
            | Kind::ConstSizes(_)
            | Kind::Assert => {}
            Kind::Attribute(..) => write!(self.text, " : {}", result_types[0])?,
            Kind::Call(..) => write!(self.text, " : ({}) -> ({})", list(&operand_types), list(&result_types))?,
            // What evidence is of is plain from the region.
            Kind::Assuming => write!(self.text, "{}", arrow(&result_types))?,
            _ if operand_types.is_empty() => write!(self.text, " :{}", arrow(&result_types))?,
            _ => write!(self.text, " : {}{}", list(&operand_types), arrow(&result_types))?,
        }
        let terminator = if operation.kind == Kind::Assuming { "shape.assuming_yield" } else { "shape.yield" };
        for (position, region) in operation.regions.iter().enumerate() {
            if position > 0 {
                self.indent(depth);
                self.text.push_str("} else");
            }
            self.text.push_str(" {\n");
            if !region.arguments.is_empty() {
                self.indent(depth);
                let arguments: Vec<String> = region
                    .arguments
                    .iter()
                    .map(|&id| format!("%{}: {}", self.function.value(id).name, self.function.ty(id)))
                    .collect();
                writeln!(self.text, "^bb0({}):", arguments.join(", "))?;
            }
            self.region(region, terminator, depth + 1)?;
        }
        if !operation.regions.is_empty() {
            self.indent(depth);
            self.text.push('}');
        }
        self.text.push('\n');
        Ok(())
    }

    fn indent(&mut self, depth: usize) {
        // Regions nest to a bounded depth, so that indentation stays linear in the text.
        for _ in 0..depth {
            self.text.push_str("  ");
        }
    }

    fn values(&self, ids: &[ValueId]) -> String {
        let names: Vec<String> = ids.iter().map(|&id| format!("%{}", self.function.value(id).name)).collect();
        names.join(", ")
    }
}

fn list(types: &[Type]) -> String {
    let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    names.join(", ")
}

fn arrow(types: &[Type]) -> String {
    if types.is_empty() { String::new() } else { format!(" -> {}", list(types)) }
}

/// Results of a function: one stands alone, several in parentheses.
fn result_list(types: &[Type]) -> String {
    match types {
        [ty] => ty.to_string(),
        _ => format!("({})", list(types)),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether the lexer reads it as one word.
fn is_word(text: &str) -> bool {
    let mut parts = text.split('-');
    let inside = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
    let first = parts.next().unwrap_or("");
    first.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && inside(first)
        && parts.all(|part| part.starts_with(|c: char| c.is_ascii_alphanumeric()) && inside(part))
}
