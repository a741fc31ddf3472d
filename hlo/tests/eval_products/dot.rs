//! `dot`, `ragged-dot` and `scaled-dot`.

use super::*;
use weft_hlo::eval::{Config, check, evaluate_with};

const F32: ElementType = ElementType::F32;
const S32: ElementType = ElementType::S32;

/// Dimension numbers and extents of a dot product, and where in an operand each dimension of each role is.
struct Dimensions {
    batch: Vec<i64>,
    summed: Vec<i64>,
    free: [Vec<i64>; 2],
    /// For each side the places of batch, summed and free dimensions.
    places: [Vec<usize>; 2],
}

impl Dimensions {
    fn random(random: &mut Rng) -> Self {
        let mut some = |most: i64| {
            let rank = random.between(0, most) as usize;
            let least = i64::from(random.below(8) != 0);
            many(random, rank, least, 3)
        };
        let (batch, summed, free) = (some(2), some(2), [some(2), some(2)]);
        let places = [0, 1].map(|side| {
            let named = batch.len() + summed.len();
            let mut places: Vec<usize> = shuffled(random, (0..named + free[side].len()).collect());
            // The dimensions that remain keep their order.
            places[named..].sort_unstable();
            places
        });
        Dimensions { batch, summed, free, places }
    }

    /// The index, or the extents, of an operand.
    fn operand(&self, side: usize, batch: &[i64], summed: &[i64], free: &[i64]) -> Vec<i64> {
        let roles = [batch, summed, free].concat();
        let mut all = vec![0; roles.len()];
        self.places[side].iter().zip(roles).for_each(|(&place, value)| all[place] = value);
        all
    }

    fn extents(&self, side: usize) -> Vec<i64> {
        self.operand(side, &self.batch, &self.summed, &self.free[side])
    }

    fn result(&self) -> Vec<i64> {
        [&self.batch[..], &self.free[0], &self.free[1]].concat()
    }

    fn attributes(&self) -> String {
        let [left, right] =
            [0, 1].map(|side| self.places[side][..self.batch.len() + self.summed.len()].split_at(self.batch.len()));
        format!(
            "lhs_batch_dims={{{}}}, rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}",
            list(left.0),
            list(right.0),
            list(left.1),
            list(right.1)
        )
    }

    /// For each element of the result the pairs of positions whose products it is the sum of, in order.
    fn sums(&self) -> Vec<Vec<(usize, usize)>> {
        let mut sums = vec![];
        for batch in indices(&self.batch) {
            for left in indices(&self.free[0]) {
                for right in indices(&self.free[1]) {
                    let pair = |summed: &Vec<i64>| {
                        let [a, b] = [(0, &left), (1, &right)]
                            .map(|(side, free)| number(&self.operand(side, &batch, summed, free), &self.extents(side)));
                        (a, b)
                    };
                    sums.push(indices(&self.summed).iter().map(pair).collect());
                }
            }
        }
        sums
    }
}

#[test]
fn dots_of_random_dimension_numbers_and_integer_types_wrap_in_the_type_of_the_result() {
    let random = &mut Rng::new(3);
    let integers_and_pred = types(is_integral);
    for _ in 0..400 {
        let dimensions = Dimensions::random(random);
        let [left, right, mut result] = [0, 1, 2].map(|_| random.choose(&integers_and_pred).expect("there are some"));
        if result == ElementType::Pred {
            // A sum that is zero only modulo a power of two is not compared here.
            result = if left == result && right == result { result } else { S32 };
        }
        let [a, b] = [(0, left), (1, right)].map(|(side, element_type)| {
            let values = many(random, count(&dimensions.extents(side)), -1 << 40, 1 << 40);
            (element_type, dimensions.extents(side), values)
        });
        let held = |operand: &Operand, at: usize| wrapped(ElementType::S64, wrapped(operand.0, operand.2[at].into()));
        let wanted: Vec<i64> = dimensions
            .sums()
            .iter()
            .map(|pairs| {
                pairs.iter().fold(0, |sum, &(i, j)| {
                    wrapped(ElementType::S64, sum + wrapped(ElementType::S64, held(&a, i) * held(&b, j)))
                })
            })
            .map(|sum| wrapped(ElementType::S64, wrapped(result, sum)) as i64)
            .collect();
        let call = format!("dot;{}", dimensions.attributes());
        let given = integers(&[a.clone(), b.clone()], (result, &dimensions.result()), &call);
        assert_eq!(given, wanted, "{call} {a:?} {b:?} {result}");
    }
}

