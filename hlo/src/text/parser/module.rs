//! Parsing of modules, and the resolution of names once every computation is read.

use super::computation::Parsed;
use super::order::{dependencies_first, describe_cycle};
use super::shapeless::Shapeless;
use super::{Parser, Use};
use crate::diagnostic::did_you_mean;
use crate::ir::{Arena, ArenaId, Computation, ComputationId, Module};
use crate::text::codes;
use crate::text::lexer::{Failure, failure, quote};
use std::collections::{HashMap, HashSet};

/// How many names are searched for the nearest to an unknown one.
pub(super) const MAX_SUGGESTED: usize = 2000;

/// Computations in order, the entry, and what waits for shapes that follow from operands.
pub(super) type Linked = (Arena<ComputationId, Computation>, ComputationId, Vec<(ComputationId, Shapeless)>);

impl<'a> Parser<'a> {
    /// The whole text; `None` only if there are findings.
    pub(super) fn module(&mut self) -> Option<Module> {
        let mut attributes = Vec::new();
        let mut name = None;
        let mut tables = Vec::new();
        if self.at_header() {
            match self.header(&mut attributes) {
                Ok(found) => name = Some(found),
                Err(failure) => {
                    self.report(failure);
                    self.skip_to_computation();
                }
            }
            tables = self.tables();
        } else if self.at_instruction() {
            return self.single_instruction();
        } else if !self.at_computation() {
            let failure = self.cursor.unexpected_as(codes::HEADER, "`HloModule` and the module's name");
            self.report(failure);
            self.skip_to_computation();
        }
        let mut computations: Vec<Parsed<'a>> = Vec::new();
        while !self.cursor.at_end() && !self.stopped() {
            computations.extend(self.computation());
        }
        // A comment that never ends hides whatever follows it; that is the finding, not what is missed.
        if let Some(failure) = self.cursor.open_comment() {
            self.lost = true;
            let known = self.findings.iter().any(|finding| finding.span == failure.span);
            if !known {
                self.report(failure);
            }
        }
        let (computations, entry, shapeless) = self.link(computations)?;
        let name = match name {
            Some(name) => name.to_owned(),
            // As XLA does.
            None => format!("module_{}", computations[entry].name),
        };
        let mut module = Module { name, attributes, tables, computations, entry };
        self.infer_shapes(&mut module, shapeless);
        Some(module)
    }

    /// Whether a computation comes next: `ENTRY`, or a name and a signature or a body.
    fn at_computation(&mut self) -> bool {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let found =
            self.keyword("ENTRY") || (self.cursor.name("").is_ok() && matches!(self.cursor.peek(), Some(b'{' | b'(')));
        self.cursor.set_position(start);
        found
    }

    /// Replaces names of computations by ids, and puts nested computations before those they stand in.
    pub(super) fn link(&mut self, mut parsed: Vec<Parsed<'a>>) -> Option<Linked> {
        let named = parsed.len();
        parsed.append(&mut self.nested);
        let mut positions: HashMap<&str, usize> = HashMap::with_capacity(parsed.len());
        for (position, computation) in parsed[..named].iter().enumerate() {
            let name = computation.name;
            if *positions.entry(name.text).or_insert(position) != position {
                let message = format!("there already is a computation {}", quote(name.text));
                self.report(failure(codes::DUPLICATE_COMPUTATION, name.span, message));
            }
        }
        let entry = self.entry(&parsed[..named]);
        let (targets, late) = self.targets(&positions, &parsed[..named])?;
        let callees = |caller: usize, k: usize| parsed[caller].callees.get(k).map(|callee| targets[callee.index()]);
        let order = match dependencies_first(parsed.len(), callees) {
            Ok(order) => order,
            Err(cycle) => {
                let first = cycle[0];
                let path = describe_cycle(&cycle, |position| parsed[position].name.text);
                let message = format!("computations may not call themselves: {path}");
                self.report(failure(codes::RECURSION, parsed[first].name.span, message));
                return None;
            }
        };
        if !late.is_empty() {
            late.into_iter().for_each(|failure| self.report(failure));
            return None;
        }
        let entry = entry?;
        let mut ids = vec![ComputationId::from_index(0); parsed.len()];
        for (index, &position) in order.iter().enumerate() {
            ids[position] = ComputationId::from_index(index);
        }
        let mut slots: Vec<(Option<Computation>, Option<Shapeless>)> =
            parsed.into_iter().map(|parsed| (parsed.computation, parsed.shapeless)).collect();
        let mut shapeless = Vec::new();
        let mut computations = Arena::new();
        let mut taken: HashSet<String> = HashSet::new();
        if slots.len() > named {
            let names = slots.iter().take(named).filter_map(|(computation, _)| computation.as_ref());
            taken = names.map(|computation| computation.name.clone()).collect();
        }
        for position in order {
            // A computation without a value was reported when it was read.
            let (computation, open) = std::mem::take(&mut slots[position]);
            let mut computation = computation?;
            for instruction in computation.instructions.values_mut() {
                instruction.op.rename_computations(|reference| ids[targets[reference.index()]]);
            }
            if position >= named {
                computation.name = unused_name(&computation.name, &mut taken);
            }
            let id = computations.push(computation);
            shapeless.extend(open.map(|open| (id, open)));
        }
        Some((computations, ids[entry], shapeless))
    }

