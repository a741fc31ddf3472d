//! Evaluation of shape functions, up to the first error.

use super::apply::{Values, apply};
use super::{Attributes, ErrorKind, Function, Kind, Library, Operation, Region, ShapeError, Value, ValueId};
use smallvec::SmallVec;
use std::cell::Cell;

/// How many operations one evaluation may take in all, a long list counting as several. No shape rule comes near it; it
/// keeps a function of a user from running on and on.
const MAX_STEPS: u32 = 1 << 22;

/// So many elements of a list are copied for the price of an operation.
const STEP_ELEMENTS: usize = 16;

/// How deep calls may nest; [`Library`] refuses functions that would exceed it.
pub(super) const MAX_CALL_DEPTH: usize = 32;

/// Evaluates a function. Its callees are looked up in `library`.
pub(super) fn evaluate(
    function: &Function,
    library: &Library,
    arguments: &[Value],
    attributes: &dyn Attributes,
) -> Result<Vec<Value>, ShapeError> {
    let parameters = &function.body.arguments;
    let fits = parameters.len() == arguments.len()
        && parameters.iter().zip(arguments).all(|(&id, value)| value.is(function.ty(id)));
    if !fits {
        let types: Vec<&str> = function.parameters().iter().map(|ty| ty.name()).collect();
        let message = format!(
            "@{} takes ({}), and is given {} values or values of other types",
            function.name,
            types.join(", "),
            arguments.len()
        );
        return Err(ShapeError::new(ErrorKind::Arguments, message));
    }
    let steps = Cell::new(MAX_STEPS);
    Frame::run(function, library, arguments.to_vec(), &Context { attributes, steps: &steps, depth: 0 })
}

/// What all functions of one evaluation share.
struct Context<'a> {
    attributes: &'a dyn Attributes,
    steps: &'a Cell<u32>,
    depth: usize,
}

impl Context<'_> {
    /// Takes a step, and one more for every few elements that it copies.
    fn step(&self, elements: usize) -> Result<(), ShapeError> {
        let steps = u32::try_from(1 + elements / STEP_ELEMENTS).unwrap_or(u32::MAX);
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| ShapeError::new(ErrorKind::Limit, "the shape function takes too many steps"))
    }
}

/// The values of one function while it runs.
struct Frame<'a> {
    library: &'a Library,
    values: Vec<Option<Value>>,
}

type Yielded = SmallVec<[Value; 2]>;

impl Frame<'_> {
    fn run(
        function: &Function,
        library: &Library,
        arguments: Vec<Value>,
        context: &Context<'_>,
    ) -> Result<Vec<Value>, ShapeError> {
        context.step(function.values.len())?;
        let mut frame = Frame { library, values: vec![None; function.values.len()] };
        frame.bind(&function.body.arguments, arguments, context)?;
        Ok(frame.region(&function.body, context)?.into_vec())
    }

    fn bind(
        &mut self,
        ids: &[ValueId],
        values: impl IntoIterator<Item = Value>,
        context: &Context<'_>,
    ) -> Result<(), ShapeError> {
        for (&id, value) in ids.iter().zip(values) {
            context.step(match &value {
                Value::Extents(extents) => extents.len(),
                Value::Shapes(shapes) => STEP_ELEMENTS * shapes.len(),
                Value::Size(_) | Value::Bool(_) | Value::Witness(_) => 0,
            })?;
            self.values[id.index()] = Some(value);
        }
        Ok(())
    }

    fn value(&self, id: ValueId) -> &Value {
        self.values[id.index()].as_ref().expect("a value is defined before its uses, as parser and passes check")
    }

    fn region(&mut self, region: &Region, context: &Context<'_>) -> Result<Yielded, ShapeError> {
        for operation in &region.operations {
            let values = self.operation(operation, context)?;
            self.bind(&operation.results, values, context)?;
        }
        Ok(region.results.iter().map(|&id| self.value(id).clone()).collect())
    }

    fn operation(&mut self, operation: &Operation, context: &Context<'_>) -> Result<Values, ShapeError> {
        match &operation.kind {
            Kind::Attribute(name, ty) => {
                let found = context.attributes.attribute(name).filter(|value| value.is(*ty));
                let missing = || {
                    let usual = || format!("the instruction has no attribute {name} of type {ty}");
                    ShapeError::new(ErrorKind::Attribute, operation.error.clone().unwrap_or_else(usual))
                };
                Ok(Values::from_iter([found.ok_or_else(missing)?]))
            }
            Kind::Call(name, _) => {
                let callee = self.library.function(name)?;
                if context.depth >= MAX_CALL_DEPTH {
                    return Err(ShapeError::new(ErrorKind::Limit, "calls nest too deep"));
                }
                let arguments = operation.operands.iter().map(|&id| self.value(id).clone()).collect();
                let context = Context { depth: context.depth + 1, ..*context };
                Ok(Frame::run(callee, self.library, arguments, &context)?.into())
            }
            Kind::Reduce => self.reduce(operation, context),
            Kind::If => {
                let taken = if *self.value(operation.operands[0]) == Value::Bool(true) { 0 } else { 1 };
                Ok(self.region(&operation.regions[taken], context)?.into_iter().collect())
            }
            Kind::Assuming => match self.value(operation.operands[0]) {
                Value::Witness(Some(failure)) => Err(failure.clone()),
                _ => Ok(self.region(&operation.regions[0], context)?.into_iter().collect()),
            },
            kind => {
                let operands: SmallVec<[&Value; 4]> = operation.operands.iter().map(|&id| self.value(id)).collect();
                apply(kind, operation.error.as_deref(), &operands)
            }
        }
    }

    fn reduce(&mut self, operation: &Operation, context: &Context<'_>) -> Result<Values, ShapeError> {
        let body = &operation.regions[0];
        let elements: Vec<Value> = elements(self.value(operation.operands[0]));
        let mut accumulators: Yielded = operation.operands[1..].iter().map(|&id| self.value(id).clone()).collect();
        for (index, element) in (0i64..).zip(elements) {
            self.bind(&body.arguments, [Value::Size(index), element].into_iter().chain(accumulators), context)?;
            accumulators = self.region(body, context)?;
        }
        Ok(accumulators.into_iter().collect())
    }
}

/// What a loop over the value goes through.
pub(super) fn elements(list: &Value) -> Vec<Value> {
    match list {
        Value::Extents(extents) => extents.iter().map(|&extent| Value::Size(extent)).collect(),
        Value::Shapes(shapes) => shapes.iter().cloned().map(Value::Extents).collect(),
        _ => Vec::new(),
    }
}
