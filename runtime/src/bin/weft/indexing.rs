//! `weft indexing`

use crate::args::{Direction as Way, Domain, Format, Indexing};
use crate::report::{Failure, Outcome};
use crate::source::Source;
use crate::{is_json, output};
use serde_json::{Map, Value, json};
use weft_hlo::indexing::{Analysis, Dependence, Direction, Domains, ElementMap, Group, Owners, Relation, physical};
use weft_hlo::ir::{ArrayShape, Computation, ComputationId, InstrId, Module, Op, Shape};
use weft_indexing::{IndexingMap, Owner};

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
}

/// Maps with a heading.
struct Shown {
    computation: ComputationId,
    instruction: InstrId,
    rows: Vec<Row>,
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
    let view = View { module: &module, arguments, direction };
    let domains = match arguments.domain {
        Domain::Documented => Domains::Documented,
        Domain::Exact => Domains::Exact,
    };
    let mut analysis = Analysis::new(&module).with_domains(domains);
    let named = arguments.instruction.as_deref().map(|name| view.find(name)).transpose()?;
    let mut shown = Vec::new();
    let mut owners = Vec::new();
    match (named, &arguments.to) {
        (Some((computation, from)), Some(to)) => {
            let to = view.find_in(computation, to)?;
            let found = analysis.between(computation, from, to);
            shown.push(Shown { computation, instruction: from, rows: view.group_rows(computation, &found.groups) });
            owners.push(found.owners);
        }
        (named, _) if arguments.fusion => {
            let (computation, roots) = view.fusion(named)?;
            let found = analysis.subgraph(computation, &roots, direction, |_| true);
            for root in roots {
                let groups: Vec<Group> =
                    found.groups.iter().filter(|group| group.from.instruction == root).cloned().collect();
                shown.push(Shown { computation, instruction: root, rows: view.group_rows(computation, &groups) });
                owners.push(found.owners.clone());
            }
        }
        (named, _) => {
            let all = module.computations.ids().flat_map(|computation| {
                module.computations[computation].instructions.ids().map(move |id| (computation, id))
            });
            let chosen: Vec<(ComputationId, InstrId)> = named.map_or_else(|| all.collect(), |one| vec![one]);
            for (computation, instruction) in chosen {
                let found = analysis.instruction(computation, instruction, direction);
                let rows = found.dependences.iter().map(|own| view.operand_row(computation, instruction, own));
                shown.push(Shown { computation, instruction, rows: rows.collect() });
                owners.push(found.owners);
            }
        }
    }
    for (shown, _) in shown.iter_mut().zip(&owners) {
        for row in &mut shown.rows {
            view.finish(&mut row.relation);
        }
    }
    if is_json(format) {
        let instructions = shown.iter().zip(&owners).map(|(shown, owners)| view.json(shown, owners));
        let direction = match direction {
            Direction::OutputToInput => "output-to-input",
            Direction::InputToOutput => "input-to-output",
        };
        output::json(&json!({ "direction": direction, "instructions": instructions.collect::<Vec<_>>() }))?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for (shown, owners) in shown.iter().zip(&owners) {
        if named.is_some() || arguments.fusion || !shown.rows.is_empty() {
            text += &view.text(shown, owners);
        }
    }
    output::text(&text)?;
    Ok(Outcome::Done)
}

impl View<'_> {
    fn computation(&self, id: ComputationId) -> &Computation {
        &self.module.computations[id]
    }

    /// An instruction by its name: the entry's, or else that of the one computation that has it; `COMPUTATION/NAME` for one
    /// of several.
    fn find(&self, name: &str) -> Result<(ComputationId, InstrId), Failure> {
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
        match (found.as_slice(), found.iter().find(|(id, _)| *id == self.module.entry)) {
            ([one], _) | (_, Some(one)) => Ok(*one),
            ([], _) => Err(Failure::Misuse(format!("no instruction is named {name}"))),
            ([first, ..], _) => {
                let first = &self.computation(first.0).name;
                let message = format!("several computations have a {name}; name one of them, as in {first}/{name}");
                Err(Failure::Misuse(message))
            }
        }
    }

