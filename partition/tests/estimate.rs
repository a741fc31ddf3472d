//! What the cost model counts.

use weft_hlo::text::parse;
use weft_partition::{Estimate, Fused, Move, Target, fuse};

fn fused(body: &str) -> Fused {
    let text = format!(
        "HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}}\n\
         ENTRY e {{\n{body}\n}}"
    );
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    fuse(&module, &target()).unwrap_or_else(|found| panic!("{found}"))
}

fn target() -> Target {
    Target::preset("discrete").unwrap()
}

/// That of the only kernel.
fn estimate(body: &str) -> Estimate {
    let fused = fused(body);
    let sites: Vec<_> = fused.fusions().collect();
    assert_eq!(sites.len(), 1, "{}", weft_hlo::text::print(&fused.module));
    fused.estimate(sites[0], &target()).unwrap()
}

const MIB: f64 = 1_048_576.0;

#[test]
fn bytes_and_operations_are_counted_once() {
    let found = estimate(
        "x = f32[1024,1024] parameter(0)\ny = f32[1024,1024] parameter(1)\na = f32[1024,1024] add(x, y)\n\
         ROOT m = f32[1024,1024] multiply(a, y)",
    );
    assert_eq!((found.bytes_read, found.bytes_written), (8.0 * MIB, 4.0 * MIB));
    // `y` is read at two places of the function, at the same element.
    assert_eq!((found.bytes_read_again, found.units), (0.0, 2.0 * MIB));
    let memory = 1e9 * 12.0 * MIB / 360e9;
    assert!(found.memory_nanoseconds >= memory && found.memory_nanoseconds < 1.1 * memory, "{found}");
    let longest = found.memory_nanoseconds.max(found.compute_nanoseconds);
    let hidden = found.memory_nanoseconds.min(found.compute_nanoseconds);
    assert!((found.nanoseconds - (1000.0 + longest + 0.05 * hidden)).abs() < 1e-3, "{found}");
}

/// Every other element is half of the bytes, but neighbors share transactions with what is left out.
#[test]
fn what_neighbors_leave_out_is_fetched() {
    let found = estimate(
        "x = f32[4194304] parameter(0)\ns = f32[2097152] slice(x), slice={[0:4194304:2]}\nROOT n = f32[2097152] negate(s)",
    );
    assert_eq!((found.bytes_read, found.bytes_written), (16.0 * MIB, 8.0 * MIB));
    // A stretch of neighbors is only that stretch.
    let found = estimate(
        "x = f32[4194304] parameter(0)\ns = f32[2097152] slice(x), slice={[64:2097216]}\nROOT n = f32[2097152] negate(s)",
    );
    assert_eq!((found.bytes_read, found.bytes_read_again), (8.0 * MIB, 0.0));
}

#[test]
fn what_is_broadcast_is_read_again_from_caches() {
    let found = estimate(
        "x = f32[1024,1024] parameter(0)\nr = f32[1024] parameter(1)\nb = f32[1024,1024] broadcast(r), dimensions={1}\n\
         ROOT a = f32[1024,1024] add(x, b)",
    );
    assert_eq!((found.bytes_read, found.bytes_read_again), (4.0 * MIB + 4096.0, 4.0 * MIB - 4096.0));
    let first = 1e9 * (found.bytes_read + found.bytes_written) / 360e9;
    assert!(found.memory_nanoseconds > first && found.memory_nanoseconds < 1.05 * first, "{found}");
}

/// Rows are read once where values are kept.
#[test]
fn kept_rows_are_read_once() {
    let body = |columns: usize| {
        format!(
            "x = f32[4096,{columns}] parameter(0)\nz = f32[] constant(0)\n\
             s = f32[4096] reduce(x, z), dimensions={{1}}, to_apply=sum\n\
             b = f32[4096,{columns}] broadcast(s), dimensions={{0}}\nROOT d = f32[4096,{columns}] divide(x, b)"
        )
    };
    let found = estimate(&body(1024));
    assert_eq!((found.bytes_read, found.bytes_read_again), (16.0 * MIB, 0.0));
}

/// What follows from two kernels without a plan of both is what the plan says.
#[test]
fn kernels_of_the_same_elements_add_up() {
    let fused = fused(
        "x = f32[512,64] parameter(0)\ny = f32[512,64] parameter(1)\nr = f32[64] parameter(2)\n\
         b = f32[512,64] broadcast(r), dimensions={1}\np = f32[512,64] add(x, b)\ns = f32[512,64] sine(p)\n\
         c = f32[512,64] cosine(p)\nt = f32[512,64] multiply(s, y)\nv = f32[512,64] subtract(c, b)\n\
         ROOT o = (f32[512,64], f32[512,64], f32[512,64], f32[512,64]) tuple(s, c, t, v)",
    );
    let sites: Vec<_> = fused.fusions().collect();
    assert_eq!(sites.len(), 1);
    let merged = fused.candidates.iter().rev().find(|one| one.is_taken && one.kind != Move::IntoUsers).unwrap();
    let (found, expected) = (merged.nanoseconds.unwrap().after, fused.estimate(sites[0], &target()).unwrap());
    assert!((found - expected.nanoseconds).abs() <= 0.01 * expected.nanoseconds, "{found} and {expected}");
}

/// Rounds that are counted are as many as the round; what the host decides is not known.
#[test]
fn loops_take_their_rounds() {
    let program = |bound: &str| {
        let text = format!(
            "HloModule m\nless {{ s = (s32[], f32[65536], s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
             n = s32[] get-tuple-element(s), index=2\n k = s32[] constant(10)\n ROOT l = pred[] compare(i, {bound}), direction=LT }}\n\
             step {{ s = (s32[], f32[65536], s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
             x = f32[65536] get-tuple-element(s), index=1\n n = s32[] get-tuple-element(s), index=2\n one = s32[] constant(1)\n \
             j = s32[] add(i, one)\n y = f32[65536] tanh(x)\n ROOT t = (s32[], f32[65536], s32[]) tuple(j, y, n) }}\n\
             ENTRY e {{ x = f32[65536] parameter(0)\n n = s32[] parameter(1)\n z = s32[] constant(0)\n \
             s = (s32[], f32[65536], s32[]) tuple(z, x, n)\n w = (s32[], f32[65536], s32[]) while(s), condition=less, body=step\n \
             ROOT y = f32[65536] get-tuple-element(w), index=1 }}"
        );
        fuse(&parse(&text).unwrap(), &target()).unwrap()
    };
    let known = program("k");
    let round: f64 = known
        .fusions()
        .filter(|site| known.name(*site).starts_with("step/"))
        .map(|site| known.estimate(site, &target()).unwrap().nanoseconds)
        .sum();
    let found = known.estimated_nanoseconds(&target(), false).unwrap();
    assert!((found - (1000.0 + 10.0 * round)).abs() < 1.0, "{found}, rounds of {round}");
    let unknown = program("n").estimated_nanoseconds(&target(), false);
    assert!(unknown.is_err_and(|reason| reason.contains("unknown number of rounds")));
}
