//! Kernels run on numbers: all invocations of a workgroup statement by statement, one workgroup after the other.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use weft_affine::{Expr, Var};
use weft_codegen_wgsl::kernel::{
    AtomicOp, Binding, Block, Combination, Combiner, Condition, Function, FunctionId, Kernel, MatrixOp, MatrixOrder,
    MemoryId, Operand, OutOfBounds, ScalarOp, Scope, Space, Statement, ValueId,
};
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};

/// The bits of an element, `pred` as 0 or 1.
type Word = u32;

/// Runs a kernel on the contents of its buffers, given in the order of its memories, which are changed. Subgroups have so many members.
///
/// # Panics
/// If the kernel reads what was never written, waits where not all invocations come, has one invocation touch what another wrote
/// without a barrier between, or holds an operation that no test needs.
pub(crate) fn run(kernel: &Kernel, buffers: &mut [Vec<Word>], subgroup: usize) {
    let groups = &kernel.entry.extents[..kernel.entry.extents.len() - 1];
    let threads = usize::try_from(kernel.threads()).unwrap();
    for number in 0..groups.iter().product::<i64>() {
        let mut rest = number;
        let group: Vec<i64> = groups
            .iter()
            .map(|extent| {
                let coordinate = rest % extent;
                rest /= extent;
                coordinate
            })
            .collect();
        let mut machine = Machine {
            kernel,
            buffers: &mut *buffers,
            own: BTreeMap::new(),
            subgroup,
            threads,
            phase: 0,
            matrices: BTreeMap::new(),
        };
        let dims = |thread| group.iter().copied().chain([i64::try_from(thread).unwrap()]).collect();
        let mut frame = Frame::new(&kernel.entry, (0..threads).map(dims).collect());
        let all: Vec<usize> = (0..threads).collect();
        machine.block(&mut frame, &kernel.entry.body, &all);
    }
}

/// An element of a memory that is the kernel's own.
#[derive(Clone, Copy)]
struct Element {
    word: Word,
    phase: usize,
    /// Which invocation wrote it; `None` after several updates.
    by: Option<usize>,
}

struct Machine<'m> {
    kernel: &'m Kernel,
    buffers: &'m mut [Vec<Word>],
    /// Elements by memory, invocation (0 in a memory of the workgroup) and position.
    own: BTreeMap<(MemoryId, usize, i64), Element>,
    subgroup: usize,
    threads: usize,
    /// Barriers so far.
    phase: usize,
    /// The elements of matrices of `f32`, by matrix and subgroup.
    matrices: BTreeMap<(MemoryId, usize), Vec<f32>>,
}

/// A function as it runs in some invocations.
struct Frame<'k> {
    function: &'k Function,
    /// By invocation.
    dims: Vec<Vec<i64>>,
    ranges: Vec<i64>,
    runtime: Vec<BTreeMap<u32, i64>>,
    /// By value and invocation.
    values: Vec<Vec<Word>>,
}

impl<'k> Frame<'k> {
    fn new(function: &'k Function, dims: Vec<Vec<i64>>) -> Self {
        let threads = dims.len();
        Frame {
            function,
            dims,
            ranges: Vec::new(),
            runtime: vec![BTreeMap::new(); threads],
            values: vec![vec![0; threads]; function.values.len()],
        }
    }

    fn index(&self, index: &Expr, thread: usize) -> i64 {
        let value = |variable| match variable {
            Var::Dim(dimension) => self.dims[thread][dimension as usize],
            Var::Range(range) => self.ranges[range as usize],
            Var::Runtime(number) => self.runtime[thread][&number],
        };
        index.evaluate(value).unwrap()
    }

    fn operand(&self, operand: Operand, thread: usize) -> Word {
        match operand {
            Operand::Value(value) => self.values[value.index()][thread],
            Operand::Constant(Scalar::Pred(value)) => u32::from(value),
            Operand::Constant(Scalar::S32(value)) => value.cast_unsigned(),
            Operand::Constant(Scalar::U32(value)) => value,
            Operand::Constant(Scalar::F32(value)) => value.to_bits(),
            Operand::Constant(other) => panic!("{other} is no constant of kernels"),
        }
    }

