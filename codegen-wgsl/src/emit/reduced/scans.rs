//! Scans: what the elements of a row come to up to each of them.

use super::{Emission, of_kernel};
use crate::emit::passes::{Yielded, is_neutral};
use crate::kernel::{
    Block, Combination, Function, FunctionId, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement,
    Value, ValueType,
};
use crate::wgsl::Names;
use std::collections::BTreeMap;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{Arena, ArrayShape, ElementType, InstrId};
use weft_partition::{Folded, FusionPlan, Pass, Reduced, Scanned};

/// Elements side by side that an invocation computes before it scans them: those of a vector.
const SIDE_BY_SIDE: i64 = 4;

/// Registers, and the type of what they hold.
type Tile = (MemoryId, ElementType);

/// The registers of an invocation that hold what is computed of elements side by side.
#[derive(Default)]
pub(in crate::emit) struct ScanTiles {
    functions: BTreeMap<weft_partition::FunctionId, Vec<Tile>>,
    scans: BTreeMap<InstrId, Vec<Tile>>,
}

impl ScanTiles {
    /// Adds the registers that a plan needs to the memories of a kernel: none where it scans nothing, or an invocation has no elements side by side.
    pub(in crate::emit) fn add(
        reduced: &Reduced,
        plan: &FusionPlan,
        functions: &Arena<FunctionId, Function>,
        memories: &mut Arena<MemoryId, Memory>,
        names: &mut Names,
    ) -> ScanTiles {
        let mut tiles = ScanTiles::default();
        let has_scans = plan.passes().iter().any(|pass| !pass.scans.is_empty());
        let rounds = reduced.rounds();
        let is_whole = rounds.checked_mul(reduced.along) == Some(reduced.reduced);
        if !has_scans || reduced.inner != 1 || !is_whole || rounds % SIDE_BY_SIDE != 0 {
            return tiles;
        }
        let mut add = |name: &str, types: &[ValueType]| -> Vec<Tile> {
            let mut memory = |ty: &ValueType| {
                let shape = ArrayShape::new(ty.element_type, vec![SIDE_BY_SIDE]);
                Memory::new(names.take(&format!("{name}.tile")), shape, Space::Thread)
            };
            types.iter().map(|ty| (memories.push(memory(ty)), ty.element_type)).collect()
        };
        let types = |function: weft_partition::FunctionId| Kernel::result_types(&functions[of_kernel(function)]);
        for pass in plan.passes() {
            for function in &pass.elements {
                tiles
                    .functions
                    .entry(*function)
                    .or_insert_with(|| add(&plan.function(*function).name, &types(*function)));
            }
            for scan in &pass.scans {
                let name = format!("{}.scan", plan.function(scan.function).name);
                tiles.scans.entry(scan.reduction).or_insert_with(|| add(&name, &types(scan.function)));
            }
        }
        tiles
    }

    /// Whether invocations compute elements side by side.
    pub(super) fn are_used(&self) -> bool {
        !self.functions.is_empty()
    }
}

/// Functions that are called before what is scanned then.
struct Stage<'p> {
    functions: Vec<weft_partition::FunctionId>,
    scans: Vec<&'p Folded>,
}

