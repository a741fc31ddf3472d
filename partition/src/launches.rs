//! What the launches of a fused program move and compute, whoever fused it.

use crate::work::{flops_of_computations, instruction_flops};
use crate::{Form, Site, Target};
use std::collections::BTreeSet;
use weft_hlo::ir::{ArenaId, ArrayShape, Computation, ComputationId, InstrId, Instruction, Module, Op, Opcode, Shape};

/// The launches of a verified module, which may be fused by [`fuse`](crate::fuse), by XLA, or not at all.
///
/// The rules are the same for all, so that two ways to fuse one program can be compared:
/// - Every instruction of the entry, and of the computations that a `call`, a `while`, a `conditional` or an `async-start` of these runs, is a launch, if it is
///   not one of those that only pass values on: `parameter`, `constant`, `tuple`, `get-tuple-element`, `bitcast`, `call`, `while`, `conditional`, `async-start` of a
///   computation, `async-update`, `async-done`, `after-all`, `add-dependency`, `opt-barrier`, `partition-id` and `replica-id`. A fusion is one launch; so is what the
///   host computes.
/// - A computation counts once, however often it is run: the rounds of a loop are not multiplied.
/// - A launch moves all of its operands and its results, whichever part of them it needs. An operand that it names several times is read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launches(pub Vec<Launch>);

/// One of the [`Launches`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The instruction.
    pub site: Site,
    /// Bytes of its operands, the arrays in tuples included, as devices hold them ([`Form`]): a `pred` takes a byte, and an array whole words. Tokens and arrays
    /// of unknown extents count none.
    pub bytes_read: u64,
    /// The same of its results.
    pub bytes_written: u64,
    /// Its arithmetic, as [`Work::flops`](crate::Work::flops) counts it.
    pub flops: Option<u64>,
}

impl Launches {
    /// Those of a verified module: the entry's first, then those of each computation that one before runs, in the order of their instructions.
    pub fn of(module: &Module) -> Launches {
        let flops = flops_of_computations(module);
        let of = |callee: ComputationId| flops.get(callee.index()).copied().flatten();
        let mut launches = Vec::new();
        let mut known = BTreeSet::from([module.entry]);
        let mut pending = vec![module.entry];
        while let Some(id) = pending.pop() {
            let computation = &module.computations[id];
            let mut run = Vec::new();
            for (instruction, it) in computation.instructions.iter() {
                match Step::of(&it.op) {
                    Step::PassesOn => {}
                    Step::Runs => run.extend(it.op.called_computations()),
                    Step::Launches => launches.push(Launch {
                        site: Site { computation: id, instruction },
                        bytes_read: bytes_read(computation, it),
                        bytes_written: bytes(&it.shape),
                        flops: instruction_flops(module, computation, it, &of),
                    }),
                }
            }
            run.retain(|callee| known.insert(*callee));
            pending.extend(run.into_iter().rev());
        }
        Launches(launches)
    }

    /// Bytes of all operands and results.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(Launch::bytes).fold(0, u64::saturating_add)
    }

    /// Arithmetic of all launches of which it is known, and of how many it is not.
    pub fn flops(&self) -> (u64, usize) {
        let known = self.0.iter().filter_map(|launch| launch.flops).fold(0, u64::saturating_add);
        (known, self.0.iter().filter(|launch| launch.flops.is_none()).count())
    }

    /// How long all of them take on a target, one after the other, each as [`Launch::estimated_nanoseconds`] has it.
    pub fn estimated_nanoseconds(&self, target: &Target) -> f64 {
        self.0.iter().map(|launch| launch.estimated_nanoseconds(target)).sum()
    }
}

impl Launch {
    /// Bytes of operands and results.
    pub fn bytes(&self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }

    /// How long it takes on a target: what a launch takes besides its work, and its bytes at memory's speed.
    pub fn estimated_nanoseconds(&self, target: &Target) -> f64 {
        let hardware = &target.hardware;
        let seconds = self.bytes() as f64 / hardware.dram_bytes_per_second.max(1) as f64;
        f64::from(hardware.launch_nanoseconds) + seconds * 1e9
    }
}

/// What becomes of an instruction of a program.
enum Step {
    /// It passes values on.
    PassesOn,
    /// It runs computations.
    Runs,
    /// It is a launch.
    Launches,
}