    fn ty(&self, operand: Operand) -> ElementType {
        Kernel::operand_type(self.function, operand)
    }

    /// The value that an operand is as an index.
    fn integer(&self, operand: Operand, thread: usize) -> i64 {
        let word = self.operand(operand, thread);
        if self.ty(operand) == ElementType::S32 { i64::from(word.cast_signed()) } else { i64::from(word) }
    }

    /// Values become operands in these invocations, all at once.
    fn assign(&mut self, values: &[ValueId], operands: &[Operand], threads: &[usize]) {
        for &thread in threads {
            let words: Vec<Word> = operands.iter().map(|operand| self.operand(*operand, thread)).collect();
            values.iter().zip(words).for_each(|(value, word)| self.values[value.index()][thread] = word);
        }
    }
}

impl<'k> Machine<'k> {
    fn block(&mut self, frame: &mut Frame<'k>, block: &'k Block, threads: &[usize]) {
        if !threads.is_empty() {
            block.statements.iter().for_each(|statement| self.statement(frame, statement, threads));
        }
    }

    fn statement(&mut self, frame: &mut Frame<'k>, statement: &'k Statement, threads: &[usize]) {
        match statement {
            Statement::Let { value, op: ScalarOp::Extract { memory, indices } } => {
                for &thread in threads {
                    frame.values[value.index()][thread] = self.read(frame, *memory, indices, thread);
                }
            }
            Statement::Let { value, op } => {
                for &thread in threads {
                    frame.values[value.index()][thread] = scalar(frame, op, thread);
                }
            }
            Statement::Call { values, function, indices, arguments } => {
                let function = &self.kernel.functions[*function];
                let at = |thread| indices.iter().map(|index| frame.index(index, thread)).collect();
                let mut inner = Frame::new(function, (0..frame.dims.len()).map(at_of(threads, at)).collect());
                for (parameter, argument) in function.parameters.iter().zip(arguments) {
                    for &thread in threads {
                        inner.values[parameter.index()][thread] = frame.operand(*argument, thread);
                    }
                }
                self.block(&mut inner, &function.body, threads);
                for (value, result) in values.iter().zip(&function.body.results) {
                    for &thread in threads {
                        frame.values[value.index()][thread] = inner.operand(*result, thread);
                    }
                }
            }
            Statement::If { values, condition, then, otherwise } => {
                let (inside, outside): (Vec<usize>, Vec<usize>) =
                    threads.iter().partition(|thread| holds(frame, condition, **thread));
                for &thread in &inside {
                    for Binding { variable, value, .. } in condition.bindings() {
                        let index = frame.integer(*value, thread);
                        frame.runtime[thread].insert(*variable, index);
                    }
                }
                for (branch, threads) in [(then, inside), (otherwise, outside)] {
                    self.block(frame, branch, &threads);
                    frame.assign(values, &branch.results, &threads);
                }
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                frame.assign(accumulators, init, threads);
                self.rounds(frame, extents, accumulators, body, threads);
                let carried: Vec<Operand> = accumulators.iter().copied().map(Operand::Value).collect();
                frame.assign(values, &carried, threads);
            }
            Statement::While { values, init, accumulators, condition, body } => {
                frame.assign(accumulators, init, threads);
                let mut going = threads.to_vec();
                loop {
                    self.block(frame, condition, &going);
                    going.retain(|thread| frame.operand(condition.results[0], *thread) != 0);
                    if going.is_empty() {
                        break;
                    }
                    self.block(frame, body, &going);
                    frame.assign(accumulators, &body.results, &going);
                }
                let carried: Vec<Operand> = accumulators.iter().copied().map(Operand::Value).collect();
                frame.assign(values, &carried, threads);
            }
            Statement::Bind { binding: Binding { variable, bounds, value }, out_of_bounds } => {
                for &thread in threads {
                    let index = frame.integer(*value, thread);
                    let index =
                        if *out_of_bounds == OutOfBounds::Clamp { index.clamp(bounds.lo, bounds.hi) } else { index };
                    assert!(bounds.contains(index), "rt{variable} is {index}");
                    frame.runtime[thread].insert(*variable, index);
                }
            }
            Statement::Name { variable, index } => {
                for &thread in threads {
                    let index = frame.index(index, thread);
                    frame.runtime[thread].insert(*variable, index);
                }
            }
            Statement::Store { memory, indices, value } => {
                for &thread in threads {
                    self.write(frame, *memory, indices, thread, frame.operand(*value, thread), false);
                }
            }
            Statement::Update { memory, indices, combiner, value } => {
                for &thread in threads {
                    let (found, given) = (self.found(frame, *memory, indices, thread), frame.operand(*value, thread));
                    let word = match combiner {
                        Combiner::Function(function) => self.combined(*function, &[found], &[given])[0],
                        Combiner::Atomic(op) => atomic(*op, frame.ty(*value), found, given),
                    };
                    self.write(frame, *memory, indices, thread, word, true);
                }
            }
            Statement::Merge { .. } => panic!("no test needs elements in words"),
            Statement::Share { value, memory, indices } => {
                self.wait(threads);
                for &thread in threads {
                    assert!(indices.iter().all(|index| frame.index(index, thread) == frame.index(index, 0)));
                    frame.values[value.index()][thread] = self.read(frame, *memory, indices, thread);
                }
                self.wait(threads);
            }
            Statement::Barrier => self.wait(threads),
            Statement::Matrix(op) => self.matrix(frame, op, threads),
            Statement::Collective { values, scope, combination, function, operands, .. } => {
                self.wait(threads);
                let of = |thread: &usize| match *scope {
                    Scope::Workgroup => [0, 0],
                    Scope::Part { count, apart } => [thread / (count * apart) as usize, thread % apart as usize],
                    Scope::Subgroup => [thread / self.subgroup, 0],
                };
                let mut parts: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
                threads.iter().for_each(|thread| parts.entry(of(thread)).or_default().push(*thread));
                for members in parts.into_values() {
                    let given =
                        |thread: &usize| operands.iter().map(|operand| frame.operand(*operand, *thread)).collect();
                    let given: Vec<Vec<Word>> = members.iter().map(given).collect();
                    let mut scanned: Vec<Vec<Word>> = Vec::new();
                    for own in &given {
                        scanned.push(match scanned.last() {
                            None => own.clone(),
                            Some(before) => self.combined(*function, before, own),
                        });
                    }
                    for (position, &thread) in members.iter().enumerate() {
                        let words = match combination {
                            Combination::Reduce | Combination::Combine => scanned.last().unwrap(),
                            Combination::Scan => &scanned[position],
                            Combination::ExclusiveScan => &scanned[position.saturating_sub(1)],
                        };
                        values.iter().zip(words).for_each(|(value, word)| frame.values[value.index()][thread] = *word);
                    }
                }
            }
        }
    }

