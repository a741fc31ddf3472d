//! `ragged-dot` and `scaled-dot` written out compute what the operations compute.

use crate::count::cases;
use weft_hlo::eval::{converted, evaluate};
use weft_hlo::ir::{Data, ElementType, Literal, Module, Scalar};
use weft_hlo::passes::{OtherDots, Pass};
use weft_hlo::random::Rng;
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    module
}

fn expanded(module: &Module) -> Module {
    let after = OtherDots.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
    let text = print(&after);
    assert!(!text.contains("ragged-dot(") && !text.contains("scaled-dot("), "{text}");
    after
}

/// Small integers, which sums hold exactly in any order.
fn integers(rng: &mut Rng, extents: &[i64]) -> Literal {
    let count: i64 = extents.iter().product();
    Literal::array(extents, (0..count).map(|_| rng.below(9) as f32 - 4.0).collect::<Vec<f32>>())
}

fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// What the operands' dimensions are: batch, rows, what is summed over (two dimensions), columns, groups.
#[derive(Copy, Clone, PartialEq)]
enum Role {
    Batch,
    Rows,
    More,
    Sum,
    Other,
    Columns,
    Groups,
}

/// Roles in a random order, where batch dimensions stay in front.
fn shuffled(rng: &mut Rng, roles: &[Role]) -> Vec<Role> {
    let mut left = roles.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        order.push(left.remove(rng.below(left.len())));
    }
    order
}

#[test]
fn ragged_dots_agree() {
    use Role::{Batch, Columns, Groups, More, Other, Rows, Sum};
    let mut rng = Rng::new(31);
    for case in 0..cases(300) {
        let mut extent = |most: usize| 1 + rng.below(most) as i64;
        let extents = [extent(3), extent(6), extent(3), extent(6), extent(3), extent(4), extent(4)];
        let of = |role: &Role| extents[*role as usize];
        let cut = [Batch, Rows, Sum][(case % 3) as usize];
        let left = shuffled(&mut rng, &[Batch, Rows, More, Sum, Other]);
        let right_roles =
            if cut == Rows { vec![Batch, Sum, Other, Columns, Groups] } else { vec![Batch, Sum, Other, Columns] };
        let right = shuffled(&mut rng, &right_roles);
        let place = |of: &[Role], role: Role| of.iter().position(|other| *other == role).unwrap() as i64;
        let free = |of: &[Role], own: &[Role]| of.iter().filter(|role| own.contains(role)).copied().collect::<Vec<_>>();
        let [left_free, right_free] = [free(&left, &[Rows, More]), free(&right, &[Columns])];
        // Sizes may have dimensions of those of the left operand that stand in front of the one that is cut.
        let before = |all: &[Role]| all.iter().take_while(|role| **role != cut).copied().collect::<Vec<_>>();
        let prefix = match cut {
            Batch => Vec::new(),
            Rows => [vec![Batch], before(&left_free)].concat(),
            _ => [vec![Batch], before(&[Sum, Other])].concat(),
        };
        let prefix = if rng.below(2) == 0 { Vec::new() } else { prefix };
        let sizes: Vec<i64> = prefix.iter().map(&of).chain([of(&Groups)]).collect();
        let mut result: Vec<i64> = if cut == Sum { vec![of(&Groups)] } else { Vec::new() };
        result.extend([Batch].iter().chain(&left_free).chain(&right_free).map(&of));
        let [lhs, rhs] = [&left, &right].map(|roles| roles.iter().map(&of).collect::<Vec<i64>>());
        let group = if cut == Rows { place(&right, Groups).to_string() } else { String::new() };
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  x = f32[{}] parameter(0)\n  y = f32[{}] parameter(1)\n  s = s32[{}] parameter(2)\n  \
             ROOT r = f32[{}] ragged-dot(x, y, s), lhs_batch_dims={{{}}}, lhs_contracting_dims={{{},{}}}, \
             rhs_batch_dims={{{}}}, rhs_contracting_dims={{{},{}}}, lhs_ragged_dims={{{}}}, rhs_group_dims={{{group}}}\n}}\n",
            list(&lhs),
            list(&rhs),
            list(&sizes),
            list(&result),
            place(&left, Batch),
            place(&left, Sum),
            place(&left, Other),
            place(&right, Batch),
            place(&right, Sum),
            place(&right, Other),
            place(&left, cut),
        );
        let module = module(&text);
        let after = expanded(&module);
        let count: i64 = sizes.iter().product();
        let lengths: Vec<i32> = (0..count).map(|_| rng.below(5) as i32 - i32::from(rng.below(8) == 0)).collect();
        let mut operands = [integers(&mut rng, &lhs), integers(&mut rng, &rhs), Literal::array(sizes, lengths)];
        // What belongs to no group is not multiplied.
        if let (true, Data::F32(values)) = (case % 5 == 0, &mut operands[1].data) {
            let place = rng.below(values.len());
            values[place] = f32::INFINITY;
        }
        assert_eq!(evaluate(&module, &operands).unwrap(), evaluate(&after, &operands).unwrap(), "{text}");
    }
}