#[test]
fn dots_of_every_two_floats_into_every_float_are_rounded_once() {
    let random = &mut Rng::new(4);
    let floats = types(ElementType::is_float);
    let call = "dot;lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    for &left in &floats {
        for &right in &floats {
            for &result in if left == right { &floats[..] } else { &floats[floats.len() - 2..] } {
                // Powers of two are numbers of every type, and sums of so few are exact in f32.
                let [a, b] = [vec![2, 5], vec![5, 2]]
                    .map(|extents| (extents, (0..10).map(|_| 1 << random.between(0, 2)).collect::<Vec<i64>>()));
                let sum = |i: usize, j: usize| (0..5).map(|k| a.1[i * 5 + k] * b.1[k * 2 + j]).sum::<i64>() as f64;
                let wanted = converted(result, &[sum(0, 0), sum(0, 1), sum(1, 0), sum(1, 1)]);
                let given = reals(&[(left, a.0, a.1), (right, b.0, b.1)], (result, &[2, 2]), call);
                assert_same(&given, &wanted, (left, right, result));
            }
        }
    }
}

/// The product of a row and a column of these types.
fn row_by_column(types: [&str; 3], row: Data, column: Data) -> Data {
    let size = row.len().unwrap() as i64;
    let [left, right, result] = types;
    let text = format!(
        "ENTRY main {{\na = {left}[1,{size}] parameter(0)\nb = {right}[{size},1] parameter(1)\n\
         ROOT d = {result}[1,1] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}"
    );
    run(&text, &[Literal::array([1, size], row), Literal::array([size, 1], column)]).swap_remove(0).data
}

#[test]
fn products_are_added_in_order_in_the_accumulator() {
    let given = row_by_column(["f32"; 3], vec![1e8f32, 1.0, -1e8, 1.0].into(), vec![1f32; 4].into());
    assert_eq!(given, vec![1f32].into());
    // In f64, where an operand or the result is f64.
    let large = [1e9f64, 1.0, -1e9];
    let given = row_by_column(["f64", "f64", "f32"], large.to_vec().into(), vec![1f64; 3].into());
    assert_eq!(given, vec![1f32].into());
    let given = row_by_column(["f32", "f32", "f64"], large.map(|x| x as f32).to_vec().into(), vec![1f32; 3].into());
    assert_eq!(given, vec![1f64].into());
    // bf16 itself holds no 257.
    let [row, column] = [[256.0, 1.0, 1.0], [1.0; 3]].map(|row| row.map(half::bf16::from_f64).to_vec());
    assert_eq!(row_by_column(["bf16"; 3], row.into(), column.into()), vec![half::bf16::from_f64(258.0)].into());
}

