//! Unification of sizes: a shape function read as equations between the sizes that it must find equal.
//!
//! The extents of a `broadcast` or a `reshape` are not computed from its operand alone; where the text leaves them open
//! (`?`), they follow from what the value is used for. So an operation's function runs on [`Term`]s: arithmetic stays
//! linear in one unknown or becomes opaque, and every `meet` is an equation. Nothing is said of the branches of a
//! condition that is not decided.

use super::{
    Attributes, Extents, Function, Kind, Known, KnownShape, Library, Operation, Region, Term, Type, Unknowns, Value,
    ValueId,
};

/// How many operations one run may take.
const MAX_STEPS: u32 = 1 << 20;

/// A value as far as it is known; `None` for one of which nothing is.
#[derive(Clone, Debug, PartialEq)]
enum Partial {
    Size(Term),
    Truth(Option<bool>),
    List(Option<Vec<Term>>),
    Shapes(Option<Vec<Option<Vec<Term>>>>),
}

impl Partial {
    fn unknown(ty: Type) -> Partial {
        match ty {
            Type::Size => Partial::Size(Term::Opaque),
            Type::Bool | Type::Witness => Partial::Truth(None),
            Type::ValueShape | Type::Shape | Type::Sizes => Partial::List(None),
            Type::Shapes => Partial::Shapes(None),
        }
    }

    fn known(value: Value) -> Partial {
        let terms = |extents: &Extents| extents.iter().copied().map(Term::Known).collect();
        match value {
            Value::Size(size) => Partial::Size(Term::Known(size)),
            Value::Bool(value) => Partial::Truth(Some(value)),
            Value::Witness(failure) => Partial::Truth(Some(failure.is_none())),
            Value::Extents(extents) => Partial::List(Some(terms(&extents))),
            Value::Shapes(shapes) => Partial::Shapes(Some(shapes.iter().map(|shape| Some(terms(shape))).collect())),
        }
    }

    /// What is known beforehand.
    fn of(known: Known, ty: Type) -> Partial {
        let terms = |shape: &KnownShape| -> Option<Vec<Term>> {
            shape.as_exact().map(|extents| extents.into_iter().map(Term::Known).collect())
        };
        match (known.exact(), known) {
            (Some(value), _) => Partial::known(value),
            (None, Known::Shapes(Ok(shapes))) => Partial::Shapes(Some(shapes.iter().map(terms).collect())),
            _ => Partial::unknown(ty),
        }
    }

    fn size(&self) -> Term {
        match self {
            Partial::Size(size) => *size,
            _ => Term::Opaque,
        }
    }

    fn index(&self) -> Option<usize> {
        usize::try_from(self.size().as_known()?).ok()
    }

    fn truth(&self) -> Option<bool> {
        match self {
            Partial::Truth(value) => *value,
            _ => None,
        }
    }

    fn list(&self) -> Option<&[Term]> {
        match self {
            Partial::List(list) => list.as_deref(),
            _ => None,
        }
    }

    fn shapes(&self) -> Option<&[Option<Vec<Term>>]> {
        match self {
            Partial::Shapes(shapes) => shapes.as_deref(),
            _ => None,
        }
    }
}

