//! What invocations do together, in WGSL: undivided updates, and collectives of subgroups.

use super::function::{FunctionText, strip};
use super::writer::{first_in_buffer, stored_type};
use crate::kernel::{
    AtomicOp, Block, Combination, Combiner, FunctionId, Kernel, Known, MemoryId, Operand, ScalarOp, Scope, Space,
    Statement, ValueId,
};
use weft_affine::Expr;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, ElementType, Span};

/// The number of an invocation in its subgroup, and how many there are: builtin values of the entry point.
pub(super) const SUBGROUP_INPUTS: &str =
    ", @builtin(subgroup_invocation_id) member: u32, @builtin(subgroup_size) members: u32";

/// The number of a subgroup, and how many a workgroup has.
pub(super) const WORKGROUP_INPUTS: &str =
    ", @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32";

/// For each memory whether the array that holds it is of atomic words: all of a buffer in which elements are updated, or
/// merged into words.
///
/// # Errors
/// `HLO413` where vectors go to and from such an array.
pub(super) fn atomic_memories(kernel: &Kernel, array_lanes: &[u32]) -> Result<Vec<bool>, Diagnostics> {
    let mut updated = vec![false; kernel.memories.len()];
    mark(&kernel.entry.body, &mut updated);
    let first = |memory: MemoryId| first_in_buffer(kernel, &kernel.memories[memory]);
    let ids: Vec<MemoryId> = kernel.memories.ids().collect();
    let in_updated =
        |memory: MemoryId| ids.iter().any(|other| updated[other.index()] && std::ptr::eq(first(*other), first(memory)));
    let atomic: Vec<bool> = ids.iter().map(|memory| in_updated(*memory)).collect();
    match ids.iter().find(|memory| atomic[memory.index()] && array_lanes[memory.index()] > 1) {
        None => Ok(atomic),
        Some(memory) => {
            let message = format!("vectors go to and from %{}, which is updated", kernel.memories[*memory].name);
            Err(Diagnostic::new("HLO413", Span::default(), message).into())
        }
    }
}

fn mark(block: &Block, updated: &mut [bool]) {
    for statement in &block.statements {
        if let Statement::Update { memory, .. } | Statement::Merge { memory, .. } = statement {
            updated[memory.index()] = true;
        }
        statement.blocks().into_iter().for_each(|block| mark(block, updated));
    }
}

/// Whether a block, or one within it, combines values of subgroups.
pub(crate) fn uses_subgroups(block: &Block) -> bool {
    block.statements.iter().any(|statement| {
        matches!(statement, Statement::Collective { scope: Scope::Subgroup, .. })
            || is_of_member(statement)
            || combines_subgroups(statement)
            || statement.blocks().into_iter().any(uses_subgroups)
    })
}

fn is_of_member(statement: &Statement) -> bool {
    matches!(statement, Statement::Let { op: ScalarOp::Member { .. }, .. })
}

/// Whether a block, or one within it, asks for values of other invocations of a workgroup that is a subgroup.
pub(crate) fn asks_members(block: &Block) -> bool {
    block.statements.iter().any(|statement| is_of_member(statement) || statement.blocks().into_iter().any(asks_members))
}

/// Whether a block, or one within it, combines what the subgroups of a workgroup come to.
pub(super) fn numbers_subgroups(block: &Block) -> bool {
    block
        .statements
        .iter()
        .any(|statement| combines_subgroups(statement) || statement.blocks().into_iter().any(numbers_subgroups))
}

fn combines_subgroups(statement: &Statement) -> bool {
    matches!(statement, Statement::Collective { scope: Scope::Workgroup, tiles, .. } if !tiles.is_empty())
}

/// The type of the atomic word that holds an element.
pub(super) fn atomic_type(element_type: ElementType) -> &'static str {
    if element_type == ElementType::S32 { "i32" } else { "u32" }
}

/// An element as the word that holds it.
fn word(element_type: ElementType, element: &str) -> String {
    match element_type {
        ElementType::Pred => format!("u32({element})"),
        ElementType::F32 => format!("bitcast<u32>({element})"),
        _ => element.to_owned(),
    }
}

/// The element that a word holds.
pub(super) fn element_of(element_type: ElementType, word: &str) -> String {
    match element_type {
        ElementType::Pred => format!("({word} != 0u)"),
        ElementType::F32 => format!("bitcast<f32>({word})"),
        _ => word.to_owned(),
    }
}

