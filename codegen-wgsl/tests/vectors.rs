//! Vectors, and what rounds of them hold, keep what a kernel computes: kernels whose elements are shared out a launch apart are run on
//! memories of symbols before and after.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::machine::{Writes, invocation, write};
use crate::support::{IN_LOOPS, Stages, all_stages, in_loops, on_all_cores, verified};
use weft_affine::{Constraint, Expr, Interval, Ranges, Var, simplify};
use weft_codegen_wgsl::compile;
use weft_codegen_wgsl::kernel::{Block, Condition, Function, Kernel, Memory, ScalarOp, Statement};
use weft_codegen_wgsl::lower::{hold, lane_by_lane, lanes_apart, neighbors, peel, vectorize};
use weft_hlo::ir::{BinaryOp, UnaryOp};
use weft_hlo::text::parse;
use weft_partition::{Schedule, Target, fuse};

/// Elements that a kernel computes at most to be run.
const MOST: i64 = 600;

/// The kernel in which one invocation after the other computes `rounds` elements, a launch of `threads` times some workgroups apart.
fn spread(kernel: &Kernel, rounds: i64, threads: i64) -> Kernel {
    let launched: i64 = kernel.entry.extents.iter().product();
    let mut spread = kernel.clone();
    let groups = (launched + rounds * threads - 1) / (rounds * threads);
    spread.entry.extents = vec![groups, threads];
    let launch = groups * threads;
    let position =
        Expr::range(0).checked_mul(launch).unwrap().checked_add(&spread.entry.invocation().unwrap()).unwrap();
    // What the coordinates of the former launch are.
    let mut rest = position.clone();
    let mut dims = Vec::new();
    let (last, coordinates) = kernel.entry.extents.split_last().unwrap();
    let thread = rest.checked_modulo(*last).unwrap();
    rest = rest.checked_floor_div(*last).unwrap();
    for extent in coordinates {
        dims.push(rest.checked_modulo(*extent).unwrap());
        rest = rest.checked_floor_div(*extent).unwrap();
    }
    dims.push(thread);
    let ranges = Ranges {
        dims: vec![Interval::of_extent(groups), Interval::of_extent(threads)],
        ranges: vec![Interval::of_extent(rounds)],
        runtime: Vec::new(),
    };
    let within = Constraint::new(position, Interval::of_extent(launched));
    let mut body = std::mem::take(&mut spread.entry.body);
    rewrite(&mut body, &dims, &ranges, &within);
    let condition = Condition::Indices(vec![within]);
    let guarded = Statement::If { values: Vec::new(), condition, then: body, otherwise: Block::default() };
    let body = Block { statements: vec![guarded], results: Vec::new() };
    let (values, init, accumulators) = (Vec::new(), Vec::new(), Vec::new());
    spread.entry.body.statements.push(Statement::Loop { values, extents: vec![rounds], init, accumulators, body });
    spread
}

fn rewrite(block: &mut Block, dims: &[Expr], ranges: &Ranges, within: &Constraint) {
    for statement in &mut block.statements {
        for index in statement.indices_mut() {
            let of = |variable| match variable {
                Var::Dim(dimension) => Some(dims[dimension as usize].clone()),
                _ => None,
            };
            *index = simplify(&index.substitute(of).unwrap(), ranges, std::slice::from_ref(within));
        }
        statement.blocks_mut().into_iter().for_each(|block| rewrite(block, dims, ranges, within));
    }
}

/// What all invocations write.
fn writes(kernel: &Kernel) -> Writes {
    let launched: i64 = kernel.entry.extents.iter().product();
    let mut writes = Writes::new();
    for number in 0..launched {
        for (place, element) in invocation(kernel, number) {
            write(kernel, &mut writes, place, element);
        }
    }
    writes
}

/// Whether any value of a kernel is a vector that is read.
fn reads_vectors(kernel: &Kernel) -> bool {
    fn any(block: &Block, is: &dyn Fn(&Statement) -> bool) -> bool {
        block.statements.iter().any(|one| is(one) || one.blocks().into_iter().any(|block| any(block, is)))
    }
    kernel.bodies().any(|function| {
        any(&function.body, &|statement| match statement {
            Statement::Let { value, op: ScalarOp::Extract { .. } } => function.values[*value].lanes > 1,
            _ => false,
        })
    })
}

