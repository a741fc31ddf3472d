//! Long chains of sums and products, as loops of loops.

use super::copy::{Copy, Room};
use crate::kernel::{Block, Condition, Kernel, Operand, ScalarOp, Statement, ValueId};
use weft_affine::{Constraint, Error, Expr, Interval, Var};
use weft_hlo::ir::{BinaryOp, identity};

/// Results of one operation that are operands of the next one, at most.
const MAX_CHAIN: i64 = 1024;

/// Rounds of an inner loop at least, where dimensions of the loop are enough.
const MIN_CHAIN: i64 = 32;

/// The kernel in which no loop adds up more than 1,024 floats one after the other, or multiplies so many: longer ones are loops of loops, of which
/// the inner ones begin with the neutral element, and the outer ones fold what these come to.
///
/// The error of a sum grows with its longest chain of additions. All else that a loop carries goes through the inner loops as it did through the one, in the
/// same order.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn shorten_chains(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut shortened = kernel.clone();
    for function in shortened.functions.values_mut().chain([&mut shortened.entry]) {
        if !function.body.statements.iter().any(is_long) {
            continue;
        }
        let mut body = std::mem::take(&mut function.body);
        let room = Room::new(&mut function.values, &body);
        Pass { room }.block(&mut body, 0)?;
        function.body = body;
    }
    Ok(shortened)
}

/// Whether a statement, or one within it, is a loop of so many rounds.
fn is_long(statement: &Statement) -> bool {
    let own = matches!(statement, Statement::Loop { extents, .. } if rounds(extents) > MAX_CHAIN);
    own || statement.blocks().into_iter().any(|block| block.statements.iter().any(is_long))
}

fn rounds(extents: &[i64]) -> i64 {
    extents.iter().copied().fold(1, i64::saturating_mul)
}

/// A loop.
struct Long {
    values: Vec<ValueId>,
    extents: Vec<i64>,
    init: Vec<Operand>,
    accumulators: Vec<ValueId>,
    body: Block,
    /// For each accumulator that sums or products are folded into the operation, and its neutral element.
    folded: Vec<Option<(BinaryOp, Operand)>>,
}

impl Long {
    fn into_statement(self) -> Statement {
        let Long { values, extents, init, accumulators, body, .. } = self;
        Statement::Loop { values, extents, init, accumulators, body }
    }
}

struct Pass<'p> {
    room: Room<'p>,
}