#[test]
fn factors_of_mixed_types_become_numbers_of_the_accumulator() {
    let random = &mut Rng::new(5);
    let [all, integral] = [types(|element_type| !element_type.is_complex()), types(is_integral)];
    let results = [ElementType::F16, ElementType::Bf16, F32, ElementType::F64];
    let call = "dot;lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    for _ in 0..300 {
        let (one, other, result) = (
            random.choose(&integral).expect("there are some"),
            random.choose(&all).expect("there are some"),
            random.choose(&results).expect("there are some"),
        );
        let [left, right] = if random.below(2) == 0 { [one, other] } else { [other, one] };
        let [a, b] = [(left, vec![2, 5]), (right, vec![5, 2])].map(|(element_type, extents)| {
            // Of unsigned types negative numbers are large.
            let least = if is_integral(element_type) && !element_type.is_signed() { 0 } else { -9 };
            (element_type, extents, many(random, 10, least, 9))
        });
        let held = |(element_type, _, values): &Operand| -> Vec<f64> {
            match is_integral(*element_type) {
                true => values.iter().map(|&value| wrapped(*element_type, value.into()) as f64).collect(),
                false => converted(*element_type, &values.iter().map(|&value| value as f64).collect::<Vec<_>>()),
            }
        };
        let (x, y) = (held(&a), held(&b));
        // Sums of so few small numbers are exact.
        let sum = |i: usize, j: usize| (0..5).fold(0.0, |sum, k| sum + x[i * 5 + k] * y[k * 2 + j]);
        let wanted = converted(result, &[sum(0, 0), sum(0, 1), sum(1, 0), sum(1, 1)]);
        let given = reals(&[a, b], (result, &[2, 2]), call);
        assert_same(&given, &wanted, (left, right, result));
    }
    // f32 holds no 2^24 + 1, f64 does.
    let odd = (1i32 << 24) + 1;
    let one = || -> Data { vec![half::bf16::ONE].into() };
    assert_eq!(row_by_column(["s32", "bf16", "f32"], vec![odd].into(), one()), vec![16_777_216f32].into());
    assert_eq!(row_by_column(["s32", "bf16", "f64"], vec![odd].into(), one()), vec![f64::from(odd)].into());
    let column = vec![num_complex::Complex::new(2f32, -3.0)];
    let wanted = vec![num_complex::Complex::new(-4f32, 6.0)];
    assert_eq!(row_by_column(["s8", "c64", "c64"], vec![-2i8].into(), column.into()), wanted.into());
}

#[test]
fn integers_mix_and_preds_are_any_of_both() {
    let given = row_by_column(["u8", "s8", "s32"], vec![200u8, 255].into(), vec![-1i8, -128].into());
    assert_eq!(given, vec![-32840i32].into());
    let given = row_by_column(["s8"; 3], vec![100i8, 27].into(), vec![3i8, 5].into());
    assert_eq!(given, vec![-77i8].into());
    let given = row_by_column(["pred"; 3], vec![true, true].into(), vec![true, true].into());
    assert_eq!(given, vec![true].into());
    let given = row_by_column(["pred", "pred", "s32"], vec![true, true].into(), vec![true, true].into());
    assert_eq!(given, vec![2i32].into());
    let given = row_by_column(["s32", "s32", "pred"], vec![3, -3].into(), vec![1, 1].into());
    assert_eq!(given, vec![false].into());
    let given = row_by_column(["u64"; 3], vec![u64::MAX, 2].into(), vec![u64::MAX, 1 << 63].into());
    assert_eq!(given, vec![1u64].into());
}

#[test]
fn complex_numbers_are_multiplied_as_such() {
    use num_complex::Complex;
    let (row, column) = ([(1.0, 2.0), (-3.0, 0.5)], [(2.0, -1.0), (0.0, 4.0)]);
    let narrow = |z: [(f32, f32); 2]| -> Data { z.map(|(re, im)| Complex::new(re, im)).to_vec().into() };
    let wide =
        |z: [(f32, f32); 2]| -> Data { z.map(|(re, im)| Complex::new(f64::from(re), f64::from(im))).to_vec().into() };
    // (1+2i)(2-i) + (-3+0.5i)(4i) = (4+3i) + (-2-12i)
    assert_eq!(row_by_column(["c64"; 3], narrow(row), narrow(column)), vec![Complex::new(2f32, -9.0)].into());
    assert_eq!(row_by_column(["c128"; 3], wide(row), wide(column)), vec![Complex::new(2f64, -9.0)].into());
    assert_eq!(row_by_column(["c64", "c128", "c64"], narrow(row), wide(column)), vec![Complex::new(2f32, -9.0)].into());
}

#[test]
fn sums_of_nothing_are_zero() {
    let call = "dot;lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    for element_type in [F32, ElementType::Bf16, S32, ElementType::Pred] {
        let operands = [(element_type, vec![2, 0], vec![]), (element_type, vec![0, 3], vec![])];
        assert_eq!(integers(&operands, (element_type, &[2, 3]), call), [0; 6]);
    }
    let operands = [(F32, vec![0, 1 << 40], vec![]), (F32, vec![1 << 40, 0], vec![])];
    assert_eq!(integers(&operands, (F32, &[0, 0]), call), [0; 0]);
}

