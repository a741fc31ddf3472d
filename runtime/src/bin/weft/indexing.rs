//! `weft indexing`

mod json;

use crate::args::{Direction as Way, Domain, Format, Indexing};
use crate::report::{Failure, Outcome};
use crate::source::Source;
use crate::{is_json, output};
use json::shape_index;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;
use weft_hlo::indexing::{
    Analysis, Dependence, Direction, Domains, ElementMap, ExchangeStep, Group, Number, Owners, Relation, ReplicaId,
    Source as Origin,
};
use weft_hlo::ir::{ArrayShape, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape};
use weft_indexing::{Expr, Owner, RuntimeVariable};

/// What the help ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  weft indexing program.hlo --instruction add.3
  weft indexing program.hlo --instruction fusion.1 --fusion --format json
  weft indexing program.hlo --instruction dot.2 --to parameter.0 --physical";

/// What is shown, and how.
struct View<'a> {
    module: &'a Module,
    arguments: &'a Indexing,
    direction: Direction,
    /// The instruction that maps lead to, where one is named.
    to: Option<InstrId>,
    /// The arrays of values that are tuples, where positions in memory are shown.
    arrays: BTreeMap<(ComputationId, InstrId), Vec<Option<&'a ArrayShape>>>,
}

/// Maps with a heading.
struct Shown {
    computation: ComputationId,
    instruction: InstrId,
    rows: Vec<Row>,
    owners: Rc<Owners>,
}

/// Maps of one array to one other.
struct Row {
    /// What stands before the maps.
    label: String,
    /// The same for programs.
    fields: Map<String, Value>,
    /// The list of JSON that the row belongs to: operands by their numbers, outputs by theirs.
    list: Option<usize>,
    relation: Relation,
}

