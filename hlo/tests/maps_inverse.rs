//! Maps in both directions of operations whose elements depend on whole lines or groups: they are inverse relations, of
//! as many pairs as the operation's definition says.

use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::indexing::{Analysis, Direction};
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

type Pairs = BTreeSet<(Vec<i64>, Vec<i64>)>;

/// For each array of the root's value and operand all pairs of a result's and an operand's index.
fn related(body: &str, direction: Direction) -> BTreeMap<(usize, usize), Pairs> {
    let text = format!(
        "HloModule m\nlt {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n \
         ROOT c = pred[] compare(a, b), direction=LT\n}}\nstep {{\n a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n \
         s = f32[2] add(a, b)\n ROOT c = (f32[2], f32[2]) tuple(s, s)\n}}\nENTRY e {{\n{body}\n}}"
    );
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let root = module.entry_computation().root;
    let found = Analysis::new(&module).instruction(module.entry, root, direction);
    let mut related: BTreeMap<(usize, usize), Pairs> = BTreeMap::new();
    for own in &found.dependences {
        assert_eq!(own.relation.undefined(), None, "{text}");
        let (Some(result), Some(operand)) = (own.result, own.operand) else { continue };
        let pairs = related.entry((result, operand)).or_default();
        for map in own.relation.maps() {
            for point in map.map.points() {
                let to = map.map.evaluate(&point.dims, &point.ranges, &point.runtime).expect("small indices");
                pairs.insert(match direction {
                    Direction::OutputToInput => (point.dims, to),
                    Direction::InputToOutput => (to, point.dims),
                });
            }
        }
    }
    related
}

/// A program, and for pairs of a result and an operand how many pairs of their elements belong together.
type Case<'a> = (String, &'a [((usize, usize), usize)]);

#[test]
fn input_to_output_maps_are_the_inverse_of_output_to_input() {
    let ragged = "a = f32[2,3,4] parameter(0)\n s = s32[5] parameter(2)\n";
    let cases: &[Case<'_>] = &[
        ("a = f32[3,4] parameter(0)\n ROOT r = f32[3,4] sort(a), dimensions={1}, to_apply=lt".into(), &[((0, 0), 48)]),
        (
            "a = f32[3,4] parameter(0)\n ROOT r = (f32[3,2], s32[3,2]) topk(a), k=2, largest=true".into(),
            &[((0, 0), 24), ((1, 0), 24)],
        ),
        (
            "a = f32[2,3,4] parameter(0)\n ROOT r = c64[2,3,3] fft(a), fft_type=RFFT, fft_length={3,4}".into(),
            &[((0, 0), 2 * 9 * 12)],
        ),
        ("a = f32[2,3,3] parameter(0)\n ROOT r = f32[2,3,3] cholesky(a), lower=true".into(), &[((0, 0), 162)]),
        (
            "a = f32[2,3,3] parameter(0)\n b = f32[2,3,4] parameter(1)\n ROOT r = f32[2,3,4] triangular-solve(a, b), \
             left_side=true, lower=true, transpose_a=NO_TRANSPOSE"
                .into(),
            &[((0, 0), 2 * 12 * 9), ((0, 1), 2 * 12 * 3)],
        ),
        (
            "a = f32[4,2] parameter(0)\n b = f32[2] parameter(1)\n ROOT r = (f32[4,2], f32[2]) scan(a, b), \
             dimensions={0}, num_carries=1, is_associative=false, to_apply=step"
                .into(),
            // Slices up to the own one, of two elements each.
            &[((0, 0), 10 * 4), ((0, 1), 16), ((1, 0), 16), ((1, 1), 4)],
        ),
        (
            // Rows are cut: batch 2, rows 3, summed 4; groups 5, columns 2.
            format!(
                "{ragged} b = f32[5,2,4,2] parameter(1)\n ROOT r = f32[2,3,2] ragged-dot(a, b, s), lhs_batch_dims={{0}}, \
                 rhs_batch_dims={{1}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}, lhs_ragged_dims={{1}}, \
                 rhs_group_dims={{0}}"
            ),
            &[((0, 0), 12 * 4), ((0, 1), 12 * 4 * 5), ((0, 2), 12 * 5)],
        ),
        (
            // What is summed over is cut: a group's place is known from the sizes up to its own.
            format!(
                "{ragged} b = f32[2,4,2] parameter(1)\n ROOT r = f32[5,2,3,2] ragged-dot(a, b, s), lhs_batch_dims={{0}}, \
                 rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{2}}"
            ),
            &[((0, 0), 60 * 4), ((0, 1), 60 * 4), ((0, 2), 12 * 15)],
        ),
        (
            format!(
                "{ragged} b = f32[2,4,2] parameter(1)\n ROOT r = f32[2,3,2] ragged-dot(a, b, s), lhs_batch_dims={{0}}, \
                 rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}"
            ),
            &[((0, 0), 12 * 4), ((0, 1), 12 * 4), ((0, 2), 0)],
        ),
        (
            "a = f32[2,3] parameter(0)\n b = f32[3] parameter(1)\n c = f32[3] parameter(2)\n \
             ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-training(a, b, c), epsilon=0.1, feature_index=1"
                .into(),
            &[((0, 0), 12), ((0, 1), 6), ((0, 2), 6), ((1, 0), 6), ((2, 0), 6)],
        ),
        (
            "a = f32[2,3] parameter(0)\n b = f32[3] parameter(1)\n c = f32[3] parameter(2)\n d = f32[3] parameter(3)\n \
             g = f32[2,3] parameter(4)\n ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-grad(a, b, c, d, g), \
             epsilon=0.1, feature_index=1"
                .into(),
            &[
                ((0, 0), 12),
                ((0, 1), 6),
                ((0, 2), 6),
                ((0, 3), 6),
                ((0, 4), 12),
                ((1, 0), 6),
                ((1, 2), 3),
                ((1, 3), 3),
                ((1, 4), 6),
                ((2, 4), 6),
            ],
        ),
        (
            "a = u64[2] parameter(0)\n ROOT r = (u64[2], u32[3]) rng-bit-generator(a), algorithm=rng_philox".into(),
            &[((0, 0), 4), ((1, 0), 6)],
        ),
        ("a = f32[2,3] parameter(0)\n ROOT r = s32[] get-dimension-size(a), dimensions={1}".into(), &[((0, 0), 0)]),
    ];
    for (body, counts) in cases {
        let there = related(body, Direction::OutputToInput);
        assert_eq!(there, related(body, Direction::InputToOutput), "{body}");
        let found: Vec<((usize, usize), usize)> = there.iter().map(|(&key, pairs)| (key, pairs.len())).collect();
        assert_eq!(&found, counts, "{body}");
    }
}