impl Pass<'_> {
    /// `loops` is how many loop variables are in sight.
    fn block(&mut self, block: &mut Block, loops: usize) -> Result<(), Error> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            let inner = match &statement {
                Statement::Loop { extents, .. } => loops + extents.len(),
                _ => loops,
            };
            for block in statement.blocks_mut() {
                self.block(block, inner)?;
            }
            let Statement::Loop { values, extents, init, accumulators, body } = statement else {
                statements.push(statement);
                continue;
            };
            let folded = accumulators.iter().zip(&body.results);
            let folded = folded.map(|(own, result)| self.folded(*own, *result, &body)).collect();
            self.nested(Long { values, extents, init, accumulators, body, folded }, loops, &mut statements)?;
        }
        block.statements = statements;
        Ok(())
    }

    /// The operation by which rounds fold something into an accumulator of floats that nothing else reads, if it is one that rounds.
    fn folded(&self, accumulator: ValueId, result: Operand, body: &Block) -> Option<(BinaryOp, Operand)> {
        let ty = self.room.values[accumulator].element_type;
        if !(ty.is_float() || ty.is_complex()) {
            return None;
        }
        let (op, reads) = operation(Operand::Value(accumulator), result, body)?;
        let op = op.filter(|_| reads == times_read(body, Operand::Value(accumulator)))?;
        Some((op, Operand::Constant(identity(op, ty)?)))
    }

    /// Appends a loop, as loops of loops where it is a long chain.
    fn nested(&mut self, own: Long, loops: usize, out: &mut Vec<Statement>) -> Result<(), Error> {
        if rounds(&own.extents) <= MAX_CHAIN || own.folded.iter().all(Option::is_none) {
            out.push(own.into_statement());
            return Ok(());
        }
        // The last dimensions that are no long chain together.
        let mut inner = own.extents.len();
        while inner > 1 && rounds(&own.extents[inner - 1..]) <= MAX_CHAIN {
            inner -= 1;
        }
        match rounds(&own.extents[inner..]) {
            enough if enough >= MIN_CHAIN => self.within(own, inner, loops, out),
            _ if inner > 1 => self.within(own, inner - 1, loops, out),
            _ => self.divided(own, loops, out),
        }
    }

    /// The dimensions from number `first` on as a loop within one of those before.
    fn within(&mut self, own: Long, first: usize, loops: usize, out: &mut Vec<Statement>) -> Result<(), Error> {
        let inner = own.extents[first..].to_vec();
        let (accumulators, results) = (self.alike(&own.accumulators), self.alike(&own.values));
        let mut body = Block::default();
        let part = self.part(&own, inner, &accumulators, &results, &|_| None)?;
        let parts = part.values.clone();
        self.nested(part, loops + first, &mut body.statements)?;
        join(&own, &accumulators, &parts, &results, &mut body.statements);
        body.results = operands(&results);
        let Long { values, mut extents, init, folded, .. } = own;
        extents.truncate(first);
        self.nested(Long { values, extents, init, accumulators, body, folded }, loops, out)
    }

    /// The first dimension as two, and what is left over of it as a loop of its own; where that would write results in another statement, the last rounds
    /// are under a condition.
    fn divided(&mut self, mut own: Long, loops: usize, out: &mut Vec<Statement>) -> Result<(), Error> {
        let extent = own.extents[0];
        let each = chunk(extent, MAX_CHAIN / rounds(&own.extents[1..]).max(1));
        let (outer, left) = (variable(loops), extent % each);
        let index = Expr::range(outer).checked_mul(each)?.checked_add(&Expr::range(outer + 1))?;
        let shifted = |found: Var| match found {
            Var::Range(number) if number == outer => Some(index.clone()),
            Var::Range(number) if number > outer => Some(Expr::range(number + 1)),
            _ => None,
        };
        let (accumulators, results) = (self.alike(&own.accumulators), self.alike(&own.values));
        let inner = [&[each], &own.extents[1..]].concat();
        let mut part = self.part(&own, inner, &accumulators, &results, &shifted)?;
        let is_guarded = left != 0 && own.body.statements.iter().any(Statement::has_effects);
        if is_guarded {
            part.body = self.guarded(
                part.body,
                &part.accumulators,
                Constraint { expr: index.clone(), bounds: Interval::of_extent(extent) },
            );
        }
        let mut body = Block { statements: Vec::new(), results: operands(&results) };
        let parts = part.values.clone();
        body.statements.push(part.into_statement());
        join(&own, &accumulators, &parts, &results, &mut body.statements);
        let (laps, folded) = (extent / each, own.folded.clone());
        if left == 0 || is_guarded {
            let extents = vec![laps + i64::from(is_guarded)];
            let (values, init) = (own.values, own.init);
            return self.nested(Long { values, extents, init, accumulators, body, folded }, loops, out);
        }
        let (whole, init) = (self.alike(&own.values), own.init.clone());
        let values = whole.clone();
        self.nested(Long { values, extents: vec![laps], init, accumulators, body, folded }, loops, out)?;
        let index = Expr::range(outer).checked_add_constant(laps * each)?;
        let later = |found: Var| (found == Var::Range(outer)).then(|| index.clone());
        own.extents[0] = left;
        let last = self.part(&own, own.extents.clone(), &whole, &own.values, &later)?;
        let parts = last.values.clone();
        out.push(last.into_statement());
        join(&own, &whole, &parts, &own.values, out);
        Ok(())
    }

    /// A loop over some of the rounds of another, with other indices: what folds begins anew, and all else goes on and has its name.
    fn part(
        &mut self,
        own: &Long,
        extents: Vec<i64>,
        carried: &[ValueId],
        names: &[ValueId],
        variable: &dyn Fn(Var) -> Option<Expr>,
    ) -> Result<Long, Error> {
        let begins = |(folded, carried): (&Option<(BinaryOp, Operand)>, &ValueId)| match folded {
            Some((_, neutral)) => *neutral,
            None => Operand::Value(*carried),
        };
        let init = own.folded.iter().zip(carried).map(begins).collect();
        let named = own.folded.iter().zip(names);
        let values =
            named.map(|(folded, name)| if folded.is_some() { self.value_like(*name) } else { *name }).collect();
        let accumulators = self.alike(&own.accumulators);
        let known = own.accumulators.iter().copied().zip(operands(&accumulators)).collect();
        let body = Copy { from: None, known, variable }.of(&own.body, &mut self.room)?;
        Ok(Long { values, extents, init, accumulators, body, folded: own.folded.clone() })
    }

    /// Rounds where something holds; elsewhere all stays as it is.
    fn guarded(&mut self, round: Block, carried: &[ValueId], open: Constraint) -> Block {
        let values = self.alike(carried);
        let results = operands(&values);
        let otherwise = Block { statements: Vec::new(), results: operands(carried) };
        let condition = Condition::Indices(vec![open]);
        Block { statements: vec![Statement::If { values, condition, then: round, otherwise }], results }
    }

    fn alike(&mut self, values: &[ValueId]) -> Vec<ValueId> {
        values.iter().map(|value| self.value_like(*value)).collect()
    }

    fn value_like(&mut self, value: ValueId) -> ValueId {
        let like = self.room.values[value].clone();
        self.room.values.push(like)
    }
}

