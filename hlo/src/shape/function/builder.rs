//! A builder of shape functions that checks each operation.

use super::typing::{RegionTypes, loop_arguments, result_types};
use super::{Function, Kind, Operation, Region, Type, ValueData, ValueId};

/// A function in the making. Regions are opened and closed in the order of the text.
pub(super) struct Builder {
    name: String,
    values: Vec<ValueData>,
    /// The open regions, the function's body first.
    open: Vec<Region>,
}

impl Builder {
    /// A function without parameters yet.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Builder { name: name.into(), values: Vec::new(), open: vec![Region::default()] }
    }

    /// A new value of this type, to which nothing is assigned yet.
    pub(super) fn value(&mut self, ty: Type, name: impl Into<String>) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("a function has fewer than 2^32 values"));
        self.values.push(ValueData { name: name.into(), ty });
        id
    }

    /// One more argument of the innermost open region; for the body, a parameter.
    pub(super) fn argument(&mut self, ty: Type, name: impl Into<String>) -> ValueId {
        let id = self.value(ty, name);
        self.innermost().arguments.push(id);
        id
    }

    pub(super) fn ty(&self, id: ValueId) -> Type {
        self.values[id.index()].ty
    }

    pub(super) fn types(&self, ids: &[ValueId]) -> Vec<Type> {
        ids.iter().map(|&id| self.ty(id)).collect()
    }

    pub(super) fn rename(&mut self, id: ValueId, name: impl Into<String>) {
        self.values[id.index()].name = name.into();
    }

    /// Names a value that has no name yet.
    pub(super) fn rename_unnamed(&mut self, id: ValueId, name: &str) {
        if self.values[id.index()].name.is_empty() {
            self.rename(id, name);
        }
    }

    fn innermost(&mut self) -> &mut Region {
        self.open.last_mut().expect("the body is open until the function is finished")
    }

    /// How many regions are open inside the body.
    pub(super) fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Opens a region without arguments inside the innermost one.
    pub(super) fn open(&mut self) {
        self.open.push(Region::default());
    }

    /// Closes the innermost region, which yields `results`.
    pub(super) fn close(&mut self, results: Vec<ValueId>) -> Region {
        let mut region = self.open.pop().expect("what is closed was opened");
        region.results = results;
        region
    }

    /// Appends an operation to the innermost region.
    ///
    /// # Errors
    /// A sentence, if operands or regions are not what the operation takes.
    pub(super) fn push(
        &mut self,
        kind: Kind,
        operands: Vec<ValueId>,
        regions: Vec<Region>,
        error: Option<String>,
    ) -> Result<Vec<ValueId>, String> {
        let depth = self.depth();
        self.push_at(depth, kind, operands, regions, error)
    }

    /// Appends an operation to the region that is open at `depth`, 0 being the body.
    ///
    /// # Errors
    /// A sentence, if operands or regions are not what the operation takes.
    pub(super) fn push_at(
        &mut self,
        depth: usize,
        kind: Kind,
        operands: Vec<ValueId>,
        regions: Vec<Region>,
        error: Option<String>,
    ) -> Result<Vec<ValueId>, String> {
        let region_types: Vec<RegionTypes> = regions
            .iter()
            .map(|region| RegionTypes {
                arguments: self.types(&region.arguments),
                results: self.types(&region.results),
            })
            .collect();
        let types = result_types(&kind, &self.types(&operands), &region_types)?;
        if error.is_some() && !kind.takes_error() {
            return Err(format!("{} does not fail, and takes no error message", kind.name()));
        }
        let results: Vec<ValueId> = types.into_iter().map(|ty| self.value(ty, String::new())).collect();
        self.open[depth].operations.push(Operation { kind, operands, results: results.clone(), regions, error });
        Ok(results)
    }

    /// The arguments that the region of a loop over these operands is entered with.
    pub(super) fn loop_types(&self, operands: &[ValueId]) -> Option<Vec<Type>> {
        loop_arguments(&self.types(operands))
    }

    /// The function, which returns `results`.
    ///
    /// # Errors
    /// A sentence, if a parameter or a result is evidence.
    pub(super) fn finish(mut self, results: Vec<ValueId>) -> Result<Function, String> {
        let body = self.close(results);
        if body.arguments.iter().chain(&body.results).any(|&id| self.ty(id) == Type::Witness) {
            return Err("evidence is used where it is made; a function neither takes nor returns it".to_owned());
        }
        Ok(Function { name: self.name, values: self.values, body })
    }
}
