//! Custom calls that take the best elements of lines: `ApproxTopK` and `PartialReduce`.

use super::module::{Attribute, Instruction};
use super::{ComputationId, Op};

/// What a call of one of the two asks for. Its operands are arrays of the same extents and, behind them, an initial value for each.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The dimension along which elements are compared.
    pub(crate) dimension: usize,
    /// How many elements are wanted, if the call says so.
    pub(crate) wanted: Option<i64>,
    /// Whether the result is these elements, the best first; else the best of each of as many classes as the result has places.
    pub(crate) is_ordered: bool,
    /// A class has at most two to this power of elements, if the call says so.
    pub(crate) log2_reduction: Option<u32>,
    /// Whether the first of two elements is better; it takes two elements of each array in turn.
    pub(crate) comparator: ComputationId,
}

impl Selection {
    /// The two targets.
    pub(crate) const TARGETS: [&str; 2] = ["ApproxTopK", "PartialReduce"];

    /// Whether a custom call of this target is one of those that select.
    pub(crate) fn is_target(target: &str) -> bool {
        Selection::TARGETS.contains(&target)
    }

    /// What a call asks for; `None` of any other operation, and of a call whose computation is no comparator.
    pub(crate) fn of(op: &Op, attributes: &[Attribute]) -> Option<Result<Selection, String>> {
        let Op::CustomCall { custom_call_target: target, called_computations, .. } = op else { return None };
        if !Selection::is_target(target) {
            return None;
        }
        let config = Config::of(attributes);
        if config.get("to_apply_type").is_some_and(|given| given != "comparator") {
            return None;
        }
        Some(config.selection(target, called_computations))
    }

    /// The same of an instruction.
    pub(crate) fn of_instruction(instruction: &Instruction) -> Option<Result<Selection, String>> {
        Selection::of(&instruction.op, &instruction.attributes)
    }
}

/// The entries of a `backend_config`, written as JSON, quoted or not, or as MLIR writes attributes.
struct Config(Vec<(String, String)>);

impl Config {
    fn of(attributes: &[Attribute]) -> Config {
        let given = attributes.iter().find(|attribute| attribute.name == "backend_config");
        let text = given.map_or("", |attribute| attribute.value.trim());
        let text = match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(quoted) => quoted.replace("\\\"", "\""),
            None => text.to_owned(),
        };
        let text = text.trim().trim_start_matches('{').trim_end_matches('}');
        let entries = text.split(',').filter_map(|entry| match entry.split_once('=') {
            Some((key, value)) => Some((key, value.split(':').next().unwrap_or(value))),
            None => entry.split_once(':'),
        });
        let bare = |text: &str| text.trim().trim_matches('"').to_owned();
        Config(entries.map(|(key, value)| (bare(key), bare(value))).collect())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// The value of a key that need not be there.
    fn read<T: std::str::FromStr>(&self, key: &str, kind: &str) -> Result<Option<T>, String> {
        let parsed =
            |value: &str| value.parse().map_err(|_| format!("{key} of backend_config must be {kind} and is {value}"));
        self.get(key).map(parsed).transpose()
    }

    fn selection(&self, target: &str, called: &[ComputationId]) -> Result<Selection, String> {
        let missing = |key: &str| format!("backend_config of {target} must give {key}");
        let [comparator] = called[..] else {
            return Err(format!("called_computations of {target} must be one comparator, and are {}", called.len()));
        };
        let is_approximate = target == "ApproxTopK";
        let dimension: Option<usize> = self.read("reduction_dim", "a dimension")?;
        let wanted: Option<i64> = self.read("top_k", "a number of elements")?;
        let aggregates: Option<bool> = self.read("aggregate_to_topk", "true or false")?;
        let log2_reduction: Option<u32> = self.read("log2_reduction", "a number of halvings")?;
        let recall: Option<f64> = self.read("recall_target", "a number")?;
        self.read::<i64>("reduction_input_size_override", "a size")?;
        self.read::<bool>("is_fallback", "true or false")?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted < 1) {
            return Err(format!("top_k of backend_config must be at least 1 and is {wanted}"));
        }
        if let Some(recall) = recall.filter(|recall| !(*recall > 0.0 && *recall <= 1.0)) {
            return Err(format!("recall_target of backend_config must be more than 0 and at most 1 and is {recall}"));
        }
        if is_approximate && wanted.is_none() {
            return Err(missing("top_k"));
        }
        let is_ordered = match aggregates {
            Some(aggregates) => is_approximate && aggregates,
            None if is_approximate => return Err(missing("aggregate_to_topk")),
            None => false,
        };
        let dimension = dimension.ok_or_else(|| missing("reduction_dim"))?;
        Ok(Selection { dimension, wanted, is_ordered, log2_reduction, comparator })
    }
}
