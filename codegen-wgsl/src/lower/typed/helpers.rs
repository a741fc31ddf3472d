//! Functions that are too long to be written at each use.

use super::code::{Code, word};
use super::complex::{arc, power_of_complex};
use super::pair::Pair;
use crate::kernel::{Block, Function, FunctionId, Operand, Statement, ValueId};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, ElementType};

/// Bits of a pair.
const BITS: i64 = 64;

/// The functions that a kernel needs, which come behind its own.
pub(super) struct Helpers {
    /// How many functions stand before them.
    first: usize,
    taken: BTreeSet<String>,
    divide: Option<FunctionId>,
    power: Option<FunctionId>,
    /// Of complex numbers, by the type of their parts.
    complex_powers: BTreeMap<ElementType, FunctionId>,
    pub(super) functions: Vec<Function>,
}

impl Helpers {
    /// Behind so many functions; none is called as one of `taken`.
    pub(super) fn new(first: usize, taken: BTreeSet<String>) -> Self {
        let complex_powers = BTreeMap::new();
        Helpers { first, taken, divide: None, power: None, complex_powers, functions: Vec::new() }
    }

    fn add(&mut self, name: &str, make: impl FnOnce(&str) -> Function) -> FunctionId {
        let mut name = name.to_owned();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        self.functions.push(make(&name));
        FunctionId::from_index(self.first + self.functions.len() - 1)
    }

    /// The quotient and the remainder of integers without sign. By zero the quotient is all ones and the remainder the dividend.
    pub(super) fn divide(&mut self, code: &mut Code, a: Pair, b: Pair) -> [Pair; 2] {
        let function = match self.divide {
            Some(function) => function,
            None => self.add("divide_u64", division),
        };
        self.divide = Some(function);
        let results: [Operand; 4] = call_on_pairs(code, function, &[a, b]);
        [Pair::of(&results[..2]), Pair::of(&results[2..])]
    }

    /// A power of integers without sign, modulo 2^64.
    pub(super) fn power(&mut self, code: &mut Code, base: Pair, exponent: Pair) -> Pair {
        let function = match self.power {
            Some(function) => function,
            None => self.add("power_u64", power),
        };
        self.power = Some(function);
        Pair::of(&call_on_pairs::<2>(code, function, &[base, exponent]))
    }

    /// A power of complex numbers, whose parts are of a type.
    pub(super) fn power_of_complex(
        &mut self,
        code: &mut Code,
        part: ElementType,
        [base, exponent]: [[Operand; 2]; 2],
    ) -> [Operand; 2] {
        let function = match self.complex_powers.get(&part) {
            Some(function) => *function,
            None => {
                // What it calls stands behind it.
                let called = FunctionId::from_index(self.first + self.functions.len() + 1);
                let function =
                    self.add(&format!("power_of_complex_{part}"), |name| power_of_complex(name, part, called));
                self.add(&format!("arc_{part}"), |name| arc(name, part));
                function
            }
        };
        self.complex_powers.insert(part, function);
        let results = call(code, function, [base, exponent].concat(), [part; 2]);
        [results[0], results[1]]
    }
}

/// The results, of these types, of a function.
pub(super) fn call<const N: usize>(
    code: &mut Code,
    function: FunctionId,
    arguments: Vec<Operand>,
    results: [ElementType; N],
) -> [Operand; N] {
    let values = results.map(|ty| code.value(ty));
    code.statements.push(Statement::Call { values: values.to_vec(), function, indices: Vec::new(), arguments });
    values.map(Operand::Value)
}

fn call_on_pairs<const N: usize>(code: &mut Code, function: FunctionId, arguments: &[Pair]) -> [Operand; N] {
    let arguments = arguments.iter().flat_map(|pair| pair.parts()).collect();
    call(code, function, arguments, [ElementType::U32; N])
}

