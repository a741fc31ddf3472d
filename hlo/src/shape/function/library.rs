//! Libraries of shape functions, and the operations that each function is for.

use super::evaluate::{MAX_CALL_DEPTH, evaluate};
use super::{Attributes, ErrorKind, Extents, Function, Kind, ShapeError, Type, Value};
use std::collections::BTreeMap;

/// A function library: functions by name, and a mapping from names of operations to functions.
///
/// Every call in a library is of a function of the library, with the types it takes, and no function calls itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Library {
    pub(super) name: String,
    pub(super) functions: Vec<Function>,
    pub(super) by_name: BTreeMap<String, usize>,
    pub(super) mapping: BTreeMap<String, usize>,
    pub(super) without: BTreeMap<String, String>,
}

/// The errors of a library, besides the text of single functions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// Two functions have one name.
    #[error("there are two functions @{0}")]
    DuplicateFunction(String),
    /// Two functions are mapped to one operation.
    #[error("two functions are mapped to {0}")]
    DuplicateMapping(String),
    /// A function that is called or mapped does not exist.
    #[error("there is no function @{0}")]
    UnknownFunction(String),
    /// A call has other types than the function.
    #[error("{0}")]
    Signature(String),
    /// A function calls itself, possibly through others.
    #[error("@{0} calls itself")]
    Recursion(String),
    /// An operation that has a function, or a reason already, is given a reason why it has none.
    #[error("{0} has a function, or a reason for having none")]
    DuplicateReason(String),
    /// Calls nest deeper than 32.
    #[error("calls of @{0} nest deeper than {max}", max = MAX_CALL_DEPTH)]
    Depth(String),
}

impl Library {
    /// An empty library.
    pub fn new(name: impl Into<String>) -> Self {
        Library { name: name.into(), ..Library::default() }
    }

    /// The name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The functions, in the order in which they were added.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The mapped operations with their functions, by name of the operation.
    pub fn mapping(&self) -> impl Iterator<Item = (&str, &Function)> {
        self.mapping.iter().map(|(name, &index)| (name.as_str(), &self.functions[index]))
    }

    /// The operations that have no function and need none, each with the reason, by name of the operation.
    pub fn without(&self) -> impl Iterator<Item = (&str, &str)> {
        self.without.iter().map(|(name, reason)| (name.as_str(), reason.as_str()))
    }

