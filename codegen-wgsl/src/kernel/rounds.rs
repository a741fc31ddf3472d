//! How many rounds the loops of one invocation make, and how long loops are kept within what a device makes.
//!
//! Drivers inline calls, so a loop counts as often as its function is called, and as often as the loops around those calls
//! run. Where one invocation would make too many rounds, its longest loops handle several elements in each.

use super::{Block, Combiner, Function, FunctionId, Kernel, Operand, ScalarOp, Statement};
use crate::math;
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, Scalar};

/// Elements that one round of a loop handles at most.
pub(crate) const MAX_COPIES: u64 = 512;

/// Rounds that an update by a function is taken to make: each but the last is one that another invocation has overtaken, and on the devices
/// that count rounds, which are software, few run at once.
const UPDATE_ROUNDS: u64 = 64;

/// Rounds of a collective of a subgroup of up to 128 invocations.
const SUBGROUP_ROUNDS: u64 = 8;

fn called(calls: &mut [u64], callee: FunctionId, times: u64) {
    if let Some(calls) = calls.get_mut(callee.index()) {
        *calls = calls.saturating_add(times);
    }
}

/// The loops of a kernel that an invocation runs.
struct Counted {
    /// Those that the kernel writes.
    loops: Vec<CountedLoop>,
    /// Rounds of the loops in functions of the library, and of updates and collectives.
    library: u64,
}

struct CountedLoop {
    function: usize,
    /// How often an invocation comes to it.
    entered: u64,
    /// Elements that it runs over each time.
    elements: u64,
    /// Rounds it makes each time if nested loops run over one element a round.
    nested: u64,
}

impl CountedLoop {
    /// Rounds of all the times with each loop over one element a round; every loop is left in a round of its own.
    fn nested_rounds(&self) -> u64 {
        self.entered.saturating_mul(self.nested)
    }

    /// Rounds of all the times if a round handles `copies` elements; there is no loop where one round is all.
    fn rounds(&self, copies: u64) -> u64 {
        let each = if copies >= self.elements { 0 } else { self.elements.div_ceil(copies).saturating_add(1) };
        self.entered.saturating_mul(each)
    }

    /// The fewest elements that a round must handle for `allowed` rounds in all, or the most there may be; `None` where
    /// the loop can stay as it is.
    fn copies(&self, allowed: u64) -> Option<u64> {
        if self.nested_rounds() <= allowed {
            return None;
        }
        let most = MAX_COPIES.min(self.elements).max(1);
        let before_leaving = allowed.checked_div(self.entered).unwrap_or(u64::MAX).saturating_sub(1);
        let copies = self.elements.checked_div(before_leaving).map(|_| self.elements.div_ceil(before_leaving));
        Some(copies.unwrap_or(most).clamp(1, most))
    }

    fn rounds_within(&self, allowed: u64) -> u64 {
        self.copies(allowed).map_or_else(|| self.nested_rounds(), |copies| self.rounds(copies))
    }
}

impl Kernel {
    /// Rounds that all loops of one invocation make at most, with every loop over one element a round: those of called
    /// functions count at each call, those of library functions at their most.
    pub fn rounds(&self) -> u64 {
        let counted = Counted::of(self);
        counted.total(u64::MAX)
    }

    /// For each function, and for the entry behind them, the number of elements that a round of each of its loops handles, loops in the order of the
    /// text, `None` where the loop stays as it is, so that one invocation makes at most `limit` rounds.
    ///
    /// # Errors
    /// The fewest rounds it can make, if they are more.
    pub(crate) fn copies_within(&self, limit: u32) -> Result<Vec<Vec<Option<u64>>>, u64> {
        let counted = Counted::of(self);
        let limit = u64::from(limit);
        let least = counted.total(0);
        if least > limit {
            return Err(least);
        }
        // The most rounds that every loop may make: what is within that stays as it is. The total grows with it.
        let (mut fits, mut exceeds) = (0, counted.total(u64::MAX).saturating_add(1));
        while exceeds - fits > 1 {
            let middle = fits + (exceeds - fits) / 2;
            if counted.total(middle) <= limit { fits = middle } else { exceeds = middle }
        }
        let mut copies = vec![Vec::new(); self.functions.len() + 1];
        for counted in &counted.loops {
            copies[counted.function].push(counted.copies(fits));
        }
        Ok(copies)
    }
}