impl Step {
    fn of(op: &Op) -> Step {
        match op {
            Op::Call { .. } | Op::While { .. } | Op::Conditional { .. } | Op::AsyncStart { .. } => Step::Runs,
            // `all-reduce-start` and its like have no computation that does it.
            Op::AsyncShorthand { .. } if op.opcode() == Opcode::AsyncStart => Step::Launches,
            Op::AsyncShorthand { .. }
            | Op::AsyncUpdate { .. }
            | Op::AsyncDone { .. }
            | Op::Parameter { .. }
            | Op::Constant(_)
            | Op::Tuple
            | Op::GetTupleElement { .. }
            | Op::Bitcast
            | Op::AfterAll
            | Op::AddDependency
            | Op::OptimizationBarrier
            | Op::PartitionId
            | Op::ReplicaId => Step::PassesOn,
            _ => Step::Launches,
        }
    }
}

fn bytes_read(computation: &Computation, instruction: &Instruction) -> u64 {
    let operands: BTreeSet<InstrId> = instruction.operands.iter().copied().collect();
    operands.into_iter().map(|id| bytes(&computation.instructions[id].shape)).fold(0, u64::saturating_add)
}

fn bytes(shape: &Shape) -> u64 {
    let of_leaf = |leaf: &Shape| match leaf {
        Shape::Array(array) | Shape::Buffer(array) => array_bytes(array),
        _ => 0,
    };
    shape.leaves().into_iter().map(of_leaf).fold(0, u64::saturating_add)
}

