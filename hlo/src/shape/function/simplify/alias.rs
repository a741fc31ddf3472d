//! Operations whose result is one of the values that exist already.

use super::{Binding, Simplifier};
use crate::shape::function::{Kind, Known, Value, ValueId};

impl Simplifier<'_> {
    /// The results, if all are values that are there already. `items` are the operands, `ids` their values.
    pub(super) fn alias(&self, kind: &Kind, items: &[Binding]) -> Option<Vec<Binding>> {
        let same = || {
            let first = items[0].id?;
            items.iter().all(|item| item.id == Some(first)).then(|| items[0].clone())
        };
        let size = |position: usize| match items[position].known.exact() {
            Some(Value::Size(size)) => Some(size),
            _ => None,
        };
        let elements = |position: usize| self.elements.get(&items[position].id?);
        match kind {
            Kind::Any => Some(vec![items[0].clone()]),
            Kind::Meet | Kind::Broadcast => same().map(|item| vec![item]),
            Kind::ShapeEq | Kind::Eq | Kind::Le | Kind::Ge => same().map(|_| vec![truth(true)]),
            Kind::Ne | Kind::Lt | Kind::Gt => same().map(|_| vec![truth(false)]),
            Kind::CstrEq | Kind::CstrBroadcastable => {
                same().map(|_| vec![Binding::known(Known::Exact(Value::Witness(None)))])
            }
            Kind::Min | Kind::Max => same().map(|item| vec![item]),
            Kind::Select => match items[0].known.as_truth() {
                (true, false) => Some(vec![items[1].clone()]),
                (false, true) => Some(vec![items[2].clone()]),
                _ => (items[1].id.is_some() && items[1].id == items[2].id).then(|| vec![items[1].clone()]),
            },
            Kind::Add if size(0) == Some(0) => Some(vec![items[1].clone()]),
            Kind::Add | Kind::Sub if size(1) == Some(0) => Some(vec![items[0].clone()]),
            Kind::Mul if size(0) == Some(1) => Some(vec![items[1].clone()]),
            Kind::Mul | Kind::Div | Kind::CeilDiv if size(1) == Some(1) => Some(vec![items[0].clone()]),
            Kind::GetExtent => {
                let index = usize::try_from(size(1)?).ok()?;
                elements(0)?.get(index).map(|item| vec![item.clone()])
            }
            _ => None,
        }
    }

    /// The elements of the results, where they are values of their own.
    pub(super) fn record_elements(&mut self, kind: &Kind, items: &[Binding], results: &[ValueId]) {
        let found = match kind {
            Kind::FromExtents | Kind::FromElements => Some(items.to_vec()),
            Kind::ToExtentTensor | Kind::FromExtentTensor => self.elements_of(&items[0]),
            Kind::Concat => {
                items.iter().map(|item| self.elements_of(item)).collect::<Option<Vec<_>>>().map(|all| all.concat())
            }
            _ => None,
        };
        if let (Some(found), [result]) = (found, results) {
            self.elements.insert(*result, found);
        }
        if let (Kind::SplitAt, [head, tail]) = (kind, results)
            && let (Some(all), Some(Value::Size(at))) = (self.elements_of(&items[0]), items[1].known.exact())
        {
            let at = if at < 0 { at + all.len() as i64 } else { at };
            if let Some(at) = usize::try_from(at).ok().filter(|&at| at <= all.len()) {
                self.elements.insert(*head, all[..at].to_vec());
                self.elements.insert(*tail, all[at..].to_vec());
            }
        }
    }

    pub(super) fn elements_of(&self, item: &Binding) -> Option<Vec<Binding>> {
        match item.known.exact() {
            Some(Value::Extents(extents)) => {
                Some(extents.iter().map(|&extent| Binding::known(Known::Exact(Value::Size(extent)))).collect())
            }
            _ => self.elements.get(&item.id?).cloned(),
        }
    }
}

fn truth(value: bool) -> Binding {
    Binding::known(Known::Exact(Value::Bool(value)))
}
