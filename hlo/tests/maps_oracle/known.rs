//! Constant evaluation of integer arrays, against the evaluator: random programs of constants, `iota`, and operations
//! on those.

use super::cells::{cells, count, position};
use super::values::{Values, integer};
use crate::count::cases;
use weft_affine::Point;
use weft_hlo::indexing::{KnownValues, Owners};
use weft_hlo::ir::ElementType;
use weft_hlo::text;
use weft_indexing::Interval;

/// Numbers that follow from a seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n.max(1) as u64) as usize
    }

    fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as usize) as i64
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A program that grows by one instruction after the other.
struct Maker {
    random: Random,
    lines: String,
    functions: String,
    names: usize,
}

/// A value of the program.
#[derive(Clone)]
struct Value {
    name: String,
    element_type: &'static str,
    extents: Vec<i64>,
}

impl Value {
    fn shape(&self) -> String {
        shape(self.element_type, &self.extents)
    }
}

fn shape(element_type: &str, extents: &[i64]) -> String {
    let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
    format!("{element_type}[{}]", extents.join(","))
}

fn list<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(",")
}

const TYPES: [&str; 6] = ["s32", "s32", "s64", "u32", "s8", "u8"];

impl Maker {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn add(&mut self, element_type: &'static str, extents: &[i64], operation: &str) -> Value {
        let value = Value { name: self.name(), element_type, extents: extents.to_vec() };
        self.lines += &format!(" {} = {} {operation}\n", value.name, value.shape());
        value
    }

    fn scalar(&mut self, element_type: &'static str, value: i64) -> Value {
        let value = if element_type.starts_with('u') { value.abs() } else { value };
        self.add(element_type, &[], &format!("constant({value})"))
    }

    /// An `iota`, a line of numbers, one number, or any numbers.
    fn leaf(&mut self, element_type: &'static str, extents: &[i64]) -> Value {
        let kind = self.random.below(4);
        if kind == 0 && !extents.is_empty() {
            let along = self.random.below(extents.len());
            return self.add(element_type, extents, &format!("iota(), iota_dimension={along}"));
        }
        let (start, step) = (self.random.between(0, 20), self.random.pick(&[0, 1, 2, 5]));
        let n: i64 = extents.iter().product();
        let numbers = (0..n).map(|i| if kind == 3 { self.random.between(0, 30) } else { start + step * i });
        let numbers = list(numbers);
        if extents.is_empty() {
            return self.add(element_type, &[], &format!("constant({numbers})"));
        }
        let flat = self.add(element_type, &[n], &format!("constant({{{numbers}}})"));
        self.add(element_type, extents, &format!("reshape({})", flat.name))
    }

    fn extents(&mut self) -> Vec<i64> {
        (0..self.random.below(4)).map(|_| self.random.between(1, 4)).collect()
    }

