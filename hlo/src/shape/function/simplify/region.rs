//! Partial evaluation of regions and operations.

use super::{AlwaysFails, Binding, Frame, Simplifier, dims, dummy, weight};
use crate::shape::function::evaluate::MAX_CALL_DEPTH;
use crate::shape::function::transfer::{Failure, transfer};
use crate::shape::function::{ErrorKind, Kind, Known, Operation, Region, ShapeError, Type, Value, ValueId};
use weft_affine::Interval;

/// Lists of so many elements are made of these at once, rather than joined.
const MAX_ELEMENTS: usize = 64;

impl Simplifier<'_> {
    /// Copies the operations of a region into the innermost open one; what the region yields.
    pub(super) fn region(&mut self, frame: &mut Frame<'_>, region: &Region) -> Result<Vec<Binding>, AlwaysFails> {
        for operation in &region.operations {
            let items: Vec<Binding> = operation.operands.iter().map(|&id| frame.item(id).clone()).collect();
            self.steps += 1 + items.iter().map(|item| weight(&item.known)).sum::<usize>();
            let results = self.operation(frame, operation, items)?;
            for (&id, item) in operation.results.iter().zip(results) {
                frame.items[id.index()] = Some(item);
            }
        }
        Ok(region.results.iter().map(|&id| frame.item(id).clone()).collect())
    }

    fn operation(
        &mut self,
        frame: &mut Frame<'_>,
        operation: &Operation,
        items: Vec<Binding>,
    ) -> Result<Vec<Binding>, AlwaysFails> {
        match &operation.kind {
            Kind::Attribute(name, ty) => self.attribute(frame, operation, name, *ty),
            Kind::Call(name, _) => self.call(frame, operation, name, &items),
            Kind::Reduce => self.reduce(frame, operation, &items),
            Kind::If => match items[0].known.as_truth() {
                (true, false) => self.region(frame, &operation.regions[0]),
                (false, true) => self.region(frame, &operation.regions[1]),
                _ => self.branch(frame, operation, &items),
            },
            Kind::Assuming => match &items[0].known {
                Known::Exact(Value::Witness(None)) => self.region(frame, &operation.regions[0]),
                Known::Exact(Value::Witness(Some(error))) => {
                    self.fails(error.clone());
                    let error = error.clone();
                    self.branch(frame, operation, &items).and(Err(AlwaysFails(error)))
                }
                _ => {
                    self.may_fail = true;
                    self.branch(frame, operation, &items)
                }
            },
            kind => {
                let knowns: Vec<&Known> = items.iter().map(|item| &item.known).collect();
                let (known, failure) = transfer(kind, operation.error.as_deref(), &knowns);
                if !matches!(failure, Failure::Certain(_))
                    && let Some(results) = self.alias(kind, &items)
                {
                    return Ok(results);
                }
                if failure == Failure::Never && known.iter().all(|known| known.exact().is_some()) {
                    return Ok(known.into_iter().map(Binding::known).collect());
                }
                let (kind, items) = self.without_what_adds_nothing(kind, items);
                if let (Kind::Concat, [only]) = (&kind, items.as_slice()) {
                    return Ok(vec![only.clone()]);
                }
                if kind == Kind::Concat
                    && let Some(elements) = self.short_list(&items)
                {
                    let ty = frame.function.ty(operation.operands[0]);
                    return Ok(vec![self.list_of_elements(frame, operation, ty, elements, known)]);
                }
                match failure {
                    Failure::Never => Ok(self.emit(frame, operation, kind, &items, known, true)),
                    Failure::Possible => {
                        self.may_fail = true;
                        Ok(self.emit(frame, operation, kind, &items, known, false))
                    }
                    Failure::Certain(error) => {
                        self.fails(error.clone());
                        let types = operation.results.iter().map(|&id| frame.function.ty(id));
                        let known = types.map(Known::of_type).collect();
                        self.emit(frame, operation, kind, &items, known, false);
                        Err(AlwaysFails(error))
                    }
                }
            }
        }
    }

    /// Notes an error that is reached if nothing before it fails.
    fn fails(&mut self, error: ShapeError) {
        // Inside of a loop or a branch that is kept, it is not known whether it is reached.
        if !self.may_fail && self.builder.depth() == 0 {
            self.error = Some(error);
        }
        self.may_fail = true;
    }

    /// Truth values that are true add nothing to `and`, empty lists nothing to `concat`.
    fn without_what_adds_nothing(&self, kind: &Kind, items: Vec<Binding>) -> (Kind, Vec<Binding>) {
        let neutral = |item: &Binding| match (kind, item.known.exact()) {
            (Kind::And, Some(value)) => value == Value::Bool(true),
            (Kind::Or, Some(value)) => value == Value::Bool(false),
            (Kind::AssumingAll, Some(value)) => value == Value::Witness(None),
            (Kind::Concat, Some(Value::Extents(extents))) => extents.is_empty(),
            _ => false,
        };
        let kept: Vec<Binding> = items.iter().filter(|item| !neutral(item)).cloned().collect();
        (kind.clone(), if kept.is_empty() { items } else { kept })
    }

    /// Emits the operation, with operands in place of the old ones.
    fn emit(
        &mut self,
        frame: &Frame<'_>,
        operation: &Operation,
        kind: Kind,
        items: &[Binding],
        known: Vec<Known>,
        safe: bool,
    ) -> Vec<Binding> {
        let operands = self.operands(operation, frame, &kind, items);
        // What might fail and does not needs no words for it; evidence keeps them for where it is assumed.
        let error = if safe && kind.is_partial() { None } else { operation.error.clone() };
        let results = self.push(frame, operation, kind.clone(), operands, Vec::new(), error);
        if safe {
            self.safe.extend(results.iter().copied());
        }
        self.record_elements(&kind, items, &results);
        results.into_iter().zip(known).map(|(id, known)| Binding { known, id: Some(id) }).collect()
    }

    /// The elements of lists one after the other, if all are there as values and they are few.
    fn short_list(&self, lists: &[Binding]) -> Option<Vec<Binding>> {
        let all = lists.iter().map(|list| self.elements_of(list)).collect::<Option<Vec<_>>>()?.concat();
        (all.len() <= MAX_ELEMENTS).then_some(all)
    }

    /// A list of these elements, in place of one that was joined from others.
    fn list_of_elements(
        &mut self,
        frame: &Frame<'_>,
        operation: &Operation,
        ty: Type,
        elements: Vec<Binding>,
        known: Vec<Known>,
    ) -> Binding {
        let kind = if ty == Type::Shape { Kind::FromExtents } else { Kind::FromElements };
        let operands = elements.iter().map(|element| self.materialize(element, Type::Size)).collect();
        // The elements of shapes are extents already.
        let results = self.push(frame, operation, kind, operands, Vec::new(), None);
        self.safe.extend(results.iter().copied());
        self.elements.insert(results[0], elements);
        let known = known.into_iter().next().unwrap_or_else(|| Known::of_type(ty));
        Binding { known, id: Some(results[0]) }
    }

    /// The operands as values of the new function. All lists of operands that may be shortened are of one type.
    fn operands(&mut self, operation: &Operation, frame: &Frame<'_>, kind: &Kind, items: &[Binding]) -> Vec<ValueId> {
        let shortened = matches!(kind, Kind::And | Kind::Or | Kind::AssumingAll | Kind::Concat);
        items
            .iter()
            .enumerate()
            .map(|(position, item)| {
                let position = if shortened { 0 } else { position };
                self.materialize(item, frame.function.ty(operation.operands[position]))
            })
            .collect()
    }

    fn push(
        &mut self,
        frame: &Frame<'_>,
        operation: &Operation,
        kind: Kind,
        operands: Vec<ValueId>,
        regions: Vec<Region>,
        error: Option<String>,
    ) -> Vec<ValueId> {
        self.emitted += 1;
        let results =
            self.builder.push(kind, operands, regions, error).expect("a copy has the types of what is copied");
        for (&old, &new) in operation.results.iter().zip(&results) {
            self.builder.rename(new, frame.function.value(old).name.clone());
        }
        results
    }

    fn attribute(
        &mut self,
        frame: &Frame<'_>,
        operation: &Operation,
        name: &str,
        ty: Type,
    ) -> Result<Vec<Binding>, AlwaysFails> {
        let found = self.context.map(|context| context.attributes.known(name).filter(|known| known.fits(ty)));
        let known = match found {
            Some(Some(known)) if known.exact().is_some() => return Ok(vec![Binding::known(known)]),
            Some(Some(known)) => Some(known),
            // Without a context the attributes come with the instruction.
            None => Some(Known::of_type(ty)),
            Some(None) => None,
        };
        let missing = known.is_none().then(|| {
            let usual = || format!("the instruction has no attribute {name} of type {ty}");
            let message = operation.error.clone().unwrap_or_else(usual);
            ShapeError::new(ErrorKind::Attribute, message)
        });
        if let Some(error) = &missing {
            self.fails(error.clone());
        }
        self.may_fail = true;
        let known = vec![known.unwrap_or_else(|| Known::of_type(ty))];
        let items = self.emit(frame, operation, operation.kind.clone(), &[], known, false);
        missing.map_or(Ok(items), |error| Err(AlwaysFails(error)))
    }

    fn call(
        &mut self,
        frame: &Frame<'_>,
        operation: &Operation,
        name: &str,
        items: &[Binding],
    ) -> Result<Vec<Binding>, AlwaysFails> {
        let callee = self.context.and_then(|context| context.library.function(name).ok());
        if let Some(callee) = callee
            && self.may_expand()
            && self.call_depth < MAX_CALL_DEPTH
        {
            let mut inner = Frame::new(callee);
            for (&id, item) in callee.body.arguments.iter().zip(items) {
                inner.items[id.index()] = Some(item.clone());
            }
            self.call_depth += 1;
            let results = self.region(&mut inner, &callee.body);
            self.call_depth -= 1;
            return results;
        }
        self.may_fail = true;
        let known = operation.results.iter().map(|&id| Known::of_type(frame.function.ty(id))).collect();
        Ok(self.emit(frame, operation, operation.kind.clone(), items, known, false))
    }

    /// The elements of a list, if its length is known and the loop over it is to be unrolled.
    fn unrolled(&mut self, list: &Binding, ty: Type) -> Option<Vec<Binding>> {
        if !self.may_expand() {
            return None;
        }
        if let Some(elements) = self.elements_of(list) {
            return Some(elements);
        }
        let (kind, known): (Kind, Vec<Known>) = if ty == Type::Shapes {
            (Kind::GetShape, list.known.as_shapes().ok()?.into_iter().map(Known::List).collect())
        } else {
            (Kind::GetExtent, dims(&list.known)?.into_iter().map(Known::Size).collect())
        };
        // An element that is not known is read where the loop begins.
        let mut elements = Vec::with_capacity(known.len());
        for (index, known) in known.into_iter().enumerate() {
            let id = if known.exact().is_some() {
                None
            } else {
                let index = self.constant(Value::Size(i64::try_from(index).unwrap_or(i64::MAX)), Type::Size);
                let list = self.materialize(list, ty);
                let read = self.builder.push(kind.clone(), vec![list, index], Vec::new(), None);
                let id = read.expect("an element is read from a list by a size")[0];
                self.builder.rename(id, "extent");
                self.safe.insert(id);
                self.emitted += 1;
                Some(id)
            };
            elements.push(Binding { known, id });
        }
        Some(elements)
    }

    fn reduce(
        &mut self,
        frame: &mut Frame<'_>,
        operation: &Operation,
        items: &[Binding],
    ) -> Result<Vec<Binding>, AlwaysFails> {
        let region = &operation.regions[0];
        let list_type = frame.function.ty(operation.operands[0]);
        if let Some(elements) = self.unrolled(&items[0], list_type) {
            let mut accumulators = items[1..].to_vec();
            for (index, element) in (0i64..).zip(elements) {
                let index = Binding::known(Known::Exact(Value::Size(index)));
                let arguments = [index, element].into_iter().chain(accumulators);
                for (&id, item) in region.arguments.iter().zip(arguments) {
                    frame.items[id.index()] = Some(item);
                }
                accumulators = self.region(frame, region)?;
            }
            return Ok(accumulators);
        }
        let (count, element) = match items[0].known.as_shapes() {
            _ if list_type != Type::Shapes => {
                let list = items[0].known.as_list();
                (list.rank(), Known::Size(list.extent(Interval::EVERYTHING)))
            }
            Ok(shapes) => {
                let joined = shapes.iter().cloned().reduce(|a, b| a.join(&b));
                let known = joined.map_or_else(|| Known::of_type(Type::Shape), Known::List);
                (Interval::point(i64::try_from(shapes.len()).unwrap_or(i64::MAX)), known)
            }
            Err(count) => (count, Known::of_type(Type::Shape)),
        };
        if count.hi == 0 {
            return Ok(items[1..].to_vec());
        }
        let operands = self.operands(operation, frame, &operation.kind, items);
        self.builder.open();
        let of_types = region.arguments[2..].iter().map(|&id| Known::of_type(frame.function.ty(id)));
        let knowns: Vec<Known> =
            [Known::Size(Interval::new(0, count.hi - 1)), element].into_iter().chain(of_types).collect();
        for (&id, known) in region.arguments.iter().zip(knowns) {
            let data = frame.function.value(id);
            let new = self.builder.argument(data.ty, data.name.clone());
            frame.items[id.index()] = Some(Binding { known, id: Some(new) });
        }
        // A loop has steps, of which there may be too many.
        self.may_fail = true;
        let copied = self.nested(frame, region);
        let results = self.push(frame, operation, operation.kind.clone(), operands, vec![copied.0], None);
        let types: Vec<Type> = self.builder.types(&results);
        Ok(results.into_iter().zip(types).map(|(id, ty)| Binding { known: Known::of_type(ty), id: Some(id) }).collect())
    }

    /// Copies both regions of a branch, or the one of `assuming`.
    fn branch(
        &mut self,
        frame: &mut Frame<'_>,
        operation: &Operation,
        items: &[Binding],
    ) -> Result<Vec<Binding>, AlwaysFails> {
        let operands = self.operands(operation, frame, &operation.kind, items);
        let mut regions = Vec::new();
        let mut known: Option<Vec<Known>> = None;
        for region in &operation.regions {
            self.builder.open();
            let (copied, yielded) = self.nested(frame, region);
            regions.push(copied);
            // A region that always fails says nothing about what comes after.
            known = match (known, yielded) {
                (Some(known), Some(more)) => Some(known.iter().zip(&more).map(|(a, b)| a.join(b)).collect()),
                (known, more) => known.or(more),
            };
        }
        let results = self.push(frame, operation, operation.kind.clone(), operands, regions, None);
        let types = self.builder.types(&results);
        let known = known.unwrap_or_else(|| types.into_iter().map(Known::of_type).collect());
        Ok(results.into_iter().zip(known).map(|(id, known)| Binding { known, id: Some(id) }).collect())
    }

    /// Copies a region into one that was just opened, and closes it; what is known of its results unless it always
    /// fails.
    fn nested(&mut self, frame: &mut Frame<'_>, region: &Region) -> (Region, Option<Vec<Known>>) {
        let copied = self.region(frame, region);
        let types = region.results.iter().map(|&id| frame.function.ty(id));
        let (items, alive) = match copied {
            Ok(items) => (items, true),
            Err(AlwaysFails(_)) => (types.clone().map(dummy).collect(), false),
        };
        let results = items.iter().zip(types).map(|(item, ty)| self.materialize(item, ty)).collect();
        let known = items.into_iter().map(|item| item.known).collect();
        (self.builder.close(results), alive.then_some(known))
    }
}