impl Library {
    /// Collects the equations between unknown sizes that the function mapped to an operation implies. `operands` are
    /// the leaves of the operands and `declared` those of the result as the text has it, which its attributes `shape`
    /// and `shapes` stand for; other attributes are asked of `attributes`. Equations go to `unknowns`.
    ///
    /// Returns the extents of the result's leaves, each as far as it follows; `None` where nothing does: no function is
    /// mapped to the operation, its operands do not fit, or it fails.
    pub fn unify(
        &self,
        operation: &str,
        operands: &[Vec<Term>],
        declared: &[Vec<Term>],
        attributes: &dyn Attributes,
        unknowns: &mut Unknowns,
    ) -> Option<Vec<Option<Vec<Term>>>> {
        let function = self.of_operation(operation).ok()?;
        let parameters = function.parameters();
        let variadic = parameters.last() == Some(&Type::Shapes);
        let single = parameters.len() - usize::from(variadic);
        if operands.len() < single || (operands.len() > single && !variadic) {
            return None;
        }
        let mut arguments: Vec<Partial> =
            operands[..single].iter().map(|extents| Partial::List(Some(extents.clone()))).collect();
        if variadic {
            arguments.push(Partial::Shapes(Some(operands[single..].iter().cloned().map(Some).collect())));
        }
        let mut steps = MAX_STEPS;
        let context = &mut Context { library: self, declared, attributes, unknowns, steps: &mut steps };
        let mut leaves = Vec::new();
        for value in run(function, arguments, context)? {
            match value {
                Partial::List(list) => leaves.push(list),
                Partial::Shapes(shapes) => leaves.extend(shapes?),
                Partial::Size(_) | Partial::Truth(_) => return None,
            }
        }
        Some(leaves)
    }
}

struct Context<'a> {
    library: &'a Library,
    declared: &'a [Vec<Term>],
    attributes: &'a dyn Attributes,
    unknowns: &'a mut Unknowns,
    steps: &'a mut u32,
}

/// The values of one function while it runs.
struct Frame<'f> {
    function: &'f Function,
    values: Vec<Option<Partial>>,
}

fn run(function: &Function, arguments: Vec<Partial>, context: &mut Context<'_>) -> Option<Vec<Partial>> {
    let mut frame = Frame { function, values: vec![None; function.values.len()] };
    frame.bind(&function.body.arguments, arguments);
    frame.region(&function.body, context)
}

impl Frame<'_> {
    fn bind(&mut self, ids: &[ValueId], values: impl IntoIterator<Item = Partial>) {
        for (&id, value) in ids.iter().zip(values) {
            self.values[id.index()] = Some(value);
        }
    }

    fn value(&self, id: ValueId) -> &Partial {
        self.values[id.index()].as_ref().expect("a value is defined before its uses, as parser and passes check")
    }

    fn region(&mut self, region: &Region, context: &mut Context<'_>) -> Option<Vec<Partial>> {
        for operation in &region.operations {
            *context.steps = context.steps.checked_sub(1)?;
            let values = self.operation(operation, context)?;
            self.bind(&operation.results, values);
        }
        Some(region.results.iter().map(|&id| self.value(id).clone()).collect())
    }

    fn unknown_results(&self, operation: &Operation) -> Vec<Partial> {
        operation.results.iter().map(|&id| Partial::unknown(self.function.ty(id))).collect()
    }

    fn operation(&mut self, operation: &Operation, context: &mut Context<'_>) -> Option<Vec<Partial>> {
        match &operation.kind {
            Kind::Attribute(name, _) if name == "shape" => Some(vec![Partial::List(context.declared.first().cloned())]),
            Kind::Attribute(name, _) if name == "shapes" => {
                Some(vec![Partial::Shapes(Some(context.declared.iter().cloned().map(Some).collect()))])
            }
            Kind::Attribute(name, ty) => Some(vec![Partial::of(context.attributes.known(name)?, *ty)]),
            Kind::Call(name, _) => {
                let callee = context.library.function(name).ok()?;
                let arguments = operation.operands.iter().map(|&id| self.value(id).clone()).collect();
                run(callee, arguments, context)
            }
            Kind::Reduce => self.reduce(operation, context),
            Kind::If => match self.value(operation.operands[0]).truth() {
                Some(condition) => self.region(&operation.regions[usize::from(!condition)], context),
                None => Some(self.unknown_results(operation)),
            },
            kind => {
                let operands: Vec<Partial> =
                    operation.operands.iter().map(|&id| resolved(self.value(id), context.unknowns)).collect();
                let values = apply(kind, &operands, context.unknowns)?;
                Some(values.unwrap_or_else(|| self.unknown_results(operation)))
            }
        }
    }

    fn reduce(&mut self, operation: &Operation, context: &mut Context<'_>) -> Option<Vec<Partial>> {
        let elements: Vec<Partial> = match self.value(operation.operands[0]) {
            Partial::List(Some(list)) => list.iter().copied().map(Partial::Size).collect(),
            Partial::Shapes(Some(shapes)) => shapes.iter().cloned().map(Partial::List).collect(),
            _ => return Some(self.unknown_results(operation)),
        };
        let body = &operation.regions[0];
        let mut accumulators: Vec<Partial> = operation.operands[1..].iter().map(|&id| self.value(id).clone()).collect();
        for (index, element) in (0i64..).zip(elements) {
            let index = Partial::Size(Term::Known(index));
            self.bind(&body.arguments, [index, element].into_iter().chain(accumulators));
            accumulators = self.region(body, context)?;
        }
        Some(accumulators)
    }
}

