//! The corpus on the default adapter, against XLA's outputs: whatever can be compiled must agree, and the programs that
//! must compile do.

use crate::corpus_support::{FORMS, Program, compare, compare_by, corpus};
use crate::support::{self, compile};
use crate::understood::UNDERSTOOD;
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::eval::{Config, evaluate_precisely};
use weft_hlo::ir::{Literal, Op};
use weft_partition::Target;
use weft_runtime::program::Host;
use weft_runtime::{Device, Executable, Options, compile_with};

/// Forms that must run besides: what XLA optimized for its CPU, where only understood operations occur.
const MUST_RUN_OPTIMIZED: &[&str] =
    &["activations_grad", "batchnorm_train", "broadcasting", "ew_bool", "heat_roll", "life", "scalar_and_empty"];

/// Programs that must run as they were printed without the host computing anything, besides those that every layer understands.
const MUST_RUN: &[&str] = &[
    "argreduce",
    "attention_causal",
    "bincount_histogram",
    "cholesky_solve",
    "cnn_mnist_fwd",
    "cond_switch",
    "conjugate_gradient",
    "constant_table",
    "conv_variants",
    "cumulative",
    "depthwise_separable_grad",
    "dynamic_slice",
    "embedding_grad",
    "ew_bf16",
    "ew_binary_f32",
    "ew_complex64",
    "ew_f16",
    "ew_int32",
    "ew_int4",
    "ew_int8_uint8",
    "ew_uint32_bits",
    "ew_unary_jnp",
    "fft_c2c",
    "fft_real_conv",
    "flax_diffusion_sample",
    "flax_transformer_infer",
    "flax_transformer_train_adamw",
    "gpt_fwd",
    "image_augment",
    "indexing_gather",
    "jacobi_stencil",
    "kv_cache_decode",
    "lstm_scan",
    "mandelbrot",
    "mlp_fwd",
    "mlp_train_adam",
    "polynomial_interp",
    "random_all",
    "random_normal_bf16",
    "reduce_window_pool",
    "reductions",
    "resnet_block",
    "rng_bit_generator",
    "scatter_variants",
    "segment_sum_gnn",
    "shape_ops",
    "sorting",
    "top_k",
    "while_newton",
];

/// Programs that must run as they were printed where the device computes with `f64`.
const MUST_RUN_WITH_F64: &[&str] = &["x64_complex128_fft", "x64_mlp_grad", "x64_random"];

enum Verdict {
    /// It agrees, and the host computed these operations.
    Agrees(Vec<String>),
    Refused(&'static str),
}

fn judge(device: &Device, program: &Program, form: &str, options: &Options) -> Result<Verdict, String> {
    let module = program.module(form).ok_or("there is no such form")?;
    let compiled = match compile_with(&module, device.target(), options) {
        Ok(compiled) => compiled,
        // A refusal must be one: coded findings, each with its place.
        Err(error) => {
            let findings = error.findings().ok_or_else(|| format!("refused without findings: {error}"))?;
            let first = findings.0.first().ok_or("refused with no finding")?;
            let placed = findings.0.iter().all(|finding| !finding.span.range().is_empty());
            return if placed { Ok(Verdict::Refused(first.code)) } else { Err(format!("no place in: {error}")) };
        }
    };
    // A run holds hardly more than what lives at one time, and what a few small buffers hold whose values are not needed any more.
    let totals = compiled.totals();
    if 4 * compiled.peak_bytes() > 5 * totals.least + (32 << 10) {
        return Err(format!(
            "{} bytes at its peak, {} live at once at most\n{compiled}",
            compiled.peak_bytes(),
            totals.least
        ));
    }
    let inputs = program.inputs();
    let expected = program.outputs();
    let mut on_host: Vec<String> = compiled.host_steps().flat_map(Host::operations).collect();
    on_host.sort();
    on_host.dedup();
    let executable = Executable::new(device, compiled).map_err(|error| error.to_string())?;
    let actual = executable.run(&inputs).map_err(|error| error.to_string())?;
    if actual.len() != expected.len() {
        return Err(format!("{} outputs expected, {} given", expected.len(), actual.len()));
    }
    for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
        let Err(difference) = compare(expected, actual) else { continue };
        // Where XLA's own rounding is larger than the tolerance, ours may be.
        let precise =
            evaluate_precisely(&module, &inputs, &Config::default()).map_err(|findings| findings.to_string())?;
        compare_by(expected, actual, &precise[number]).map_err(|_| format!("output {number}: {difference}"))?;
    }
    Ok(Verdict::Agrees(on_host))
}

