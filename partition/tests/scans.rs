//! Long scans are made in blocks, and come to the same.

use crate::fuse::read;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ArrayShape, Data, Instruction, Literal, Module, Op, Scalar};
use weft_hlo::random::Rng;
use weft_hlo::text::print;
use weft_hlo::verify::verify;
use weft_partition::{Emitter, Fused, FusionPlan, Schedule, Site, Target, Verdict, fuse_explained};

/// A window along one dimension: elements of it, and of the padding before and behind.
#[derive(Copy, Clone, Debug)]
struct Along {
    dimension: usize,
    size: i64,
    low: i64,
    high: i64,
}

impl Along {
    /// The window of a scan: inclusive or not, from the end or not, of `more` elements than there are, and of which the results without the last `fewer`.
    fn scan(extents: &[i64], dimension: usize, is_reversed: bool, is_exclusive: bool, more: i64, fewer: i64) -> Along {
        let (extent, away) = (extents[dimension], i64::from(is_exclusive));
        let size = extent + more;
        let (before, behind) = (size - 1 + away, -away);
        match is_reversed {
            false => Along { dimension, size, low: before, high: behind - fewer },
            true => Along { dimension, size, low: behind, high: before - fewer },
        }
    }

    fn results(&self, extents: &[i64]) -> Vec<i64> {
        let mut results = extents.to_vec();
        results[self.dimension] += self.low + self.high + 1 - self.size;
        results
    }

    fn text(&self, rank: usize) -> String {
        let all =
            |of: &dyn Fn(bool) -> String| (0..rank).map(|own| of(own == self.dimension)).collect::<Vec<_>>().join("x");
        let sizes = all(&|is_own| if is_own { self.size } else { 1 }.to_string());
        let pads = all(&|is_own| if is_own { format!("{}_{}", self.low, self.high) } else { "0_0".to_owned() });
        format!("window={{size={sizes} pad={pads}}}")
    }
}

fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// A scan of integers, of something and with something computed of it.
fn integers(op: &str, extents: &[i64], along: &Along) -> Module {
    let (from, to, window) = (list(extents), list(&along.results(extents)), along.text(extents.len()));
    read(&format!(
        "HloModule m
        f {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] {op}(a, b) }}
        ENTRY e {{
            x = s32[{from}] parameter(0)
            i = s32[] parameter(1)
            n = s32[{from}] negate(x)
            s = s32[{to}] reduce-window(n, i), {window}, to_apply=f
            ROOT r = s32[{to}] multiply(s, s)
        }}"
    ))
}

/// A scan of floats and indices as JAX prints `argmax`: it does not commute.
fn argument(extents: &[i64], along: &Along) -> Module {
    let (from, to, window) = (list(extents), list(&along.results(extents)), along.text(extents.len()));
    read(&format!(
        "HloModule m
        f {{
            a = f32[] parameter(0)
            i = s32[] parameter(1)
            b = f32[] parameter(2)
            k = s32[] parameter(3)
            g = pred[] compare(a, b), direction=GT
            u = pred[] compare(a, a), direction=NE
            o = pred[] or(g, u)
            v = f32[] select(o, a, b)
            e = pred[] compare(a, b), direction=EQ
            l = pred[] compare(i, k), direction=LT
            w = pred[] and(e, l)
            x = pred[] or(o, w)
            n = s32[] select(x, i, k)
            ROOT r = (f32[], s32[]) tuple(v, n)
        }}
        ENTRY e {{
            a = f32[{from}] parameter(0)
            i = s32[{from}] parameter(1)
            b = f32[] parameter(2)
            k = s32[] parameter(3)
            s = (f32[{to}], s32[{to}]) reduce-window(a, i, b, k), {window}, to_apply=f
            v = f32[{to}] get-tuple-element(s), index=0
            n = s32[{to}] get-tuple-element(s), index=1
            ROOT r = (f32[{to}], s32[{to}]) tuple(v, n)
        }}"
    ))
}

/// Targets of both kinds of schedules, and one whose workgroups cannot wait for one another.
fn targets() -> [Target; 3] {
    let scheduled = |schedule| Target::default().with(|target| target.schedule = Some(schedule));
    let gpu = scheduled(Schedule::Gpu);
    let without = gpu.clone().with(|target| target.faults.barriers = true);
    [gpu, scheduled(Schedule::Software), without]
}

