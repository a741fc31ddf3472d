//! Long loops that fold one operation, with several accumulators.

use super::copy::{Copy, Room};
use super::weight::library_function;
use crate::kernel::{Block, FunctionId, Kernel, Operand, ScalarOp, Statement, Value, ValueId};
use crate::math;
use std::collections::HashMap;
use weft_affine::{Error, Expr, Var};
use weft_hlo::ir::{Arena, ArenaId, BinaryOp, identity};
use weft_partition::{Schedule, Target};

/// Rounds from which on a loop gets several accumulators.
const MIN_ROUNDS: i64 = 64;

/// Accumulators of such a loop, of all that it folds together: element `k` along the dimension that is divided goes to number `k` modulo
/// this divided by how many values are folded.
const ACCUMULATORS: i64 = 16;

/// The same on devices in software: a loop that reads 16 elements apart takes llvmpipe 0.8 to 1.2 s to compile, one that reads 8 of them 0.05, and they run as long.
const ACCUMULATORS_IN_SOFTWARE: i64 = 8;

/// The same of loops whose rounds cost more than [`MAX_COST`], of each value.
const FEW_ACCUMULATORS: i64 = 4;

/// What a round may cost at most until it comes to the operation: it is written as often as there are accumulators. An element
/// with a call of the library is beyond that.
const MAX_COST: u64 = 8;

/// The same where there are few accumulators.
const MAX_COST_OF_FEW: u64 = 32;

/// What a call of a function of the mathematics library costs at least, of one that has more statements as many as these; other operations cost 1. The exponential has
/// several accumulators then, the cosine has one: each call is written in its place by drivers, which take seconds for fifteen of them.
const LIBRARY_COST: u64 = 8;

/// The kernel in which every long loop that does nothing but fold values into one, or into a few, each by an associative and commutative operation,
/// folds them into 16 in all, 8 on devices in software, or 4 each where rounds are dear, which are then combined in pairs. Rounding errors of a sum grow with the length of the longest chain of
/// additions, and additions to different accumulators do not wait for one another.
///
/// In kernels whose invocations will be lanes ([`Kernel::lanes`]) so many accumulators are lanes of one.
///
/// The loop's last dimension of at least as many rounds is divided; what is left over of it is a loop of its own. Loops whose
/// rounds hold loops, bind runtime variables or cost much stay as they are.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn split_accumulators(kernel: &Kernel, target: &Target) -> Result<Kernel, Error> {
    let mut split = kernel.clone();
    let costs = costs(kernel);
    let most = match target.effective_schedule() {
        Schedule::Software => ACCUMULATORS_IN_SOFTWARE,
        Schedule::Gpu => ACCUMULATORS,
    };
    for function in split.functions.values_mut().chain([&mut split.entry]) {
        let mut body = std::mem::take(&mut function.body);
        let room = Room::new(&mut function.values, &body);
        let lanes = i64::from(kernel.lanes.max(1));
        Pass { room, costs: &costs, lanes, most }.block(&mut body, 0)?;
        function.body = body;
    }
    Ok(split)
}

/// What each function costs with all it calls; `None` for one with loops.
fn costs(kernel: &Kernel) -> Vec<Option<u64>> {
    let mut costs = vec![None; kernel.functions.len()];
    // Callees stand behind their callers.
    let ids: Vec<FunctionId> = kernel.functions.ids().collect();
    for id in ids.into_iter().rev() {
        let function = &kernel.functions[id];
        costs[id.index()] = cost(&function.body.statements, &function.values, &costs);
    }
    costs
}

fn cost(statements: &[Statement], values: &Arena<ValueId, Value>, callees: &[Option<u64>]) -> Option<u64> {
    statements.iter().try_fold(0u64, |sum, statement| {
        let own = match statement {
            Statement::Let { op, .. } => operation_cost(op, values),
            Statement::Call { function, .. } => callees.get(function.index()).copied().flatten()?,
            Statement::If { then, otherwise, .. } => {
                1 + cost(&then.statements, values, callees)? + cost(&otherwise.statements, values, callees)?
            }
            _ => return None,
        };
        sum.checked_add(own)
    })
}

