//! The arguments of a shape function besides the shapes of the operands.

use super::{Extents, Known, Value};
use std::collections::BTreeMap;

/// The attributes of one instruction, by name: sizes, lists of sizes, truth values.
///
/// Defaults are filled in by whoever implements this: a window without strides says that they are 1.
pub trait Attributes {
    /// The attribute, if the instruction has it.
    fn attribute(&self, name: &str) -> Option<Value>;

    /// What is known of the attribute beforehand, if the instruction has it. Not all is where an instruction declares
    /// extents that are only bounded; then [`attribute`](Self::attribute) is asked when they are known.
    fn known(&self, name: &str) -> Option<Known> {
        self.attribute(name).map(Known::Exact)
    }
}

/// Attributes in a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeTable(BTreeMap<String, Value>);

impl AttributeTable {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Value) -> Self {
        self.0.insert(name.into(), value);
        self
    }

    /// The same with one more size.
    #[must_use]
    pub fn with_size(self, name: impl Into<String>, size: i64) -> Self {
        self.with(name, Value::Size(size))
    }

    /// The same with one more list of sizes.
    #[must_use]
    pub fn with_sizes(self, name: impl Into<String>, sizes: impl IntoIterator<Item = i64>) -> Self {
        self.with(name, Value::Extents(sizes.into_iter().collect::<Extents>()))
    }
}

impl Attributes for AttributeTable {
    fn attribute(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }
}