/// How many kernels of a module become kernels of vectors, and how many of them read some.
fn check(name: &str, made: &[Stages]) -> (usize, usize) {
    let (mut vectors, mut reads) = (0, 0);
    for made in made {
        let launched: i64 = made.kernel.entry.extents.iter().product();
        // What has memories of its own is no loop that could be spread.
        if launched == 0 || launched > MOST || !made.before_vectors.memories.values().all(Memory::is_buffer) {
            continue;
        }
        let expected = writes(&made.before_vectors);
        for (rounds, threads, schedule) in [(4, 8, Schedule::Gpu), (4, 8, Schedule::Software), (8, 3, Schedule::Gpu)] {
            let target = Target::default().with(|target| target.schedule = Some(schedule));
            let apart = spread(&made.before_vectors, rounds, threads);
            let found = vectorize(&apart);
            if found == apart {
                continue;
            }
            vectors += 1;
            reads += usize::from(reads_vectors(&found));
            // What the rounds have in common is held, and rounds are divided, without a difference.
            let held = hold(&found, &target).unwrap();
            let divided = peel(&held).unwrap();
            let unproved = found.verify().unwrap_or_else(|findings| panic!("{name}: {findings:?}\n{apart}\n{found}"));
            let read = neighbors(&divided).unwrap();
            let mut stages = vec![&found, &held, &divided, &read];
            stages.dedup();
            for kernel in stages {
                assert_eq!(kernel.verify().as_ref(), Ok(&unproved), "{name}\n{found}\n{kernel}");
                assert_eq!(Kernel::parse(&kernel.to_string()).as_ref(), Ok(kernel), "{name} is read back");
            }
            // What a stage did wrong the last one shows.
            assert_eq!(writes(&read), expected, "{name}\n{apart}\n{read}");
        }
    }
    (vectors, reads)
}

#[test]
fn the_corpus_computes_the_same_in_vectors() {
    let found: Vec<(usize, usize)> = on_all_cores(&IN_LOOPS, |(name, made)| check(name, made));
    let vectors: usize = found.iter().map(|(vectors, _)| vectors).sum();
    let reads: usize = found.iter().map(|(_, reads)| reads).sum();
    assert!(vectors > 200 && reads > 100, "{vectors} of vectors, {reads} that read some");
}

