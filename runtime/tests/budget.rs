//! How much memory a run may take, and what devices keep.

use crate::support::{self, ROUNDS};
use weft_hlo::ir::Literal;
use weft_partition::Target;
use weft_runtime::program::{Ahead, Step};
use weft_runtime::{Device, DeviceOptions, Error, Executable, Options, Program, compile_with};

fn compiled(text: &str, memory_budget: Option<u64>) -> Result<Program, Error> {
    let options = Options { memory_budget, whole_loops: false, ..Options::default() };
    compile_with(&support::module(text), &Target::default(), &options)
}

#[test]
fn a_program_that_takes_more_than_its_budget_is_refused() {
    let text = "HloModule large\nENTRY main {\n x = f32[1000] parameter(0)\n y = f32[1000] negate(x)\n\
                w = f32[500] slice(x), slice={[0:500]}\n v = f32[500] exponential(w)\n ROOT r = (f32[1000], f32[500]) tuple(y, v)\n}";
    let program = compiled(text, None).expect("it compiles");
    let peak = program.peak_bytes();
    assert_eq!(peak, program.totals().allocated());
    assert!(compiled(text, Some(peak)).is_ok());
    let error = compiled(text, Some(peak - 1)).expect_err("it takes more");
    assert_eq!(error.code(), "RUN003");
    let told = error.to_string();
    for part in ["large takes", &format!("{peak} bytes"), &format!("budget of {}", peak - 1), "f32[1000] (4000 bytes)"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let Error::OverBudget { largest, .. } = error else { panic!("{error}") };
    assert!(largest.len() == 3 && largest.is_sorted_by(|one, next| one.1 >= next.1), "{largest:?}");
}

#[test]
fn what_rounds_ahead_keep_belongs_to_the_peak() {
    let open = ROUNDS.replace("n = s32[] constant(5)\n", "n = s32[] get-tuple-element(s), index=2\n");
    let open = open.replace("(s32[], f32[64])", "(s32[], f32[64], s32[])").replace("tuple(j, z)", "tuple(j, z, k)");
    let open =
        open.replace("one = s32[] constant(1)", "one = s32[] constant(1)\n  k = s32[] get-tuple-element(s), index=2");
    let open = open.replace("x = f32[64] parameter(0)", "x = f32[64] parameter(0)\n  k = s32[] parameter(1)");
    let program =
        compiled(&open.replace("tuple(zero, x)", "tuple(zero, x, k)"), None).unwrap_or_else(|error| panic!("{error}"));
    let is_kept = |step: &Step| matches!(step, Step::While(step) if matches!(step.ahead, Some(Ahead::Kept(_))));
    assert!(program.steps().iter().any(is_kept), "{program}");
    assert!(program.peak_bytes() > program.totals().allocated());
}

#[test]
fn devices_keep_idle_what_their_budget_leaves() {
    let open = |budget: Option<u64>| {
        let options = DeviceOptions::default().with_cache(None).with_memory_budget(budget);
        Device::open(&support::selection(), &options).unwrap_or_else(|error| panic!("{error}"))
    };
    let module = support::entry("x = f32[100000] parameter(0)\nROOT y = f32[100000] negate(x)");
    let x = Literal::array([100_000], vec![1.0f32; 100_000]);
    let after_run = |device: &Device| {
        let program = compile_with(&module, device.target(), &Options::default()).expect("it compiles");
        let executable = Executable::new(device, program).unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..3 {
            executable.run(std::slice::from_ref(&x)).unwrap_or_else(|error| panic!("{error}"));
        }
        device.memory_bytes()
    };
    let device = open(None);
    let (held, idle) = after_run(&device);
    assert!(held == 0 && idle >= 1_200_000, "{held} {idle}");
    device.trim();
    assert_eq!(device.memory_bytes(), (0, 0));
    let (held, idle) = after_run(&open(Some(900_000)));
    assert!(held == 0 && idle <= 900_000, "{held} {idle}");
    assert_eq!(after_run(&open(Some(0))), (0, 0));
}

/// A run leaves its temporaries to the next, which gives the same on them, in any thread; whoever needs the memory gets it.
#[test]
fn what_runs_leave_to_others_is_given_back_where_it_is_needed() {
    let open = |budget: Option<u64>| {
        let options = DeviceOptions::default().with_cache(None).with_memory_budget(budget);
        Device::open(&support::selection(), &options).unwrap_or_else(|error| panic!("{error}"))
    };
    // Three launches: two temporaries between them, one of which the state of a loop trades its memory with.
    let text = "HloModule m
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
        body {
            s = (s32[], f32[300,400]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            x = f32[300,400] get-tuple-element(s), index=1
            one = s32[] constant(1)
            j = s32[] add(i, one)
            y = f32[300,400] reverse(x), dimensions={0,1}
            z = f32[300,400] add(x, y)
            ROOT t = (s32[], f32[300,400]) tuple(j, z)
        }
        condition {
            s = (s32[], f32[300,400]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            k = s32[] constant(3)
            ROOT c = pred[] compare(i, k), direction=LT
        }
        ENTRY main {
            x = f32[300,400] parameter(0)
            zero = f32[] constant(0)
            rows = f32[300] reduce(x, zero), dimensions={1}, to_apply=add
            wide = f32[300,400] broadcast(rows), dimensions={0}
            y = f32[300,400] subtract(x, wide)
            start = s32[] constant(0)
            s = (s32[], f32[300,400]) tuple(start, y)
            w = (s32[], f32[300,400]) while(s), condition=condition, body=body
            ROOT r = f32[300,400] get-tuple-element(w), index=1
        }";
    let module = support::module(text);
    let x = [Literal::array([300, 400], (0..120_000u32).map(|n| (n % 13) as f32).collect::<Vec<f32>>())];
    let expected = weft_hlo::eval::evaluate(&module, &x).unwrap_or_else(|findings| panic!("{findings}"));
    let load = |device: &Device| {
        let program = compile_with(&module, device.target(), &Options::default()).expect("it compiles");
        Executable::new(device, program).unwrap_or_else(|error| panic!("{error}"))
    };
    let runs = |executable: &Executable| {
        for _ in 0..3 {
            assert!(executable.run(&x).unwrap_or_else(|error| panic!("{error}")) == expected);
        }
    };
    let device = open(None);
    let (one, other) = (load(&device), load(&device));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| runs(&one));
        }
    });
    runs(&other);
    let (held, _) = device.memory_bytes();
    assert!(held > 480_000, "{held}");
    device.trim();
    let (held, idle) = device.memory_bytes();
    assert!(held < 480_000 && idle == 0, "{held} {idle}");
    runs(&one);
    // Where there is no room for both, each takes what the other left.
    let device = open(Some(2_500_000));
    let (one, other) = (load(&device), load(&device));
    for _ in 0..3 {
        runs(&one);
        runs(&other);
        let (held, idle) = device.memory_bytes();
        assert!(held + idle <= 2_500_000, "{held} {idle}");
    }
}
