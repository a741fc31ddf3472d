//! The JSON of `weft indexing`.
//!
//! Operands have names, and arrays of tuples the path that leads to them (`shape_index`), as in the text of HLO; a path that is
//! `null` stands for all of a value.

use super::{Row, Shown, View, held};
use serde_json::{Map, Value, json};
use weft_hlo::indexing::{Direction, ElementMap, Number, Owners, Relation};
use weft_hlo::ir::{ComputationId, Shape};
use weft_indexing::{IndexingMap, OutOfBounds, RuntimeVariable};

impl View<'_> {
    /// Maps with their heading.
    pub(super) fn json(&self, shown: &Shown) -> Value {
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
                    let map = |map: &ElementMap| {
                        with(row.fields.clone(), self.map_json(shown.computation, map, &shown.owners))
                    };
                    maps.iter().map(map).collect()
                }
            }
        };
        // Under each of these arrays or operands its maps.
        let grouped = |heads: Vec<Value>| -> Vec<Value> {
            let mut lists: Vec<Vec<Value>> = vec![Vec::new(); heads.len()];
            for row in &shown.rows {
                if let Some(list) = row.list.and_then(|number| lists.get_mut(number)) {
                    list.extend(items(row));
                }
            }
            let with = |(mut head, items): (Value, Vec<Value>)| {
                head["maps"] = Value::Array(items);
                head
            };
            heads.into_iter().zip(lists).map(with).collect()
        };
        if self.arguments.fusion || self.arguments.to.is_some() {
            value.insert("maps".to_owned(), shown.rows.iter().flat_map(items).collect());
            return Value::Object(value);
        }
        match self.direction {
            Direction::OutputToInput => {
                let operands = instruction.operands.iter().map(|operand| &computation.instructions[*operand]);
                let heads = operands.enumerate().map(|(index, operand)| {
                    json!({ "name": operand.name, "index": index, "shape": operand.shape.to_string() })
                });
                value.insert("operands".to_owned(), json!(grouped(heads.collect())));
                let own: Vec<Value> = shown.rows.iter().filter(|row| !is_list(row)).flat_map(items).collect();
                if !own.is_empty() {
                    value.insert("no_input".to_owned(), json!(own));
                }
            }
            Direction::InputToOutput => {
                let arrays = instruction.shape.leaves().into_iter().enumerate();
                let heads = arrays.map(|(leaf, shape)| {
                    json!({ "shape_index": shape_index(&instruction.shape, Some(leaf)), "shape": shape.to_string() })
                });
                value.insert("outputs".to_owned(), json!(grouped(heads.collect())));
            }
        }
        Value::Object(value)
    }

    fn map_json(&self, computation: ComputationId, map: &ElementMap, owners: &Owners) -> Value {
        let (dims, ranges, runtime) = (map.map.dims(), map.map.ranges(), map.map.runtime());
        let variable = |(position, variable): (usize, &RuntimeVariable)| {
            let source = variable.owner().and_then(|owner| owners.source(owner));
            let (element, replica) = held(variable, source.as_ref());
            let before = runtime[..position].to_vec();
            let access = IndexingMap::try_new(dims.to_vec(), ranges.to_vec(), before, element.to_vec(), Vec::new())
                .expect("an access is over the variables before its own");
            let name = source.as_ref().and_then(|source| self.name(computation, source));
            let is_position = source.as_ref().is_some_and(|source| source.number == Number::Position);
            let out_of_range = match variable.out_of_bounds() {
                _ if is_position => None,
                OutOfBounds::Clamp => Some("clamp"),
                OutOfBounds::Drop => Some("drop"),
            };
            let mut value = json!({
                "instruction": name,
                "value": if is_position { "position" } else { "element" },
                "map": access.to_string(),
                "out_of_range": out_of_range,
            });
            if let Some(replica) = replica {
                value["replica_id"] = json!(replica.to_string());
            }
            value
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

/// Where an array stands in a value, as the indices of tuples from the outermost to the array; of no one array `null`.
pub(super) fn shape_index(shape: &Shape, leaf: Option<usize>) -> Value {
    let Some(mut left) = leaf else { return Value::Null };
    let mut path = Vec::new();
    let mut at = shape;
    while let Shape::Tuple(elements) = at {
        let found = elements.iter().enumerate().find(|(_, element)| {
            let held = element.leaves().len();
            let is_here = left < held;
            if !is_here {
                left -= held;
            }
            is_here
        });
        let Some((index, element)) = found else { return Value::Null };
        path.push(index);
        at = element;
    }
    json!(path)
}
