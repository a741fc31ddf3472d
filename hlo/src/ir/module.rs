//! Modules, computations, instructions, and the attributes that are kept as text.

use super::{Arena, ComputationId, EntryLayout, HeaderAttribute, InputOutputAlias, InstrId, Op, Shape, Span};

/// A program: computations, one of which is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The attributes of the header, in the order of the text, each at most once.
    pub attributes: Vec<HeaderAttribute>,
    /// The tables `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames`, in the order of the text: the
    /// heading and its lines.
    pub tables: Vec<(String, Vec<String>)>,
    /// Computations, callees before callers.
    pub computations: Arena<ComputationId, Computation>,
    /// The computation that runs.
    pub entry: ComputationId,
}

impl Module {
    /// A module that never was text, without attributes. [`ModuleBuilder`](crate::build::ModuleBuilder) makes one that is
    /// checked.
    pub fn new(name: impl Into<String>, computations: Arena<ComputationId, Computation>, entry: ComputationId) -> Self {
        Module { name: name.into(), attributes: Vec::new(), tables: Vec::new(), computations, entry }
    }

    /// The computation that runs.
    pub fn entry_computation(&self) -> &Computation {
        &self.computations[self.entry]
    }

    /// Which results take the places of which parameters, by their numbers, as `input_output_alias` says of a module whose parameters and results are arrays, such as
    /// [`flatten`](crate::passes::flatten) leaves; pairs of numbers that the module does not have are left out.
    pub fn aliases(&self) -> Vec<(usize, usize)> {
        let entry = self.entry_computation();
        let [parameters, results] = [entry.parameters().len(), entry.result_shape().leaves().len()];
        let number = |number: i64, count: usize| usize::try_from(number).ok().filter(|number| *number < count);
        let given = self.attributes.iter().filter_map(|attribute| match attribute {
            HeaderAttribute::InputOutputAlias(given) => Some(given),
            _ => None,
        });
        let pair = |alias: &InputOutputAlias| {
            let result = number(alias.output.first().copied().unwrap_or(0), results)?;
            Some((result, number(alias.parameter, parameters)?))
        };
        given.flatten().filter_map(pair).collect()
    }

    /// The layouts of arguments and result, if the header says them.
    pub fn entry_layout(&self) -> Option<&EntryLayout> {
        self.attributes.iter().find_map(|attribute| match attribute {
            HeaderAttribute::EntryComputationLayout(layout) => Some(layout),
            _ => None,
        })
    }

    /// Whether the order of instructions is the order in which they run.
    pub fn is_scheduled(&self) -> bool {
        self.attributes.contains(&HeaderAttribute::IsScheduled(true))
    }

    /// The number of replicas that run the module, if the header says it.
    pub fn replica_count(&self) -> Option<i64> {
        self.attributes.iter().find_map(|attribute| match attribute {
            HeaderAttribute::ReplicaCount(count) => Some(*count),
            _ => None,
        })
    }

    /// Into how many partitions the module is cut, if the header says it.
    pub fn num_partitions(&self) -> Option<i64> {
        self.attributes.iter().find_map(|attribute| match attribute {
            HeaderAttribute::NumPartitions(count) => Some(*count),
            _ => None,
        })
    }

    /// The number of instructions of all computations together.
    pub fn instruction_count(&self) -> usize {
        self.computations.values().map(|computation| computation.instructions.len()).sum()
    }
}

/// A function: parameters in, the value of its root out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Computation {
    /// Its name, without `%`; unique within the module.
    pub name: String,
    /// Its instructions, operands before users.
    pub instructions: Arena<InstrId, Instruction>,
    /// The instruction whose value is returned.
    pub root: InstrId,
    /// The attributes after the closing brace (`execution_thread="main"`).
    pub attributes: Vec<Attribute>,
    /// The source location of its header; no part of equality.
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
    /// A computation that never was text, without attributes. [`ComputationBuilder`](crate::build::ComputationBuilder) makes
    /// one that is checked.
    pub fn new(name: impl Into<String>, instructions: Arena<InstrId, Instruction>, root: InstrId) -> Self {
        Computation { name: name.into(), instructions, root, attributes: Vec::new(), span: Span::default() }
    }

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

/// One instruction: a named value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Instruction {
    /// Its name, without `%`; unique within the computation.
    pub name: String,
    /// The shape of its value.
    pub shape: Shape,
    /// The operation and its attributes.
    pub op: Op,
    /// The values it reads; each has a smaller id.
    pub operands: Vec<InstrId>,
    /// Attributes any instruction may carry (`metadata`, `sharding`, `backend_config`, …), in the order of the text.
    pub attributes: Vec<Attribute>,
    /// The source location; no part of equality.
    pub span: Span,
}

impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.shape == other.shape
            && self.op == other.op
            && self.operands == other.operands
            && self.attributes == other.attributes
    }
}

impl Eq for Instruction {}

impl Instruction {
    /// An instruction that never was text.
    pub fn new(name: impl Into<String>, shape: Shape, op: Op, operands: Vec<InstrId>) -> Self {
        Instruction { name: name.into(), shape, op, operands, attributes: Vec::new(), span: Span::default() }
    }
}

/// One `name=value` after an instruction's operands or a computation's brace, the value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The value, exactly as in the text, comments aside.
    pub value: String,
}

impl Attribute {
    /// An attribute of this name and text.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Attribute { name: name.into(), value: value.into() }
    }
}