fn resolved(value: &Partial, unknowns: &mut Unknowns) -> Partial {
    match value {
        Partial::Size(size) => Partial::Size(unknowns.resolve(*size)),
        Partial::List(Some(list)) => Partial::List(Some(list.iter().map(|&term| unknowns.resolve(term)).collect())),
        other => other.clone(),
    }
}

/// The results of an operation without regions: `None` if it fails, `Some(None)` if nothing is known of them.
fn apply(kind: &Kind, operands: &[Partial], unknowns: &mut Unknowns) -> Option<Option<Vec<Partial>>> {
    let one = |value: Partial| Some(Some(vec![value]));
    let size = |term: Term| Some(Some(vec![Partial::Size(term)]));
    let unknown = Some(None);
    let length = |length: usize| Term::Known(i64::try_from(length).unwrap_or(i64::MAX));
    match (kind, operands) {
        (Kind::ConstSize(value), _) => size(Term::Known(*value)),
        (Kind::ConstShape(extents) | Kind::ConstSizes(extents), _) => {
            one(Partial::known(Value::Extents(extents.clone())))
        }
        (Kind::ConstBool(value), _) => one(Partial::Truth(Some(*value))),
        (Kind::ShapeOf | Kind::ToExtentTensor | Kind::FromExtentTensor, [list]) => one(list.clone()),
        (Kind::Rank, [list]) => match list.list() {
            Some(list) => size(length(list.len())),
            None => unknown,
        },
        (Kind::GetExtent, [list, index]) => match (list.list(), index.size().as_known()) {
            (Some(list), Some(_)) => size(*list.get(index.index()?)?),
            _ => unknown,
        },
        (Kind::SplitAt, [list, at]) => match (list.list(), at.size().as_known()) {
            (Some(list), Some(at)) => {
                let at = if at < 0 { at.checked_add(i64::try_from(list.len()).ok()?)? } else { at };
                let (head, tail) = list.split_at_checked(usize::try_from(at).ok()?)?;
                Some(Some([head, tail].map(|part| Partial::List(Some(part.to_vec()))).to_vec()))
            }
            _ => unknown,
        },
        (Kind::Concat, lists) => {
            let all: Option<Vec<&[Term]>> = lists.iter().map(Partial::list).collect();
            all.map_or(unknown, |all| one(Partial::List(Some(all.concat()))))
        }
        (Kind::FromExtents | Kind::FromElements, sizes) => {
            one(Partial::List(Some(sizes.iter().map(Partial::size).collect())))
        }
        (Kind::NumElements, [list]) => list.list().map_or(unknown, |list| size(product(list))),
        (Kind::Add, [a, b]) => size(sum(a.size(), b.size(), 1)),
        (Kind::Sub, [a, b]) => size(sum(a.size(), b.size(), -1)),
        (Kind::Mul, [a, b]) => size(multiplied(a.size(), b.size())),
        (Kind::Div, [a, b]) => size(divided(a.size(), b.size())),
        (Kind::CeilDiv, [a, b]) => {
            // ceil(a / b) = -(-a floordiv b)
            size(divided(a.size().scaled(-1, 0), b.size()).scaled(-1, 0))
        }
        (Kind::Mod, [Partial::Size(Term::Known(a)), Partial::Size(Term::Known(b))]) => {
            size(Term::Known(a.checked_rem_euclid(*b).filter(|_| *b > 0)?))
        }
        (Kind::Min, [Partial::Size(Term::Known(a)), Partial::Size(Term::Known(b))]) => size(Term::Known(*a.min(b))),
        (Kind::Max, [Partial::Size(Term::Known(a)), Partial::Size(Term::Known(b))]) => size(Term::Known(*a.max(b))),
        (Kind::Eq | Kind::Ne | Kind::Lt | Kind::Le | Kind::Gt | Kind::Ge, [a, b]) => {
            match (a.size().as_known(), b.size().as_known()) {
                (Some(a), Some(b)) => one(Partial::Truth(Some(super::apply::compare(kind, a, b)))),
                _ => unknown,
            }
        }
        (Kind::Select, [condition, on_true, on_false]) => match condition.truth() {
            Some(condition) => one(if condition { on_true } else { on_false }.clone()),
            None if on_true == on_false => one(on_true.clone()),
            None => unknown,
        },
        (Kind::And, all) => one(Partial::Truth(every(all, false))),
        (Kind::Or, all) => one(Partial::Truth(every(all, true))),
        (Kind::Not, [value]) => one(Partial::Truth(value.truth().map(|value| !value))),
        (Kind::ShapeEq, [a, b]) => one(Partial::Truth(same(a, b))),
        (Kind::Meet, all) => {
            let met = all.iter().skip(1).fold(all[0].clone(), |met, other| meet(&met, other, unknowns));
            one(met)
        }
        (Kind::Require, [value]) => match value.truth() {
            Some(false) => None,
            _ => one(Partial::Truth(Some(true))),
        },
        (Kind::Any, all) => one(all.iter().find(|value| is_known(value)).unwrap_or(&all[0]).clone()),
        (Kind::Length, [shapes]) => shapes.shapes().map_or(unknown, |shapes| size(length(shapes.len()))),
        (Kind::GetShape, [shapes, index]) => match (shapes.shapes(), index.size().as_known()) {
            (Some(shapes), Some(_)) => one(Partial::List(shapes.get(index.index()?)?.clone())),
            _ => unknown,
        },
        (Kind::ListOf, shapes) => {
            one(Partial::Shapes(Some(shapes.iter().map(|shape| shape.list().map(<[Term]>::to_vec)).collect())))
        }
        (Kind::Append, [shapes, shape]) => match shapes.shapes() {
            Some(shapes) => {
                let mut longer = shapes.to_vec();
                longer.push(shape.list().map(<[Term]>::to_vec));
                one(Partial::Shapes(Some(longer)))
            }
            None => unknown,
        },
        (Kind::Repeat, [count, shape]) => match count.index().filter(|&count| count <= super::MAX_LIST) {
            Some(count) => one(Partial::Shapes(Some(vec![shape.list().map(<[Term]>::to_vec); count]))),
            None => unknown,
        },
        _ => unknown,
    }
}

