//! The passes of a kernel over its rows: which function comes in which.

use super::{Division, Level, Reduction, Refused};
use crate::Target;
use crate::access::element_count;
use crate::cost::operation_cost;
use crate::form::Form;
use crate::hero::HeroKind;
use crate::plan::{Emitter, Folded, FunctionId, FusionPlan, Hero, Pass, Tail};
use crate::reduced::{Facts, Reduced};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ElementType, InstrId, Instruction, Op};

/// Lanes of a vector.
const MOST_LANES: u32 = 4;

/// In which pass each function and each reduction comes.
pub(super) struct Order {
    functions: Vec<usize>,
    reductions: Vec<usize>,
}

/// The functions of outputs, each once.
pub(super) fn distinct(outputs: Vec<FunctionId>) -> Vec<FunctionId> {
    let mut distinct: Vec<FunctionId> = Vec::new();
    for own in outputs {
        if !distinct.contains(&own) {
            distinct.push(own);
        }
    }
    distinct
}

impl Division<'_> {
    /// The passes, and what computes them on a target.
    pub(super) fn scheduled(mut self, outputs: Vec<FunctionId>, target: &Target) -> Result<FusionPlan, Refused> {
        // Where several invocations have a row, what they have is folded before it is known what comes before each.
        let is_shared = !target.is_software() && self.space.extents[2] == 1;
        let mut order = self.order(is_shared);
        let needed = self.needed(&order, &BTreeMap::new(), &outputs, is_shared);
        let passes = needed.len();
        let is_scan = self.reductions.iter().any(|reduction| reduction.scan.is_some());
        // What a scan comes to is not kept for other passes.
        let kept = if is_scan { 0 } else { self.most_kept(&needed) };
        let is_ordered = is_scan || self.reductions.iter().any(|reduction| !reduction.fold.commutes);
        let (has_vectors, is_packed) = self.types();
        let extents = self.space.extents;
        let stretch = self.space.stretch;
        let row_bytes = self.row_bytes();
        let facts = Facts {
            extents,
            stretch,
            is_ordered,
            is_scan,
            passes,
            kept,
            has_vectors,
            is_packed,
            per_word: self.written_per_word(),
            row_bytes,
            folded_bytes: self.folded_bytes(),
        };
        let schedule = Reduced::of(&facts, target)?;
        let (online, needed) = self.with_online(&mut order, needed, &outputs, &schedule);
        let listed = self.listed((&order, &needed), &online, is_shared, schedule.is_kept);
        self.count_again(&listed);
        let heroes = self.heroes(&schedule, &outputs, target);
        let distinct = distinct(outputs);
        let names: Vec<String> = heroes
            .iter()
            .map(|hero| format!("%{}", self.planner.computation.instructions[hero.instruction].name))
            .collect();
        let mut why = format!("{}: {}", names.join(", "), schedule.explanation(target));
        if let Some(rounds) = schedule.rounds_of_scale().filter(|_| !online.is_empty()) {
            let named = |id: &InstrId| format!("%{}", self.planner.computation.instructions[*id].name);
            for (sum, maximum) in &online {
                let (sum, maximum) = (named(sum), named(maximum));
                why.push_str(&format!(", {sum} folded beside {maximum} and scaled by it every {rounds} rounds"));
            }
        }
        let plan = self.planner.finish(distinct, Emitter::Reduced(schedule), heroes, why);
        Ok(FusionPlan { passes: listed, ..plan })
    }

    /// The passes in this order, each with what it needs; where values are kept, a function is called in the first one alone.
    pub(super) fn listed(
        &self,
        (order, needed): (&Order, &[BTreeSet<FunctionId>]),
        online: &BTreeMap<InstrId, InstrId>,
        is_shared: bool,
        is_kept: bool,
    ) -> Vec<Pass> {
        let is_folded = |reduction: &Reduction| reduction.scan.is_none() || is_shared;
        let mut done: BTreeSet<FunctionId> = BTreeSet::new();
        let mut listed: Vec<Pass> = Vec::new();
        for (pass, needed) in needed.iter().enumerate() {
            let is_new = |function: &FunctionId| !is_kept || !done.contains(function);
            let mut elements: Vec<FunctionId> = needed.iter().copied().filter(is_new).collect();
            self.sort(&mut elements);
            done.extend(&elements);
            let folds =
                self.folded(online, |number, reduction| order.reductions[number] == pass && is_folded(reduction));
            let given =
                |id: InstrId| needed.iter().any(|own| self.planner.functions[own.0 as usize].given.contains(&id));
            let scans = self.folded(online, |_, reduction| reduction.scan.is_some() && given(reduction.id));
            let rows = self.rows_of(pass, order);
            if !(rows.is_empty() && elements.is_empty() && folds.is_empty()) {
                listed.push(Pass { rows, elements, folds, scans });
            }
        }
        let after = self.rows_of(needed.len(), order);
        if !after.is_empty() {
            listed.push(Pass { rows: after, elements: Vec::new(), folds: Vec::new(), scans: Vec::new() });
        }
        listed
    }

    /// The functions of elements that each pass needs: for what it folds or stores, and all that this is computed of. What is folded online is none of them.
    pub(super) fn needed(
        &self,
        order: &Order,
        online: &BTreeMap<usize, InstrId>,
        outputs: &[FunctionId],
        is_shared: bool,
    ) -> Vec<BTreeSet<FunctionId>> {
        let passes = order.reductions.iter().map(|pass| pass + 1).max().unwrap_or(0);
        let stored: Vec<FunctionId> = self.of_level(Level::Element).filter(|it| outputs.contains(it)).collect();
        let pass_of = |function: &FunctionId| order.functions[function.0 as usize];
        let passes = passes.max(stored.iter().map(|it| pass_of(it) + 1).max().unwrap_or(0));
        let is_folded = |reduction: &Reduction| reduction.scan.is_none() || is_shared;
        let wanted = |pass: usize| -> Vec<FunctionId> {
            let own = stored.iter().copied().filter(|it| pass_of(it) == pass);
            let folded = self.reductions.iter().zip(&order.reductions).enumerate();
            let folded = folded.filter(|(number, (reduction, own))| {
                **own == pass && is_folded(reduction) && !online.contains_key(number)
            });
            own.chain(folded.filter_map(|(_, (reduction, _))| reduction.function)).collect()
        };
        (0..passes).map(|pass| self.closure(wanted(pass))).collect()
    }

    /// Has sums be folded in the pass of the maximum that scales them, where that saves a pass; tells which, and what passes need then.
    fn with_online(
        &self,
        order: &mut Order,
        needed: Vec<BTreeSet<FunctionId>>,
        outputs: &[FunctionId],
        schedule: &Reduced,
    ) -> (BTreeMap<InstrId, InstrId>, Vec<BTreeSet<FunctionId>>) {
        let online =
            if schedule.rounds_of_scale().is_some() { self.online(&order.reductions) } else { BTreeMap::new() };
        let before = order.reductions.clone();
        for number in online.keys() {
            order.reductions[*number] -= 1;
        }
        let mut saved = self.needed(order, &online, outputs, false);
        saved.resize(needed.len(), BTreeSet::new());
        if !online.keys().any(|number| saved[before[*number]].is_empty()) {
            order.reductions = before;
            return (BTreeMap::new(), needed);
        }
        (online.into_iter().map(|(number, maximum)| (self.reductions[number].id, maximum)).collect(), saved)
    }

    fn of_level(&self, level: Level) -> impl Iterator<Item = FunctionId> + use<'_> {
        let ids = (0..).map(FunctionId).zip(&self.levels);
        ids.filter(move |(_, own)| **own == Some(level)).map(|(id, _)| id)
    }

    /// The reduction that an instruction is.
    pub(super) fn reduction(&self, id: InstrId) -> Option<usize> {
        self.reductions.iter().position(|reduction| reduction.id == id)
    }

    /// A function comes in the first pass behind those that fold what it is given; a reduction with what it folds. What one is given of a scan comes in the same pass,
    /// unless several invocations share the scan.
    pub(super) fn order(&self, is_shared: bool) -> Order {
        let mut order =
            Order { functions: vec![0; self.planner.functions.len()], reductions: vec![0; self.reductions.len()] };
        // What is given to a function is computed of instructions before its roots.
        let mut sorted: Vec<FunctionId> = self.of_level(Level::Row).chain(self.of_level(Level::Element)).collect();
        self.sort(&mut sorted);
        // What a reduction begins with may come behind what it folds.
        while self.put_in_order(&sorted, is_shared, &mut order) {}
        order
    }

    /// Moves functions and reductions into later passes where what they need asks for it; whether any has been moved.
    fn put_in_order(&self, sorted: &[FunctionId], is_shared: bool, order: &mut Order) -> bool {
        let before = (order.functions.clone(), order.reductions.clone());
        for function in sorted {
            let own = &self.planner.functions[function.0 as usize];
            let of_given = own.given.iter().map(|given| match (self.reduction(*given), self.nodes.get(given)) {
                (Some(number), _) => {
                    let is_scan = self.reductions[number].scan.is_some();
                    order.reductions[number] + usize::from(is_shared || !is_scan)
                }
                (None, Some(node)) => order.functions[node.0 as usize],
                (None, None) => 0,
            });
            let pass = of_given.max().unwrap_or(0).max(order.functions[function.0 as usize]);
            order.functions[function.0 as usize] = pass;
        }
        for (reduction, pass) in self.reductions.iter().zip(&mut order.reductions) {
            let of = |function: Option<FunctionId>| function.map_or(0, |function| order.functions[function.0 as usize]);
            *pass = of(reduction.function).max(of(reduction.initial));
        }
        // What several reductions fold comes with the first of them.
        let mut first: BTreeMap<FunctionId, usize> = BTreeMap::new();
        for (reduction, pass) in self.reductions.iter().zip(&order.reductions) {
            if let Some(function) = reduction.function {
                first.entry(function).and_modify(|known| *known = (*known).min(*pass)).or_insert(*pass);
            }
        }
        first.into_iter().for_each(|(function, pass)| order.functions[function.0 as usize] = pass);
        before != (order.functions.clone(), order.reductions.clone())
    }

    /// Puts functions behind those whose values they are given.
    fn sort(&self, functions: &mut [FunctionId]) {
        // A function that passes on what it is given comes behind the one that computes it.
        let key = |function: &FunctionId| {
            let planned = &self.planner.functions[function.0 as usize];
            let last = planned.roots.iter().map(|root| root.instruction).chain(planned.given.iter().copied()).max();
            let is_node = planned.roots.first().and_then(|root| self.nodes.get(&root.instruction)) == Some(function);
            let folds = self.reductions.iter().any(|reduction| reduction.function == Some(*function));
            (last, !is_node, !folds, *function)
        };
        functions.sort_by_key(key);
    }

    /// These functions of elements with all that they are given values of.
    pub(super) fn closure(&self, wanted: Vec<FunctionId>) -> BTreeSet<FunctionId> {
        let mut found = BTreeSet::new();
        let mut open = wanted;
        while let Some(function) = open.pop() {
            if self.level(function) == Some(Level::Element) && found.insert(function) {
                let given = &self.planner.functions[function.0 as usize].given;
                open.extend(given.iter().filter_map(|given| self.nodes.get(given)));
                let reductions = given.iter().filter_map(|given| self.reductions.get(self.reduction(*given)?));
                open.extend(reductions.filter(|it| it.scan.is_some()).filter_map(|scan| scan.function));
            }
        }
        found
    }

    /// Values of an element that are computed in one pass and needed in a later one, the most at once.
    fn most_kept(&self, needed: &[BTreeSet<FunctionId>]) -> usize {
        let between = |pass: usize| {
            let before: BTreeSet<FunctionId> = needed[..=pass].iter().flatten().copied().collect();
            let after: BTreeSet<FunctionId> = needed[pass + 1..].iter().flatten().copied().collect();
            // Nothing but what a function that is yet to come is given has to be kept.
            let given = after.difference(&before).flat_map(|it| &self.planner.functions[it.0 as usize].given);
            given
                .filter_map(|given| self.nodes.get(given))
                .filter(|node| before.contains(node))
                .collect::<BTreeSet<_>>()
                .len()
        };
        (0..needed.len().saturating_sub(1)).map(between).max().unwrap_or(0)
    }

    fn rows_of(&self, pass: usize, order: &Order) -> Vec<FunctionId> {
        let mut rows: Vec<FunctionId> =
            self.of_level(Level::Row).filter(|function| order.functions[function.0 as usize] == pass).collect();
        self.sort(&mut rows);
        rows
    }

    fn folded(&self, online: &BTreeMap<InstrId, InstrId>, is_meant: impl Fn(usize, &Reduction) -> bool) -> Vec<Folded> {
        let own = self.reductions.iter().enumerate().filter(|(number, reduction)| is_meant(*number, reduction));
        own.filter_map(|(_, reduction)| {
            let Reduction { id, scan, function, initial, fold, .. } = reduction;
            let (neutral, online) = (fold.neutral.clone(), online.get(id).copied());
            Some(Folded { reduction: *id, scan: *scan, function: (*function)?, initial: *initial, neutral, online })
        })
        .collect()
    }

    /// Counts what passes compute again.
    fn count_again(&mut self, passes: &[Pass]) {
        let mut times: BTreeMap<FunctionId, usize> = BTreeMap::new();
        for pass in passes {
            let online = pass.folds.iter().filter(|fold| fold.online.is_some()).map(|fold| &fold.function);
            pass.elements.iter().chain(online).for_each(|function| *times.entry(*function).or_default() += 1);
        }
        for (function, times) in times.into_iter().filter(|(_, times)| *times > 1) {
            let again = (times - 1) as f64 * self.planner.functions[function.0 as usize].evaluations;
            self.planner.functions[function.0 as usize].evaluations += again;
            let members = self.planner.functions[function.0 as usize].members.iter();
            let instructions = &self.planner.computation.instructions;
            let units: f64 = members.map(|member| operation_cost(&instructions[*member].op)).sum();
            self.planner.excess += again * units;
        }
    }

    /// Whether there are vectors of all that is computed with, and whether all that is read and written for each element is packed in words.
    fn types(&self) -> (bool, bool) {
        let computation = self.planner.computation;
        let types = |instruction: &Instruction| -> Vec<ElementType> {
            let leaves = instruction.shape.leaves();
            leaves.iter().filter_map(|leaf| Some(leaf.as_array()?.element_type)).collect()
        };
        let has_vectors = computation
            .instructions
            .values()
            .flat_map(types)
            .all(|ty| !matches!(ty, ElementType::F64 | ElementType::C128));
        let is_packed = |ty: &ElementType| Form::of(*ty).is_some_and(Form::is_packed);
        let bound = self.bound_of_elements();
        (has_vectors, !bound.is_empty() && bound.iter().all(is_packed))
    }

    /// Elements in a word of what is written for each element, the most of them, of at most as many as a vector has.
    fn written_per_word(&self) -> u32 {
        let computation = self.planner.computation;
        let written = self.of_elements([&computation.instructions[computation.root]].into_iter());
        written.iter().filter_map(|ty| Some(Form::of(*ty)?.per_word())).fold(1, u32::max).min(MOST_LANES)
    }

    /// The types of what is read and written for each element.
    fn bound_of_elements(&self) -> Vec<ElementType> {
        let computation = self.planner.computation;
        let is_bound =
            |(id, it): &(InstrId, &Instruction)| matches!(it.op, Op::Parameter { .. }) || *id == computation.root;
        self.of_elements(computation.instructions.iter().filter(is_bound).map(|(_, it)| it))
    }

    /// The types of arrays that have a number for each element, of what these are.
    fn of_elements<'i>(&self, bound: impl Iterator<Item = &'i Instruction>) -> Vec<ElementType> {
        let elements = self.space.count() as f64;
        let leaves = bound.flat_map(|it| it.shape.leaves());
        let of_elements = leaves.filter(|leaf| element_count(leaf) == elements);
        of_elements.filter_map(|leaf| Some(leaf.as_array()?.element_type)).collect()
    }

    /// Bytes that are read and written for the elements of a row.
    fn row_bytes(&self) -> i64 {
        let [_, reduced, _] = self.space.extents;
        let bytes = |ty: ElementType| Form::of(ty)?.bytes(u64::try_from(reduced).ok()?);
        let all = self.bound_of_elements().into_iter().filter_map(bytes).fold(0, u64::saturating_add);
        i64::try_from(all).unwrap_or(i64::MAX)
    }

    /// Bytes of what is folded and scanned, an element of each.
    fn folded_bytes(&self) -> i64 {
        let instructions = &self.planner.computation.instructions;
        let leaves = self.reductions.iter().flat_map(|reduction| instructions[reduction.id].shape.leaves());
        let bytes = leaves.filter_map(|leaf| Form::of(leaf.as_array()?.element_type)?.bytes(1));
        i64::try_from(bytes.fold(0, u64::saturating_add)).unwrap_or(i64::MAX)
    }

    fn heroes(&self, schedule: &Reduced, outputs: &[FunctionId], target: &Target) -> Vec<Hero> {
        let computation = self.planner.computation;
        let tail = |id: InstrId, function: &FunctionId| {
            let planned = &self.planner.functions[function.0 as usize];
            let level = self.level(*function)?;
            planned
                .given
                .contains(&id)
                .then(|| Tail { function: *function, map: self.space.identity(level == Level::Element) })
        };
        let hero = |reduction: &Reduction| {
            let kind = HeroKind::of(computation, reduction.id)?;
            let function = reduction.function?;
            let given = &self.planner.functions[function.0 as usize].given;
            let prologues = given.iter().filter_map(|given| self.nodes.get(given)).copied().collect();
            let mut epilogues: Vec<Tail> = outputs.iter().filter_map(|output| tail(reduction.id, output)).collect();
            epilogues.dedup();
            let mut tiling = kind.tiling(target);
            tiling.threads = u32::try_from(schedule.threads()).unwrap_or(u32::MAX);
            tiling.tile = if schedule.along > i64::from(schedule.lanes) || schedule.columns > 1 && schedule.along > 1 {
                vec![schedule.threads()]
            } else {
                Vec::new()
            };
            Some(Hero { instruction: reduction.id, kind, function, prologues, epilogues, tiling, why_loop: None })
        };
        self.reductions.iter().filter_map(hero).collect()
    }
}