    fn rounds(
        &mut self,
        frame: &mut Frame<'k>,
        extents: &[i64],
        accumulators: &[ValueId],
        body: &'k Block,
        threads: &[usize],
    ) {
        let [outer, inner @ ..] = extents else {
            self.block(frame, body, threads);
            frame.assign(accumulators, &body.results, threads);
            return;
        };
        for round in 0..*outer {
            frame.ranges.push(round);
            self.rounds(frame, inner, accumulators, body, threads);
            frame.ranges.pop();
        }
    }

    /// What each subgroup does with matrices.
    fn matrix(&mut self, frame: &Frame<'_>, op: &MatrixOp, threads: &[usize]) {
        let kernel = self.kernel;
        let first = op.matrices()[0];
        let Space::Matrix { members, .. } = kernel.memories[first].space else { panic!("it is no matrix") };
        let members = members as usize * kernel.lanes as usize;
        let size =
            |matrix: MemoryId| (kernel.memories[matrix].shape.extents[0], kernel.memories[matrix].shape.extents[1]);
        let (rows, columns) = size(first);
        for own in threads.chunk_by(|one, other| one / members == other / members) {
            assert_eq!(own.len(), members, "not all members of a subgroup come to a matrix");
            let subgroup = own[0] / members;
            let place = |memory: MemoryId, indices: &[Expr], order: MatrixOrder, row: i64, column: i64| {
                let stride = *kernel.memories[memory].shape.extents.last().unwrap();
                let positions: Vec<i64> =
                    own.iter().map(|thread| self.position(frame, memory, indices, *thread)).collect();
                assert!(positions.iter().all(|position| *position == positions[0]), "members differ: {positions:?}");
                let (line, along) = if order == MatrixOrder::Rows { (row, column) } else { (column, row) };
                positions[0] + line * stride + along
            };
            let all = || (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            match op {
                MatrixOp::Clear { matrix } => {
                    self.matrices.insert((*matrix, subgroup), all().map(|_| 0.0).collect());
                }
                MatrixOp::Load { matrix, memory, indices, order } => {
                    let places: Vec<i64> =
                        all().map(|(row, column)| place(*memory, indices, *order, row, column)).collect();
                    let read = |position: &i64| {
                        let element = self.own.get(&(*memory, 0, *position)).expect("what is read was written");
                        assert!(element.phase < self.phase, "it is read as another writes it");
                        f32::from_bits(element.word)
                    };
                    self.matrices.insert((*matrix, subgroup), places.iter().map(read).collect());
                }
                MatrixOp::MultiplyAdd { sum, factors: [left, right] } => {
                    let depth = size(*left).1;
                    let at = |row: i64, column: i64, of: i64| usize::try_from(row * of + column).unwrap();
                    let [a, b, c] = [left, right, sum].map(|matrix| self.matrices[&(*matrix, subgroup)].clone());
                    let element = |(row, column): (i64, i64)| {
                        let products = (0..depth).map(|k| a[at(row, k, depth)] * b[at(k, column, columns)]);
                        c[at(row, column, columns)] + products.sum::<f32>()
                    };
                    self.matrices.insert((*sum, subgroup), all().map(element).collect());
                }
                MatrixOp::Store { matrix, memory, indices } => {
                    let places: Vec<i64> =
                        all().map(|(row, column)| place(*memory, indices, MatrixOrder::Rows, row, column)).collect();
                    let (phase, elements) = (self.phase, self.matrices[&(*matrix, subgroup)].clone());
                    for (position, element) in places.into_iter().zip(elements) {
                        let element = Element { word: element.to_bits(), phase, by: None };
                        let before = self.own.insert((*memory, 0, position), element);
                        assert!(before.is_none_or(|before| before.phase < phase), "two write an element");
                    }
                }
            }
        }
    }

    /// What a function makes of two tuples.
    fn combined(&mut self, function: FunctionId, first: &[Word], second: &[Word]) -> Vec<Word> {
        let function = &self.kernel.functions[function];
        let mut frame = Frame::new(function, vec![Vec::new()]);
        for (parameter, word) in function.parameters.iter().zip(first.iter().chain(second)) {
            frame.values[parameter.index()][0] = *word;
        }
        self.block(&mut frame, &function.body, &[0]);
        function.body.results.iter().map(|result| frame.operand(*result, 0)).collect()
    }

    fn wait(&mut self, threads: &[usize]) {
        assert_eq!(threads.len(), self.threads, "not all invocations come to a place where they wait");
        self.phase += 1;
    }

    /// The row-major position of an element.
    fn position(&self, frame: &Frame<'_>, memory: MemoryId, indices: &[Expr], thread: usize) -> i64 {
        let extents = &self.kernel.memories[memory].shape.extents;
        let indices: Vec<i64> = indices.iter().map(|index| frame.index(index, thread)).collect();
        let position = match indices.as_slice() {
            [flat] => *flat,
            _ => indices.iter().zip(extents).fold(0, |position, (index, extent)| position * extent + index),
        };
        assert!((0..extents.iter().product()).contains(&position), "{indices:?} in {extents:?}");
        position
    }

    /// Where an element is in a buffer.
    fn in_buffer(&mut self, memory: MemoryId, position: i64) -> Option<&mut Word> {
        let Space::Buffer { binding, offset, .. } = self.kernel.memories[memory].space else { return None };
        let first = self
            .kernel
            .memories
            .values()
            .position(|memory| matches!(memory.space, Space::Buffer { binding: own, .. } if own == binding));
        Some(
            &mut self.buffers[first.unwrap()]
                [usize::try_from(position).unwrap() + usize::try_from(offset / 4).unwrap()],
        )
    }

    /// Of a memory of the kernel's own whose element it is.
    fn owner(&self, memory: MemoryId, thread: usize) -> usize {
        if self.kernel.memories[memory].space == Space::Thread { thread } else { 0 }
    }

    fn found(&mut self, frame: &Frame<'_>, memory: MemoryId, indices: &[Expr], thread: usize) -> Word {
        let position = self.position(frame, memory, indices, thread);
        let owner = self.owner(memory, thread);
        match self.in_buffer(memory, position) {
            Some(word) => *word,
            None => self.own.get(&(memory, owner, position)).expect("what is updated was written").word,
        }
    }

    fn read(&mut self, frame: &Frame<'_>, memory: MemoryId, indices: &[Expr], thread: usize) -> Word {
        let position = self.position(frame, memory, indices, thread);
        if let Some(word) = self.in_buffer(memory, position) {
            return *word;
        }
        let owner = self.owner(memory, thread);
        let element = self.own.get(&(memory, owner, position)).expect("what is read was written");
        assert!(element.phase < self.phase || element.by == Some(thread), "it is read as another writes it");
        element.word
    }

    fn write(
        &mut self,
        frame: &Frame<'_>,
        memory: MemoryId,
        indices: &[Expr],
        thread: usize,
        word: Word,
        updates: bool,
    ) {
        let position = self.position(frame, memory, indices, thread);
        if let Some(target) = self.in_buffer(memory, position) {
            *target = word;
            return;
        }
        let (owner, phase) = (self.owner(memory, thread), self.phase);
        let before =
            self.own.insert((memory, owner, position), Element { word, phase, by: (!updates).then_some(thread) });
        let is_alone = before
            .is_none_or(|before| before.phase < phase || before.by == Some(thread) || (updates && before.by.is_none()));
        assert!(is_alone, "two invocations write an element");
    }
}

/// The indices of the invocations that run, and none of the others.
fn at_of<'t>(threads: &'t [usize], at: impl Fn(usize) -> Vec<i64> + 't) -> impl Fn(usize) -> Vec<i64> + 't {
    move |thread| if threads.contains(&thread) { at(thread) } else { Vec::new() }
}

fn holds(frame: &Frame<'_>, condition: &Condition, thread: usize) -> bool {
    match condition {
        Condition::Indices(tests) => tests.iter().all(|test| test.bounds.contains(frame.index(&test.expr, thread))),
        Condition::Value(operand) => frame.operand(*operand, thread) != 0,
        Condition::InBounds(bindings) => {
            bindings.iter().all(|binding| binding.bounds.contains(frame.integer(binding.value, thread)))
        }
    }
}

fn atomic(op: AtomicOp, ty: ElementType, found: Word, given: Word) -> Word {
    let op = match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Minimum => BinaryOp::Minimum,
        AtomicOp::Maximum => BinaryOp::Maximum,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Exchange => return given,
    };
    binary(op, ty, found, given)
}