    /// One more operation on the value.
    fn grown(&mut self, of: &Value) -> Value {
        let Value { name, element_type, extents } = of.clone();
        let rank = extents.len();
        let choice = self.random.below(if rank == 0 { 9 } else { 19 });
        match choice {
            0 | 1 => {
                let opcode =
                    self.random.pick(&["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"]);
                let other = if self.random.below(4) == 0 {
                    self.leaf(element_type, &extents)
                } else {
                    let number = self.random.pick(&[1, 2, 3, 7, 11, 100]);
                    let number = self.scalar(element_type, number);
                    self.add(element_type, &extents, &format!("broadcast({}), dimensions={{}}", number.name))
                };
                let operands = if self.random.below(4) == 0 { [&other.name, &name] } else { [&name, &other.name] };
                self.add(element_type, &extents, &format!("{opcode}({}, {})", operands[0], operands[1]))
            }
            2 => {
                let to = self.random.pick(&TYPES);
                self.add(to, &extents, &format!("convert({name})"))
            }
            3 if element_type.starts_with('s') => self.add(element_type, &extents, &format!("negate({name})")),
            4 => {
                let (lo, hi) = (self.random.between(-5, 5), self.random.between(5, 40));
                let (lo, hi) = (self.scalar(element_type, lo), self.scalar(element_type, hi));
                self.add(element_type, &extents, &format!("clamp({}, {name}, {})", lo.name, hi.name))
            }
            5 => {
                let (limit, more) = (self.random.pick(&[0, 0, 3, 60]), self.random.between(0, 9));
                let both = [limit, more].map(|number| {
                    let number = self.scalar(element_type, number);
                    self.add(element_type, &extents, &format!("broadcast({}), dimensions={{}}", number.name))
                });
                let relation = self.random.pick(&["LT", "LE", "GT", "GE", "EQ", "NE"]);
                let is =
                    self.add("pred", &extents, &format!("compare({name}, {}), direction={relation}", both[0].name));
                let sum = self.add(element_type, &extents, &format!("add({name}, {})", both[1].name));
                self.add(element_type, &extents, &format!("select({}, {}, {name})", is.name, sum.name))
            }
            6 => {
                let tuple = format!("({0}, {0})", of.shape());
                let pair = self.name();
                self.lines += &format!(" {pair} = {tuple} tuple({name}, {name})\n");
                self.add(element_type, &extents, &format!("get-tuple-element({pair}), index=1"))
            }
            7 => {
                let function = format!("f{}", self.names);
                let inner = self.random.pick(&["copy(p)", "add(p, p)", "maximum(p, p)"]);
                self.functions +=
                    &format!("{function} {{\n p = {0} parameter(0)\n ROOT r = {0} {inner}\n}}\n", of.shape());
                let how = self.random.pick(&["fusion({}), kind=kLoop, calls=", "call({}), to_apply="]);
                self.add(element_type, &extents, &format!("{}{function}", how.replace("{}", &name)))
            }
            8 => {
                let mut wider = extents.clone();
                let at = self.random.below(rank + 1);
                let extent = self.random.between(1, 3);
                wider.insert(at, extent);
                let own = list((0..=rank).filter(|dimension| *dimension != at));
                self.add(element_type, &wider, &format!("broadcast({name}), dimensions={{{own}}}"))
            }
            9 => {
                let n: i64 = extents.iter().product();
                let divisors: Vec<i64> = (1..=n).filter(|d| n % d == 0).collect();
                let first = self.random.pick(&divisors);
                let split = if self.random.below(3) == 0 { vec![n] } else { vec![first, n / first] };
                self.add(element_type, &split, &format!("reshape({name})"))
            }
            10 => {
                let turn = self.random.below(rank);
                let order: Vec<usize> = (0..rank).map(|i| (i + turn) % rank).collect();
                let turned: Vec<i64> = order.iter().map(|i| extents[*i]).collect();
                self.add(element_type, &turned, &format!("transpose({name}), dimensions={{{}}}", list(order)))
            }
            11 => {
                let along = self.random.below(rank);
                self.add(element_type, &extents, &format!("reverse({name}), dimensions={{{along}}}"))
            }
            12 | 13 => {
                let parts: Vec<(i64, i64, i64)> = extents
                    .iter()
                    .map(|n| {
                        let start = self.random.between(0, n - 1);
                        (start, self.random.between(start + 1, *n), self.random.between(1, 2))
                    })
                    .collect();
                let cut: Vec<i64> =
                    parts.iter().map(|(start, limit, stride)| (limit - start + stride - 1) / stride).collect();
                let texts = list(parts.iter().map(|(start, limit, stride)| format!("[{start}:{limit}:{stride}]")));
                self.add(element_type, &cut, &format!("slice({name}), slice={{{texts}}}"))
            }
            14 => {
                let along = self.random.below(rank);
                let mut beside = extents.clone();
                beside[along] = self.random.between(1, 3);
                let other = self.leaf(element_type, &beside);
                let mut both = extents.clone();
                both[along] += beside[along];
                self.add(element_type, &both, &format!("concatenate({name}, {}), dimensions={{{along}}}", other.name))
            }
            15 => {
                let number = self.random.between(0, 50);
                let fill = self.scalar(element_type, number);
                let sides: Vec<[i64; 3]> =
                    extents.iter().map(|_| [0, 1, 2].map(|_| self.random.pick(&[0, 0, 1, 2]))).collect();
                let padded: Vec<i64> =
                    extents.iter().zip(&sides).map(|(n, [lo, hi, between])| lo + hi + n + (n - 1) * between).collect();
                let texts: Vec<String> = sides.iter().map(|[lo, hi, between]| format!("{lo}_{hi}_{between}")).collect();
                let operation = format!("pad({name}, {}), padding={}", fill.name, texts.join("x"));
                self.add(element_type, &padded, &operation)
            }
            16 | 17 => {
                let sizes: Vec<i64> = extents.iter().map(|n| self.random.between(1, *n)).collect();
                let starts: Vec<String> = extents
                    .iter()
                    .map(|_| {
                        let start = self.random.between(-2, 5);
                        self.scalar("s32", start).name
                    })
                    .collect();
                if choice == 16 {
                    let operation = format!(
                        "dynamic-slice({name}, {}), dynamic_slice_sizes={{{}}}",
                        starts.join(", "),
                        list(&sizes)
                    );
                    return self.add(element_type, &sizes, &operation);
                }
                let update = self.leaf(element_type, &sizes);
                let operation = format!("dynamic-update-slice({name}, {}, {})", update.name, starts.join(", "));
                self.add(element_type, &extents, &operation)
            }
            18 => {
                let n = self.random.between(1, 4);
                let which = self.leaf("s32", &[n]);
                let mut sizes = extents.clone();
                sizes[0] = 1;
                let mut picked = extents.clone();
                picked[0] = n;
                let operation = format!(
                    "gather({name}, {}), offset_dims={{{}}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, \
                     index_vector_dim=1, slice_sizes={{{}}}",
                    which.name,
                    list(1..rank),
                    list(&sizes)
                );
                self.add(element_type, &picked, &operation)
            }
            _ => self.add(element_type, &extents, &format!("copy({name})")),
        }
    }
}