#[test]
fn long_rows_and_long_columns_are_summed_in_pieces() {
    let call = "dot;lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    for (summed, columns) in [(3, 5000), (40000, 2), (1, 1)] {
        let left: Vec<i64> = (0..2 * summed).map(|number| number % 7 - 3).collect();
        let right: Vec<i64> = (0..summed * columns).map(|number| number % 11 - 5).collect();
        let wanted: Vec<i64> = indices(&[2, columns])
            .iter()
            .map(|at| (0..summed).map(|k| left[(2 * k + at[0]) as usize] * right[(columns * k + at[1]) as usize]).sum())
            .collect();
        let operands = [(S32, vec![summed, 2], left), (S32, vec![summed, columns], right)];
        assert_eq!(integers(&operands, (S32, &[2, columns]), call), wanted);
    }
}

#[test]
fn the_memory_of_copies_is_counted() {
    let size = 64;
    let operands = [(ElementType::S8, vec![size, size], vec![]), (ElementType::S8, vec![size, size], vec![])];
    let text = text(&operands, "s8[64,64]", "dot;lhs_contracting_dims={1}, rhs_contracting_dims={0}", "");
    let inputs = vec![Literal::array([size, size], vec![1i64; (size * size) as usize]); 2];
    let limited = |byte_limit| evaluate_with(&module(&text), &inputs, &Config { byte_limit, ..Config::default() });
    // The operands and the result take one byte an element, and the dot product two integers of 64 bits.
    let needed = size as u64 * size as u64 * (3 + 2 * 8);
    assert!(limited(needed).is_ok());
    assert!(limited(needed - 1).unwrap_err().to_string().contains("HLO205"));
}

fn counting(extents: &[i64], first: i64) -> Operand {
    (F32, extents.to_vec(), (first..first + count(extents) as i64).collect())
}

fn sizes(extents: &[i64], sizes: &[i64]) -> Operand {
    (ElementType::S16, extents.to_vec(), sizes.to_vec())
}

#[test]
fn ragged_rows_are_multiplied_by_the_matrix_of_their_group() {
    let call = "ragged-dot;lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
    for (groups, wanted) in [
        ([1, 2, 1], [7, 10, 43, 50, 67, 78, 151, 166]),
        ([1, 0, 2], [7, 10, 71, 78, 111, 122, 0, 0]),
        ([0, 0, 0], [0; 8]),
        ([3, 3, 3], [7, 10, 15, 22, 23, 34, 91, 106]),
        ([3, -2, 2], [7, 10, 15, 22, 23, 34, 151, 166]),
    ] {
        let operands = [counting(&[4, 2], 1), counting(&[3, 2, 2], 1), sizes(&[3], &groups)];
        assert_eq!(integers(&operands, (F32, &[4, 2]), call), wanted, "{groups:?}");
    }
}

#[test]
fn ragged_sums_give_a_product_for_each_group() {
    let call = "ragged-dot;lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={}";
    for (groups, wanted) in [
        ([1, 2, 1], [1, 2, 5, 10, 21, 26, 53, 66, 28, 32, 56, 64]),
        ([1, 0, 2], [1, 2, 5, 10, 0, 0, 0, 0, 21, 26, 53, 66]),
        ([3, -2, 2], [22, 28, 58, 76, 0, 0, 0, 0, 28, 32, 56, 64]),
        ([3, 3, 3], [22, 28, 58, 76, 28, 32, 56, 64, 0, 0, 0, 0]),
    ] {
        let operands = [counting(&[2, 4], 1), counting(&[4, 2], 1), sizes(&[3], &groups)];
        assert_eq!(integers(&operands, (F32, &[3, 2, 2]), call), wanted, "{groups:?}");
    }
}