impl Counted {
    fn of(kernel: &Kernel) -> Self {
        let mut counted = Counted { loops: Vec::new(), library: 0 };
        let mut calls = vec![0u64; kernel.functions.len()];
        // Callers stand before callees, so all calls of a function are known when it is reached.
        let entry = kernel.functions.len();
        counted.block(&kernel.entry, entry, &kernel.entry.body, 1, &mut calls);
        for (index, function) in kernel.functions.values().enumerate() {
            let times = calls[index];
            counted.block(function, index, &function.body, times, &mut calls);
        }
        counted
    }

    fn block(&mut self, function: &Function, index: usize, block: &Block, times: u64, calls: &mut [u64]) {
        for statement in &block.statements {
            match statement {
                Statement::Let { op, .. } => {
                    let rounds = times.saturating_mul(library_rounds(function, op));
                    self.library = self.library.saturating_add(rounds);
                }
                Statement::Call { function: callee, .. } => called(calls, *callee, times),
                Statement::Update { combiner: Combiner::Function(callee), .. } => {
                    let rounds = times.saturating_mul(UPDATE_ROUNDS);
                    called(calls, *callee, rounds);
                    self.library = self.library.saturating_add(rounds);
                }
                Statement::Collective { function: callee, .. } => {
                    let rounds = times.saturating_mul(SUBGROUP_ROUNDS);
                    called(calls, *callee, rounds);
                    self.library = self.library.saturating_add(rounds);
                }
                // Neighbouring invocations may take different branches, and then all of them run through both.
                Statement::If { then, otherwise, .. } => {
                    self.block(function, index, then, times, calls);
                    self.block(function, index, otherwise, times, calls);
                }
                Statement::Loop { extents, body, .. } => {
                    let (mut elements, mut nested) = (1u64, 0u64);
                    for extent in extents {
                        let before = elements;
                        elements = elements.saturating_mul(u64::try_from(*extent).unwrap_or(0));
                        nested = nested.saturating_add(elements).saturating_add(before);
                    }
                    self.loops.push(CountedLoop { function: index, entered: times, elements, nested });
                    self.block(function, index, body, times.saturating_mul(elements), calls);
                }
                // Where nothing is counted, nobody knows how many rounds it makes.
                Statement::While { condition, body, .. } => {
                    let most = most_rounds(statement);
                    let rounds = times.saturating_mul(most.unwrap_or(1));
                    let tested = if most.is_some() { rounds.saturating_add(times) } else { rounds };
                    self.library = self.library.saturating_add(if most.is_some() { tested } else { 0 });
                    self.block(function, index, condition, tested, calls);
                    self.block(function, index, body, rounds, calls);
                }
                Statement::Bind { .. }
                | Statement::Name { .. }
                | Statement::Store { .. }
                | Statement::Merge { .. }
                | Statement::Update { .. }
                | Statement::Share { .. }
                | Statement::Barrier
                | Statement::Matrix(_) => {}
            }
        }
    }

    /// Rounds of an invocation if each loop may make `allowed` in all, or as few as it can.
    fn total(&self, allowed: u64) -> u64 {
        self.loops.iter().map(|counted| counted.rounds_within(allowed)).fold(self.library, u64::saturating_add)
    }
}