    /// The function of this name.
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`] if there is none.
    pub fn function(&self, name: &str) -> Result<&Function, ShapeError> {
        self.by_name
            .get(name)
            .map(|&index| &self.functions[index])
            .ok_or_else(|| ShapeError::new(ErrorKind::Unknown, format!("there is no function @{name}")))
    }

    /// The function of the operation: an opcode, or the target of a custom call.
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`] if none is mapped to it.
    pub fn of_operation(&self, operation: &str) -> Result<&Function, ShapeError> {
        self.position(operation).map(|position| &self.functions[position]).ok_or_else(|| {
            let reason = self.without.get(operation).map(|reason| format!(": {reason}")).unwrap_or_default();
            let message = format!("no shape function is mapped to {operation}{reason}");
            ShapeError::new(ErrorKind::Unknown, message)
        })
    }

    /// Where among [`functions`](Self::functions) that of the operation is.
    pub(in crate::shape) fn position(&self, operation: &str) -> Option<usize> {
        self.mapping.get(operation).copied()
    }

    /// Says why operations have no function; in case of an error the library stays as it was.
    ///
    /// # Errors
    /// If one of them has a function, or a reason already.
    pub fn extend_without(&mut self, without: Vec<(String, String)>) -> Result<(), LibraryError> {
        let mut grown = self.without.clone();
        for (operation, reason) in without {
            if self.mapping.contains_key(&operation) || grown.insert(operation.clone(), reason).is_some() {
                return Err(LibraryError::DuplicateReason(operation));
            }
        }
        self.without = grown;
        Ok(())
    }

    /// Adds functions and the operations they are mapped to; in case of an error the library stays as it was. A function
    /// for an operation that had none takes the place of the reason.
    ///
    /// # Errors
    /// Duplicates, unknown functions, calls of other types, recursion.
    pub fn extend(&mut self, functions: Vec<Function>, mapping: Vec<(String, String)>) -> Result<(), LibraryError> {
        let mut grown = self.clone();
        let first = grown.functions.len();
        for function in functions {
            let name = function.name.clone();
            if grown.by_name.insert(name.clone(), grown.functions.len()).is_some() {
                return Err(LibraryError::DuplicateFunction(name));
            }
            grown.functions.push(function);
        }
        for (operation, function) in mapping {
            let Some(&index) = grown.by_name.get(&function) else {
                return Err(LibraryError::UnknownFunction(function));
            };
            if grown.mapping.insert(operation.clone(), index).is_some() {
                return Err(LibraryError::DuplicateMapping(operation));
            }
            grown.without.remove(&operation);
        }
        for function in &grown.functions[first..] {
            grown.check_calls(function)?;
        }
        grown.check_depth()?;
        *self = grown;
        Ok(())
    }

    fn check_calls(&self, function: &Function) -> Result<(), LibraryError> {
        let mut found = Ok(());
        function.body.visit(&mut |operation| {
            let Kind::Call(name, results) = &operation.kind else { return };
            if found.is_err() {
                return;
            }
            found = match self.by_name.get(name).map(|&index| &self.functions[index]) {
                None => Err(LibraryError::UnknownFunction(name.clone())),
                Some(callee) => {
                    let given: Vec<Type> = operation.operands.iter().map(|&id| function.ty(id)).collect();
                    let fits = callee.parameters() == given && callee.results() == *results;
                    let message = || {
                        format!(
                            "@{} calls @{name} as ({}) -> ({}), which is ({}) -> ({})",
                            function.name,
                            spell(&given),
                            spell(results),
                            spell(&callee.parameters()),
                            spell(&callee.results())
                        )
                    };
                    if fits { Ok(()) } else { Err(LibraryError::Signature(message())) }
                }
            };
        });
        found
    }

    /// How deep calls nest, function by function; a cycle among them is recursion.
    fn check_depth(&self) -> Result<(), LibraryError> {
        #[derive(Copy, Clone)]
        enum State {
            New,
            Open,
            Done(usize),
        }
        let callees: Vec<Vec<usize>> = self
            .functions
            .iter()
            .map(|function| function.callees().iter().filter_map(|name| self.by_name.get(*name).copied()).collect())
            .collect();
        let mut states = vec![State::New; self.functions.len()];
        for root in 0..self.functions.len() {
            let mut stack = vec![(root, 0)];
            while let Some((index, next)) = stack.pop() {
                if let (State::Done(_), 0) = (states[index], next) {
                    continue;
                }
                states[index] = State::Open;
                if let Some(&callee) = callees[index].get(next) {
                    stack.push((index, next + 1));
                    match states[callee] {
                        State::New => stack.push((callee, 0)),
                        State::Open => return Err(LibraryError::Recursion(self.functions[callee].name.clone())),
                        State::Done(_) => {}
                    }
                    continue;
                }
                let below = callees[index].iter().map(|&callee| match states[callee] {
                    State::Done(depth) => depth + 1,
                    State::New | State::Open => 0,
                });
                let depth = below.max().unwrap_or(0);
                if depth > MAX_CALL_DEPTH {
                    return Err(LibraryError::Depth(self.functions[index].name.clone()));
                }
                states[index] = State::Done(depth);
            }
        }
        Ok(())
    }

    /// Evaluates a function, of any form, of this library or one whose callees are in it.
    ///
    /// # Errors
    /// The first error in the order of the function's operations; [`ErrorKind::Arguments`] if the arguments are not of
    /// the types it takes.
    pub fn evaluate(
        &self,
        function: &Function,
        arguments: &[Value],
        attributes: &dyn Attributes,
    ) -> Result<Vec<Value>, ShapeError> {
        evaluate(function, self, arguments, attributes)
    }

    /// The shapes of an operation's results, given those of its operands: evaluates the function mapped to it. A last
    /// parameter of type `!shape.shapes` takes all operands that are left; results that are lists are appended.
    ///
    /// # Errors
    /// As [`Library::evaluate`], and [`ErrorKind::Unknown`] if no function is mapped to the operation.
    pub fn infer(
        &self,
        operation: &str,
        operands: &[&[i64]],
        attributes: &dyn Attributes,
    ) -> Result<Vec<Extents>, ShapeError> {
        self.infer_by(self.of_operation(operation)?, operation, operands, attributes)
    }

    /// As [`Library::infer`], by a function that takes what the operation's function does: one that a user chose, or
    /// what [`Library::specialize_operation`] left.
    ///
    /// # Errors
    /// As [`Library::evaluate`].
    pub fn infer_by(
        &self,
        function: &Function,
        operation: &str,
        operands: &[&[i64]],
        attributes: &dyn Attributes,
    ) -> Result<Vec<Extents>, ShapeError> {
        let single = function.expect_operands(operation, operands.len())?;
        let (first, rest) = operands.split_at(single);
        let mut arguments: Vec<Value> =
            first.iter().map(|extents| Value::Extents(Extents::from_slice(extents))).collect();
        if single < function.body.arguments.len() {
            arguments.push(Value::Shapes(rest.iter().map(|extents| Extents::from_slice(extents)).collect()));
        }
        let mut shapes = Vec::new();
        for value in self.evaluate(function, &arguments, attributes)? {
            match value {
                Value::Extents(extents) => shapes.push(extents),
                Value::Shapes(list) => shapes.extend(list),
                Value::Size(_) | Value::Bool(_) | Value::Witness(_) => {
                    let message = format!("@{} returns something else than shapes", function.name);
                    return Err(ShapeError::new(ErrorKind::Arguments, message));
                }
            }
        }
        Ok(shapes)
    }
}

impl Function {
    /// How many parameters take one operand each; one more takes all others. Fails if there are more operands, or fewer.
    pub(super) fn expect_operands(&self, operation: &str, count: usize) -> Result<usize, ShapeError> {
        let variadic = self.body.arguments.last().is_some_and(|&id| self.ty(id) == Type::Shapes);
        let single = self.body.arguments.len() - usize::from(variadic);
        if count == single || (count > single && variadic) {
            return Ok(single);
        }
        let least = if variadic { "at least " } else { "" };
        let message = format!("{operation} takes {least}{single} operands and has {count}");
        Err(ShapeError::new(ErrorKind::Arguments, message))
    }
}

fn spell(types: &[Type]) -> String {
    let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    names.join(", ")
}