fn operation_cost(op: &ScalarOp, values: &Arena<ValueId, Value>) -> u64 {
    use BinaryOp::{ShiftLeft, ShiftRightArithmetic, ShiftRightLogical};
    match op {
        // The library's are a shift and a choice.
        ScalarOp::Binary { op: ShiftLeft | ShiftRightLogical | ShiftRightArithmetic, .. } => 1,
        _ => library_function(op, values).map_or(1, |name| math::statements(name).max(LIBRARY_COST)),
    }
}

struct Pass<'p> {
    room: Room<'p>,
    costs: &'p [Option<u64>],
    /// Lanes that each accumulator will have.
    lanes: i64,
    /// Accumulators of a loop of cheap rounds.
    most: i64,
}

/// A loop that folds values into one, or into several.
struct Fold {
    folded: Vec<Folded>,
    extents: Vec<i64>,
    body: Block,
    /// The dimension to divide.
    dimension: usize,
    /// How many accumulators each of them gets.
    accumulators: i64,
}

/// What a loop folds values into.
struct Folded {
    value: ValueId,
    init: Operand,
    accumulator: ValueId,
    op: BinaryOp,
    identity: Operand,
}

impl Pass<'_> {
    /// `loops` is how many loop variables are in sight.
    fn block(&mut self, block: &mut Block, loops: usize) -> Result<(), Error> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            if let Some(fold) = self.fold(&statement) {
                statements.extend(self.divided(&fold, loops)?);
                continue;
            }
            let inner = match &statement {
                Statement::Loop { extents, .. } => loops + extents.len(),
                _ => loops,
            };
            for block in statement.blocks_mut() {
                self.block(block, inner)?;
            }
            statements.push(statement);
        }
        block.statements = statements;
        Ok(())
    }

    /// The fold that a statement is, if it is a long one of cheap rounds.
    fn fold(&self, statement: &Statement) -> Option<Fold> {
        let Statement::Loop { values, extents, init, accumulators: carried, body } = statement else { return None };
        let rounds = extents.iter().try_fold(1i64, |product, extent| product.checked_mul(*extent))?;
        let (folds, others): (Vec<&Statement>, Vec<&Statement>) = body
            .statements
            .iter()
            .partition(|statement| carried.iter().any(|it| reads(statement, Operand::Value(*it))));
        let is_folded = |operand: &Operand| {
            body.results.contains(operand) || carried.iter().any(|it| *operand == Operand::Value(*it))
        };
        let mut folded = Vec::with_capacity(values.len());
        for (((value, init), carrier), result) in values.iter().zip(init).zip(carried).zip(&body.results) {
            let is_of = |statement: &&Statement| matches!(statement, Statement::Let { value, .. } if *result == Operand::Value(*value));
            let Statement::Let { op: ScalarOp::Binary { op, operands }, .. } = folds.iter().copied().find(is_of)?
            else {
                return None;
            };
            let identity = Operand::Constant(identity(*op, self.room.values[*carrier].element_type)?);
            // One of the two is the accumulator, the other one nothing that is folded.
            if operands.iter().filter(|operand| is_folded(operand)).collect::<Vec<_>>() != [&Operand::Value(*carrier)] {
                return None;
            }
            folded.push(Folded { value: *value, init: *init, accumulator: *carrier, op: *op, identity });
        }
        // What is folded is read where it is, and nowhere else.
        let is_read = body.results.iter().any(|result| others.iter().any(|statement| reads(statement, *result)));
        if folded.is_empty() || folds.len() != folded.len() || is_read || rounds.checked_mul(self.lanes)? < MIN_ROUNDS {
            return None;
        }
        let others: Vec<Statement> = others.into_iter().cloned().collect();
        let count = i64::try_from(folded.len()).ok()?;
        let accumulators = match cost(&others, self.room.values, self.costs)? {
            cost if cost <= MAX_COST => self.most / count / self.lanes,
            cost if cost <= MAX_COST_OF_FEW => FEW_ACCUMULATORS.min(ACCUMULATORS / count) / self.lanes,
            _ => return None,
        };
        // As many as a power of two, so that they are combined in pairs.
        let accumulators = 1i64.checked_shl(accumulators.checked_ilog2()?)?;
        let dimension = extents.iter().rposition(|extent| *extent >= accumulators)?;
        (accumulators > 1 && has_no_binding(body)).then(|| Fold {
            folded,
            extents: extents.clone(),
            body: body.clone(),
            dimension,
            accumulators,
        })
    }

    fn divided(&mut self, fold: &Fold, loops: usize) -> Result<Vec<Statement>, Error> {
        let extent = fold.extents[fold.dimension];
        let variable = u32::try_from(loops + fold.dimension).unwrap_or(u32::MAX);
        let mut body = Block::default();
        let (mut accumulators, mut init) = (Vec::new(), Vec::new());
        let mut partial: Vec<Vec<ValueId>> = vec![Vec::new(); fold.folded.len()];
        for number in 0..fold.accumulators {
            let own = self.accumulators_like(fold);
            let index = Expr::range(variable).checked_mul(fold.accumulators)?.checked_add_constant(number)?;
            let round = self.copy(fold, &own, (variable, &index))?;
            body.statements.extend(round.statements);
            body.results.extend(round.results);
            accumulators.extend(own);
            for (folded, partial) in fold.folded.iter().zip(&mut partial) {
                init.push(if number == 0 { folded.init } else { folded.identity });
                partial.push(self.value_like(folded.value));
            }
        }
        let mut extents = fold.extents.clone();
        extents[fold.dimension] = extent / fold.accumulators;
        // In the order of the accumulators: all of one number side by side.
        let values = (0..partial[0].len()).flat_map(|number| partial.iter().map(move |of| of[number])).collect();
        let mut statements = vec![Statement::Loop { values, extents, init, accumulators, body }];
        if extent % fold.accumulators != 0 {
            let accumulators = self.accumulators_like(fold);
            let values: Vec<ValueId> = fold.folded.iter().map(|folded| self.value_like(folded.value)).collect();
            let index = Expr::range(variable).checked_add_constant(extent - extent % fold.accumulators)?;
            let body = self.copy(fold, &accumulators, (variable, &index))?;
            let mut extents = fold.extents.clone();
            extents[fold.dimension] = extent % fold.accumulators;
            let init = partial.iter().map(|of| Operand::Value(of[0])).collect();
            partial.iter_mut().zip(&values).for_each(|(of, value)| of[0] = *value);
            statements.push(Statement::Loop { values, extents, init, accumulators, body });
        }
        for (folded, mut partial) in fold.folded.iter().zip(partial) {
            while partial.len() > 1 {
                let (first, second) = partial.split_at(partial.len() / 2);
                let pairs: Vec<[ValueId; 2]> = first.iter().zip(second).map(|(a, b)| [*a, *b]).collect();
                let is_last = pairs.len() == 1;
                partial = pairs
                    .into_iter()
                    .map(|pair| {
                        let value = if is_last { folded.value } else { self.value_like(folded.value) };
                        let op = ScalarOp::Binary { op: folded.op, operands: pair.map(Operand::Value) };
                        statements.push(Statement::Let { value, op });
                        value
                    })
                    .collect();
            }
        }
        Ok(statements)
    }

    fn accumulators_like(&mut self, fold: &Fold) -> Vec<ValueId> {
        fold.folded.iter().map(|folded| self.value_like(folded.accumulator)).collect()
    }

    fn value_like(&mut self, value: ValueId) -> ValueId {
        let like = self.room.values[value].clone();
        self.room.values.push(like)
    }

    /// A round with values of its own, other accumulators, and an expression in place of a loop variable.
    fn copy(&mut self, fold: &Fold, accumulators: &[ValueId], (variable, index): (u32, &Expr)) -> Result<Block, Error> {
        let divided = |found: Var| (found == Var::Range(variable)).then(|| index.clone());
        let pairs = fold.folded.iter().zip(accumulators);
        let known: HashMap<ValueId, Operand> =
            pairs.map(|(folded, own)| (folded.accumulator, Operand::Value(*own))).collect();
        Copy { from: None, known, variable: &divided }.of(&fold.body, &mut self.room)
    }
}

