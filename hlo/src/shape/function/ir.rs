//! The intermediate representation of shape functions.

use super::{Kind, Type};

/// A value of one function.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(super) u32);

impl ValueId {
    /// The position in the function's table of values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The name and the type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueData {
    /// The name, without `%`; distinct from those of all values that are visible where it is defined.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The operation.
    pub kind: Kind,
    /// The values it takes.
    pub operands: Vec<ValueId>,
    /// The values it defines.
    pub results: Vec<ValueId>,
    /// Its regions.
    pub regions: Vec<Region>,
    /// The message where it fails, in place of the usual one.
    pub error: Option<String>,
}

/// Operations in order, and what they yield at the end.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Region {
    /// The values the region is entered with.
    pub arguments: Vec<ValueId>,
    /// The operations; each sees what was defined before it, also outside of the region.
    pub operations: Vec<Operation>,
    /// The values that `return`, `shape.yield` or `shape.assuming_yield` hands out.
    pub results: Vec<ValueId>,
}

/// A shape function: from the shapes of operands to the shapes of results.
///
/// Functions are made by parsing and by passes, both of which check every type, so that all functions are well typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub(super) name: String,
    pub(super) values: Vec<ValueData>,
    pub(super) body: Region,
}

impl Function {
    /// The name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The types of the parameters.
    pub fn parameters(&self) -> Vec<Type> {
        self.body.arguments.iter().map(|&id| self.ty(id)).collect()
    }

    /// The types of the results.
    pub fn results(&self) -> Vec<Type> {
        self.body.results.iter().map(|&id| self.ty(id)).collect()
    }

    /// The body, whose arguments are the parameters.
    pub fn body(&self) -> &Region {
        &self.body
    }

    /// Name and type of a value.
    pub fn value(&self, id: ValueId) -> &ValueData {
        &self.values[id.index()]
    }

    /// The type of a value.
    pub fn ty(&self, id: ValueId) -> Type {
        self.value(id).ty
    }

    /// The number of operations, those in regions included.
    pub fn operation_count(&self) -> usize {
        let mut count = 0;
        self.body.visit(&mut |_| count += 1);
        count
    }

    /// The names of the functions this one calls, in the order of the calls.
    pub fn callees(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.body.visit(&mut |operation| {
            if let Kind::Call(name, _) = &operation.kind {
                names.push(name.as_str());
            }
        });
        names
    }
}

impl Region {
    /// Calls `visit` with every operation, an operation before those of its regions.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Operation)) {
        for operation in &self.operations {
            visit(operation);
            for region in &operation.regions {
                region.visit(visit);
            }
        }
    }
}