impl FunctionText<'_, '_> {
    /// A statement that stores to atomic words.
    pub(super) fn atomic_store(&self, memory: MemoryId, target: &str, value: Operand) -> String {
        let element_type = self.writer.kernel.memories[memory].shape.element_type;
        let value = self.operand(value);
        format!("atomicStore(&{target}, {});", word(element_type, strip(&value)))
    }

    /// An update: an atomic operation, or a loop that exchanges the element for what a function makes of it as soon as nobody came between.
    /// Each round but the last is one that the update of another invocation has overtaken.
    pub(super) fn update(
        &mut self,
        memory: MemoryId,
        indices: &[Expr],
        combiner: Combiner,
        value: Operand,
        known: &Known,
        depth: usize,
    ) -> Result<(), Diagnostics> {
        let target = self.element(memory, indices, 1, known)?;
        let kernel = self.writer.kernel;
        let element_type = kernel.memories[memory].shape.element_type;
        if kernel.memories[memory].space == Space::Thread {
            let message = "an update of an invocation's own memory cannot be written in WGSL as it is";
            return Err(Diagnostic::new("HLO413", Span::default(), message).into());
        }
        let value = self.operand(value);
        let value = strip(&value);
        let function = match combiner {
            Combiner::Function(function) => &kernel.functions[function].name,
            Combiner::Atomic(op) => {
                let name = match op {
                    AtomicOp::Add => "atomicAdd",
                    AtomicOp::Minimum => "atomicMin",
                    AtomicOp::Maximum => "atomicMax",
                    AtomicOp::And => "atomicAnd",
                    AtomicOp::Or => "atomicOr",
                    AtomicOp::Xor => "atomicXor",
                    AtomicOp::Exchange => "atomicStore",
                };
                self.line(depth, &format!("{name}(&{target}, {});", word(element_type, value)));
                return Ok(());
            }
        };
        let value = if value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            value.to_owned()
        } else {
            let given = self.scope.take("given");
            self.line(depth, &format!("let {given} = {value};"));
            given
        };
        let [found, tried] = ["found", "tried"].map(|name| self.scope.take(name));
        let element = element_of(element_type, &found);
        let made = word(element_type, &format!("{function}({}, {value})", strip(&element)));
        self.line(depth, &format!("var {found} = atomicLoad(&{target});"));
        self.line(depth, "loop {");
        self.line(depth + 1, &format!("let {tried} = atomicCompareExchangeWeak(&{target}, {found}, {made});"));
        self.line(depth + 1, &format!("if {tried}.exchanged {{ break; }}"));
        self.line(depth + 1, &format!("{found} = {tried}.old_value;"));
        self.line(depth, "}");
        Ok(())
    }

    /// A collective of a subgroup: each invocation combines what it has with what those before it have, twice as many in each round.
    /// The last has it all then. A subgroup may lack invocations at its end.
    pub(super) fn subgroup(
        &mut self,
        values: &[ValueId],
        combination: Combination,
        function: FunctionId,
        operands: &[Operand],
        depth: usize,
    ) {
        let types: Vec<ElementType> = values.iter().map(|value| self.function.values[*value].element_type).collect();
        let names = self.declared(values, operands, depth);
        self.up_to(&types, &names, function, depth);
        match combination {
            Combination::Scan => {}
            Combination::Reduce | Combination::Combine => {
                let last = self.scope.take("last");
                self.line(depth, &format!("let {last} = subgroupMax(member);"));
                let whole =
                    self.moved(&types, &names, "whole", |word| format!("subgroupShuffle({word}, {last})"), depth);
                self.replaced(&names, &whole, depth);
            }
            Combination::ExclusiveScan => {
                let before =
                    self.moved(&types, &names, "before", |word| format!("subgroupShuffleUp({word}, 1u)"), depth);
                self.line(depth, "if member > 0u {");
                self.replaced(&names, &before, depth + 1);
                self.line(depth, "}");
            }
        }
    }

    /// A collective of a workgroup by way of its subgroups. The last invocation of each leaves in the tiles what its subgroup comes to. After a barrier every
    /// subgroup combines all of that: each invocation a stretch of what there is, which some may have none of, then those that have any.
    pub(super) fn through_subgroups(
        &mut self,
        values: &[ValueId],
        function: FunctionId,
        operands: &[Operand],
        tiles: &[MemoryId],
        depth: usize,
    ) {
        let types: Vec<ElementType> = values.iter().map(|value| self.function.values[*value].element_type).collect();
        let names = self.declared(values, operands, depth);
        let tiles: Vec<&str> = tiles.iter().map(|tile| self.writer.kernel.memories[*tile].name.as_str()).collect();
        let [last, each, begin, next] = ["last", "each", "begin", "next"].map(|name| self.scope.take(name));
        self.up_to(&types, &names, function, depth);
        self.line(depth, &format!("let {last} = subgroupMax(member);"));
        self.line(depth, &format!("if member == {last} {{"));
        for ((ty, name), tile) in types.iter().zip(&names).zip(&tiles) {
            let stored = if *ty == ElementType::Pred { format!("u32({name})") } else { name.clone() };
            self.line(depth + 1, &format!("{tile}[subgroup] = {stored};"));
        }
        self.line(depth, "}");
        self.line(depth, "workgroupBarrier();");
        self.line(depth, &format!("let {each} = (subgroups + {last}) / ({last} + 1u);"));
        self.line(depth, &format!("let {begin} = min(member * {each}, subgroups - 1u);"));
        let left = |place: &str| {
            let one = |(ty, tile): (&ElementType, &&str)| match ty {
                ElementType::Pred => format!("({tile}[{place}] != 0u)"),
                _ => format!("{tile}[{place}]"),
            };
            types.iter().zip(&tiles).map(one).collect::<Vec<String>>()
        };
        self.replaced(&names, &left(&begin), depth);
        let header = format!("for (var {next} = {begin} + 1u; {next} < min({begin} + {each}, subgroups); {next}++) {{");
        self.line(depth, &header);
        let all: Vec<String> = names.iter().cloned().chain(left(&next)).collect();
        self.combined(&names, &all, function, depth + 1);
        self.line(depth, "}");
        self.up_to(&types, &names, function, depth);
        let from = format!("(subgroups - 1u) / {each}");
        let whole = self.moved(&types, &names, "whole", |word| format!("subgroupShuffle({word}, {from})"), depth);
        self.replaced(&names, &whole, depth);
    }

    /// Variables for the values of a collective, which hold its operands.
    fn declared(&mut self, values: &[ValueId], operands: &[Operand], depth: usize) -> Vec<String> {
        let names: Vec<String> = values.iter().map(|value| self.name(*value).to_owned()).collect();
        for ((name, operand), value) in names.iter().zip(operands).zip(values) {
            let (ty, operand) = (self.type_of(*value), self.operand(*operand));
            self.line(depth, &format!("var {name}: {ty} = {};", strip(&operand)));
        }
        names
    }

    /// Has the variables of each invocation of a subgroup hold what those up to its own come to.
    fn up_to(&mut self, types: &[ElementType], names: &[String], function: FunctionId, depth: usize) {
        let reach = self.scope.take("reach");
        self.line(depth, &format!("for (var {reach} = 1u; {reach} < members; {reach} <<= 1u) {{"));
        let before =
            self.moved(types, names, "before", |word| format!("subgroupShuffleUp({word}, {reach})"), depth + 1);
        self.line(depth + 1, &format!("if member >= {reach} {{"));
        let all: Vec<String> = before.iter().chain(names).cloned().collect();
        self.combined(names, &all, function, depth + 2);
        self.line(depth + 1, "}");
        self.line(depth, "}");
    }

    /// Has variables hold what a function makes of two tuples.
    fn combined(&mut self, names: &[String], tuples: &[String], function: FunctionId, depth: usize) {
        let callee = &self.writer.kernel.functions[function].name;
        let call = format!("{callee}({})", tuples.join(", "));
        if let [name] = names {
            self.line(depth, &format!("{name} = {call};"));
            return;
        }
        let all = self.scope.take("all");
        self.line(depth, &format!("let {all} = {call};"));
        for (position, name) in names.iter().enumerate() {
            self.line(depth, &format!("{name} = {all}.r{position};"));
        }
    }

    /// What other invocations have in these variables, in new ones.
    fn moved(
        &mut self,
        types: &[ElementType],
        names: &[String],
        wanted: &str,
        from: impl Fn(&str) -> String,
        depth: usize,
    ) -> Vec<String> {
        let one = |(ty, name): (&ElementType, &String)| {
            let moved = self.scope.take(wanted);
            // Truth values stay where they are.
            let text = match ty {
                ElementType::Pred => format!("({} != 0u)", from(&format!("{}({name})", stored_type(*ty)))),
                _ => from(name),
            };
            self.line(depth, &format!("let {moved} = {};", strip(&text)));
            moved
        };
        types.iter().zip(names).map(one).collect()
    }

    fn replaced(&mut self, names: &[String], by: &[String], depth: usize) {
        for (name, by) in names.iter().zip(by) {
            self.line(depth, &format!("{name} = {by};"));
        }
    }
}