/// Whether no runtime variable is bound within a block.
fn has_no_binding(block: &Block) -> bool {
    block.statements.iter().all(|statement| match statement {
        Statement::Bind { .. } | Statement::Name { .. } => false,
        Statement::If { condition, .. } if !condition.bindings().is_empty() => false,
        _ => statement.blocks().into_iter().all(has_no_binding),
    })
}

/// Whether a statement, or one within it, reads an operand.
fn reads(statement: &Statement, operand: Operand) -> bool {
    let within = |block: &Block| {
        block.results.contains(&operand) || block.statements.iter().any(|statement| reads(statement, operand))
    };
    statement.operands().contains(&operand) || statement.blocks().into_iter().any(within)
}

#[cfg(test)]
mod tests {
    use super::split_accumulators;
    use crate::kernel::{Kernel, ScalarOp, Statement};
    use weft_partition::Target;

    /// A kernel of one function that folds `extents` of `x` with a body.
    fn fold(extents: [i64; 2], init: &str, body: &str) -> Kernel {
        let [rows, columns] = extents;
        let text = format!(
            "kernel @k(in %x: f32[{rows}, {columns}], out %y: f32[4]) {{
                func @f(d0 in [0, 3]) -> (f32) {{
                    %0: f32 = loop for s0 in [0, {}], s1 in [0, {}] with %1: f32 = f32 {init} {{ {body} }}
                    return %0
                }}
                entry groups [1] threads 4 {{ %0: f32 = call @f(d0 * 4 + d1) store %y[d0 * 4 + d1], %0 }}
            }}",
            rows - 1,
            columns - 1
        );
        Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    const SUM: &str = "%2: f32 = extract %x[s0, s1] %3: f32 = add %1, %2 yield %3";

    /// How often each element is read, and how many loops there are.
    fn read(kernel: &Kernel, [rows, columns]: [i64; 2]) -> (Vec<usize>, usize) {
        let function = kernel.functions.values().next().expect("there is a function");
        let (mut counts, mut loops) = (vec![0; usize::try_from(rows * columns).unwrap_or(0)], 0);
        for statement in &function.body.statements {
            let Statement::Loop { extents, body, .. } = statement else { continue };
            loops += 1;
            for round in 0..extents[0] * extents[1] {
                let at = [round / extents[1], round % extents[1]];
                for statement in &body.statements {
                    let Statement::Let { op: ScalarOp::Extract { indices, .. }, .. } = statement else { continue };
                    let index = |position: usize| {
                        let value = indices[position].evaluate(|variable| match variable {
                            weft_affine::Var::Range(number) => at[number as usize],
                            _ => 0,
                        });
                        value.unwrap_or(-1)
                    };
                    counts[usize::try_from(index(0) * columns + index(1)).unwrap_or(usize::MAX)] += 1;
                }
            }
        }
        (counts, loops)
    }

    #[test]
    fn every_element_goes_to_one_accumulator() {
        for (extents, loops) in [([1, 64], 1), ([1, 100], 2), ([40, 3], 2), ([5, 16], 1), ([16, 17], 2)] {
            let kernel = fold(extents, "2.5", SUM);
            let split = split_accumulators(&kernel, &Target::default()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(split.verify(), Ok(Vec::new()), "{split}");
            let (counts, found) = read(&split, extents);
            assert!(counts.iter().all(|count| *count == 1), "{counts:?}\n{split}");
            assert_eq!(found, loops, "{split}");
            // The initial value enters once, the others are neutral.
            let text = split.to_string();
            assert_eq!((text.matches("= f32 2.5").count(), text.matches("= f32 -0.0").count()), (1, 15), "{text}");
        }
    }

    /// The text of a kernel of one function that folds 8 x 100 elements with a body into two values of these types.
    fn two(inits: [&str; 2], body: &str) -> Kernel {
        let types = inits.map(|init| init.split(' ').next().unwrap_or_default());
        let text = format!(
            "kernel @k(in %x: s32[8, 100], out %y: s32[4]) {{
                func @f(d0 in [0, 3]) -> ({0}, {1}) {{
                    %0: {0}, %1: {1} = loop for s0 in [0, 7], s1 in [0, 99] with %2: {0} = {2}, %3: {1} = {3} {{ {body} }}
                    return %0, %1
                }}
                entry groups [1] threads 4 {{ %0: {0}, %1: {1} = call @f(d0 * 4 + d1) store %y[d0 * 4 + d1], s32 0 }}
            }}",
            types[0], types[1], inits[0], inits[1]
        );
        Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn what_is_folded_together_shares_the_accumulators() {
        let body = "%4: s32 = extract %x[s0, s1] %5: s32 = maximum %4, %3 %6: s32 = add %2, %4 yield %6, %5";
        let kernel = two(["s32 5", "s32 7"], body);
        let split = split_accumulators(&kernel, &Target::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(split.verify(), Ok(Vec::new()), "{split}");
        let (counts, loops) = read(&split, [8, 100]);
        assert!(counts.iter().all(|count| *count == 1), "{counts:?}\n{split}");
        // 8 of each, and what 8 do not divide.
        assert_eq!(loops, 2, "{split}");
        let text = split.to_string();
        let inits = ["s32 5", "s32 7", "= s32 0", "= s32 -2147483648"].map(|init| text.matches(init).count());
        assert_eq!(inits, [1, 1, 7, 7], "{text}");
    }

    #[test]
    fn what_is_folded_with_another_accumulator_stays() {
        for body in [
            "%4: s32 = extract %x[s0, s1] %5: s32 = maximum %4, %3 %6: s32 = add %2, %5 yield %6, %5",
            "%4: s32 = add %2, %3 %5: s32 = extract %x[s0, s1] %6: s32 = add %3, %5 yield %4, %6",
            "%4: s32 = extract %x[s0, s1] %5: s32 = add %2, %4 yield %5, %5",
            "%4: s32 = extract %x[s0, s1] %5: s32 = add %2, %4 yield %5, %4",
        ] {
            let kernel = two(["s32 5", "s32 7"], body);
            assert_eq!(split_accumulators(&kernel, &Target::default()).as_ref(), Ok(&kernel));
        }
    }

    #[test]
    fn other_loops_stay() {
        let bodies = [
            // Too short, no dimension to divide, no operation with a neutral element, an accumulator that is read twice, a dear round.
            ([1, 63], SUM),
            ([15, 15], SUM),
            ([1, 640], "%2: f32 = extract %x[s0, s1] %3: f32 = subtract %1, %2 yield %3"),
            ([1, 640], "%2: f32 = extract %x[s0, s1] %3: f32 = multiply %1, %2 %4: f32 = add %1, %3 yield %4"),
            (
                [1, 640],
                "%2: f32 = extract %x[s0, s1] %3: f32 = exponential %2 %4: f32 = sine %3 %5: f32 = log %4 %6: f32 = tanh %5 \
                 %7: f32 = add %1, %6 yield %7",
            ),
        ];
        for (extents, body) in bodies {
            let kernel = fold(extents, "0.0", body);
            assert_eq!(split_accumulators(&kernel, &Target::default()).as_ref(), Ok(&kernel));
        }
    }
}