impl Emission<'_> {
    /// The functions of a pass and its scans, in an order in which each comes behind what it is given.
    fn stages<'p>(&self, pass: &'p Pass) -> Vec<Stage<'p>> {
        let mut functions: Vec<weft_partition::FunctionId> = pass.elements.clone();
        let mut scans: Vec<&Folded> = pass.scans.iter().collect();
        let mut stages = Vec::new();
        while !functions.is_empty() || !scans.is_empty() {
            let mut stage = Stage { functions: Vec::new(), scans: Vec::new() };
            let mut left = Vec::with_capacity(functions.len());
            for function in functions {
                let waits = |given: &InstrId| {
                    let provider = self.providers.get(given);
                    scans.iter().any(|scan| scan.reduction == *given) || provider.is_some_and(|own| left.contains(own))
                };
                let is_ready = !self.plan.function(function).given.iter().any(waits);
                if is_ready { &mut stage.functions } else { &mut left }.push(function);
            }
            functions = left;
            let (ready, open): (Vec<&Folded>, Vec<&Folded>) =
                scans.into_iter().partition(|scan| !functions.contains(&scan.function));
            (stage.scans, scans) = (ready, open);
            let is_stuck = stage.functions.is_empty() && stage.scans.is_empty();
            if is_stuck {
                // No plan has functions that wait for one another.
                stage.functions.append(&mut functions);
            }
            stages.push(stage);
        }
        stages
    }

    /// Calls the functions of a pass for one element, and scans it; `carried` is what the elements before it come to, for each scan.
    pub(super) fn scanned_element(
        &mut self,
        pass: &Pass,
        element: &Expr,
        known: &Known,
        yielded: &mut Yielded,
        carried: &[Vec<Operand>],
        block: &mut Block,
    ) -> Result<Vec<Vec<Operand>>, Error> {
        self.scanned.clear();
        let mut carried: Vec<Vec<Operand>> = carried.to_vec();
        for Stage { functions, scans } in self.stages(pass) {
            for function in functions {
                let values = self.called(function, Some(element), yielded, known, block)?;
                if self.output(function).is_some() && !self.stored.contains(&function) {
                    self.store(function, Some(element), values.clone(), known, block)?;
                }
                yielded.insert(function, values);
            }
            for scan in scans {
                let Some(number) = pass.scans.iter().position(|own| own.reduction == scan.reduction) else { continue };
                let own = yielded.get(&scan.function).cloned().unwrap_or_default();
                let (result, next) = self.scanned_next(scan, carried[number].clone(), own, block);
                self.scanned.insert(scan.reduction, result);
                carried[number] = next;
            }
        }
        Ok(carried)
    }

    /// What a scan comes to at an element, and with it.
    fn scanned_next(
        &mut self,
        scan: &Folded,
        before: Vec<Operand>,
        own: Vec<Operand>,
        block: &mut Block,
    ) -> (Vec<Operand>, Vec<Operand>) {
        let Scanned { is_reversed, is_exclusive } =
            scan.scan.unwrap_or(Scanned { is_reversed: false, is_exclusive: false });
        let next = match is_neutral(&before, scan) {
            true => own,
            false if is_reversed => self.apply(scan, own, before.clone(), block),
            false => self.apply(scan, before.clone(), own, block),
        };
        let result = if is_exclusive { before } else { next.clone() };
        (self.with_initial(scan, result, block), next)
    }

    /// What is folded into what a reduction or a scan begins with.
    pub(super) fn with_initial(&mut self, fold: &Folded, whole: Vec<Operand>, block: &mut Block) -> Vec<Operand> {
        let initial = self.initial_values(fold);
        if is_neutral(&initial, fold) { whole } else { self.apply(fold, initial, whole, block) }
    }

    /// The rounds of a place, several elements side by side in each: functions are called for these as for the lanes of a vector, then they are scanned and folded one by one.
    /// Returns what is carried.
    pub(super) fn side_by_side(
        &mut self,
        pass: &Pass,
        init: Vec<Vec<Operand>>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Vec<Operand>>, Error> {
        let rounds = self.reduced.rounds() / SIDE_BY_SIDE;
        let known = known.in_loop(&[rounds, SIDE_BY_SIDE]);
        let all: Vec<&Folded> = pass.folds.iter().chain(&pass.scans).collect();
        let looped = self.carried(&all);
        let mut carried = looped.before();
        let before = self.reduced.rounds();
        let stretch = self.place.along.checked_mul(before)?.checked_add(&Expr::range(0).checked_mul(SIDE_BY_SIDE)?)?;
        let first = match self.is_reversed {
            false => stretch,
            true => stretch.checked_neg()?.checked_add_constant(self.reduced.reduced - SIDE_BY_SIDE)?,
        };
        let element = known.simplified(&first.checked_add(&Expr::range(1))?);
        let mut body = Block::default();
        for Stage { functions, scans } in self.stages(pass) {
            self.stage(&functions, &element, &known, &mut body)?;
            for scan in scans {
                let Some(number) = pass.scans.iter().position(|own| own.reduction == scan.reduction) else { continue };
                let number = pass.folds.len() + number;
                for place in self.in_order() {
                    let own = self.read_yielded(scan.function, &place, &mut body);
                    let (result, next) = self.scanned_next(scan, carried[number].clone(), own, &mut body);
                    carried[number] = next;
                    let memories = self.tiles.scans.get(&scan.reduction).cloned().unwrap_or_default();
                    for ((memory, _), value) in memories.into_iter().zip(result) {
                        body.statements.push(Statement::Store { memory, indices: vec![place.clone()], value });
                    }
                }
            }
        }
        for (number, fold) in pass.folds.iter().enumerate() {
            for place in self.in_order() {
                let own = self.read_yielded(fold.function, &place, &mut body);
                carried[number] = self.folded_next(fold, carried[number].clone(), own, &mut body);
            }
        }
        Ok(looped.in_rounds(rounds, init, (body, carried), block))
    }

    /// What has been folded with one more element.
    pub(super) fn folded_next(
        &mut self,
        fold: &Folded,
        carried: Vec<Operand>,
        own: Vec<Operand>,
        block: &mut Block,
    ) -> Vec<Operand> {
        match fold.scan {
            Some(Scanned { is_reversed: true, .. }) => self.apply(fold, own, carried, block),
            _ => self.apply(fold, carried, own, block),
        }
    }

    /// The numbers of elements side by side, in the order in which they are folded.
    fn in_order(&self) -> Vec<Expr> {
        let numbers = (0..SIDE_BY_SIDE).map(Expr::constant);
        if self.is_reversed { numbers.rev().collect() } else { numbers.collect() }
    }

    /// Calls functions for elements side by side, and keeps what they yield.
    fn stage(
        &mut self,
        functions: &[weft_partition::FunctionId],
        element: &Expr,
        known: &Known,
        body: &mut Block,
    ) -> Result<(), Error> {
        if functions.is_empty() {
            return Ok(());
        }
        let place = Expr::range(1);
        let (mut each, mut yielded) = (Block::default(), Yielded::new());
        self.scanned.clear();
        for function in functions {
            // What earlier stages have computed of the element is read where it is needed.
            for given in self.plan.function(*function).given.clone() {
                self.read_given(given, functions, &place, &mut yielded, &mut each);
            }
            let values = self.called(*function, Some(element), &yielded, known, &mut each)?;
            if self.output(*function).is_some() && !self.stored.contains(function) {
                self.store(*function, Some(element), values.clone(), known, &mut each)?;
            }
            if self.is_needed(*function) {
                let memories = self.tiles.functions.get(function).cloned().unwrap_or_default();
                for ((memory, _), value) in memories.into_iter().zip(values.iter().copied()) {
                    each.statements.push(Statement::Store { memory, indices: vec![place.clone()], value });
                }
            }
            yielded.insert(*function, values);
        }
        self.scanned.clear();
        let (init, values, accumulators) = (Vec::new(), Vec::new(), Vec::new());
        let extents = vec![SIDE_BY_SIDE];
        body.statements.push(Statement::Loop { values, extents, init, accumulators, body: each });
        Ok(())
    }

    /// Whether others are given what a function yields, or it is folded.
    fn is_needed(&self, function: weft_partition::FunctionId) -> bool {
        let folded = self.plan.passes().iter().flat_map(|pass| pass.folds.iter().chain(&pass.scans));
        folded.into_iter().any(|fold| fold.function == function)
            || self.providers.iter().any(|(id, own)| *own == function && self.given.contains(id))
    }

    /// Reads what an earlier stage has come to at the element, where a function is given it.
    fn read_given(
        &mut self,
        given: InstrId,
        own: &[weft_partition::FunctionId],
        place: &Expr,
        yielded: &mut Yielded,
        block: &mut Block,
    ) {
        if let Some(memories) = self.tiles.scans.get(&given).cloned() {
            if !self.scanned.contains_key(&given) {
                let values = self.read(&memories, place, block);
                self.scanned.insert(given, values);
            }
            return;
        }
        let Some(provider) = self.providers.get(&given).copied().filter(|provider| !own.contains(provider)) else {
            return;
        };
        if let Some(memories) = self.tiles.functions.get(&provider).cloned()
            && !yielded.contains_key(&provider)
        {
            let values = self.read(&memories, place, block);
            yielded.insert(provider, values);
        }
    }

    /// Reads what a function has yielded at one of the elements side by side.
    fn read_yielded(&mut self, function: weft_partition::FunctionId, place: &Expr, block: &mut Block) -> Vec<Operand> {
        let memories = self.tiles.functions.get(&function).cloned().unwrap_or_default();
        self.read(&memories, place, block)
    }

    fn read(&mut self, memories: &[Tile], place: &Expr, block: &mut Block) -> Vec<Operand> {
        let mut values = Vec::with_capacity(memories.len());
        for (memory, ty) in memories {
            let value = self.values.push(Value::scalar("element", *ty));
            let op = ScalarOp::Extract { memory: *memory, indices: vec![place.clone()] };
            block.statements.push(Statement::Let { value, op });
            values.push(Operand::Value(value));
        }
        values
    }

    /// What the invocations before that of the place have of a scan, all of whose elements it has folded.
    pub(super) fn before(&mut self, fold: &Folded, own: Vec<Operand>, block: &mut Block) {
        let neutral: Vec<Operand> = fold.neutral.iter().copied().map(Operand::Constant).collect();
        let before = match self.collective(fold, own, Combination::ExclusiveScan, block) {
            // The first has nothing before it.
            Some(others) => {
                let first = Constraint { expr: self.place.along.clone(), bounds: Interval { lo: 0, hi: 0 } };
                let then = Block { statements: Vec::new(), results: neutral };
                let otherwise = Block { statements: Vec::new(), results: others };
                self.chosen(&[first], then, otherwise, block)
            }
            None => neutral,
        };
        self.before.insert(fold.reduction, before);
    }
}