/// Dimensions of several tiles, of which the last is no whole one: groups that end with tiles, within them, that have several, none, or what is left behind all of them.
#[test]
fn ragged_dots_of_several_tiles_agree() {
    let mut rng = Rng::new(33);
    for (extent, sizes) in [
        (150i64, vec![32i64, 40, 0, 50, 28]),
        (97, vec![0, 97, 0]),
        (131, vec![5, 3, 1, 7, 60, 20, -3, 64, 9]),
        (129, vec![64, 64]),
        (200, vec![10, 20]),
        (70, vec![300, 4]),
    ] {
        let groups = sizes.len() as i64;
        let numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
        let of_rows = format!("ROOT r = f32[{extent},2] ragged-dot(x, y, s), {numbers}");
        let numbers = "lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}, rhs_group_dims={}";
        let of_sums = format!("ROOT r = f32[{groups},3,2] ragged-dot(x, y, s), {numbers}");
        for (root, right) in [(of_rows, vec![groups, 3, 2]), (of_sums, vec![extent, 2])] {
            let text = format!(
                "HloModule m\n\nENTRY e {{\n  x = f32[{extent},3] parameter(0)\n  y = f32[{}] parameter(1)\n  \
                 s = s64[{groups}] parameter(2)\n  {root}\n}}\n",
                list(&right)
            );
            let (module, mut operands) = (
                module(&text),
                [integers(&mut rng, &[extent, 3]), integers(&mut rng, &right), Literal::array([groups], sizes.clone())],
            );
            if let Data::F32(values) = &mut operands[1].data {
                values[0] = f32::INFINITY;
            }
            let after = expanded(&module);
            assert_eq!(evaluate(&module, &operands).unwrap(), evaluate(&after, &operands).unwrap(), "{text}");
        }
    }
}

#[test]
fn ragged_dots_of_nothing_are_zero() {
    for (groups, rows) in [(0, 3), (2, 0)] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  x = bf16[{rows},4] parameter(0)\n  y = bf16[{groups},4,5] parameter(1)\n  \
             s = s64[{groups}] parameter(2)\n  ROOT r = bf16[{rows},5] ragged-dot(x, y, s), lhs_contracting_dims={{1}}, \
             rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}, rhs_group_dims={{0}}\n}}\n"
        );
        let module = module(&text);
        let shapes = [vec![rows, 4], vec![groups, 4, 5]];
        let zero = || converted(&Data::filled(Scalar::F32(0.0), 1), ElementType::Bf16).unwrap().get(0).unwrap();
        let filled = |extents: &Vec<i64>| {
            Literal::array(extents.clone(), Data::filled(zero(), extents.iter().product::<i64>() as usize))
        };
        let operands = [filled(&shapes[0]), filled(&shapes[1]), Literal::array([groups], vec![1i64; groups as usize])];
        assert_eq!(evaluate(&module, &operands).unwrap(), evaluate(&expanded(&module), &operands).unwrap());
    }
}

#[test]
fn scaled_dots_agree() {
    let mut rng = Rng::new(32);
    for case in 0..cases(120) {
        let mut blocks =
            || [(1 + rng.below(3) as i64, 1 + rng.below(4) as i64), (1 + rng.below(4) as i64, 1 + rng.below(3) as i64)];
        let [left, mut right] = [blocks(), blocks()];
        let sum = left[1].0 * left[1].1;
        right[0] = if rng.below(2) == 0 { (sum, 1) } else { (1, sum) };
        let extents = |of: &[(i64, i64); 2]| of.map(|(count, block)| count * block);
        let scales = |of: &[(i64, i64); 2]| of.map(|(count, _)| count);
        let [lhs, rhs] = [extents(&left), extents(&right)];
        let is_scalar = case % 4 == 0;
        let left_scales = if is_scalar { Vec::new() } else { scales(&left).to_vec() };
        let ty = ["f32", "f8e4m3fn", "bf16"][(case % 3) as usize];
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  a = f32[{}] parameter(0)\n  b = f32[{}] parameter(1)\n  c = f32[{}] parameter(2)\n  \
             d = f32[{}] parameter(3)\n  x = {ty}[{}] convert(a)\n  y = {ty}[{}] convert(b)\n  s = f8e8m0fnu[{}] convert(c)\n  \
             ROOT r = f32[{},{}] scaled-dot(x, y, s, d), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
            list(&lhs),
            list(&rhs),
            list(&left_scales),
            list(&scales(&right)),
            list(&lhs),
            list(&rhs),
            list(&left_scales),
            lhs[0],
            rhs[1],
        );
        let module = module(&text);
        let after = expanded(&module);
        let powers = |rng: &mut Rng, extents: &[i64]| {
            let count: i64 = extents.iter().product();
            Literal::array(extents, (0..count).map(|_| 2f32.powi(rng.below(7) as i32 - 3)).collect::<Vec<f32>>())
        };
        let operands = [
            integers(&mut rng, &lhs),
            integers(&mut rng, &rhs),
            powers(&mut rng, &left_scales),
            powers(&mut rng, &scales(&right)),
        ];
        assert_eq!(evaluate(&module, &operands).unwrap(), evaluate(&after, &operands).unwrap(), "{text}");
    }
}