/// How many rounds a `while` makes at most, if it goes on only while a count from 0, of which a round makes the next one, is less than a constant.
fn most_rounds(statement: &Statement) -> Option<u64> {
    let Statement::While { init, accumulators, condition, body, .. } = statement else { return None };
    let defined = |block: &Block, operand: Operand| {
        let Operand::Value(wanted) = operand else { return None };
        block.statements.iter().find_map(|statement| match statement {
            Statement::Let { value, op } if *value == wanted => Some(op.clone()),
            _ => None,
        })
    };
    let counts = |position: usize| {
        let starts = matches!(init.get(position), Some(Operand::Constant(Scalar::U32(0))));
        let next = body.results.get(position).and_then(|next| defined(body, *next));
        let own = accumulators.get(position).map(|count| Operand::Value(*count));
        let one = Operand::Constant(Scalar::U32(1));
        let ScalarOp::Binary { op: BinaryOp::Add, operands: [count, step] } = next? else { return None };
        (starts && Some(count) == own && step == one).then_some(count)
    };
    let mut pending: Vec<Operand> = condition.results.clone();
    while let Some(holds) = pending.pop() {
        match defined(condition, holds) {
            Some(ScalarOp::Binary { op: BinaryOp::And, operands }) => pending.extend(operands),
            Some(ScalarOp::Compare { direction: ComparisonDirection::Lt, operands: [count, most], .. }) => {
                let Operand::Constant(Scalar::U32(most)) = most else { continue };
                if (0..accumulators.len()).any(|position| counts(position) == Some(count)) {
                    return Some(most.into());
                }
            }
            _ => {}
        }
    }
    None
}

