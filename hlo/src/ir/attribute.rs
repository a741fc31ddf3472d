//! Attributes that are carried rather than understood.

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
