//! Associative regions without a neutral value, given one.
//!
//! Any semigroup becomes a monoid by one more element that gives way to all. Here it is a truth value beside each tuple, which says that there is one:
//! `(a, p) · (b, q) = (a · b if p and q, a if p, else b; p or q)`. What stands in a tuple that is none plays no part. If all that is folded is there, the result is
//! that of the region itself, to the bit.

use weft_hlo::ir::{
    Arena, ArenaId, BinaryOp, Computation, ElementType, InstrId, Instruction, Op, Scalar, Shape, UniqueNames,
};

/// The region of tuples that tell whether they are there.
pub(crate) fn completed(region: &Computation, name: String) -> Computation {
    let results = results(region);
    let count = results.len();
    let mut names = UniqueNames::default();
    region.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut image: Vec<Option<InstrId>> = Vec::with_capacity(region.instructions.len());
    for instruction in region.instructions.values() {
        let mut copy = instruction.clone();
        copy.operands = copy.operands.iter().filter_map(|operand| image[operand.index()]).collect();
        // Behind the first tuple stands whether it is there.
        if let Op::Parameter { number } = &mut copy.op
            && usize::try_from(*number).is_ok_and(|own| own >= count)
        {
            *number += 1;
        }
        image.push((copy.op != Op::Tuple).then(|| instructions.push(copy)));
    }
    let parameters: Vec<InstrId> = region.parameters().iter().filter_map(|id| image[id.index()]).collect();
    let mut add =
        |instructions: &mut Arena<InstrId, Instruction>, wanted: &str, shape: Shape, op: Op, operands: Vec<InstrId>| {
            let mut added = Instruction::new(names.take(wanted), shape, op, operands);
            added.span = region.span;
            instructions.push(added)
        };
    let truth = || Shape::scalar(ElementType::Pred);
    let mut is_there = |number: usize| {
        let op = Op::Parameter { number: i64::try_from(number).unwrap_or(0) };
        add(&mut instructions, "there", truth(), op, Vec::new())
    };
    let (first, second) = (is_there(count), is_there(2 * count + 1));
    let mut returned = Vec::with_capacity(count + 1);
    let mut shapes = Vec::with_capacity(count + 1);
    let sides = parameters.iter().zip(parameters.iter().skip(count));
    for (both, (a, b)) in results.iter().filter_map(|result| image[result.index()]).zip(sides) {
        let shape = instructions[both].shape.clone();
        let left = add(&mut instructions, "left", shape.clone(), Op::Select, vec![second, both, *a]);
        returned.push(add(&mut instructions, "either", shape.clone(), Op::Select, vec![first, left, *b]));
        shapes.push(shape);
    }
    returned.push(add(&mut instructions, "any", truth(), Op::Binary(BinaryOp::Or), vec![first, second]));
    shapes.push(truth());
    let root = add(&mut instructions, "both", Shape::Tuple(shapes), Op::Tuple, returned);
    let mut completed = Computation::new(name, instructions, root);
    completed.span = region.span;
    completed
}

/// What a region folds that was [`completed`]; `None` of others.
pub(crate) fn within(region: &Computation) -> Option<Computation> {
    let results = results(region);
    let count = results.len().checked_sub(1)?;
    let number = |id: InstrId| match region.instructions[id].op {
        Op::Parameter { number } => usize::try_from(number).ok(),
        _ => None,
    };
    let (first, second) = (count, 2 * count + 1);
    let is_or = |id: InstrId| {
        let any = &region.instructions[id];
        let numbers: Vec<Option<usize>> = any.operands.iter().map(|own| number(*own)).collect();
        any.op == Op::Binary(BinaryOp::Or) && numbers == [Some(first), Some(second)]
    };
    if count == 0 || region.parameters().len() != 2 * count + 2 || !is_or(results[count]) {
        return None;
    }
    // What is chosen if the truth value is, and which operand if it is not.
    let chosen = |id: InstrId, truth: usize, other: usize| {
        let select = &region.instructions[id];
        match select.operands[..] {
            [condition, then, or] if select.op == Op::Select => {
                (number(condition) == Some(truth) && number(or) == Some(other)).then_some(then)
            }
            _ => None,
        }
    };
    let of_two = |(place, result): (usize, &InstrId)| chosen(chosen(*result, first, count + 1 + place)?, second, place);
    let of_two: Vec<InstrId> = results[..count].iter().enumerate().map(of_two).collect::<Option<_>>()?;
    let mut is_needed = vec![false; region.instructions.len()];
    of_two.iter().for_each(|id| is_needed[id.index()] = true);
    for (id, instruction) in region.instructions.iter().rev() {
        if is_needed[id.index()] {
            instruction.operands.iter().for_each(|operand| is_needed[operand.index()] = true);
        }
    }
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut image: Vec<Option<InstrId>> = Vec::with_capacity(region.instructions.len());
    for (id, instruction) in region.instructions.iter() {
        let mut copy = instruction.clone();
        copy.operands = copy.operands.iter().filter_map(|operand| image[operand.index()]).collect();
        let is_kept = match &mut copy.op {
            Op::Parameter { number } => {
                let own = usize::try_from(*number).ok()?;
                *number -= i64::from(own > first);
                let is_there = own == first || own == second;
                if is_there && is_needed[id.index()] {
                    return None;
                }
                !is_there
            }
            _ => is_needed[id.index()],
        };
        image.push(is_kept.then(|| instructions.push(copy)));
    }
    let results: Vec<InstrId> = of_two.iter().map(|id| image[id.index()]).collect::<Option<_>>()?;
    let shapes = results.iter().map(|id| instructions[*id].shape.clone()).collect();
    let root = instructions.push(Instruction::new("results", Shape::Tuple(shapes), Op::Tuple, results));
    Some(Computation::new(region.name.clone(), instructions, root))
}

/// The tuple that is none, of a region that was completed.
pub(crate) fn neutral(within: &Computation) -> Vec<Scalar> {
    let types =
        results(within).into_iter().filter_map(|id| Some(within.instructions[id].shape.as_array()?.element_type));
    types.map(|element_type| Scalar::from_bits(0, element_type)).chain([Scalar::Pred(false)]).collect()
}

/// What a region returns.
pub(crate) fn results(region: &Computation) -> Vec<InstrId> {
    let root = &region.instructions[region.root];
    match root.op {
        Op::Tuple => root.operands.clone(),
        _ => vec![region.root],
    }
}