fn sum(a: Term, b: Term, sign: i64) -> Term {
    match (a, b) {
        (a, Term::Known(b)) => b.checked_mul(sign).map_or(Term::Opaque, |b| a.scaled(1, b)),
        (Term::Known(a), b) => b.scaled(sign, a),
        (Term::Linear { unknown, factor, offset }, Term::Linear { unknown: other, factor: g, offset: p })
            if unknown == other =>
        {
            let (g, p) = (g.checked_mul(sign), p.checked_mul(sign));
            let total = g.and_then(|g| factor.checked_add(g)).zip(p.and_then(|p| offset.checked_add(p)));
            match total {
                Some((0, offset)) => Term::Known(offset),
                Some((factor, offset)) => Term::Linear { unknown, factor, offset },
                None => Term::Opaque,
            }
        }
        _ => Term::Opaque,
    }
}

fn multiplied(a: Term, b: Term) -> Term {
    match (a, b) {
        (Term::Known(known), other) | (other, Term::Known(known)) => other.scaled(known, 0),
        _ => Term::Opaque,
    }
}

/// The quotient rounded down; of an unknown only where nothing is left of it.
fn divided(a: Term, b: Term) -> Term {
    match (a, b) {
        (Term::Known(a), Term::Known(b)) if b > 0 => Term::Known(a.div_euclid(b)),
        (Term::Linear { unknown, factor, offset }, Term::Known(b)) if b > 0 && factor % b == 0 => {
            Term::Linear { unknown, factor: factor / b, offset: offset.div_euclid(b) }
        }
        _ => Term::Opaque,
    }
}