/// Folds what parts come to into what has been folded before.
fn join(own: &Long, before: &[ValueId], parts: &[ValueId], names: &[ValueId], out: &mut Vec<Statement>) {
    for (place, folded) in own.folded.iter().enumerate() {
        let Some((op, _)) = folded else { continue };
        let operands = [before[place], parts[place]].map(Operand::Value);
        out.push(Statement::Let { value: names[place], op: ScalarOp::Binary { op: *op, operands } });
    }
}

fn operands(values: &[ValueId]) -> Vec<Operand> {
    values.iter().copied().map(Operand::Value).collect()
}

/// How many of so many rounds are an inner loop: of about the square root, and at most so many; a divisor where one is near.
fn chunk(extent: i64, most: i64) -> i64 {
    let wanted = extent.isqrt().clamp(2, most.max(2));
    let near = (0..wanted).flat_map(|distance| [wanted + distance, wanted - distance / 2]);
    let mut divisors = near.filter(|each| *each > 1 && *each <= most && extent % each == 0);
    divisors.next().unwrap_or(wanted)
}

/// The operation of sums or products whose result, by way of conditions, is what an accumulator becomes, `None` where it stays; and how often the accumulator is
/// read on that way. `None` for anything else.
fn operation(accumulator: Operand, result: Operand, block: &Block) -> Option<(Option<BinaryOp>, usize)> {
    if result == accumulator {
        return Some((None, 1));
    }
    let Operand::Value(value) = result else { return None };
    let statement = block.statements.iter().find(|statement| statement.defines().contains(&value))?;
    match statement {
        Statement::Let { op: ScalarOp::Binary { op: op @ (BinaryOp::Add | BinaryOp::Multiply), operands }, .. } => {
            let reads = operands.iter().filter(|operand| **operand == accumulator).count();
            // The block returns what it folds, and nothing else does.
            (reads == 1 && times_read(block, result) == 1).then_some((Some(*op), 1))
        }
        Statement::If { values, then, otherwise, .. } if times_read(block, result) == 1 => {
            let place = values.iter().position(|own| *own == value)?;
            let (first, first_reads) = operation(accumulator, *then.results.get(place)?, then)?;
            let (second, second_reads) = operation(accumulator, *otherwise.results.get(place)?, otherwise)?;
            let is_one = first.is_none() || second.is_none() || first == second;
            is_one.then_some((first.or(second), first_reads + second_reads))
        }
        _ => None,
    }
}

/// How often a block reads an operand, its results included.
fn times_read(block: &Block, operand: Operand) -> usize {
    let own = block.results.iter().filter(|result| **result == operand).count();
    let of = |statement: &Statement| {
        let own = statement.operands().into_iter().filter(|read| *read == operand).count();
        let within = statement.blocks().into_iter().map(|block| times_read(block, operand));
        own + within.sum::<usize>()
    };
    own + block.statements.iter().map(of).sum::<usize>()
}