#[test]
fn what_moves_elements_computes_the_same_in_vectors() {
    for (name, body) in [
        ("ragged", "x = f32[7,13] parameter(0)\nROOT y = f32[7,13] negate(x)"),
        ("pad", "x = f32[6,16] parameter(0)\nv = f32[] parameter(1)\nROOT y = f32[9,24] pad(x, v), padding=2_1x4_4"),
        (
            "pad of a slice",
            "x = f32[6,16] parameter(0)\ns = f32[5,10] slice(x), slice={[0:5], [3:13]}\nv = f32[] parameter(1)\nROOT y = f32[8,16] pad(s, v), padding=2_1x3_3",
        ),
        (
            "pad of a narrow slice",
            "x = f32[6,16] parameter(0)\ns = f32[6,3] slice(x), slice={[0:6], [5:8]}\nv = f32[] parameter(1)\nROOT y = f32[6,8] pad(s, v), padding=0_0x1_4",
        ),
        (
            "odd pad",
            "x = f32[6,16] parameter(0)\nv = f32[] parameter(1)\nROOT y = f32[8,21] pad(x, v), padding=1_1x3_2",
        ),
        ("slice", "x = f32[8,32] parameter(0)\nROOT y = f32[5,24] slice(x), slice={[2:7], [4:28]}"),
        (
            "concatenate",
            "x = f32[4,12] parameter(0)\ny = f32[4,8] parameter(1)\nROOT z = f32[4,20] concatenate(x, y), dimensions={1}",
        ),
        (
            "odd concatenate",
            "x = f32[4,3] parameter(0)\ny = f32[4,8] parameter(1)\nROOT z = f32[4,11] concatenate(x, y), dimensions={1}",
        ),
        (
            "rows",
            "x = f32[16] parameter(0)\ny = f32[8] parameter(1)\na = f32[8,16] broadcast(x), dimensions={1}\nb = f32[8,16] broadcast(y), dimensions={0}\nROOT c = f32[8,16] add(a, b)",
        ),
        (
            "transpose",
            "x = f32[8,12] parameter(0)\nb = f32[12] parameter(1)\nt = f32[12,8] transpose(x), dimensions={1,0}\nc = f32[12,8] broadcast(b), dimensions={0}\nROOT y = f32[12,8] add(t, c)",
        ),
        ("numbers", "x = s32[6,8] parameter(0)\ni = s32[6,8] iota(), iota_dimension=1\nROOT y = s32[6,8] add(x, i)"),
        (
            "gather",
            "x = f32[9,16] parameter(0)\ni = s32[7,1] parameter(1)\nROOT y = f32[7,16] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}",
        ),
        (
            "gather of elements",
            "x = f32[40] parameter(0)\ni = s32[24,1] parameter(1)\nROOT y = f32[24] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
        ),
        (
            "blocks",
            "x = f32[4,8] parameter(0)\nr = f32[32] reshape(x)\nv = f32[] constant(1)\np = f32[40] pad(r, v), padding=4_4\nROOT y = f32[5,8] reshape(p)",
        ),
    ] {
        let module = verified(&format!("HloModule m\nENTRY main {{ {body} }}"));
        let made = all_stages(&in_loops(module)).unwrap_or_else(|findings| panic!("{name}: {findings}"));
        let (vectors, _) = check(name, &made);
        println!("{name}: {vectors}");
    }
}

/// Rows of sums, of maxima, of what is computed before, and of elements that lie elsewhere or in the wrong number.
#[test]
fn rows_are_read_in_vectors_and_computed_the_same() {
    let add = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }";
    for (name, shape, before, is_read) in [
        ("rows", "6,64", "y = f32[6,64] negate(x)", true),
        ("uneven rows", "4,70", "y = f32[4,70] negate(x)", false),
        ("dear rows", "3,64", "y = f32[3,64] exponential(x)", true),
        ("rows too dear to be computed several elements at a time", "3,64", "y = f32[3,64] sine(x)", false),
        ("halves of rows", "5,128", "y = f32[5,64] slice(x), slice={[0:5], [64:128]}", true),
        ("reversed rows", "5,64", "y = f32[5,64] reverse(x), dimensions={1}", true),
        ("rows behind one", "5,65", "y = f32[5,64] slice(x), slice={[0:5], [1:65]}", false),
        ("what is stored in threes", "3,67", "y = f32[3,64] slice(x), slice={[0:3], [0:64]}", false),
    ] {
        let rows = shape.split(',').next().unwrap();
        let module = verified(&format!(
            "HloModule m\n{add}\nENTRY main {{ x = f32[{shape}] parameter(0)\nc = f32[] constant(0)\n{before}\n\
             ROOT s = f32[{rows}] reduce(y, c), dimensions={{1}}, to_apply=f }}"
        ));
        for made in all_stages(&in_loops(module)).unwrap_or_else(|findings| panic!("{name}: {findings}")) {
            let kernel = &made.before_vectors;
            let found = neighbors(kernel).unwrap();
            assert_eq!(reads_vectors(&found), is_read, "{name}\n{found}");
            assert_eq!(found.verify(), kernel.verify(), "{name}\n{found}");
            assert_eq!(Kernel::parse(&found.to_string()).as_ref(), Ok(&found), "{name} is read back");
            assert_eq!(writes(&found), writes(kernel), "{name}\n{found}");
        }
    }
}