#[test]
fn the_corpus_agrees_with_xla() {
    let device = support::device();
    let mut failures = Vec::new();
    let mut refused: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut agreed, mut with_host) = (Vec::new(), BTreeMap::new());
    for program in corpus() {
        for form in FORMS {
            if program.text(form).is_none() {
                continue;
            }
            let name = format!("{}/{form}", program.name);
            match judge(&device, &program, form, &Options::default()) {
                Ok(Verdict::Agrees(on_host)) if on_host.is_empty() => agreed.push(name),
                Ok(Verdict::Agrees(on_host)) => {
                    with_host.insert(name, on_host);
                }
                Ok(Verdict::Refused(code)) => refused.entry(code).or_default().push(name),
                Err(failure) => failures.push(format!("{name}: {failure}")),
            }
        }
    }
    println!("{} forms of programs agree: {}", agreed.len(), agreed.join(", "));
    println!("{} besides, with the host computing some operations:", with_host.len());
    with_host.iter().for_each(|(name, operations)| println!("  {name}: {}", operations.join(", ")));
    for (code, names) in &refused {
        println!("{code} refuses {}: {}", names.len(), names.join(", "));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let doubles = if device.target().features.shader_f64 { MUST_RUN_WITH_F64 } else { &[] };
    let required = UNDERSTOOD
        .iter()
        .chain(MUST_RUN)
        .chain(doubles)
        .map(|name| format!("{name}/unoptimized"))
        .chain(MUST_RUN_OPTIMIZED.iter().map(|name| format!("{name}/optimized_cpu")));
    for name in required {
        assert!(agreed.contains(&name), "{name} is refused, or the host takes part");
    }
    // Every program runs, if only with the host's help, unless its text leaves out what its constants are.
    for program in corpus() {
        for form in FORMS {
            let Some(text) = program.text(form) else { continue };
            let name = format!("{}/{form}", program.name);
            let is_whole = !text.contains("constant({...})");
            assert!(!is_whole || agreed.contains(&name) || with_host.contains_key(&name), "{name} is refused");
        }
    }
}

/// What every layer must handle agrees with XLA as it is written, too, without a pass.
#[test]
fn programs_agree_with_xla_without_passes() {
    let device = support::device();
    for name in UNDERSTOOD {
        let verdict = judge(
            &device,
            &Program::named(name),
            "unoptimized",
            &Options { optimize: false, host: false, ..Options::default() },
        );
        assert!(matches!(verdict, Ok(Verdict::Agrees(_))), "{name}: {:?}", verdict.err());
    }
}

#[test]
fn softmax_is_at_most_three_kernels() {
    let module = Program::named("softmax").module("unoptimized").expect("softmax is stored unoptimized");
    let program = compile(&module, &Target::default()).expect("softmax compiles");
    assert!(program.launches().count() <= 3, "{program}");
}

/// `n` diamonds: a function, its transpose, their sum.
fn diamonds(n: usize, function: &str, as_fusion: bool) -> String {
    let mut body = String::from("  v0 = f32[64,64] parameter(0)\n");
    for k in 0..n {
        let root = if k + 1 == n { "ROOT " } else { "" };
        write!(
            body,
            "  l{k} = f32[64,64] {function}(v{k})\n  t{k} = f32[64,64] transpose(l{k}), dimensions={{1,0}}\n  \
             {root}v{} = f32[64,64] add(l{k}, t{k})\n",
            k + 1
        )
        .expect("a string takes text");
    }
    if as_fusion {
        let call = "  p = f32[64,64] parameter(0)\n  ROOT r = f32[64,64] fusion(p), kind=kLoop, calls=f\n";
        format!("HloModule diamonds\n\nf {{\n{body}}}\n\nENTRY main {{\n{call}}}\n")
    } else {
        format!("HloModule diamonds\n\nENTRY main {{\n{body}}}\n")
    }
}

#[test]
fn chains_of_diamonds_stay_linear_and_right() {
    let device = support::device();
    let values: Vec<f32> = (0u16..4096).map(|k| (f32::from(k) * 0.37).sin()).collect();
    let input = [Literal::array(vec![64, 64], values)];
    let mut sizes = Vec::new();
    for (n, as_fusion) in [(8, false), (8, true), (64, false), (512, false)] {
        let module = weft_hlo::text::parse(&diamonds(n, "tanh", as_fusion)).expect("the text is well-formed");
        let program = compile(&module, device.target()).expect("diamonds compile");
        let bytes: usize = program.launches().map(|launch| program.shader(launch).source.len()).sum();
        let executable = Executable::new(&device, program).expect("the device takes the kernels");
        let actual = executable.run(&input).expect("the kernels run");
        let expected = weft_hlo::eval::evaluate(&module, &input).expect("the evaluator runs");
        compare(&expected[0], &actual[0]).unwrap_or_else(|difference| panic!("{n}: {difference}"));
        if !as_fusion {
            sizes.push((n, bytes));
        }
    }
    // Bytes of WGSL per diamond do not grow with the chain.
    for pair in sizes.windows(2) {
        let [(few, small), (many, large)] = pair else { continue };
        assert!(large * few <= small * many * 3 / 2, "{sizes:?}");
    }
}

#[test]
fn the_specifications_graph_is_one_kernel_of_three_functions() {
    let module = weft_hlo::text::parse(&diamonds(1, "log", true)).expect("the text is well-formed");
    let fused = weft_partition::fuse(&module, &Target::default()).expect("it fuses");
    let entry = fused.module.entry_computation();
    let fusions = entry.instructions.values().filter_map(|instruction| match instruction.op {
        Op::Fusion { calls, .. } => Some(calls),
        _ => None,
    });
    let [calls] = fusions.collect::<Vec<_>>()[..] else { panic!("more than one kernel") };
    let plan = fused.plan(calls).expect("it has a plan");
    let computation = &fused.module.computations[calls];
    assert_eq!(plan.functions().len(), 3, "{}", plan.text(computation));
}