fn binary(op: BinaryOp, ty: ElementType, a: Word, b: Word) -> Word {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let is_less = match ty {
        ElementType::F32 => x < y,
        ElementType::S32 => a.cast_signed() < b.cast_signed(),
        _ => a < b,
    };
    match (op, ty) {
        (BinaryOp::Add, ElementType::F32) => (x + y).to_bits(),
        (BinaryOp::Subtract, ElementType::F32) => (x - y).to_bits(),
        (BinaryOp::Multiply, ElementType::F32) => (x * y).to_bits(),
        (BinaryOp::Maximum | BinaryOp::Minimum, ElementType::F32) if x.is_nan() || y.is_nan() => f32::NAN.to_bits(),
        (BinaryOp::Add, _) => a.wrapping_add(b),
        (BinaryOp::Subtract, _) => a.wrapping_sub(b),
        (BinaryOp::Multiply, _) => a.wrapping_mul(b),
        (BinaryOp::Maximum, _) => {
            if is_less {
                b
            } else {
                a
            }
        }
        (BinaryOp::Minimum, _) => {
            if is_less {
                a
            } else {
                b
            }
        }
        (BinaryOp::And, _) => a & b,
        (BinaryOp::Or, _) => a | b,
        (BinaryOp::Xor, _) => a ^ b,
        _ => panic!("no test needs {} of {ty}", op.name()),
    }
}