/// Where registers are few, functions of the library compute lane by lane, within branches and loops too; what is computed stays the same.
#[test]
fn lanes_apart_compute_the_same() {
    fn of_library(block: &Block, function: &Function) -> Vec<u32> {
        let own = |statement: &Statement| match statement {
            Statement::Let { value, op: ScalarOp::Unary { op: UnaryOp::Sine | UnaryOp::Exponential, .. } }
            | Statement::Let { value, op: ScalarOp::Binary { op: BinaryOp::Power, .. } } => {
                vec![function.values[*value].lanes]
            }
            _ => statement.blocks().into_iter().flat_map(|block| of_library(block, function)).collect(),
        };
        block.statements.iter().flat_map(own).collect()
    }
    let module = verified(
        "HloModule m\nENTRY main {\nx = f32[6,16] parameter(0)\ny = f32[8] parameter(1)\nb = f32[6,8] broadcast(y), dimensions={1}\n\
         s = f32[6,16] sine(x)\ne = f32[6,8] exponential(b)\nc = f32[6,24] concatenate(s, e), dimensions={1}\ntwo = f32[] constant(2.5)\n\
         w = f32[6,24] broadcast(two), dimensions={}\np = f32[6,24] power(w, c)\nROOT r = f32[6,24] add(p, c)\n}",
    );
    let few = Target::default().with(|target| target.hardware.few_registers = true);
    for made in all_stages(&in_loops(module)).unwrap() {
        let lanes = |kernel: &Kernel| -> Vec<u32> {
            kernel.bodies().flat_map(|function| of_library(&function.body, function)).collect()
        };
        let vectors = vectorize(&made.before_vectors);
        assert!(lanes(&vectors).contains(&4), "{vectors}");
        assert_eq!(lanes_apart(vectors.clone(), &Target::default()), vectors);
        let apart = lanes_apart(vectors.clone(), &few);
        let found = lanes(&apart);
        assert!(found.len() > lanes(&vectors).len() && found.iter().all(|lanes| *lanes == 1), "{apart}");
        assert_eq!(apart.verify(), vectors.verify(), "{apart}");
        assert_eq!(Kernel::parse(&apart.to_string()).as_ref(), Ok(&apart));
        assert_eq!(writes(&apart), writes(&vectors), "{apart}");
    }
}

/// Where registers are few, rows of operations are done lane by lane, within branches and loops too; what is computed stays the same.
#[test]
fn rows_lane_by_lane_compute_the_same() {
    fn steps(block: &Block, function: &Function) -> Vec<u32> {
        let own = |statement: &Statement| match statement {
            Statement::Let { value, op: ScalarOp::Binary { op: BinaryOp::Multiply | BinaryOp::Add, .. } } => {
                vec![function.values[*value].lanes]
            }
            _ => statement.blocks().into_iter().flat_map(|block| steps(block, function)).collect(),
        };
        block.statements.iter().flat_map(own).collect()
    }
    let module = verified(
        "HloModule m\nENTRY main {\nx = f32[6,16] parameter(0)\ny = f32[6,16] parameter(1)\nz = f32[16] parameter(2)\n\
         b = f32[6,16] broadcast(z), dimensions={1}\nv = f32[6,8] parameter(3)\na = f32[6,16] multiply(x, y)\nc = f32[6,16] add(a, b)\n\
         d = f32[6,16] multiply(c, x)\ne = f32[6,16] multiply(y, b)\nf = f32[6,16] add(e, d)\n\
         k = f32[6,24] concatenate(f, v), dimensions={1}\nROOT r = f32[6,24] negate(k)\n}",
    );
    let few = Target::default().with(|target| target.hardware.few_registers = true);
    for made in all_stages(&in_loops(module)).unwrap() {
        let lanes = |kernel: &Kernel| -> Vec<u32> {
            kernel.bodies().flat_map(|function| steps(&function.body, function)).collect()
        };
        let vectors = vectorize(&made.before_vectors);
        assert_eq!(lane_by_lane(&vectors, &Target::default()), vectors);
        let apart = lane_by_lane(&vectors, &few);
        assert_eq!((lanes(&vectors), lanes(&apart)), (vec![4; 5], vec![1; 20]), "{apart}");
        assert_eq!(apart.verify(), vectors.verify(), "{apart}");
        assert_eq!(Kernel::parse(&apart.to_string()).as_ref(), Ok(&apart));
        assert_eq!(writes(&apart), writes(&vectors), "{apart}");
    }
}