#[test]
fn groups_may_differ_between_the_indices_outside_of_the_ragged_dimension() {
    let call = "ragged-dot;lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, \
                lhs_ragged_dims={1}, rhs_group_dims={1}";
    let operands = [counting(&[2, 4, 2], 0), counting(&[2, 3, 2, 2], 0), sizes(&[2, 3], &[1, 2, 1, 4, 0, 0])];
    let wanted = [2, 3, 26, 31, 46, 55, 118, 131, 222, 239, 274, 295, 326, 351, 378, 407];
    assert_eq!(integers(&operands, (F32, &[2, 4, 2]), call), wanted);

    let call = "ragged-dot;lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1,2}, \
                rhs_contracting_dims={1,2}, lhs_ragged_dims={2}, rhs_group_dims={}";
    let groups = sizes(&[2, 2, 2], &[1, 1, 2, 1, 0, 3, 1, 0]);
    let operands = [counting(&[2, 2, 3, 2], 0), counting(&[2, 2, 3, 3], 0), groups];
    let wanted = [
        150, 164, 178, 171, 188, 205, 486, 504, 522, 513, 532, 551, 156, 168, 180, 174, 188, 202, 894, 936, 978, 957,
        1002, 1047,
    ];
    assert_eq!(integers(&operands, (F32, &[2, 2, 2, 3]), call), wanted);
}

#[test]
fn groups_of_a_batch_dimension_change_nothing() {
    let call = "ragged-dot;lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, \
                lhs_ragged_dims={0}, rhs_group_dims={}";
    let operands = [counting(&[3, 2, 2], 1), counting(&[3, 2, 2], 1), sizes(&[2], &[1, 1])];
    let wanted = [7, 10, 15, 22, 67, 78, 91, 106, 191, 210, 231, 254];
    assert_eq!(integers(&operands, (F32, &[3, 2, 2]), call), wanted);
}

#[test]
fn scales_go_with_blocks_or_with_the_whole() {
    let scaled = |scales: [(&str, &[f32]); 2]| {
        let [left, right] = scales.map(|(extents, values)| {
            let extents: Vec<i64> = extents.split_terminator(',').map(|extent| extent.parse().unwrap()).collect();
            Literal::array(extents, values.to_vec())
        });
        let text = format!(
            "ENTRY main {{\na = f32[2,4] parameter(0)\nb = f32[4,2] parameter(1)\ns = f32[{}] parameter(2)\n\
             t = f32[{}] parameter(3)\nROOT d = f32[2,2] scaled-dot(a, b, s, t), lhs_contracting_dims={{1}}, \
             rhs_contracting_dims={{0}}\n}}",
            scales[0].0, scales[1].0
        );
        let one_to_eight: Vec<f32> = (1..9).map(|x| x as f32).collect();
        let operands = [Literal::array([2, 4], one_to_eight.clone()), Literal::array([4, 2], one_to_eight)];
        let module = module(&text);
        check(&module, &Config::default()).map(|()| {
            let mut results = evaluate(&module, &[&operands[..], &[left, right]].concat()).unwrap();
            results.swap_remove(0).data
        })
    };
    let blocks = scaled([("2,2", &[1.0, 2.0, 4.0, 0.5]), ("2,2", &[1.0, 8.0, 2.0, 0.25])]).unwrap();
    assert_eq!(blocks, vec![179f32, 105.0, 183.0, 1101.25].into());
    let whole = scaled([("", &[2.0]), ("1,1", &[3.0])]).unwrap();
    assert_eq!(whole, vec![300f32, 360.0, 684.0, 840.0].into());
    let refused = scaled([("2,3", &[1.0; 6]), ("", &[1.0])]).unwrap_err().to_string();
    assert!(refused.contains("HLO201") && refused.contains("scaled-dot"), "{refused}");
}

#[test]
fn groups_of_other_dimensions_are_refused() {
    let call = "ragged-dot;lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
    let operands = [counting(&[4, 2], 1), counting(&[3, 2, 2], 1), sizes(&[4, 3], &[0; 12])];
    let refused = check(&module(&text(&operands, "f32[4,2]", call, "")), &Config::default()).unwrap_err().to_string();
    assert!(refused.contains("HLO201") && refused.contains("ragged-dot"), "{refused}");
}
