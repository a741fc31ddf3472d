//! Attributes that are carried rather than understood.

use super::ComputationId;

/// One `name=value` after an instruction's operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The value.
    pub value: AttributeValue,
}

/// The value of an [`Attribute`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// Kept exactly as in the text, comments aside.
    Text(String),
    /// A computation that is called (`to_apply=region`).
    Computation(ComputationId),
    /// Several computations that are called (`branch_computations={a, b}`).
    Computations(Vec<ComputationId>),
}

impl Attribute {
    /// An attribute kept as text.
    pub fn text(name: impl Into<String>, value: impl Into<String>) -> Self {
        Attribute { name: name.into(), value: AttributeValue::Text(value.into()) }
    }

    /// The computations this attribute names.
    pub fn called_computations(&self) -> &[ComputationId] {
        match &self.value {
            AttributeValue::Text(_) => &[],
            AttributeValue::Computation(computation) => std::slice::from_ref(computation),
            AttributeValue::Computations(computations) => computations,
        }
    }
}