/// Rounds of the library function that computes `op`, if it loops.
fn library_rounds(function: &Function, op: &ScalarOp) -> u64 {
    let operands = op.operands();
    let ty = operands.first().map(|operand| Kernel::operand_type(function, *operand));
    // Each lane is a call of its own.
    let lanes = operands.iter().map(|operand| Kernel::operand_lanes(function, *operand)).max().unwrap_or(1);
    match (op, ty) {
        (ScalarOp::Binary { op, .. }, Some(ty)) => {
            math::binary(*op, ty).map_or(0, math::Call::rounds).saturating_mul(u64::from(lanes))
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Kernel, MAX_COPIES, Statement};
    use crate::kernel::FunctionId;
    use proptest::prelude::*;
    use std::fmt::Write;
    use weft_hlo::ir::ArenaId;

    /// A kernel of functions that loop, branch and call the ones behind them, drawn from `choices`.
    fn kernel(functions: usize, choices: &[u8]) -> Kernel {
        let mut choices = choices.iter().copied();
        let mut text = String::from("kernel @k(out %y: s32[4]) {\n");
        for index in 0..functions {
            let result = if index == 0 { "s32" } else { "" };
            writeln!(text, "func @f{index}(d0 in [0, 3]) -> ({result}) {{").expect("strings can be written to");
            block(index, functions, (0, 0), &mut choices, &mut text);
            text += if index == 0 { "return s32 1\n}\n" } else { "return\n}\n" };
        }
        text += "entry groups [1] threads 4 { %0: s32 = call @f0(d1) store %y[d1], %0 }\n}";
        Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn block(
        index: usize,
        functions: usize,
        (depth, loops): (usize, usize),
        choices: &mut impl Iterator<Item = u8>,
        text: &mut String,
    ) {
        for _ in 0..draw(3, choices) {
            let (kind, first, second) = (draw(4, choices), draw(7, choices), draw(3, choices));
            match kind {
                0 | 1 if depth < 2 => {
                    let more = if kind == 1 { format!(", s{} in [0, {second}]", loops + 1) } else { String::new() };
                    *text += &format!("loop for s{loops} in [0, {first}]{more} {{\n");
                    block(index, functions, (depth + 1, loops + 1 + kind), choices, text);
                    *text += "yield\n}\n";
                }
                2 if depth < 2 => {
                    *text += "if d0 in [0, 1] {\n";
                    block(index, functions, (depth + 1, loops), choices, text);
                    *text += "yield\n} else {\n";
                    block(index, functions, (depth + 1, loops), choices, text);
                    *text += "yield\n}\n";
                }
                _ if index + 1 < functions => {
                    *text += &format!("call @f{}(d0)\n", index + 1 + first % (functions - index - 1));
                }
                _ => {}
            }
        }
    }

    fn draw(most: usize, choices: &mut impl Iterator<Item = u8>) -> usize {
        usize::from(choices.next().unwrap_or(0)) % most
    }

    /// Runs one invocation and counts.
    struct Run<'k> {
        kernel: &'k Kernel,
        copies: &'k [Vec<Option<u64>>],
        rounds: u64,
    }

    impl Run<'_> {
        fn rounds(kernel: &Kernel, copies: &[Vec<Option<u64>>]) -> u64 {
            let mut run = Run { kernel, copies, rounds: 0 };
            run.function(FunctionId::from_index(0));
            run.rounds
        }

        fn function(&mut self, id: FunctionId) {
            let kernel = self.kernel;
            self.block(id, &kernel.functions[id].body, &mut 0);
        }

        fn block(&mut self, id: FunctionId, block: &Block, number: &mut usize) {
            for statement in &block.statements {
                match statement {
                    Statement::Call { function, .. } => self.function(*function),
                    Statement::Loop { extents, body, .. } => {
                        let copies = self.copies.get(id.index()).and_then(|loops| loops[*number]);
                        *number += 1;
                        let first = *number;
                        let elements: u64 = extents.iter().map(|extent| extent.unsigned_abs()).product();
                        let mut round = |run: &mut Self| {
                            *number = first;
                            run.block(id, body, number);
                        };
                        match copies {
                            None => self.nest(extents, &mut round),
                            Some(copies) => {
                                (0..elements).for_each(|_| round(self));
                                self.rounds += if copies < elements { elements.div_ceil(copies) + 1 } else { 0 };
                            }
                        }
                    }
                    _ => statement.blocks().into_iter().for_each(|block| self.block(id, block, number)),
                }
            }
        }

        fn nest(&mut self, extents: &[i64], round: &mut impl FnMut(&mut Self)) {
            match extents {
                [] => round(self),
                [outer, inner @ ..] => {
                    for _ in 0..*outer {
                        self.rounds += 1;
                        self.nest(inner, round);
                    }
                    // The round that finds that there is no other.
                    self.rounds += 1;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn rounds_are_those_of_a_run(
            functions in 1usize..5,
            choices in prop::collection::vec(any::<u8>(), 0..60),
            limit in 0u32..300,
        ) {
            let kernel = kernel(functions, &choices);
            let all = Run::rounds(&kernel, &[]);
            prop_assert_eq!(kernel.rounds(), all, "{}", kernel);
            match kernel.copies_within(limit) {
                Err(least) => prop_assert!(least > u64::from(limit), "{least} rounds fit\n{kernel}"),
                Ok(copies) => {
                    let rounds = Run::rounds(&kernel, &copies);
                    prop_assert!(rounds <= u64::from(limit), "{rounds} rounds with {copies:?}\n{kernel}");
                    let as_it_is = copies.iter().flatten().all(Option::is_none);
                    prop_assert!(as_it_is || all > u64::from(limit), "{copies:?} for no reason\n{kernel}");
                }
            }
        }
    }

    #[test]
    fn the_longest_loops_are_shortened() {
        let text = "kernel @k(out %y: s32[4]) {
            func @f(d0 in [0, 3]) -> (s32) {
                loop for s0 in [0, 9] { call @g(d0) yield }
                loop for s0 in [0, 99999] { yield }
                return s32 1
            }
            func @g(d0 in [0, 3]) -> () { loop for s0 in [0, 4] { yield } return }
            entry groups [1] threads 4 { %0: s32 = call @f(d1) store %y[d1], %0 }
        }";
        let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(kernel.rounds(), 11 + 100_001 + 10 * 6);
        assert_eq!(kernel.copies_within(200_000), Ok(vec![vec![None, None], vec![None], vec![]]));
        assert_eq!(kernel.copies_within(65_535), Ok(vec![vec![None, Some(2)], vec![None], vec![]]));
        // Only what cannot be written without a loop is left one.
        assert_eq!(kernel.copies_within(197), Ok(vec![vec![Some(10), Some(MAX_COPIES)], vec![Some(5)], vec![]]));
        assert_eq!(kernel.copies_within(196), Err(197));
    }
}
