//! Partial evaluation of shape functions.

mod alias;
mod region;

use super::builder::Builder;
use super::tidy::tidy;
use super::{Attributes, Extents, Function, Kind, Known, KnownShape, Library, ShapeError, Type, Value, ValueId};
use std::collections::{HashMap, HashSet};

/// The residual of a function after partial evaluation with some knowledge of its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Specialized {
    /// Everything is known: the results.
    Known(Vec<Value>),
    /// Whatever else the operands are, this is the error.
    Error(ShapeError),
    /// The part that depends on shapes not yet known. It takes the same operands as the function, asks for no attribute
    /// and calls no function unless it became too long.
    Residual(Function),
}

impl Library {
    /// Evaluates as much of a function as is known of its operands and attributes: constants are folded, loops of known
    /// length unrolled, calls inlined, and what cannot fail is dropped. Of the operands it holds that the residual
    /// function evaluates to what `function` does, for all that `operands` admit.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`](super::ErrorKind::Arguments) if there is not one `Known` for each parameter, or if it is
    /// of another type.
    ///
    /// ```
    /// use weft_affine::Interval;
    /// use weft_hlo::shape::function::{AttributeTable, Known, KnownShape, Library, Specialized};
    ///
    /// let library = Library::parse(
    ///     "shape.function_library @l {
    ///        func.func @same(%a: !shape.shape, %b: !shape.shape) -> !shape.shape {
    ///          %c = shape.meet %a, %b, error=\"shapes differ\"
    ///          return %c
    ///        }
    ///      } mapping {}",
    /// )?;
    /// let function = library.function("same")?;
    /// let unknown_batch = || Known::List(KnownShape::Ranked(vec![Interval::new(0, i64::MAX), Interval::point(4)]));
    /// let wrong = Known::List(KnownShape::Ranked(vec![Interval::new(0, i64::MAX), Interval::point(5)]));
    ///
    /// let found = library.specialize(function, &[unknown_batch(), wrong], &AttributeTable::new())?;
    /// assert!(matches!(found, Specialized::Error(error) if error.message == "shapes differ"));
    /// let found = library.specialize(function, &[unknown_batch(), unknown_batch()], &AttributeTable::new())?;
    /// assert!(matches!(found, Specialized::Residual(_)), "the batch sizes may differ");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn specialize(
        &self,
        function: &Function,
        operands: &[Known],
        attributes: &dyn Attributes,
    ) -> Result<Specialized, ShapeError> {
        self.bound(function, operands, attributes).map(|(specialized, _)| specialized)
    }

    fn bound(
        &self,
        function: &Function,
        operands: &[Known],
        attributes: &dyn Attributes,
    ) -> Result<(Specialized, Results), ShapeError> {
        let parameters = function.parameters();
        if parameters.len() != operands.len() || !parameters.iter().zip(operands).all(|(&ty, known)| known.fits(ty)) {
            let message = format!("what is known does not fit the parameters of @{}", function.name);
            return Err(ShapeError::new(super::ErrorKind::Arguments, message));
        }
        Ok(Simplifier::run(Some(Context { library: self, attributes }), function, operands))
    }

    /// Evaluates as much of an operation's function as is known of its operands: [`Library::infer`] of what is known.
    /// What is left is evaluated by [`Library::infer_by`].
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`](super::ErrorKind::Unknown) if no function is mapped to the operation,
    /// [`ErrorKind::Arguments`](super::ErrorKind::Arguments) if it takes another number of operands.
    pub fn specialize_operation(
        &self,
        operation: &str,
        operands: &[KnownShape],
        attributes: &dyn Attributes,
    ) -> Result<Specialized, ShapeError> {
        self.bound_operation(operation, operands, attributes).map(|(specialized, _)| specialized)
    }

    /// As [`Library::specialize_operation`], and what is known of the results.
    pub(in crate::shape) fn bound_operation(
        &self,
        operation: &str,
        operands: &[KnownShape],
        attributes: &dyn Attributes,
    ) -> Result<(Specialized, Results), ShapeError> {
        let function = self.of_operation(operation)?;
        let single = function.expect_operands(operation, operands.len())?;
        let (first, rest) = operands.split_at(single);
        let mut known: Vec<Known> = first.iter().cloned().map(Known::List).collect();
        if single < function.body.arguments.len() {
            known.push(Known::Shapes(Ok(rest.to_vec())));
        }
        self.bound(function, &known, attributes)
    }
}

/// The function with what follows from its text alone: constants folded, what cannot fail dropped. Calls, attributes
/// and loops stay.
pub(super) fn simplify(function: &Function) -> Function {
    let unknown: Vec<Known> = function.parameters().into_iter().map(Known::of_type).collect();
    match Simplifier::run(None, function, &unknown).0 {
        Specialized::Residual(simplified) => simplified,
        Specialized::Known(values) => constant(function, &values, None),
        Specialized::Error(error) => constant(function, &[], Some(error)),
    }
}

/// A function that returns these values; with an error, one that has the error.
fn constant(function: &Function, values: &[Value], error: Option<ShapeError>) -> Function {
    // A function of constants has no order to keep; one that fails is kept as it is, since its error says where.
    if error.is_some() {
        return function.clone();
    }
    let mut simplifier = Simplifier::new(None, function);
    let items: Vec<Binding> = values.iter().cloned().map(|value| Binding::known(Known::Exact(value))).collect();
    let results = items.iter().zip(function.results()).map(|(item, ty)| simplifier.materialize(item, ty)).collect();
    simplifier.finish(results)
}

/// The binding of a value of the old function in the new one.
#[derive(Clone, Debug)]
struct Binding {
    known: Known,
    /// The value in the new function; `None` for constants, until they are needed.
    id: Option<ValueId>,
}

impl Binding {
    fn known(known: Known) -> Self {
        Binding { known, id: None }
    }
}

/// An operation that always fails with this error was emitted; operations after it are never reached.
struct AlwaysFails(ShapeError);

/// What is known of the results of a function. Of one that fails whatever the operands turn out to be, there are none,
/// but the error of what always fails; another may come before it.
pub(in crate::shape) type Results = Result<Vec<Known>, ShapeError>;

/// What only specialization has.
#[derive(Copy, Clone)]
struct Context<'a> {
    library: &'a Library,
    attributes: &'a dyn Attributes,
}

/// One function while it is being copied.
struct Frame<'a> {
    function: &'a Function,
    items: Vec<Option<Binding>>,
}

impl<'a> Frame<'a> {
    fn new(function: &'a Function) -> Self {
        Frame { function, items: vec![None; function.values.len()] }
    }

    fn item(&self, id: ValueId) -> &Binding {
        self.items[id.index()].as_ref().expect("a value is defined before its uses, as parser and passes check")
    }
}

/// The copier.
struct Simplifier<'a> {
    context: Option<Context<'a>>,
    builder: Builder,
    /// Constants that were needed, all at the start of the body.
    constants: HashMap<(Type, Value), ValueId>,
    /// The elements of lists in the new function, where they are values of their own.
    elements: HashMap<ValueId, Vec<Binding>>,
    /// Values whose operations do not fail.
    safe: HashSet<ValueId>,
    /// Whether something that may fail was emitted.
    may_fail: bool,
    /// The first thing that surely fails, if nothing before it may.
    error: Option<ShapeError>,
    emitted: usize,
    /// Operations followed.
    steps: usize,
    call_depth: usize,
}

/// Loops and calls are copied as they are once the new function has this many operations …
const MAX_OPERATIONS: usize = 20_000;

/// … or this many were followed, a long list counting as several.
const MAX_STEPS: usize = 1 << 19;

impl<'a> Simplifier<'a> {
    fn new(context: Option<Context<'a>>, function: &Function) -> Self {
        let mut builder = Builder::new(function.name.clone());
        for &id in &function.body.arguments {
            let data = function.value(id);
            builder.argument(data.ty, data.name.clone());
        }
        Simplifier {
            context,
            builder,
            constants: HashMap::new(),
            elements: HashMap::new(),
            safe: HashSet::new(),
            may_fail: false,
            error: None,
            emitted: 0,
            steps: 0,
            call_depth: 0,
        }
    }

    /// What is left, and what is known of its results.
    fn run(context: Option<Context<'a>>, function: &Function, operands: &[Known]) -> (Specialized, Results) {
        let mut simplifier = Simplifier::new(context, function);
        let mut frame = Frame::new(function);
        for (position, (&id, known)) in function.body.arguments.iter().zip(operands).enumerate() {
            // A parameter that is known stays a parameter; its uses become constants.
            let new = ValueId(u32::try_from(position).expect("a function has fewer than 2^32 parameters"));
            frame.items[id.index()] = Some(Binding { known: known.clone(), id: Some(new) });
        }
        let items = simplifier.region(&mut frame, &function.body);
        if let Some(error) = simplifier.error {
            return (Specialized::Error(error.clone()), Err(error));
        }
        let types = function.results();
        let (items, error) = match items {
            Ok(items) => (items, None),
            Err(AlwaysFails(error)) => (types.iter().map(|&ty| dummy(ty)).collect(), Some(error)),
        };
        let known: Vec<Known> = items.iter().map(|item| item.known.clone()).collect();
        if !simplifier.may_fail {
            let values: Option<Vec<Value>> = known.iter().map(Known::exact).collect();
            if let Some(values) = values {
                return (Specialized::Known(values), Ok(known));
            }
        }
        let results = items.iter().zip(types).map(|(item, ty)| simplifier.materialize(item, ty)).collect();
        (Specialized::Residual(simplifier.finish(results)), error.map_or(Ok(known), Err))
    }

    /// Whether loops may be unrolled and calls inlined: only where more than the text is known, and within bounds.
    fn may_expand(&self) -> bool {
        self.context.is_some() && self.emitted < MAX_OPERATIONS && self.steps < MAX_STEPS
    }

    fn finish(self, results: Vec<ValueId>) -> Function {
        let function = self.builder.finish(results).expect("a copy has the types of what is copied");
        tidy(function, &self.safe)
    }

    /// The value in the new function; constants are made when they are needed.
    fn materialize(&mut self, item: &Binding, ty: Type) -> ValueId {
        if let Some(value) = item.known.exact()
            && ty != Type::ValueShape
        {
            return self.constant(value, ty);
        }
        item.id.expect("what is not known is a value of the function")
    }

    fn constant(&mut self, value: Value, ty: Type) -> ValueId {
        if let Some(&id) = self.constants.get(&(ty, value.clone())) {
            return id;
        }
        let (kind, operands, name) = match &value {
            Value::Size(size) => (Kind::ConstSize(*size), vec![], constant_name(*size)),
            Value::Bool(value) => (Kind::ConstBool(*value), vec![], value.to_string()),
            Value::Extents(extents) if ty == Type::Sizes => (Kind::ConstSizes(extents.clone()), vec![], "sizes".into()),
            Value::Extents(extents) => (Kind::ConstShape(extents.clone()), vec![], "shape".to_owned()),
            Value::Shapes(shapes) => {
                let shape = |extents: &Extents| self.constant(Value::Extents(extents.clone()), Type::Shape);
                (Kind::ListOf, shapes.iter().map(shape).collect(), "shapes".to_owned())
            }
            Value::Witness(failure) => (Kind::ConstWitness(failure.is_none()), vec![], "w".to_owned()),
        };
        let error = match &value {
            Value::Witness(Some(failure)) => Some(failure.message.clone()),
            _ => None,
        };
        let results = self.builder.push_at(0, kind, operands, Vec::new(), error).expect("a constant takes no operands");
        self.builder.rename(results[0], name);
        self.constants.insert((ty, value), results[0]);
        results[0]
    }
}

fn constant_name(size: i64) -> String {
    if size < 0 { format!("cm{}", size.unsigned_abs()) } else { format!("c{size}") }
}

/// How much there is to copy of what is known.
fn weight(known: &Known) -> usize {
    match known {
        Known::List(KnownShape::Ranked(dims)) => dims.len() / 16,
        Known::Shapes(Ok(shapes)) => shapes.len(),
        Known::Exact(Value::Extents(extents)) => extents.len() / 16,
        Known::Exact(Value::Shapes(shapes)) => shapes.len(),
        _ => 0,
    }
}

/// Some value of the type, for what is never reached.
fn dummy(ty: Type) -> Binding {
    Binding::known(Known::Exact(match ty {
        Type::Size => Value::Size(0),
        Type::Bool => Value::Bool(false),
        Type::Shapes => Value::Shapes(Vec::new()),
        Type::Witness => Value::Witness(None),
        Type::ValueShape | Type::Shape | Type::Sizes => Value::Extents(Extents::new()),
    }))
}

/// What is known if it is a list of extents of known length.
fn dims(known: &Known) -> Option<Vec<weft_affine::Interval>> {
    match known.as_list() {
        KnownShape::Ranked(dims) => Some(dims),
        KnownShape::Unranked { .. } => None,
    }
}