fn program(seed: u64) -> String {
    let mut maker = Maker { random: Random(seed), lines: String::new(), functions: String::new(), names: 0 };
    let element_type = maker.random.pick(&TYPES);
    let extents = maker.extents();
    let mut value = maker.leaf(element_type, &extents);
    for _ in 0..maker.random.below(7) {
        let grown = maker.grown(&value);
        if grown.extents.iter().product::<i64>() <= 200 {
            value = grown;
        }
    }
    let root = maker.add(value.element_type, &value.extents, &format!("copy({})", value.name));
    let Maker { lines, functions, .. } = maker;
    let lines = lines.replace(&format!(" {} = ", root.name), &format!(" ROOT {} = ", root.name));
    format!("HloModule known\n{functions}ENTRY e {{\n{lines}}}\n")
}

#[test]
fn known_values_are_those_of_the_evaluator() {
    let programs = cases(400);
    let (mut asked, mut known, mut lines) = (0, 0, 0);
    for seed in 0..programs {
        let source = program(seed);
        let module = text::parse(&source).unwrap_or_else(|found| panic!("{found}\n{source}"));
        let values = Values::new(&module, module.entry, &[]).unwrap_or_else(|found| panic!("{found}\n{source}"));
        let told = KnownValues::new(&module, module.entry);
        let mut random = Random(seed ^ 0x5555);
        for (id, instruction) in module.entry_computation().instructions.iter() {
            let Some(array) = instruction.shape.as_array().filter(|it| it.element_type != ElementType::Pred) else {
                continue;
            };
            if count(&array.extents) == 0 {
                continue;
            }
            let elements = values.of(id)[0].as_ref().expect("an array");
            let part = |random: &mut Random, extent: i64| {
                let lo = random.between(0, extent - 1);
                Interval::new(lo, random.between(lo, extent - 1))
            };
            let whole: Vec<Interval> = array.extents.iter().map(|extent| Interval::of_extent(*extent)).collect();
            let parts = (0..3).map(|_| array.extents.iter().map(|extent| part(&mut random, *extent)).collect());
            let boxes: Vec<Vec<Interval>> = std::iter::once(whole).chain(parts).collect();
            for within in boxes {
                asked += 1;
                let Some(e) = told.value(&Owners::default(), Owners::of(id), &within) else { continue };
                known += 1;
                lines += usize::from(e.as_constant().is_none());
                for cell in cells(&array.extents) {
                    if within.iter().zip(&cell).all(|(within, at)| within.contains(*at)) {
                        let at = Point { dims: &cell, ..Point::default() };
                        let value = e.evaluate_at(&at).map(i128::from);
                        let expected = integer(elements, position(&array.extents, &cell).expect("a cell"));
                        assert_eq!(
                            value,
                            Ok(expected),
                            "{} is {e} in {within:?}, at {cell:?}\n{source}",
                            instruction.name
                        );
                    }
                }
            }
        }
    }
    assert!(known * 2 > asked && lines * 10 > asked, "{known} of {asked} are known, {lines} of them no constants");
}