    fn find_in(&self, computation: ComputationId, name: &str) -> Result<InstrId, Failure> {
        let owner = self.computation(computation);
        let name = name.trim_start_matches('%');
        let found = owner.instructions.iter().find(|(_, instruction)| instruction.name == name);
        let missing = || Failure::Misuse(format!("{} has no instruction {name}", owner.name));
        found.map(|(id, _)| id).ok_or_else(missing)
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

    fn operand_row(&self, computation: ComputationId, id: InstrId, own: &Dependence) -> Row {
        let instruction = &self.computation(computation).instructions[id];
        let mut label = Vec::new();
        let mut fields = Map::new();
        if matches!(instruction.shape, Shape::Tuple(_)) && own.result.is_some() {
            label.extend(own.result.map(|result| format!("output {result}")));
        }
        fields.insert("output".to_owned(), json!(own.result));
        match own.operand {
            None => label.push("no input".to_owned()),
            Some(operand) => {
                let read = &self.computation(computation).instructions[instruction.operands[operand]];
                let leaf = match (&read.shape, own.leaf) {
                    (Shape::Tuple(_), Some(leaf)) => format!(", array {leaf}"),
                    _ => String::new(),
                };
                label.push(format!("operand {operand} ({}{leaf})", read.name));
            }
        }
        fields.insert("operand".to_owned(), json!(own.operand));
        fields.insert("array".to_owned(), json!(own.leaf));
        let list = match self.direction {
            Direction::OutputToInput => own.operand,
            Direction::InputToOutput => own.result.or(Some(0)),
        };
        let relation = self.in_memory(own.relation.clone(), || {
            let of = self.array(computation, id, own.result?)?;
            let read = self.array(computation, instruction.operands[own.operand?], own.leaf?)?;
            Some(if self.direction == Direction::OutputToInput { (of, read) } else { (read, of) })
        });
        Row { label: label.join(", "), fields, list, relation }
    }

    fn group_rows(&self, computation: ComputationId, groups: &[Group]) -> Vec<Row> {
        let row = |group: &Group| {
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
            fields.insert("from_array".to_owned(), json!(group.from.leaf));
            fields.insert("instruction".to_owned(), json!(to.name));
            fields.insert("array".to_owned(), json!(group.to.leaf));
            let relation = self.in_memory(group.relation.clone(), || {
                let from = self.array(computation, group.from.instruction, group.from.leaf)?;
                Some((from, self.array(computation, group.to.instruction, group.to.leaf)?))
            });
            Row { label: label.join(", "), fields, list: None, relation }
        };
        groups.iter().map(row).collect()
    }

    fn array(&self, computation: ComputationId, id: InstrId, leaf: usize) -> Option<&ArrayShape> {
        self.computation(computation).instructions[id].shape.leaves().get(leaf)?.as_array()
    }

    /// With `--physical` between positions in memory.
    fn in_memory<'s>(
        &'s self,
        relation: Relation,
        shapes: impl Fn() -> Option<(&'s ArrayShape, &'s ArrayShape)>,
    ) -> Relation {
        match (relation, shapes()) {
            (Relation::Maps(maps), Some((from, to))) if self.arguments.physical => {
                let moved = maps.into_iter().map(|map| Ok(ElementMap { map: physical(&map.map, from, to)?, ..map }));
                moved.collect::<Result<_, _>>().map_or_else(Relation::Undefined, Relation::Maps)
            }
            (relation, _) => relation,
        }
    }

    /// With `--simplify`, simplified.
    fn finish(&self, relation: &mut Relation) {
        if let Relation::Maps(maps) = relation
            && self.arguments.simplify
        {
            for map in maps {
                map.simplify();
            }
        }
    }

    /// The name of the instruction that a token stands for: those that call it in front.
    fn owner_name(&self, computation: ComputationId, owners: &Owners, owner: Owner) -> Option<String> {
        let source = owners.source(owner)?;
        let mut name = String::new();
        let mut within = Some(computation);
        for (position, id) in source.path.into_iter().enumerate() {
            let instruction = self.computation(within?).instructions.get(id)?;
            name += if name.is_empty() { "" } else { "/" };
            name += &instruction.name;
            within = match &instruction.op {
                Op::Fusion { calls, .. } | Op::Call { to_apply: calls } | Op::AsyncStart { calls, .. } => Some(*calls),
                Op::Conditional { branches, .. } => {
                    let branch = *source.branches.get(position)?;
                    name += &format!("/{branch}");
                    branches.get(branch).copied()
                }
                _ => None,
            };
        }
        Some(name)
    }