/// Fuses for a target, and fails unless everything can be compiled and the results are the same, bit for bit.
pub(crate) fn checked(module: &Module, inputs: &[Literal], target: &Target) -> Fused {
    let fused = fuse_explained(module, target).unwrap_or_else(|found| panic!("{found}"));
    let text = print(&fused.module);
    verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert!(fused.uncompiled.is_empty(), "{:?}\n{text}", fused.uncompiled);
    let expected = evaluate(module, inputs).unwrap_or_else(|found| panic!("{found}"));
    let found = evaluate(&fused.module, inputs).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{}", print(module));
    fused
}

/// How many elements the windows of a kernel fold in all, of those kernels that are not shaped around scans, at most.
fn most_rounds(fused: &Fused) -> i64 {
    let rounds = |site: Site| {
        let Some(Op::Fusion { calls, .. }) = fused.instruction(site).map(|it| &it.op) else { return 0 };
        if matches!(fused.plan(*calls).map(FusionPlan::emitter), Some(Emitter::Reduced(_))) {
            return 0;
        }
        let instructions = fused.module.computations[*calls].instructions.values();
        let of = |instruction: &Instruction| match &instruction.op {
            Op::ReduceWindow { window, .. } => {
                let results = instruction.shape.leaves()[0].as_array().and_then(ArrayShape::element_count);
                let sizes: i64 = window.dimensions.iter().map(|own| own.size).product();
                results.unwrap_or(i64::MAX).saturating_mul(sizes)
            }
            _ => 0,
        };
        instructions.map(of).max().unwrap_or(0)
    };
    fused.fusions().map(rounds).max().unwrap_or(0)
}

fn reasons(fused: &Fused) -> Vec<(Verdict, &str)> {
    let scans = fused.decisions.iter().filter(|decision| decision.reason.starts_with("a scan of"));
    scans.map(|decision| (decision.verdict, decision.reason.as_str())).collect()
}

#[test]
fn scans_of_integers_come_to_the_same_in_blocks() {
    let mut rng = Rng::new(20);
    let mut made = 0;
    for case in 0..48 {
        let extent = [1025, 1026, 1031, 1280, 2048, 2049, 1200, 1999][rng.below(8)];
        let (extents, dimension) = match case % 4 {
            0 => (vec![extent], 0),
            1 => (vec![rng.between(1, 3), extent], 1),
            2 => (vec![extent, rng.between(1, 3)], 0),
            _ => (vec![2, extent, 2], 1),
        };
        let (is_reversed, is_exclusive) = (rng.chance(50), rng.chance(50));
        let (more, fewer) = if rng.chance(50) { (0, 0) } else { (rng.between(0, 3), rng.between(0, 70)) };
        let along = Along::scan(&extents, dimension, is_reversed, is_exclusive, more, fewer);
        let count: i64 = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|_| rng.between(-9, 9) as i32).collect();
        let inputs = [Literal::array(extents.clone(), values), Literal::scalar(Scalar::S32(rng.between(-5, 5) as i32))];
        let op = ["add", "maximum", "minimum", "xor", "multiply"][rng.below(5)];
        let target = &targets()[rng.below(3)];
        let fused = checked(&integers(op, &extents, &along), &inputs, target);
        assert!(most_rounds(&fused) <= 1 << 18, "{extents:?} {along:?}\n{}", print(&fused.module));
        made += usize::from(matches!(reasons(&fused)[..], [(Verdict::Rewritten, _)]));
    }
    // A workgroup of a GPU scans rows of these lengths as they are.
    assert!((20..48).contains(&made), "{made}");
}