    /// The position of the entry computation.
    fn entry(&mut self, parsed: &[Parsed<'a>]) -> Option<usize> {
        let mut entries = parsed.iter().enumerate().filter(|(_, computation)| computation.entry);
        if let Some((position, _)) = entries.next() {
            for (_, second) in entries {
                let message = format!(
                    "a module has one entry computation; {} already is marked `ENTRY`",
                    quote(parsed[position].name.text)
                );
                self.report(failure(codes::ENTRY, second.name.span, message));
            }
            return Some(position);
        }
        if parsed.is_empty() && !self.lost {
            let failure = self.cursor.unexpected_as(codes::ENTRY, "a computation");
            self.report(failure);
        }
        // As in XLA, the last computation is the entry where none is marked.
        if self.lost { None } else { parsed.len().checked_sub(1) }
    }

    /// For each reference the position of the computation it names, and what is to be said of the names that stand before
    /// their computations: as in XLA a computation stands before its callers.
    fn targets(
        &mut self,
        positions: &HashMap<&str, usize>,
        parsed: &[Parsed<'a>],
    ) -> Option<(Vec<usize>, Vec<Failure>)> {
        let uses = std::mem::take(&mut self.references.uses);
        let mut targets = Vec::with_capacity(uses.len());
        let mut late = Vec::new();
        for Use { name, nested, computation, instruction } in &uses {
            match nested.map(|nested| parsed.len() + nested).or_else(|| positions.get(name.text).copied()) {
                Some(position) => {
                    let defined = parsed.get(position).filter(|_| nested.is_none()).map(|parsed| parsed.name.span);
                    if defined.is_some_and(|defined| name.span.range().start < defined.range().start) {
                        let message =
                            format!("the computation {} stands after its use, and must stand before", quote(name.text));
                        let failure = failure(codes::UNKNOWN_COMPUTATION, name.span, message);
                        late.push(failure.about(format!("{computation}/{instruction}")).into());
                    }
                    targets.push(position);
                }
                None if self.lost || self.stopped() => return None,
                None => {
                    let names = parsed.iter().take(MAX_SUGGESTED).map(|computation| computation.name.text);
                    let names = names.filter(|near| near != computation);
                    let hint = did_you_mean(name.text, names);
                    let message = format!("there is no computation {}{hint}", quote(name.text));
                    let failure = failure(codes::UNKNOWN_COMPUTATION, name.span, message);
                    self.report(failure.about(format!("{computation}/{instruction}")));
                }
            }
        }
        (targets.len() == uses.len()).then_some((targets, late))
    }
}

/// `base`, or with the first number behind it that makes it a name nobody has; takes it.
pub(super) fn unused_name(base: &str, taken: &mut HashSet<String>) -> String {
    let mut name = base.to_owned();
    // The number goes up by powers of two and comes down, so that many equal names do not take quadratic time.
    let is_free = |number: usize, taken: &HashSet<String>| !taken.contains(&format!("{base}.{number}"));
    if taken.contains(&name) {
        let mut high = 1;
        while !is_free(high, taken) {
            high *= 2;
        }
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_free(middle, taken) {
                high = middle;
            } else {
                low = middle;
            }
        }
        name = format!("{base}.{high}");
    }
    taken.insert(name.clone());
    name
}
