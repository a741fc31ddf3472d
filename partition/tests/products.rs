//! What is fused with sums of products, and attention.

use weft_hlo::ir::{Module, Op};
use weft_hlo::passes::Pipeline;
use weft_hlo::text::parse;
use weft_partition::{Emitter, Fused, FusionPlan, Subgroups, Target, fuse, fuse_explained};

/// The targets that have schedules of their own.
fn targets() -> impl Iterator<Item = Target> {
    ["discrete", "software"].into_iter().map(|name| Target::preset(name).unwrap())
}

fn read(body: &str) -> Module {
    let text = format!("HloModule m\nENTRY e {{\n{body}\n}}\n");
    parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// For each kernel how many sums of products have tiles, and how many instructions it computes of an opcode.
fn kernels(fused: &Fused, is_meant: fn(&Op) -> bool) -> Vec<(usize, usize)> {
    let kernel = |site| {
        let Op::Fusion { calls, .. } = fused.instruction(site)?.op else { return None };
        let plan = fused.plan(calls)?;
        let sums = if matches!(plan.emitter(), Emitter::Product(_)) { plan.factors().len() } else { 0 };
        let meant = fused.module.computations[calls].instructions.values().filter(|one| is_meant(&one.op));
        Some((sums, meant.count()))
    };
    let mut kernels: Vec<(usize, usize)> = fused.fusions().filter_map(kernel).collect();
    kernels.sort_unstable();
    kernels
}

fn is_tanh(op: &Op) -> bool {
    matches!(op, Op::Unary(weft_hlo::ir::UnaryOp::Tanh))
}

fn is_convert(op: &Op) -> bool {
    matches!(op, Op::Convert)
}

const LAYER: &str = "x = f32[64,128] parameter(0)\nw = f32[128,256] parameter(1)\nb = f32[256] parameter(2)\n\
    d = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n\
    bias = f32[64,256] broadcast(b), dimensions={1}\ns = f32[64,256] add(d, bias)\nh = f32[64,256] tanh(s)\n";

/// Bias, activation, residual and a narrower copy: one kernel that writes several results.
#[test]
fn what_is_computed_of_sums_is_in_their_kernel() {
    let body = format!(
        "{LAYER}r = f32[64,256] parameter(3)\ny = f32[64,256] add(h, r)\nn = bf16[64,256] convert(y)\n\
         ROOT o = (f32[64,256], bf16[64,256], f32[64,256]) tuple(y, n, h)"
    );
    for target in targets() {
        let fused = fuse(&read(&body), &target).unwrap();
        assert_eq!(kernels(&fused, is_tanh), [(1, 1)], "{}", fused.module);
    }
}

/// The results of a product in any order of their dimensions, with what is computed of them there: the tiles write them so.
#[test]
fn results_are_written_in_the_order_that_is_wanted() {
    for order in ["2,0,1,3", "0,2,1,3", "3,2,1,0", "0,1,3,2"] {
        let extents: Vec<&str> =
            order.split(',').map(|it| ["2", "4", "32", "64"][it.parse::<usize>().unwrap()]).collect();
        let shape = format!("f32[{}]", extents.join(","));
        let body = format!(
            "x = f32[8,32,16] parameter(0)\ny = f32[8,16,64] parameter(1)\nc = {shape} parameter(2)\n\
             d = f32[8,32,64] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, \
             rhs_contracting_dims={{1}}\nr = f32[2,4,32,64] reshape(d)\nt = {shape} transpose(r), \
             dimensions={{{order}}}\nROOT o = {shape} subtract(t, c)"
        );
        for target in targets() {
            let fused = fuse(&read(&body), &target).unwrap();
            assert_eq!(kernels(&fused, is_tanh), [(1, 0)], "{order}: {}", fused.module);
        }
    }
}

/// What one product makes of its results once, another does not make of its operand for each tile.
#[test]
fn what_can_be_computed_once_is_not_computed_for_each_tile() {
    let body = format!(
        "{LAYER}v = f32[256,128] parameter(3)\nROOT o = f32[64,128] dot(h, v), lhs_contracting_dims={{1}}, \
         rhs_contracting_dims={{0}}"
    );
    for target in targets() {
        let fused = fuse(&read(&body), &target).unwrap();
        let found = kernels(&fused, is_tanh);
        assert_eq!(found, [(1, 0), (1, 1)], "{}", fused.module);
    }
}

/// Weights of bytes are made floats and scaled where they are read; what would be far more work than bytes is made once.
#[test]
fn operands_are_made_where_they_are_read_if_that_takes_less_time() {
    let body = |rows: usize, make: &str| {
        format!(
            "x = f32[{rows},256] parameter(0)\nq = s8[256,64] parameter(1)\nscale = f32[64] parameter(2)\n\
             f = f32[256,64] convert(q)\nb = f32[256,64] broadcast(scale), dimensions={{1}}\n\
             w = f32[256,64] multiply(f, b)\n{make}\n\
             ROOT o = f32[{rows},64] dot(x, m), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
    };
    for target in targets() {
        let fused = fuse(&read(&body(64, "m = f32[256,64] negate(w)")), &target).unwrap();
        assert_eq!(kernels(&fused, is_convert), [(1, 1)], "{}", fused.module);
        let steps: Vec<String> = (0..20).map(|step| format!("t{} = f32[256,64] tanh(t{step})", step + 1)).collect();
        let make = format!("t0 = f32[256,64] negate(w)\n{}\nm = f32[256,64] negate(t20)", steps.join("\n"));
        let fused = fuse(&read(&body(8192, &make)), &target).unwrap();
        assert_eq!(kernels(&fused, is_convert), [(0, 1), (1, 0)], "{}", fused.module);
    }
}

/// Three products of one matrix, as attention begins, are a launch.
#[test]
fn products_of_one_matrix_are_one_kernel() {
    let product = |name: &str, number: usize| {
        format!(
            "{name}w = f32[128,128] parameter({number})\n{name} = f32[64,128] dot(x, {name}w), lhs_contracting_dims={{1}}, \
             rhs_contracting_dims={{0}}\n"
        )
    };
    let body = format!(
        "x = f32[64,128] parameter(0)\n{}{}{}ROOT o = (f32[64,128], f32[64,128], f32[64,128]) tuple(q, k, v)",
        product("q", 1),
        product("k", 2),
        product("v", 3)
    );
    for target in targets() {
        let fused = fuse(&read(&body), &target).unwrap();
        assert_eq!(kernels(&fused, is_tanh), [(3, 0)], "{}", fused.module);
    }
}

/// As JAX prints it: the products with scale and mask, softmax, the products with the values; grouped heads, too.
#[test]
fn attention_is_three_kernels_and_its_gradient_no_more_than_five() {
    let programs = [
        (include_str!("attention/causal.hlo"), 3),
        (include_str!("attention/grouped.hlo"), 3),
        (include_str!("attention/causal_gradient.hlo"), 3),
        (include_str!("attention/grouped_gradient.hlo"), 4),
    ];
    for (text, most) in programs {
        let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
        let module = Pipeline::default().run(&module).unwrap().module;
        for target in targets() {
            let fused = fuse_explained(&module, &target).unwrap();
            let found = kernels(&fused, is_tanh);
            assert!(found.len() <= most, "{found:?}\n{}", fused.module);
        }
    }
}

/// The plans of a convolution with padding in four orders of dimensions: tiles of both kinds of device, results in the order that is wanted.
#[test]
fn convolutions_go_through_tiles() {
    let programs = [
        ("f32[8,56,56,64]", "f32[3,3,64,64]", "f32[8,56,56,64]", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1", ""),
        (
            "f32[8,128,28,28]",
            "f32[128,128,3,3]",
            "f32[8,128,14,14]",
            "bf01_oi01->bf01",
            "size=3x3 stride=2x2 pad=0_1x0_1",
            "",
        ),
        (
            "f32[8,16,16,64]",
            "f32[3,3,16,64]",
            "f32[8,16,16,64]",
            "b01f_01io->b01f",
            "size=3x3 pad=1_1x1_1",
            ", feature_group_count=4",
        ),
        ("f32[8,16,23,23]", "f32[32,16,3,3]", "f32[8,32,23,23]", "bf01_oi01->bf01", "size=3x3 pad=1_1x1_1", ""),
        (
            "f32[8,28,28,32]",
            "f32[3,3,32,32]",
            "f32[8,56,56,32]",
            "b01f_01io->b01f",
            "size=3x3 pad=1_2x1_2 lhs_dilate=2x2",
            "",
        ),
        (
            "f32[8,56,56,128]",
            "f32[3,3,1,128]",
            "f32[8,56,56,128]",
            "b01f_01io->b01f",
            "size=3x3 pad=1_1x1_1",
            ", feature_group_count=128",
        ),
        (
            "f32[8,128,56,56]",
            "f32[256,1,3,3]",
            "f32[8,256,28,28]",
            "bf01_oi01->bf01",
            "size=3x3 stride=2x2 pad=0_1x0_1",
            ", feature_group_count=128",
        ),
    ];
    for (input, kernel, result, labels, window, groups) in programs {
        let body = format!(
            "x = {input} parameter(0)\nw = {kernel} parameter(1)\n\
             ROOT y = {result} convolution(x, w), window={{{window}}}, dim_labels={labels}{groups}"
        );
        for target in targets() {
            let fused = fuse(&read(&body), &target).unwrap();
            let plans: Vec<_> = fused.module.computations.ids().filter_map(|id| fused.plan(id)).collect();
            let is_tiled = |plan: &&FusionPlan| matches!(plan.emitter(), Emitter::Product(_));
            assert_eq!(plans.iter().copied().filter(is_tiled).count(), 1, "{:?}\n{body}", plans[0].why());
        }
    }
}

/// Members of a subgroup read places of a window together of which it may cover none, one at a time; where the features of one are few, or divide nothing, several, of half as many rows, features told whether there are any.
#[test]
fn windows_of_few_features_are_read_together() {
    let sizes = Subgroups { min: 8, max: 8 };
    let target = Target::preset("software").unwrap().with(|target| target.features.subgroup = Some(sizes));
    for (features, pad, expected) in [
        (3, "pad=2_3x2_3", "tile=28x8 step=3 lanes=4 members=8 space"),
        (3, "pad=0_5x0_5", "tile=28x8 step=3 lanes=4 members=8 space"),
        (8, "pad=2_3x2_3", "tile=28x8 step=8 lanes=4 members=8 space"),
        (10, "pad=2_3x2_3", "tile=28x8 step=10 lanes=4 members=8 space"),
        (2, "pad=2_3x2_3", "tile=16x8 step=8 lanes=4 members=8 crosses=2 space"),
        (13, "pad=2_3x2_3", "tile=16x8 step=8 lanes=4 members=8 crosses=1 space"),
        (24, "pad=2_3x2_3", "tile=28x8 step=8 stretch=104 lanes=4 members=8 space"),
        (26, "pad=2_3x2_3", "tile=16x8 step=8 stretch=104 lanes=4 members=8 crosses=2 space"),
    ] {
        let body = format!(
            "x = f32[2,224,224,{features}] parameter(0)\nw = f32[7,7,{features},64] parameter(1)\n\
             ROOT y = f32[2,112,112,64] convolution(x, w), window={{size=7x7 stride=2x2 {pad}}}, dim_labels=b01f_01io->b01f"
        );
        let fused = fuse(&read(&body), &target).unwrap();
        let plans: Vec<_> = fused.module.computations.ids().filter_map(|id| fused.plan(id)).collect();
        let [Emitter::Product(product)] = plans.iter().map(|plan| plan.emitter()).collect::<Vec<_>>()[..] else {
            panic!("{body}")
        };
        assert!(product.to_string().contains(expected), "{product}\n{body}");
    }
}

/// Results that share words, and of which tiles write none as a whole, are words of their own first: columns that are no multiple of four, and features that are not the last dimension. Few products stay a loop.
#[test]
fn results_that_share_words_are_converted_behind_tiles() {
    let dot = |rows: i64, columns: i64| {
        format!(
            "x = bf16[{rows},256] parameter(0)\nw = bf16[256,{columns}] parameter(1)\n\
             ROOT y = bf16[{rows},{columns}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
    };
    let convolution = |ty: &str, places: i64, labels: &str| {
        let [x, w, y] = match labels {
            "bf01_oi01->bf01" => {
                [format!("2,64,{places},{places}"), "64,64,3,3".into(), format!("2,64,{places},{places}")]
            }
            _ => [format!("2,{places},{places},64"), "3,3,64,64".into(), format!("2,{places},{places},64")],
        };
        format!(
            "x = {ty}[{x}] parameter(0)\nw = {ty}[{w}] parameter(1)\n\
             ROOT y = {ty}[{y}] convolution(x, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels={labels}"
        )
    };
    for (body, is_wide) in [
        (dot(512, 1001), true),
        (dot(512, 1000), false),
        (dot(2, 3), false),
        (convolution("f16", 56, "bf01_oi01->bf01"), true),
        (convolution("s8", 56, "bf01_oi01->bf01"), true),
        (convolution("f16", 56, "b01f_01io->b01f"), false),
        (convolution("f32", 56, "bf01_oi01->bf01"), false),
    ] {
        for target in targets() {
            let fused = fuse(&read(&body), &target).unwrap();
            let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
            let tiled = plans.filter(|plan| matches!(plan.emitter(), Emitter::Product(_))).count();
            assert_eq!(tiled, usize::from(body != dot(2, 3)), "{}", fused.module);
            let converts = kernels(&fused, is_convert).iter().map(|(_, converts)| converts).sum::<usize>();
            assert_eq!(converts, usize::from(is_wide), "{}", fused.module);
        }
    }
}

/// Where registers are few tiles of large products that are covered everywhere have half as many rows again. Windows of one place have no steps of several.
#[test]
fn tiles_are_taller_where_registers_are_few() {
    let sizes = Subgroups { min: 4, max: 4 };
    let dot = |rows: i64| {
        format!(
            "x = f32[{rows},1024] parameter(0)\nw = f32[1024,1024] parameter(1)\n\
             ROOT y = f32[{rows},1024] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
    };
    let convolution = |features: i64, size: i64, pad: &str| {
        let places = if size == 1 { 58 } else { 56 };
        format!(
            "x = f32[2,56,56,{features}] parameter(0)\nw = f32[{size},{size},{features},64] parameter(1)\n\
             ROOT y = f32[2,{places},{places},64] convolution(x, w), window={{size={size}x{size} pad={pad}}}, dim_labels=b01f_01io->b01f"
        )
    };
    for (few_registers, body, expected) in [
        (true, dot(1024), "tile=24x16 step=8 lanes=4 members=4 space"),
        (false, dot(1024), "tile=16x16 step=8 lanes=4 members=4 space"),
        (true, dot(96), "tile=24x16 step=8 lanes=4 members=4 space"),
        // Few multiply-adds.
        (true, dot(3), "tile=3x16 step=8 lanes=4 members=4 space"),
        (true, convolution(16, 3, "1_1x1_1"), "tile=14x16 step=8 lanes=4 members=4 space"),
        (true, convolution(13, 1, "1_1x1_1"), "step=8 lanes=4 members=4 space"),
    ] {
        let target = Target::preset("software").unwrap().with(|target| {
            target.features.subgroup = Some(sizes);
            target.hardware.few_registers = few_registers;
        });
        let fused = fuse(&read(&body), &target).unwrap();
        let plans: Vec<_> = fused.module.computations.ids().filter_map(|id| fused.plan(id)).collect();
        let [Emitter::Product(product)] = plans.iter().map(|plan| plan.emitter()).collect::<Vec<_>>()[..] else {
            panic!("{body}")
        };
        assert!(product.to_string().contains(expected), "{product}\n{body}");
    }
}

/// Elements of several registers leave an invocation so many times fewer results, and a tile of a workgroup takes so many times more memory; what few results share of them is read by loops.
#[test]
fn elements_of_several_registers_have_smaller_tiles() {
    let dot = |ty: &str, columns: i64| {
        format!(
            "x = {ty}[256,256] parameter(0)\nw = {ty}[256,{columns}] parameter(1)\n\
             ROOT y = {ty}[256,{columns}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
    };
    let depthwise = "x = c64[1,16,16,8] parameter(0)\nw = c64[3,3,1,8] parameter(1)\nROOT y = c64[1,16,16,8] convolution(x, w), \
                     window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=8";
    for (preset, body, expected) in [
        ("software", dot("f32", 256), Ok("tile=16x16")),
        ("software", dot("c64", 256), Ok("tile=8x8 step=4 stretch=16 words=2 space")),
        ("software", dot("s64", 256), Ok("tile=8x8 step=4 stretch=16 words=2 space")),
        ("software", dot("f64", 256), Ok("tile=8x8 step=4 stretch=16 words=2 space")),
        ("software", dot("c128", 256), Ok("tile=4x8 step=4 stretch=16 words=4 space")),
        ("discrete", dot("u64", 256), Ok("shared step=32 stretch=32 words=2 space")),
        ("software", dot("s64", 1), Err("its elements take 2 registers each, and few results share one")),
        ("software", depthwise.to_owned(), Err("its elements take 2 registers each, and few results share one")),
    ] {
        let target = Target::preset(preset).unwrap().with(|target| {
            (target.features.shader_f64, target.features.shader_int64, target.features.subgroup) = (true, true, None);
        });
        let fused = fuse(&read(&body), &target).unwrap();
        let of = |id| Some((fused.plan(id)?.emitter(), fused.plan(id)?.text(&fused.module.computations[id])));
        let plans: Vec<(Emitter, String)> = fused.module.computations.ids().filter_map(of).collect();
        let (emitter, text) = &plans[0];
        match (emitter, expected) {
            (Emitter::Product(product), Ok(expected)) => {
                assert!(product.to_string().contains(expected), "{product}\n{body}");
            }
            (_, Err(reason)) => assert!(text.contains(reason), "{text}\n{body}"),
            (emitter, _) => panic!("{emitter:?}\n{body}"),
        }
    }
}

/// Fusing takes time by the number of products: of those of a chain with own matrices and with one, and of those of one matrix.
#[test]
fn fusing_takes_time_by_the_number_of_products() {
    let dot = |name: &str, operands: &str| {
        format!("{name} = f32[16,16] dot({operands}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")
    };
    let layer = |number: usize, matrix: &str| {
        let next = number + 1;
        let product = dot(&format!("d{number}"), &format!("x{number}, {matrix}"));
        format!("{product}t{number} = f32[16,16] add(d{number}, b)\nx{next} = f32[16,16] tanh(t{number})\n")
    };
    let matrix = |number: usize| format!("w{number} = f32[16,16] parameter({})\n", number + 2);
    let begin = "x0 = f32[16,16] parameter(0)\nb = f32[16,16] parameter(1)\n";
    let chain = |count: usize| {
        let layers: String = (0..count).map(|number| matrix(number) + &layer(number, &format!("w{number}"))).collect();
        format!("{begin}{layers}ROOT r = f32[16,16] negate(x{count})")
    };
    let unrolled = |count: usize| {
        let layers: String = (0..count).map(|number| layer(number, "w0")).collect();
        format!("{begin}{}{layers}ROOT r = f32[16,16] negate(x{count})", matrix(0))
    };
    let beside = |count: usize| {
        let products: String =
            (0..count).map(|number| matrix(number) + &dot(&format!("d{number}"), &format!("x0, w{number}"))).collect();
        let results: Vec<String> = (0..count).map(|number| format!("d{number}")).collect();
        let shapes = vec!["f32[16,16]"; count].join(", ");
        format!("{begin}{products}ROOT r = ({shapes}) tuple({})", results.join(", "))
    };
    let target = Target::preset("discrete").unwrap();
    let seconds = |body: String| {
        let module = read(&body);
        let began = std::time::Instant::now();
        fuse(&module, &target).unwrap();
        began.elapsed().as_secs_f64()
    };
    let programs: [(&str, &dyn Fn(usize) -> String); 3] =
        [("chain", &chain), ("unrolled", &unrolled), ("beside", &beside)];
    for (name, program) in programs {
        let (few, many) = (seconds(program(25)), seconds(program(250)));
        eprintln!("{name}: {few} s for 25 products, {many} s for 250");
        assert!(many < 40.0 * few.max(0.005), "{name}: {few} s for 25 products, {many} s for 250");
    }
}

/// What chooses between places is no part of tiles in software, and is one on GPUs.
#[test]
fn branches_stand_in_tiles_of_gpus_only() {
    let text = "HloModule m
        ENTRY e {
          w = f32[64,64] parameter(0)
          a = f32[32,64] parameter(1)
          b = f32[32,64] parameter(2)
          c = f32[64,64] concatenate(a, b), dimensions={0}
          ROOT r = f32[64,64] dot(w, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }";
    let module = weft_hlo::text::parse(text).unwrap();
    for (preset, wanted) in [("software", 2), ("discrete", 1)] {
        let target = Target::preset(preset).unwrap();
        let fused = weft_partition::fuse(&module, &target).unwrap();
        let plans: Vec<_> = fused.module.computations.ids().filter_map(|id| fused.plan(id)).collect();
        let products = plans.iter().filter(|plan| matches!(plan.emitter(), Emitter::Product(_))).count();
        assert_eq!((plans.len(), products), (wanted, 1), "{preset}");
    }
}