/// A function of parameters with these names and types; `body` makes its results.
pub(super) fn function<const N: usize>(
    name: &str,
    parameters: [(&str, ElementType); N],
    body: impl FnOnce(&mut Code, [Operand; N]) -> Vec<Operand>,
) -> Function {
    let mut code = Code::new(name, Vec::new());
    let parameters = parameters.map(|(name, ty)| {
        code.name = name.to_owned();
        code.value(ty)
    });
    code.name = "step".to_owned();
    let results = body(&mut code, parameters.map(Operand::Value));
    let statements = code.statements;
    Function { parameters: parameters.to_vec(), body: Block { statements, results }, ..code.function }
}

/// A function of two pairs; `body` makes its results.
fn of_two(name: &str, body: impl FnOnce(&mut Code, Pair, Pair) -> Vec<Operand>) -> Function {
    let parameters = ["a.low", "a.high", "b.low", "b.high"].map(|name| (name, ElementType::U32));
    function(name, parameters, |code, parts| body(code, Pair::of(&parts[..2]), Pair::of(&parts[2..])))
}

/// A round of [`BITS`] for each bit, which carries pairs from round to round.
fn for_each_bit<const N: usize>(
    code: &mut Code,
    init: [Pair; N],
    round: impl FnOnce(&mut Code, [Pair; N]) -> [Pair; N],
) -> [Pair; N] {
    let carried = |code: &mut Code| -> Vec<ValueId> { (0..2 * N).map(|_| code.value(ElementType::U32)).collect() };
    let (accumulators, values) = (carried(code), carried(code));
    let pairs = |values: &[ValueId]| -> [Pair; N] {
        std::array::from_fn(|number| Pair {
            low: Operand::Value(values[2 * number]),
            high: Operand::Value(values[2 * number + 1]),
        })
    };
    let outer = std::mem::take(&mut code.statements);
    let results = round(code, pairs(&accumulators));
    let statements = std::mem::replace(&mut code.statements, outer);
    let body = Block { statements, results: results.iter().flat_map(|pair| pair.parts()).collect() };
    let init = init.iter().flat_map(|pair| pair.parts()).collect();
    let extents = vec![BITS];
    code.statements.push(Statement::Loop { values: values.clone(), extents, init, accumulators, body });
    pairs(&values)
}

/// Bit by bit from the highest one: the divisor is taken away from what is left wherever it is in it.
fn division(name: &str) -> Function {
    of_two(name, |code, a, b| {
        let zero = Pair { low: word(0), high: word(0) };
        let [quotient, remainder] = for_each_bit(code, [a, zero], |code, [quotient, remainder]| {
            // The dividend moves out of the pair at the top as the quotient moves in at the bottom.
            let top = code.down(quotient.high, word(31));
            let beyond = code.compare(ComparisonDirection::Ge, remainder.high, word(1 << 31));
            let moved = code.up_pair(remainder, word(1));
            let moved = Pair { low: code.or(moved.low, top), high: moved.high };
            let is_within = code.compare_pairs(ComparisonDirection::Ge, false, moved, b);
            let takes = code.or(is_within, beyond);
            let less = code.subtract_pairs(moved, b);
            let remainder = code.select_pair(takes, less, moved);
            let bit = code.convert(takes, ElementType::U32);
            let next = code.up_pair(quotient, word(1));
            [Pair { low: code.or(next.low, bit), high: next.high }, remainder]
        });
        [quotient, remainder].iter().flat_map(|pair| pair.parts()).collect()
    })
}

/// By squaring.
fn power(name: &str) -> Function {
    of_two(name, |code, base, exponent| {
        let one = Pair { low: word(1), high: word(0) };
        let [power, _, _] = for_each_bit(code, [one, base, exponent], |code, [power, base, exponent]| {
            let product = code.multiply_pairs(power, base);
            let odd = code.binary(BinaryOp::And, exponent.low, word(1));
            let odd = code.equal(odd, word(1));
            let power = code.select_pair(odd, product, power);
            [power, code.multiply_pairs(base, base), code.down_pair(exponent, word(1))]
        });
        power.parts()
    })
}