fn scalar(frame: &Frame<'_>, op: &ScalarOp, thread: usize) -> Word {
    let operands: Vec<Word> = op.operands().iter().map(|operand| frame.operand(*operand, thread)).collect();
    let ty = op.operands().first().map_or(ElementType::Pred, |operand| frame.ty(*operand));
    match op {
        ScalarOp::Index { index, element_type } => {
            let index = i32::try_from(frame.index(index, thread)).unwrap();
            match element_type {
                // Those of tests are small.
                ElementType::F32 => f32::from(i16::try_from(index).unwrap()).to_bits(),
                _ => index.cast_unsigned(),
            }
        }
        ScalarOp::Binary { op, .. } => binary(*op, ty, operands[0], operands[1]),
        ScalarOp::Unary { op: UnaryOp::Not, .. } if ty == ElementType::Pred => 1 - operands[0],
        ScalarOp::Compare { direction, .. } => {
            let (a, b) = (operands[0], operands[1]);
            let ordering = match ty {
                ElementType::F32 => f32::from_bits(a).partial_cmp(&f32::from_bits(b)),
                ElementType::S32 => Some(a.cast_signed().cmp(&b.cast_signed())),
                _ => Some(a.cmp(&b)),
            };
            u32::from(match direction {
                ComparisonDirection::Eq => ordering.is_some_and(|ordering| ordering.is_eq()),
                ComparisonDirection::Ne => !ordering.is_some_and(|ordering| ordering.is_eq()),
                ComparisonDirection::Lt => ordering.is_some_and(|ordering| ordering.is_lt()),
                ComparisonDirection::Le => ordering.is_some_and(|ordering| ordering.is_le()),
                ComparisonDirection::Gt => ordering.is_some_and(|ordering| ordering.is_gt()),
                ComparisonDirection::Ge => ordering.is_some_and(|ordering| ordering.is_ge()),
            })
        }
        ScalarOp::MultiplyAdd { .. } => {
            let product = binary(BinaryOp::Multiply, ty, operands[0], operands[1]);
            binary(BinaryOp::Add, ty, product, operands[2])
        }
        ScalarOp::Select { .. } => {
            if operands[0] != 0 {
                operands[1]
            } else {
                operands[2]
            }
        }
        ScalarOp::Pack { .. } => u32::from_le_bytes([0, 1, 2, 3].map(|place: usize| operands[place].to_le_bytes()[0])),
        ScalarOp::PackedDot { is_signed, .. } => {
            let number = |byte: u8| if *is_signed { i32::from(byte.cast_signed()) } else { i32::from(byte) };
            let [left, right] = [operands[0], operands[1]].map(u32::to_le_bytes);
            let products = left.iter().zip(right).map(|(left, right)| number(*left) * number(right));
            products.sum::<i32>().cast_unsigned()
        }
        ScalarOp::Bitcast { .. } | ScalarOp::Keep { .. } => operands[0],
        other => panic!("no test needs {other:?}"),
    }
}