    fn text(&self, shown: &Shown, owners: &Owners) -> String {
        let computation = self.computation(shown.computation);
        let name = &computation.instructions[shown.instruction].name;
        let within =
            if shown.computation == self.module.entry { String::new() } else { format!("{}/", computation.name) };
        let mut text = format!("instruction {within}{name}\n");
        let names = |owner| self.owner_name(shown.computation, owners, owner);
        for row in &shown.rows {
            let label = &row.label;
            if let Relation::Undefined(reason) = &row.relation {
                text += &format!("  {label}: UNDEFINED: {reason}\n");
            }
            for map in row.relation.maps() {
                if self.arguments.verbose {
                    let written = map.map.verbose_with(&names).to_string();
                    text += &format!("  {label}:\n    {}\n", written.replace('\n', "\n    "));
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

    fn json(&self, shown: &Shown, owners: &Owners) -> Value {
        let computation = self.computation(shown.computation);
        let instruction = &computation.instructions[shown.instruction];
        let mut value = Map::new();
        value.insert("instruction".to_owned(), json!(instruction.name));
        value.insert("computation".to_owned(), json!(computation.name));
        let is_list = |row: &Row| row.list.is_some();
        let items = |row: &Row| -> Vec<Value> {
            let with = |mut fields: Map<String, Value>, more: Value| {
                if let Value::Object(more) = more {
                    fields.extend(more);
                }
                Value::Object(fields)
            };
            match &row.relation {
                Relation::Undefined(reason) => {
                    vec![with(row.fields.clone(), json!({ "undefined": reason.to_string(), "code": reason.code() }))]
                }
                Relation::Maps(maps) => {
                    let map =
                        |map: &ElementMap| with(row.fields.clone(), self.map_json(shown.computation, map, owners));
                    maps.iter().map(map).collect()
                }
            }
        };
        let grouped = |count: usize| -> Vec<Value> {
            let list = |number: usize| {
                let rows = shown.rows.iter().filter(move |row| row.list == Some(number));
                let items: Vec<Value> = rows.flat_map(items).collect();
                match items.as_slice() {
                    [only] if only.get("undefined").is_some() => only.clone(),
                    _ => Value::Array(items),
                }
            };
            (0..count).map(list).collect()
        };
        if self.arguments.fusion || self.arguments.to.is_some() {
            value.insert("maps".to_owned(), shown.rows.iter().flat_map(items).collect());
            return Value::Object(value);
        }
        match self.direction {
            Direction::OutputToInput => {
                value.insert("operands".to_owned(), json!(grouped(instruction.operands.len())));
                let own: Vec<Value> = shown.rows.iter().filter(|row| !is_list(row)).flat_map(items).collect();
                if !own.is_empty() {
                    value.insert("no_input".to_owned(), json!(own));
                }
            }
            Direction::InputToOutput => {
                value.insert("outputs".to_owned(), json!(grouped(instruction.shape.leaves().len())));
            }
        }
        Value::Object(value)
    }

    fn map_json(&self, computation: ComputationId, map: &ElementMap, owners: &Owners) -> Value {
        let IndexingMap { dims, ranges, runtime, .. } = &map.map;
        let variable = |(position, variable): (usize, &weft_indexing::RuntimeVariable)| {
            let before = runtime[..position].to_vec();
            let access =
                IndexingMap::from_parts(dims.clone(), ranges.clone(), before, variable.access.clone(), Vec::new());
            let owner = variable.owner.and_then(|owner| self.owner_name(computation, owners, owner));
            json!({ "instruction": owner, "map": access.to_string() })
        };
        let variables: Vec<Value> = runtime.iter().enumerate().map(variable).collect();
        let mut value = json!({ "map": map.map.to_string(), "runtime_variables": variables });
        if let Some(reason) = map.coarse {
            value["coarse"] = json!(reason);
        }
        if let Some(replica) = &map.replica_id {
            value["replica_id"] = json!(replica.to_string());
        }
        value
    }
}