#[test]
fn scans_that_keep_the_order_come_to_the_same_in_blocks() {
    let mut rng = Rng::new(21);
    for case in 0..8 {
        let extents = if case % 2 == 0 { vec![1100 + rng.between(0, 40)] } else { vec![1040, 2] };
        let along = Along::scan(&extents, 0, rng.chance(50), rng.chance(50), 0, 0);
        let count: i64 = extents.iter().product();
        let few = [f32::NAN, -0.0, 0.0, f32::NEG_INFINITY, 2.5, -1.0, f32::INFINITY];
        let kinds = 1 + rng.below(7);
        let first = rng.below(7);
        let mut floats = || if rng.chance(98) { few[first] } else { few[rng.below(kinds)] };
        let values: Vec<f32> = (0..=count).map(|_| floats()).collect();
        let indices: Vec<i32> = (0..=count).map(|_| rng.between(0, 50) as i32).collect();
        let last = count as usize;
        let literal = |value: Data| Literal::array(extents.clone(), value);
        let inputs = [
            literal(Data::from(values[..last].to_vec())),
            literal(Data::from(indices[..last].to_vec())),
            Literal::scalar(Scalar::F32(values[last])),
            Literal::scalar(Scalar::S32(indices[last])),
        ];
        for target in targets() {
            let fused = checked(&argument(&extents, &along), &inputs, &target);
            assert!(most_rounds(&fused) <= 1 << 18, "{extents:?} {along:?}\n{}", print(&fused.module));
        }
    }
}

#[test]
fn other_windows_stay_as_they_are() {
    let ones = |extents: &[i64]| Literal::array(extents, vec![1; extents.iter().product::<i64>() as usize]);
    let inputs = |extents: &[i64]| [ones(extents), Literal::scalar(Scalar::S32(3))];
    // A region that is no monoid's is told of.
    let along = Along::scan(&[1100], 0, false, false, 0, 0);
    let fused = checked(&integers("subtract", &[1100], &along), &inputs(&[1100]), &Target::default());
    assert!(
        matches!(reasons(&fused)[..], [(Verdict::Kept, reason)] if reason.contains("stays a window")),
        "{:?}",
        reasons(&fused)
    );
    // Windows shorter than what they move over, and scans of few elements.
    let sliding = Along { dimension: 0, size: 1050, low: 1049, high: 0 };
    let short = Along::scan(&[64], 0, false, false, 0, 0);
    for (extents, along) in [([1100], sliding), ([64], short)] {
        let fused = checked(&integers("add", &extents, &along), &inputs(&extents), &targets()[1]);
        let all = extents.iter().product::<i64>() * along.size;
        assert_eq!((most_rounds(&fused), reasons(&fused)), (all, Vec::new()));
    }
}

/// An invocation of a device in software goes through a line alone rather than that each of its elements folds those before it.
#[test]
fn a_line_is_scanned_in_software_though_it_is_alone() {
    for (extents, rounds) in [([512], 0), ([64], 64 * 64)] {
        let along = Along::scan(&extents, 0, false, true, 0, 0);
        let inputs =
            [Literal::array(extents, (0..extents[0] as i32).collect::<Vec<_>>()), Literal::scalar(Scalar::S32(3))];
        let fused = checked(&integers("add", &extents, &along), &inputs, &targets()[1]);
        assert_eq!((most_rounds(&fused), reasons(&fused)), (rounds, Vec::new()));
    }
}

/// What is scanned, and what is computed of it, is computed in the kernel of the scan. Of 65,536 elements blocks are folded, what they come to is scanned, and then they are.
#[test]
fn what_is_scanned_is_computed_where_it_is_read() {
    let along = Along::scan(&[65_536], 0, false, false, 0, 0);
    let values: Vec<i32> = (0..65_536).map(|k| k % 7 - 3).collect();
    let module = integers("add", &[65_536], &along);
    let inputs = [Literal::array([65_536], values), Literal::scalar(Scalar::S32(1))];
    // Without kernels of scans there are four levels of blocks, each of which is folded and scanned, a window over what is left of them, and what is computed of the results.
    for (target, expected) in targets().into_iter().zip([3, 3, 4 * 2 + 1 + 1]) {
        let fused = checked(&module, &inputs, &target);
        let kernels = fused.module.entry_computation().instructions.values();
        let kernels = kernels.filter(|instruction| matches!(instruction.op, Op::Fusion { .. })).count();
        assert_eq!(kernels, expected, "{:#?}", fused.decisions);
        let negation = fused.decisions.iter().find(|decision| decision.instruction == "n");
        assert_eq!(negation.map(|decision| decision.verdict), Some(Verdict::Fused));
    }
}