/// The product, 0 if one of them is.
fn product(list: &[Term]) -> Term {
    if list.contains(&Term::Known(0)) {
        return Term::Known(0);
    }
    list.iter().fold(Term::Known(1), |product, &term| multiplied(product, term))
}

/// Whether one of them is `decides`, or all are the contrary; else it is open.
fn every(all: &[Partial], decides: bool) -> Option<bool> {
    if all.iter().any(|value| value.truth() == Some(decides)) {
        return Some(decides);
    }
    all.iter().all(|value| value.truth().is_some()).then_some(!decides)
}

/// Whether two values are equal, where that is decided.
fn same(a: &Partial, b: &Partial) -> Option<bool> {
    let decided = |a: Term, b: Term| match (a, b) {
        (Term::Known(a), Term::Known(b)) => Some(a == b),
        (Term::Linear { .. }, Term::Linear { .. }) if a == b => Some(true),
        _ => None,
    };
    match (a, b) {
        (Partial::Size(a), Partial::Size(b)) => decided(*a, *b),
        (Partial::List(Some(a)), Partial::List(Some(b))) if a.len() == b.len() => {
            let each: Vec<Option<bool>> = a.iter().zip(b).map(|(&a, &b)| decided(a, b)).collect();
            if each.contains(&Some(false)) {
                return Some(false);
            }
            each.iter().all(Option::is_some).then_some(true)
        }
        (Partial::List(Some(_)), Partial::List(Some(_))) => Some(false),
        _ => None,
    }
}

fn is_known(value: &Partial) -> bool {
    match value {
        Partial::Size(size) => size.as_known().is_some(),
        Partial::Truth(value) => value.is_some(),
        Partial::List(list) => list.as_ref().is_some_and(|list| list.iter().all(|term| term.as_known().is_some())),
        Partial::Shapes(shapes) => shapes.is_some(),
    }
}

/// Both values, which are equal: the equations that follow go to `unknowns`.
fn meet(a: &Partial, b: &Partial, unknowns: &mut Unknowns) -> Partial {
    match (a, b) {
        (Partial::Size(a), Partial::Size(b)) => {
            unknowns.equate(*a, *b);
            Partial::Size(better(unknowns.resolve(*a), unknowns.resolve(*b)))
        }
        (Partial::List(Some(a)), Partial::List(Some(b))) if a.len() == b.len() => {
            let met = a.iter().zip(b).map(|(&a, &b)| {
                unknowns.equate(a, b);
                better(unknowns.resolve(a), unknowns.resolve(b))
            });
            Partial::List(Some(met.collect()))
        }
        (Partial::List(None), other) | (Partial::Shapes(None), other) => other.clone(),
        (known, _) => known.clone(),
    }
}

fn better(a: Term, b: Term) -> Term {
    match (a, b) {
        (Term::Known(_), _) => a,
        (_, Term::Known(_)) | (Term::Opaque, _) => b,
        _ => a,
    }
}