/// Where lanes access memory one after the other, vectors lie in pairs of words, if the device has integers of 64 bits.
#[test]
fn vectors_lie_in_pairs_of_words() {
    let text = "HloModule m\nENTRY main {\nx = f32[64,256] parameter(0)\np = pred[64,256] parameter(1)\nn = s32[64,256] parameter(2)\n\
         h = bf16[64,256] parameter(3)\nc = f32[64,256] convert(n)\ns = f32[64,256] select(p, x, c)\nd = f32[64,256] convert(h)\n\
         t = f32[64,256] add(s, d)\nb = bf16[64,256] convert(t)\nROOT r = (f32[64,256], bf16[64,256]) tuple(t, b)\n}";
    let sources = |serial: bool, has_integers: bool| -> String {
        let target = Target::preset("software").unwrap().with(|target| {
            target.hardware.serial_access = serial;
            target.features.shader_int64 = has_integers;
        });
        let fused = fuse(&parse(text).unwrap(), &target).unwrap();
        let shader = |site| compile(&fused, site, &target).unwrap().source;
        fused.fusions().map(shader).collect()
    };
    let pairs = sources(true, true);
    for declared in ["x: array<vec2<u64>>", "n: array<vec2<u64>>", "t_out: array<vec2<u64>>"] {
        assert!(pairs.contains(declared), "{declared}: {pairs}");
    }
    for written in
        ["bitcast<vec4<f32>>(words_x4(x[", "bitcast<vec4<i32>>(words_x4(n[", "= pairs_x4(bitcast<vec4<u32>>("]
    {
        assert!(pairs.contains(written), "{written}: {pairs}");
    }
    for (serial, has_integers) in [(false, true), (true, false)] {
        let words = sources(serial, has_integers);
        assert!(words.contains("array<vec4<f32>>") && !words.contains("u64"), "{words}");
    }
}

/// An invocation computes four sums of windows that overlap, and reads what they have in common once; on GPUs from enough results on, where caches of cores hold it, or workgroups have no memory to share it in.
#[test]
fn what_windows_share_is_read_once() {
    let text = |count: i64, window: i64| {
        let results = count - window + 1;
        format!(
            "HloModule m\nf {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}\nENTRY main {{ \
             x = f32[{count}] parameter(0)\nc = f32[] constant(0)\nROOT s = f32[{results}] reduce-window(x, c), \
             window={{size={window}}}, to_apply=f }}"
        )
    };
    // Four windows of 9 take 12 neighbors, three vectors; four of 5 take 8.
    for (preset, count, window, reads) in [
        ("software", 1 << 20, 9, 3),
        ("software", 1 << 20, 5, 2),
        ("discrete", 1 << 20, 9, 3),
        ("discrete", 4096, 9, 1),
        ("without caches", 1 << 20, 9, 1),
        ("without memory", 1 << 20, 9, 3),
        ("without memory", 4096, 9, 1),
    ] {
        let module = weft_hlo::text::parse(&text(count, window)).unwrap_or_else(|found| panic!("{found}"));
        let target = match Target::preset(preset) {
            Ok(target) => target,
            Err(_) => Target::preset("discrete").unwrap().with(|target| {
                target.hardware.l1_bytes_per_core = 0;
                if preset == "without memory" {
                    target.max_workgroup_storage_bytes = 0;
                }
            }),
        };
        let fused = weft_partition::fuse(&module, &target).unwrap();
        let site = fused.fusions().next().unwrap();
        let shader = weft_codegen_wgsl::compile(&fused, site, &target).unwrap();
        assert!(shader.proofs().are_complete(), "{}", shader.kernel);
        let found = shader.source.matches("x[").count();
        assert_eq!(found, reads, "{preset} {count} {window}\n{}", shader.source);
    }
}