fn variable(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHAIN, shorten_chains};
    use crate::kernel::{Block, Condition, Kernel, Operand, ScalarOp, Statement};
    use std::collections::BTreeSet;
    use weft_affine::{Expr, Var};
    use weft_hlo::ir::BinaryOp;

    /// A kernel of an invocation that carries a sum, the element read last, and a count that is no float, over `extents` of `x`.
    fn carried(extents: &[i64], writes: bool) -> Kernel {
        let list = |items: Vec<String>| items.join(", ");
        let bounds = extents.iter().enumerate().map(|(number, extent)| format!("s{number} in [0, {}]", extent - 1));
        let at: Vec<String> = (0..extents.len()).map(|number| format!("s{number}")).collect();
        let (shape, at) = (list(extents.iter().map(i64::to_string).collect()), list(at));
        let store = if writes { format!("store %z[{at}], %6") } else { String::new() };
        let text = format!(
            "kernel @k(in %x: f32[{shape}], out %y: f32[2], out %z: f32[{shape}], out %n: s32[1]) {{
                entry groups [1] threads 1 {{
                    %0: f32, %1: f32, %2: s32 = loop for {} with %3: f32 = f32 2.5, %4: f32 = f32 7.0, %5: s32 = s32 3 {{
                        %6: f32 = extract %x[{at}] %7: f32 = add %3, %6 %8: s32 = add %5, s32 1 {store} yield %7, %6, %8
                    }}
                    store %y[0], %0 store %y[1], %1 store %n[0], %2
                }}
            }}",
            list(bounds.collect()),
        );
        let mut kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if !writes {
            let unused = |memory: &crate::kernel::Memory| memory.name != "z";
            assert!(!kernel.memories.values().all(unused));
            let text = kernel.to_string().replace(&format!(", out %z: f32[{shape}]"), "");
            kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
        kernel
    }

    /// What a loop comes to, by the elements it has been folded of, in their order, and the longest chain of additions on the way.
    #[derive(Clone, Debug, Default)]
    struct Run {
        elements: Vec<i64>,
        stored: BTreeSet<i64>,
        longest: i64,
    }

    impl Run {
        fn block(&mut self, block: &Block, at: &mut Vec<i64>, extents: &[i64]) {
            for statement in &block.statements {
                match statement {
                    Statement::Let { op: ScalarOp::Extract { indices, .. }, .. } => {
                        self.elements.push(position(indices, at, extents));
                    }
                    Statement::Store { indices, value: Operand::Value(_), .. }
                        if indices.len() == extents.len() && !at.is_empty() =>
                    {
                        assert!(self.stored.insert(position(indices, at, extents)), "an element is stored twice");
                    }
                    Statement::Loop { extents: own, body, .. } => {
                        let total: i64 = own.iter().product();
                        let adds = body.statements.iter().any(|inner| {
                            matches!(inner, Statement::Let { op: ScalarOp::Binary { op: BinaryOp::Add, operands }, .. }
                                if !matches!(operands[1], Operand::Constant(_)))
                        });
                        self.longest = self.longest.max(if adds { total } else { 0 });
                        for round in 0..total {
                            let mut rest = round;
                            let mut digits: Vec<i64> = own
                                .iter()
                                .rev()
                                .map(|extent| {
                                    let digit = rest % extent;
                                    rest /= extent;
                                    digit
                                })
                                .collect();
                            digits.reverse();
                            let before = at.len();
                            at.extend(digits);
                            self.block(body, at, extents);
                            at.truncate(before);
                        }
                    }
                    Statement::If { condition: Condition::Indices(tests), then, otherwise, .. } => {
                        let holds = tests.iter().all(|test| test.bounds.contains(value(&test.expr, at)));
                        self.block(if holds { then } else { otherwise }, at, extents);
                    }
                    _ => {}
                }
            }
        }
    }

    fn value(expr: &Expr, at: &[i64]) -> i64 {
        let of = |variable| match variable {
            Var::Range(number) => at[number as usize],
            _ => 0,
        };
        expr.evaluate(of).unwrap_or(i64::MIN)
    }

    fn position(indices: &[Expr], at: &[i64], extents: &[i64]) -> i64 {
        indices.iter().zip(extents).fold(0, |all, (index, extent)| all * extent + value(index, at))
    }

    #[test]
    fn long_chains_are_loops_of_loops_in_the_same_order() {
        let cases: [&[i64]; 9] =
            [&[1024], &[1025], &[4096], &[1031, 3], &[3, 2053], &[50, 50], &[2, 3, 40, 30], &[7, 1024], &[1 << 21]];
        for (extents, writes) in cases.into_iter().flat_map(|extents| [(extents, false), (extents, true)]) {
            let kernel = carried(extents, writes);
            let short = shorten_chains(&kernel).unwrap_or_else(|error| panic!("{error}"));
            let verified = short.verify();
            assert!(verified.as_ref().is_ok_and(Vec::is_empty), "{extents:?} {writes}: {verified:?}\n{short}");
            let mut run = Run::default();
            run.block(&short.entry.body, &mut Vec::new(), extents);
            let count: i64 = extents.iter().product();
            assert!(run.elements.iter().copied().eq(0..count), "{extents:?}\n{short}");
            assert_eq!(run.stored.len() as i64, if writes { count } else { 0 }, "{short}");
            assert!(run.longest <= MAX_CHAIN, "{}\n{short}", run.longest);
            assert_eq!(short == kernel, count <= MAX_CHAIN);
            // The initial values enter once.
            let text = short.to_string();
            assert_eq!((text.matches("= f32 2.5").count(), text.matches("= s32 3").count()), (1, 1), "{text}");
        }
    }
}