pub(crate) fn indexing(arguments: &Indexing, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let direction = match arguments.direction {
        Way::OutputToInput => Direction::OutputToInput,
        Way::InputToOutput => Direction::InputToOutput,
    };
    let arrays = if arguments.physical { tuples(&module) } else { BTreeMap::new() };
    let mut view = View { module: &module, arguments, direction, to: None, arrays };
    let domains = match arguments.domain {
        Domain::Documented => Domains::Documented,
        Domain::Exact => Domains::Exact,
    };
    let mut analysis = Analysis::new(&module).with_domains(domains);
    let named = arguments.instruction.as_deref().map(|name| view.find(name, None)).transpose()?;
    let mut shown = Vec::new();
    match (named, &arguments.to) {
        (Some((computation, from)), Some(to)) => {
            let (other, to) = view.find(to, Some(computation))?;
            if other != computation {
                let within = |computation: ComputationId, id: InstrId| {
                    let owner = &module.computations[computation];
                    format!("{}/{}", owner.name, owner.instructions[id].name)
                };
                let (from, to) = (within(computation, from), within(other, to));
                let message = format!("maps lead through one computation; {from} and {to} are of two");
                return Err(Failure::Misuse(message));
            }
            view.to = Some(to);
            view.direction = if to <= from { Direction::OutputToInput } else { Direction::InputToOutput };
            let found = analysis.between(computation, from, to);
            let owners = Rc::new(found.owners);
            let rows = found.groups.iter().map(|group| view.group_row(computation, group, &owners)).collect();
            shown.push(Shown { computation, instruction: from, rows, owners });
        }
        (named, _) if arguments.fusion => {
            let (computation, roots) = view.fusion(named)?;
            let found = analysis.subgraph(computation, &roots, direction, |_| true);
            let owners = Rc::new(found.owners);
            let mut rows: BTreeMap<InstrId, Vec<Row>> = BTreeMap::new();
            for group in &found.groups {
                rows.entry(group.from.instruction).or_default().push(view.group_row(computation, group, &owners));
            }
            for instruction in roots {
                let rows = rows.remove(&instruction).unwrap_or_default();
                shown.push(Shown { computation, instruction, rows, owners: Rc::clone(&owners) });
            }
        }
        (named, _) => {
            let all = module.computations.ids().flat_map(|computation| {
                module.computations[computation].instructions.ids().map(move |id| (computation, id))
            });
            let chosen: Vec<(ComputationId, InstrId)> = named.map_or_else(|| all.collect(), |one| vec![one]);
            for (computation, instruction) in chosen {
                let mut found = analysis.instruction(computation, instruction, direction);
                if arguments.simplify {
                    for dependence in &mut found.dependences {
                        if let Relation::Maps(maps) = &mut dependence.relation {
                            maps.iter_mut().for_each(|map| analysis.simplify(computation, &found.owners, map));
                        }
                    }
                }
                let owners = Rc::new(found.owners);
                let rows = found.dependences.iter().map(|own| view.operand_row(computation, instruction, own, &owners));
                shown.push(Shown { computation, instruction, rows: rows.collect(), owners });
            }
        }
    }
    if arguments.simplify {
        for row in shown.iter_mut().flat_map(|shown| &mut shown.rows) {
            if let Relation::Maps(maps) = &mut row.relation {
                maps.iter_mut().for_each(ElementMap::simplify);
            }
        }
    }
    if is_json(format) {
        let instructions = shown.iter().map(|shown| view.json(shown));
        let direction = match view.direction {
            Direction::OutputToInput => "output-to-input",
            Direction::InputToOutput => "input-to-output",
        };
        output::json(&json!({ "direction": direction, "instructions": instructions.collect::<Vec<_>>() }))?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for shown in &shown {
        if named.is_some() || arguments.fusion || !shown.rows.is_empty() {
            text += &view.text(shown);
        }
    }
    output::text(&text)?;
    Ok(Outcome::Done)
}

/// The arrays of all values that are tuples.
fn tuples(module: &Module) -> BTreeMap<(ComputationId, InstrId), Vec<Option<&ArrayShape>>> {
    let values = module.computations.iter().flat_map(|(computation, owner)| {
        owner.instructions.iter().map(move |(id, instruction)| ((computation, id), &instruction.shape))
    });
    let tuples = values.filter(|(_, shape)| matches!(shape, Shape::Tuple(_)));
    tuples.map(|(at, shape)| (at, shape.leaves().into_iter().map(Shape::as_array).collect())).collect()
}

/// The computation that an operation calls as its branch of this number.
fn called(op: &Op, branch: usize) -> Option<ComputationId> {
    match op {
        Op::Fusion { calls, .. } | Op::Call { to_apply: calls } | Op::AsyncStart { calls, .. } => Some(*calls),
        Op::Conditional { branches, .. } => branches.get(branch).copied(),
        Op::AsyncShorthand { operation: Some(operation), .. } => called(operation, branch),
        _ => None,
    }
}

impl View<'_> {
    fn computation(&self, id: ComputationId) -> &Computation {
        &self.module.computations[id]
    }

    /// An instruction by its name: that of the computation `near`, the entry's, or else that of the one computation that has it;
    /// `COMPUTATION/NAME` for one of several.
    fn find(&self, name: &str, near: Option<ComputationId>) -> Result<(ComputationId, InstrId), Failure> {
        let (within, name) = match name.split_once('/') {
            Some((within, name)) => (Some(within.trim_start_matches('%')), name),
            None => (None, name),
        };
        let name = name.trim_start_matches('%');
        let mut found: Vec<(ComputationId, InstrId)> = Vec::new();
        for (id, computation) in self.module.computations.iter() {
            if within.is_some_and(|within| within != computation.name) {
                continue;
            }
            let own = computation.instructions.iter().find(|(_, instruction)| instruction.name == name);
            found.extend(own.map(|(own, _)| (id, own)));
        }
        let of = |computation: ComputationId| found.iter().find(|(id, _)| *id == computation);
        match (found.as_slice(), near.and_then(of).or_else(|| of(self.module.entry))) {
            ([one], _) | (_, Some(one)) => Ok(*one),
            ([], _) => {
                let within = within.map(|within| format!("{within}/")).unwrap_or_default();
                Err(Failure::Misuse(format!("no instruction is named {within}{name}")))
            }
            ([first, ..], _) => {
                let first = &self.computation(first.0).name;
                let message = format!("several computations have a {name}; name one of them, as in {first}/{name}");
                Err(Failure::Misuse(message))
            }
        }
    }

    /// The computation that is taken for a fusion, and the instructions that maps start at.
    fn fusion(&self, named: Option<(ComputationId, InstrId)>) -> Result<(ComputationId, Vec<InstrId>), Failure> {
        let computation = match named {
            None => self.module.entry,
            Some((computation, id)) => match self.computation(computation).instructions[id].op {
                Op::Fusion { calls, .. } | Op::Call { to_apply: calls } => calls,
                _ => {
                    let name = &self.computation(computation).instructions[id].name;
                    return Err(Failure::Misuse(format!("--fusion is of a fusion or a call, and {name} is neither")));
                }
            },
        };
        let owner = self.computation(computation);
        let roots = match self.direction {
            Direction::OutputToInput => vec![owner.root],
            Direction::InputToOutput => owner.parameters(),
        };
        Ok((computation, roots))
    }

    fn operand_row(&self, computation: ComputationId, id: InstrId, own: &Dependence, owners: &Owners) -> Row {
        let instruction = &self.computation(computation).instructions[id];
        let mut label = Vec::new();
        let mut fields = Map::new();
        if matches!(instruction.shape, Shape::Tuple(_)) && own.result.is_some() {
            label.extend(own.result.map(|result| format!("output {result}")));
        }
        fields.insert("output".to_owned(), shape_index(&instruction.shape, own.result));
        match own.operand {
            None => label.push("no input".to_owned()),
            Some(operand) => {
                let read = &self.computation(computation).instructions[instruction.operands[operand]];
                let leaf = match (&read.shape, own.leaf) {
                    (Shape::Tuple(_), Some(leaf)) => format!(", array {leaf}"),
                    _ => String::new(),
                };
                label.push(format!("operand {operand} ({}{leaf})", read.name));
                fields.insert(
                    "operand".to_owned(),
                    json!({
                        "name": read.name,
                        "index": operand,
                        "shape_index": shape_index(&read.shape, own.leaf),
                    }),
                );
            }
        }
        let list = match self.direction {
            Direction::OutputToInput => own.operand,
            Direction::InputToOutput => own.result.or(Some(0)),
        };
        let relation = self.in_memory(&own.relation, (computation, owners), || {
            let of = own.result.and_then(|leaf| self.array(computation, id, leaf));
            let read = own.operand.zip(own.leaf);
            let read = read.and_then(|(read, leaf)| self.array(computation, instruction.operands[read], leaf));
            if self.direction == Direction::OutputToInput { (of, read) } else { (read, of) }
        });
        Row { label: label.join(", "), fields, list, relation }
    }

    fn group_row(&self, computation: ComputationId, group: &Group, owners: &Owners) -> Row {
        let owner = self.computation(computation);
        let (from, to) = (&owner.instructions[group.from.instruction], &owner.instructions[group.to.instruction]);
        let mut label = Vec::new();
        if matches!(from.shape, Shape::Tuple(_)) {
            label.push(format!("from array {}", group.from.leaf));
        }
        let array = match &to.shape {
            Shape::Tuple(_) => format!(", array {}", group.to.leaf),
            _ => String::new(),
        };
        label.push(format!("to {}{array}", to.name));
        let mut fields = Map::new();
        fields.insert("from_shape_index".to_owned(), shape_index(&from.shape, Some(group.from.leaf)));
        fields.insert("instruction".to_owned(), json!(to.name));
        fields.insert("shape_index".to_owned(), shape_index(&to.shape, Some(group.to.leaf)));
        let relation = self.in_memory(&group.relation, (computation, owners), || {
            let array = |end: weft_hlo::indexing::Endpoint| self.array(computation, end.instruction, end.leaf);
            (array(group.from), array(group.to))
        });
        Row { label: label.join(", "), fields, list: None, relation }
    }

    fn array(&self, computation: ComputationId, id: InstrId, leaf: usize) -> Option<&ArrayShape> {
        match self.arrays.get(&(computation, id)) {
            Some(arrays) => arrays.get(leaf).copied().flatten(),
            None => self.computation(computation).instructions[id].shape.as_array(),
        }
    }

    /// With `--physical` between positions in memory; a side without an array stays as it is.
    fn in_memory<'s>(
        &'s self,
        relation: &Relation,
        (computation, owners): (ComputationId, &Owners),
        shapes: impl Fn() -> (Option<&'s ArrayShape>, Option<&'s ArrayShape>),
    ) -> Relation {
        let Relation::Maps(maps) = relation else { return relation.clone() };
        if !self.arguments.physical {
            return relation.clone();
        }
        let (from, to) = shapes();
        let read = |owner: Owner| {
            let source = owners.source(owner).filter(|source| source.number == Number::Element)?;
            self.path(computation, &source)?.last()?.shape.as_array()
        };
        let moved = maps.iter().map(|map| map.physical(from, to, &read));
        moved.collect::<Result<_, _>>().map_or_else(Relation::Undefined, Relation::Maps)
    }

    /// The instructions that call, outermost first, and then the one that yields the value.
    fn path(&self, computation: ComputationId, source: &Origin) -> Option<Vec<&Instruction>> {
        let mut found = Vec::with_capacity(source.path.len());
        let mut within = Some(computation);
        for (position, id) in source.path.iter().enumerate() {
            let instruction = self.computation(within?).instructions.get(*id)?;
            within = called(&instruction.op, source.branches.get(position).copied().unwrap_or_default());
            found.push(instruction);
        }
        Some(found)
    }

    /// The name of the instruction that yields a value: those that call it in front.
    fn name(&self, computation: ComputationId, source: &Origin) -> Option<String> {
        let path = self.path(computation, source)?;
        let part = |(position, instruction): (usize, &&Instruction)| match source.branches.get(position) {
            Some(branch) if matches!(instruction.op, Op::Conditional { .. }) => {
                format!("{}/{branch}", instruction.name)
            }
            _ => instruction.name.clone(),
        };
        Some(path.iter().enumerate().map(part).collect::<Vec<_>>().join("/"))
    }

    fn text(&self, shown: &Shown) -> String {
        let computation = self.computation(shown.computation);
        let name = &computation.instructions[shown.instruction].name;
        let within =
            if shown.computation == self.module.entry { String::new() } else { format!("{}/", computation.name) };
        let mut text = format!("instruction {within}{name}\n");
        let nothing = match self.direction {
            Direction::OutputToInput => "nothing is read",
            Direction::InputToOutput => "nothing is computed from it",
        };
        if let (Some(to), []) = (self.to, shown.rows.as_slice()) {
            text += &format!("  to {}: {nothing}\n", computation.instructions[to].name);
        }
        let names = |owner| self.name(shown.computation, &shown.owners.source(owner)?);
        for row in &shown.rows {
            let label = &row.label;
            match &row.relation {
                Relation::Undefined(reason) => text += &format!("  {label}: UNDEFINED: {reason}\n"),
                Relation::Maps(maps) if maps.is_empty() => text += &format!("  {label}: {nothing}\n"),
                Relation::Maps(_) => {}
            }
            for map in row.relation.maps() {
                if self.arguments.verbose {
                    let written = map.map.verbose_with(&names).to_string();
                    text += &format!("  {label}:\n    {}\n", written.replace('\n', "\n    "));
                    for (position, variable) in map.map.runtime().iter().enumerate() {
                        text += &self.origin(shown, position, variable).unwrap_or_default();
                    }
                } else {
                    text += &format!("  {label}: {}\n", map.map);
                }
                if let Some(reason) = map.coarse {
                    text += &format!("    coarse: {reason}\n");
                }
                if let Some(replica) = &map.replica_id {
                    text += &format!("    replica_id: {replica}\n");
                }
            }
        }
        text
    }

    /// A line for a runtime variable that is not just an element of a value on the replica that asks.
    fn origin(&self, shown: &Shown, position: usize, variable: &RuntimeVariable) -> Option<String> {
        let source = shown.owners.source(variable.owner()?)?;
        let (_, replica) = held(variable, Some(&source));
        let what = match (source.number, &replica) {
            (Number::Element, None) => return None,
            (Number::Element, Some(_)) => "an element",
            (Number::Position, _) => "the position in the group",
        };
        let of = self.name(shown.computation, &source)?;
        let replica = replica.map(|replica| format!(", replica_id: {replica}")).unwrap_or_default();
        let variable = variable.name().map_or_else(|| format!("rt{position}"), str::to_owned);
        Some(format!("    {variable}: {what} of {of}{replica}\n"))
    }
}

/// Which element of a value a runtime variable is, and on which replica where that is another one.
fn held<'v>(variable: &'v RuntimeVariable, source: Option<&Origin>) -> (&'v [Expr], Option<ReplicaId>) {
    let exchanges = source.map(|source| source.exchanges.as_slice()).unwrap_or_default();
    let (element, members) = variable.access().split_at(variable.access().len().saturating_sub(exchanges.len()));
    let steps = exchanges.iter().zip(members);
    let steps: Vec<ExchangeStep> =
        steps.map(|(exchange, member)| ExchangeStep { exchange: exchange.clone(), member: member.clone() }).collect();
    (element, if steps.is_empty() { None } else { Some(ReplicaId { steps }) })
}
