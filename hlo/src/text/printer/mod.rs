//! The printer, which is total: invalid modules are printed too, with `?` for an id that leads nowhere.

mod attribute;
mod decimal;
mod float;
mod literal;
mod power;

use crate::ir::{ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op};
use crate::text::lexer::is_reserved;
use std::fmt::{self, Write};

pub(super) use literal::spelled_empty;

/// The spelling of a printed module. The default is XLA's long form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// `%` before the names of instructions and computations.
    pub percent: bool,
    /// The signature after a computation's name.
    pub signatures: bool,
    /// Shapes before operands.
    pub operand_shapes: bool,
    /// The comment `/*index=5*/` before every fifth operand. (Tuple shapes always count.)
    pub operand_indices: bool,
    /// The tables `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames`.
    pub tables: bool,
    /// Attributes that are carried rather than understood: `metadata`, `backend_config`, `sharding`, ….
    pub carried: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            percent: true,
            signatures: true,
            operand_shapes: false,
            operand_indices: true,
            tables: true,
            carried: true,
        }
    }
}

impl PrintOptions {
    /// The short form in which JAX prints a lowered function: no `%`, no signatures.
    pub fn short() -> Self {
        PrintOptions { percent: false, signatures: false, operand_indices: false, ..PrintOptions::default() }
    }
}

/// A module as text, in XLA's long form.
pub fn print(module: &Module) -> String {
    print_with(module, &PrintOptions::default())
}

/// A module as text.
pub fn print_with(module: &Module, options: &PrintOptions) -> String {
    collect(module, options, |printer| printer.module())
}

/// One computation as text, without a newline at the end; empty if the module has no such computation.
pub fn print_computation(module: &Module, computation: ComputationId, options: &PrintOptions) -> String {
    collect(module, options, |printer| match module.computations.get(computation) {
        Some(found) => printer.computation(computation, found),
        None => Ok(()),
    })
}

/// One instruction as text, on one line, without `ROOT`; empty if there is no such instruction.
pub fn print_instruction(
    module: &Module,
    computation: ComputationId,
    instruction: InstrId,
    options: &PrintOptions,
) -> String {
    collect(module, options, |printer| {
        let found = module.computations.get(computation);
        match found.and_then(|found| Some((found, found.instructions.get(instruction)?))) {
            Some((found, instruction)) => printer.instruction(found, instruction),
            None => Ok(()),
        }
    })
}

fn collect(module: &Module, options: &PrintOptions, print: impl FnOnce(&mut Printer<'_>) -> fmt::Result) -> String {
    let mut text = String::new();
    print(&mut Printer { module, options, out: &mut text }).expect("a String takes any text");
    text
}

/// The text in XLA's long form, as [`print()`] has it.
///
/// ```
/// use weft_hlo::ir::Module;
///
/// let module: Module = "ENTRY e { ROOT x = f32[2] parameter(0) }".parse()?;
/// assert!(module.to_string().contains("ROOT %x = f32[2] parameter(0)"));
/// assert_eq!(module.to_string().parse(), Ok(module));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer { module: self, options: &PrintOptions::default(), out: f }.module()
    }
}

struct Printer<'p> {
    module: &'p Module,
    options: &'p PrintOptions,
    out: &'p mut dyn Write,
}

impl Printer<'_> {
    fn module(&mut self) -> fmt::Result {
        let module = self.module;
        let percent = if is_reserved(&module.name) { "%" } else { "" };
        write!(self.out, "HloModule {percent}{}", module.name)?;
        for attribute in &module.attributes {
            write!(self.out, ", {}={attribute}", attribute.name())?;
        }
        self.out.write_str("\n\n")?;
        if self.options.tables && !module.tables.is_empty() {
            for (heading, lines) in &module.tables {
                writeln!(self.out, "{heading}")?;
                for line in lines {
                    writeln!(self.out, "{line}")?;
                }
                self.out.write_str("\n")?;
            }
            self.out.write_str("\n")?;
        }
        for (id, computation) in module.computations.iter() {
            self.computation(id, computation)?;
            self.out.write_str("\n\n")?;
        }
        Ok(())
    }

    fn computation(&mut self, id: ComputationId, computation: &Computation) -> fmt::Result {
        if id == self.module.entry {
            self.out.write_str("ENTRY ")?;
        }
        self.name(&computation.name)?;
        if self.options.signatures {
            self.signature(computation)?;
        }
        self.out.write_str(" {\n")?;
        for (id, instruction) in computation.instructions.iter() {
            self.out.write_str(if id == computation.root { "  ROOT " } else { "  " })?;
            self.instruction(computation, instruction)?;
            self.out.write_str("\n")?;
        }
        self.out.write_str("}")?;
        self.attributes(&computation.attributes)
    }

    fn signature(&mut self, computation: &Computation) -> fmt::Result {
        self.out.write_str(" (")?;
        for (position, id) in computation.parameters().into_iter().enumerate() {
            let parameter = &computation.instructions[id];
            let comma = if position > 0 { ", " } else { "" };
            write!(self.out, "{comma}{}: {}", parameter.name, parameter.shape.without_layout())?;
        }
        self.out.write_str(") -> ")?;
        match computation.instructions.get(computation.root) {
            Some(root) => write!(self.out, "{}", root.shape.without_layout()),
            None => self.out.write_str("?"),
        }
    }

    fn name(&mut self, name: &str) -> fmt::Result {
        // Some words mean something else where no `%` says that they are names.
        if self.options.percent || is_reserved(name) {
            self.out.write_str("%")?;
        }
        self.out.write_str(name)
    }

    fn computation_name(&mut self, id: ComputationId) -> fmt::Result {
        let name = self.module.computations.get(id).map_or("?", |computation| &computation.name);
        self.name(name)
    }

    fn instruction(&mut self, computation: &Computation, instruction: &Instruction) -> fmt::Result {
        self.name(&instruction.name)?;
        write!(self.out, " = {} {}(", instruction.shape, instruction.op.name())?;
        for (position, &id) in instruction.operands.iter().enumerate() {
            if position > 0 {
                self.out.write_str(", ")?;
                if self.options.operand_indices && position % 5 == 0 {
                    write!(self.out, "/*index={position}*/")?;
                }
            }
            match computation.instructions.get(id) {
                Some(operand) => {
                    if self.options.operand_shapes {
                        write!(self.out, "{} ", operand.shape)?;
                    }
                    self.name(&operand.name)?;
                }
                None => write!(self.out, "?{}", id.index())?,
            }
        }
        match &instruction.op {
            Op::Parameter { number } => write!(self.out, "{number}")?,
            Op::Constant(value) => literal::write_literal(self.out, value)?,
            _ => {}
        }
        self.out.write_str(")")?;
        self.op_attributes(&instruction.op)?;
        if self.options.carried { self.attributes(&instruction.attributes) } else { Ok(()) }
    }
}