fn array_bytes(array: &ArrayShape) -> u64 {
    let Some(form) = Form::of(array.element_type).filter(|_| !array.is_unbounded()) else { return 0 };
    let elements = array.element_count().and_then(|count| u64::try_from(count).ok());
    elements.and_then(|elements| form.bytes(elements)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch's name, bytes read, bytes written and arithmetic.
    type Named = (String, u64, u64, Option<u64>);

    fn launches(text: &str) -> (Launches, Vec<Named>) {
        let module = weft_hlo::text::parse(text).expect("the text is a module");
        weft_hlo::verify::verify(&module).expect("the module is valid");
        let launches = Launches::of(&module);
        let named = launches.0.iter().map(|launch| {
            let instruction = &module.computations[launch.site.computation].instructions[launch.site.instruction];
            (instruction.name.clone(), launch.bytes_read, launch.bytes_written, launch.flops)
        });
        let named = named.collect();
        (launches, named)
    }

    fn of(text: &str) -> Vec<Named> {
        launches(text).1
    }

    #[test]
    fn a_launch_moves_operands_and_results_whole() {
        let found = of("HloModule m\nf {\n  p = f32[8,8] parameter(0)\n  q = f32[8,8] parameter(1)\n  \
             s = f32[2,8] slice(p), slice={[0:2], [0:8]}\n  t = f32[2,8] slice(q), slice={[0:2], [0:8]}\n  \
             a = f32[2,8] add(s, t)\n  e = f32[2,8] exponential(a)\n  ROOT r = (f32[2,8], f32[2,8]) tuple(a, e)\n}\n\
             ENTRY e {\n  x = f32[8,8] parameter(0)\n  \
             k = (f32[2,8], f32[2,8]) fusion(x, x), kind=kLoop, calls=f\n  \
             a = f32[2,8] get-tuple-element(k), index=0\n  b = f32[2,8] get-tuple-element(k), index=1\n  \
             c = f32[16] bitcast(b)\n  d = f32[16] bitcast(a)\n  ROOT s = f32[16] subtract(c, d)\n}\n");
        assert_eq!(found, [("k".into(), 256, 128, Some(32)), ("s".into(), 128, 64, Some(16))]);
    }

    #[test]
    fn computations_that_run_count_once() {
        let text = "HloModule m\nbody {\n  s = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  \
             x = f32[8] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  \
             y = f32[8] multiply(x, x)\n  ROOT t = (s32[], f32[8]) tuple(next, y)\n}\n\
             condition {\n  s = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  \
             n = s32[] constant(10)\n  ROOT go = pred[] compare(i, n), direction=LT\n}\n\
             twice {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] add(x, x)\n}\n\
             ENTRY e {\n  x = f32[8] parameter(0)\n  zero = s32[] constant(0)\n  c = f32[8] call(x), to_apply=twice\n  \
             d = f32[8] call(c), to_apply=twice\n  t = (s32[], f32[8]) tuple(zero, d)\n  \
             w = (s32[], f32[8]) while(t), condition=condition, body=body\n  \
             y = f32[8] get-tuple-element(w), index=1\n  ROOT z = f32[8] negate(y)\n}\n";
        let (all, found) = launches(text);
        let expected = [
            ("z".into(), 32, 32, Some(8)),
            // `twice`, which the entry calls first, though twice.
            ("y".into(), 32, 32, Some(8)),
            // A comparison of integers; a `pred` takes a byte, and its array a word.
            ("go".into(), 8, 4, Some(0)),
            ("next".into(), 8, 4, Some(0)),
            ("y".into(), 32, 32, Some(8)),
        ];
        assert_eq!(found, expected);
        assert_eq!((all.bytes(), all.flops()), (64 + 64 + 12 + 12 + 64, (24, 0)));
    }

    #[test]
    fn branches_count_each() {
        let found = of("HloModule m\nf {\n  x = bf16[3] parameter(0)\n  ROOT y = bf16[3] negate(x)\n}\n\
             less {\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n\
             g {\n  x = bf16[3] parameter(0)\n  ROOT y = bf16[3] sort(x), dimensions={0}, to_apply=less\n}\n\
             ENTRY e {\n  p = pred[] parameter(0)\n  x = bf16[3] parameter(1)\n  \
             ROOT c = bf16[3] conditional(p, x, x), true_computation=f, false_computation=g\n}\n");
        assert_eq!(found, [("y".into(), 8, 8, Some(3)), ("y".into(), 8, 8, None)]);
    }

    #[test]
    fn what_passes_values_on_is_no_launch() {
        let found = of("HloModule m\nENTRY e {\n  x = (f32[2], (s4[3], token[])) parameter(0)\n  \
             b = (f32[2], (s4[3], token[])) opt-barrier(x)\n  y = f32[2] get-tuple-element(b), index=0\n  \
             t = token[] after-all()\n  z = f32[2] add-dependency(y, t)\n  i = u32[] partition-id()\n  \
             r = u32[] replica-id()\n  ROOT t2 = (f32[2], u32[], u32[]) tuple(z, i, r)\n}\n");
        assert_eq!(found, []);
        let (all, _) = launches("HloModule m\nENTRY e {\n  ROOT t = () tuple()\n}\n");
        assert_eq!((all.bytes(), all.flops(), all.estimated_nanoseconds(&Target::default())), (0, (0, 0), 0.0));
    }

    #[test]
    fn tuples_are_flattened_and_what_is_empty_moves_nothing() {
        let found = of("HloModule m\nENTRY e {\n  x = (f32[2], (s4[3], token[])) parameter(0)\n  \
             y = (f32[2], (s4[3], token[])) custom-call(x), custom_call_target=\"f\"\n  z = f32[0,4] parameter(1)\n  \
             n = f32[0,4] negate(z)\n  s = f32[] constant(1)\n  \
             ROOT b = c64[1,3] custom-call(s, n), custom_call_target=\"g\"\n}\n");
        let expected = [("y".into(), 12, 12, None), ("n".into(), 0, 0, Some(0)), ("b".into(), 4, 24, None)];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_exceeds_64_bits_is_all_of_them() {
        let (all, found) = launches(
            "HloModule m\nENTRY e {\n  x = f64[] parameter(0)\n  \
             b = f64[4294967296,2147483647] broadcast(x), dimensions={}\n  ROOT c = f64[4294967296,2147483647] negate(b)\n}\n",
        );
        assert_eq!(found.len(), 2);
        assert_eq!(all.bytes(), u64::MAX);
    }

    #[test]
    fn time_is_launches_and_bytes() {
        let target = Target::preset("discrete").expect("there is such a target");
        let target = target.with(|target| {
            target.hardware.launch_nanoseconds = 500;
            target.hardware.dram_bytes_per_second = 1 << 30;
        });
        let text = "HloModule m\nENTRY e {\n  x = f32[1048576] parameter(0)\n  y = f32[1048576] negate(x)\n  \
                    ROOT z = f32[1048576] negate(y)\n}\n";
        let expected = 2.0 * (500.0 + 1e9 / 128.0);
        assert_eq!(launches(text).0.estimated_nanoseconds(&target), expected);
    }
}
