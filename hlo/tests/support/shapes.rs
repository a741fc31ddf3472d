//! Random shape functions, operands for them, and partial knowledge of the operands.

use std::fmt::Write as _;
use weft_affine::Interval;
use weft_hlo::shape::function::{AttributeTable, Extents, Known, KnownShape, Value};

use weft_hlo::random::Rng;

/// The types that values of random functions have.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Ty {
    Operand,
    Shape,
    Sizes,
    Size,
    Bool,
    Shapes,
}

impl Ty {
    fn name(self) -> &'static str {
        match self {
            Ty::Operand => "!shape.value_shape",
            Ty::Shape => "!shape.shape",
            Ty::Sizes => "tensor<?xindex>",
            Ty::Size => "!shape.size",
            Ty::Bool => "i1",
            Ty::Shapes => "!shape.shapes",
        }
    }
}

struct Function {
    name: String,
    parameters: Vec<Ty>,
    results: Vec<Ty>,
}

/// A library whose last function is the one to test; the others are what it calls.
pub(crate) fn random_library(rng: &mut Rng) -> (String, String) {
    let mut text = String::from("shape.function_library @random {\n");
    let mut done: Vec<Function> = Vec::new();
    let mut errors = 0;
    for index in 0..=rng.below(3) {
        let parameters: Vec<Ty> = (0..1 + rng.below(3))
            .map(|_| {
                if rng.chance(70) {
                    Ty::Operand
                } else if rng.chance(50) {
                    Ty::Shapes
                } else {
                    Ty::Size
                }
            })
            .collect();
        let mut maker =
            Maker { rng, text: &mut text, values: Vec::new(), names: 0, errors: &mut errors, callees: &done };
        let name = format!("f{index}");
        let results = maker.function(&name, &parameters);
        done.push(Function { name, parameters, results });
    }
    let last = done.last().map(|function| function.name.clone()).unwrap_or_default();
    let _ = writeln!(text, "}} mapping {{\n  some.operation = @{last}\n}}");
    (text, last)
}

struct Maker<'a> {
    rng: &'a mut Rng,
    text: &'a mut String,
    values: Vec<(String, Ty)>,
    names: usize,
    errors: &'a mut usize,
    callees: &'a [Function],
}

impl Maker<'_> {
    fn function(&mut self, name: &str, parameters: &[Ty]) -> Vec<Ty> {
        let declared: Vec<String> = parameters
            .iter()
            .map(|&ty| {
                let name = self.fresh(ty);
                format!("{name}: {}", ty.name())
            })
            .collect();
        let place = self.text.len();
        for (position, &ty) in parameters.iter().enumerate() {
            if ty == Ty::Operand {
                let operand = self.values[position].0.clone();
                self.line(Ty::Shape, &format!("shape.shape_of {operand}"));
            }
        }
        for _ in 0..2 + self.rng.below(14) {
            self.operation(0);
        }
        let count = 1 + self.rng.below(2);
        let results: Vec<Ty> = (0..count).map(|_| if self.rng.chance(80) { Ty::Shape } else { Ty::Size }).collect();
        let values: Vec<String> = results.iter().map(|&ty| self.value(ty)).collect();
        let types: Vec<&str> = results.iter().map(|ty| ty.name()).collect();
        let head = format!("func.func @{name}({}) -> ({}) {{\n", declared.join(", "), types.join(", "));
        self.text.insert_str(place, &head);
        let _ = writeln!(self.text, "  return {}\n}}", values.join(", "));
        results
    }

    fn fresh(&mut self, ty: Ty) -> String {
        self.names += 1;
        let name = format!("%v{}", self.names);
        self.values.push((name.clone(), ty));
        name
    }

    fn line(&mut self, ty: Ty, operation: &str) {
        let name = self.fresh(ty);
        let _ = writeln!(self.text, "  {name} = {operation}");
    }

    /// A value of the type; made now if there is none.
    fn value(&mut self, ty: Ty) -> String {
        let fitting: Vec<usize> = (0..self.values.len()).filter(|&index| self.values[index].1 == ty).collect();
        let recent = &fitting[fitting.len().saturating_sub(5)..];
        let from = if self.rng.chance(60) { recent } else { &fitting[..] };
        if let Some(index) = self.rng.choose(from)
            && !(ty == Ty::Size && self.rng.chance(20))
        {
            return self.values[index].0.clone();
        }
        match ty {
            Ty::Size => {
                let size = match self.rng.below(20) {
                    0 => i64::MAX,
                    1 => -2,
                    2 | 3 => 0,
                    _ => self.rng.between(1, 4),
                };
                self.line(ty, &format!("shape.const_size {size}"));
            }
            Ty::Shape => {
                let extents = show(&random_extents(self.rng));
                self.line(ty, &format!("shape.const_shape {extents} : !shape.shape"));
            }
            Ty::Sizes => {
                let shape = self.value(Ty::Shape);
                self.line(ty, &format!("shape.to_extent_tensor {shape}"));
            }
            Ty::Bool => {
                let (a, b) = (self.value(Ty::Size), self.value(Ty::Size));
                self.line(ty, &format!("shape.le {a}, {b}"));
            }
            Ty::Shapes | Ty::Operand => {
                let shape = self.value(Ty::Shape);
                self.line(Ty::Shapes, &format!("shape.list_of {shape}"));
            }
        }
        self.values.last().map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// An index: mostly one that is in range of what is not empty.
    fn index(&mut self) -> String {
        if self.rng.chance(25) {
            return self.value(Ty::Size);
        }
        let index = if self.rng.chance(80) { 0 } else { 1 };
        self.line(Ty::Size, &format!("shape.const_size {index}"));
        self.values.last().map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn error(&mut self) -> String {
        if self.rng.chance(20) {
            return String::new();
        }
        *self.errors += 1;
        format!(", error=\"error {}\"", self.errors)
    }

    fn operation(&mut self, depth: usize) {
        let error = self.error();
        match self.rng.below(34) {
            0 => {
                let shape = self.value(Ty::Shape);
                self.line(Ty::Size, &format!("shape.rank {shape}"));
            }
            1 | 2 => {
                let (shape, index) = (self.value(Ty::Shape), self.index());
                self.line(Ty::Size, &format!("shape.get_extent {shape}, {index}{error}"));
            }
            3 => {
                let (shape, index) = (self.value(Ty::Shape), self.index());
                let (head, tail) = (self.fresh(Ty::Shape), self.fresh(Ty::Shape));
                let _ = writeln!(self.text, "  {head}, {tail} = shape.split_at {shape}, {index}{error}");
            }
            4 | 5 => {
                let (a, b) = (self.value(Ty::Shape), self.value(Ty::Shape));
                self.line(Ty::Shape, &format!("shape.concat {a}, {b}{error}"));
            }
            6 => {
                let (a, b) = (self.value(Ty::Size), self.value(Ty::Size));
                self.line(Ty::Shape, &format!("shape.from_extents {a}, {b}{error}"));
            }
            7 => {
                let (a, b) = (self.value(Ty::Size), self.value(Ty::Size));
                self.line(Ty::Sizes, &format!("tensor.from_elements {a}, {b}"));
            }
            8 => {
                let sizes = self.value(Ty::Sizes);
                self.line(Ty::Shape, &format!("shape.from_extent_tensor {sizes}{error}"));
            }
            9 => {
                let shape = self.value(Ty::Shape);
                self.line(Ty::Size, &format!("shape.num_elements {shape}{error}"));
            }
            10..=13 => {
                let name = self.rng.choose(&["add", "sub", "mul", "div", "ceil_div", "mod"]).unwrap();
                let (a, b) = (self.value(Ty::Size), self.value(Ty::Size));
                self.line(Ty::Size, &format!("shape.{name} {a}, {b}{error}"));
            }
            14 => {
                let name = self.rng.choose(&["min", "max"]).unwrap();
                let (a, b) = (self.value(Ty::Size), self.value(Ty::Size));
                self.line(Ty::Size, &format!("shape.{name} {a}, {b}"));
            }
            15 => {
                let name = self.rng.choose(&["eq", "ne", "lt", "le", "gt", "ge"]).unwrap();
                let (a, b) = (self.value(Ty::Size), self.value(Ty::Size));
                self.line(Ty::Bool, &format!("shape.{name} {a}, {b}"));
            }
            16 => {
                let ty = self.rng.choose(&[Ty::Size, Ty::Shape, Ty::Bool]).unwrap();
                let (c, a, b) = (self.value(Ty::Bool), self.value(ty), self.value(ty));
                self.line(ty, &format!("shape.select {c}, {a}, {b}"));
            }
            17 => {
                let name = self.rng.choose(&["and", "or"]).unwrap();
                let (a, b) = (self.value(Ty::Bool), self.value(Ty::Bool));
                self.line(Ty::Bool, &format!("shape.{name} {a}, {b}"));
            }
            18 => {
                let a = self.value(Ty::Bool);
                self.line(Ty::Bool, &format!("shape.not {a}"));
            }
            19 => {
                let name = self.rng.choose(&["shape_eq", "is_broadcastable"]).unwrap();
                let (a, b) = (self.value(Ty::Shape), self.value(Ty::Shape));
                self.line(Ty::Bool, &format!("shape.{name} {a}, {b}"));
            }
            20 => {
                let (a, b) = (self.value(Ty::Shape), self.value(Ty::Shape));
                self.line(Ty::Shape, &format!("shape.broadcast {a}, {b}{error}"));
            }
            21 | 22 => {
                let ty = self.rng.choose(&[Ty::Size, Ty::Shape]).unwrap();
                let a = self.value(ty);
                let b = if self.rng.chance(20) { a.clone() } else { self.value(ty) };
                self.line(ty, &format!("shape.meet {a}, {b}{error}"));
            }
            23 | 24 => {
                let condition = self.value(Ty::Bool);
                self.line(Ty::Bool, &format!("shape.require {condition}{error}"));
            }
            25 => {
                let a = self.value(Ty::Size);
                self.line(Ty::Size, &format!("shape.any {a}, {a}"));
            }
            26 => {
                let (name, ty) = self
                    .rng
                    .choose(&[("size", Ty::Size), ("sizes", Ty::Sizes), ("shape", Ty::Shape), ("missing", Ty::Size)])
                    .unwrap();
                // One in a few asks for what is not there.
                if name != "missing" || self.rng.chance(30) {
                    self.line(ty, &format!("shape.attribute \"{name}\"{error} : {}", ty.name()));
                }
            }
            27 => {
                let list = self.value(Ty::Shapes);
                self.line(Ty::Size, &format!("shape.length {list}"));
            }
            28 => {
                let (list, index) = (self.value(Ty::Shapes), self.index());
                self.line(Ty::Shape, &format!("shape.get_shape {list}, {index}{error}"));
            }
            29 => {
                let (list, shape) = (self.value(Ty::Shapes), self.value(Ty::Shape));
                self.line(Ty::Shapes, &format!("shape.append {list}, {shape}{error}"));
            }
            30 if depth < 2 => self.branch(depth),
            31 | 32 if depth < 2 => self.reduce(depth),
            33 => self.call(),
            _ => {
                let (count, shape) = (self.value(Ty::Size), self.value(Ty::Shape));
                self.line(Ty::Shapes, &format!("shape.repeat {count}, {shape}{error}"));
            }
        }
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.value(Ty::Bool);
        let ty = self.rng.choose(&[Ty::Size, Ty::Shape]).unwrap();
        let place = self.text.len();
        let visible = self.values.len();
        let mut regions = Vec::new();
        for _ in 0..2 {
            for _ in 0..self.rng.below(4) {
                self.operation(depth + 1);
            }
            let result = self.value(ty);
            let _ = writeln!(self.text, "  shape.yield {result}");
            regions.push(self.text.split_off(place));
            self.values.truncate(visible);
        }
        let name = self.fresh(ty);
        let _ =
            writeln!(self.text, "  {name} = shape.if {condition} {{\n{}  }} else {{\n{}  }}", regions[0], regions[1]);
    }

    fn reduce(&mut self, depth: usize) {
        let list_type = self.rng.choose(&[Ty::Shape, Ty::Shape, Ty::Sizes, Ty::Shapes]).unwrap();
        let list = self.value(list_type);
        let types: Vec<Ty> =
            (0..1 + self.rng.below(2)).map(|_| self.rng.choose(&[Ty::Size, Ty::Shape, Ty::Bool]).unwrap()).collect();
        let initial: Vec<String> = types.iter().map(|&ty| self.value(ty)).collect();
        let place = self.text.len();
        let visible = self.values.len();
        let element = if list_type == Ty::Shapes { Ty::Shape } else { Ty::Size };
        let arguments: Vec<String> =
            [Ty::Size, element].into_iter().chain(types.iter().copied()).map(|ty| self.fresh(ty)).collect();
        let _ = writeln!(self.text, "  ^bb0({}):", arguments.join(", "));
        for _ in 0..1 + self.rng.below(4) {
            self.operation(depth + 1);
        }
        let results: Vec<String> = types.iter().map(|&ty| self.value(ty)).collect();
        let _ = writeln!(self.text, "  shape.yield {}", results.join(", "));
        let body = self.text.split_off(place);
        self.values.truncate(visible);
        let names: Vec<String> = types.iter().map(|&ty| self.fresh(ty)).collect();
        let operands = [list].into_iter().chain(initial).collect::<Vec<_>>().join(", ");
        let _ = writeln!(self.text, "  {} = shape.reduce({operands}) {{\n{body}  }}", names.join(", "));
    }

    fn call(&mut self) {
        let callees = self.callees;
        let Some(callee) = callees.get(self.rng.below(callees.len())) else { return };
        let operands: Vec<String> = callee
            .parameters
            .iter()
            .map(|&ty| match ty {
                Ty::Operand => self.values.iter().find(|(_, ty)| *ty == Ty::Operand).map(|(name, _)| name.clone()),
                other => Some(self.value(other)),
            })
            .collect::<Option<_>>()
            .unwrap_or_default();
        if operands.len() != callee.parameters.len() {
            return;
        }
        let spell = |types: &[Ty]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
        let types = format!("({}) -> ({})", spell(&callee.parameters), spell(&callee.results));
        let names: Vec<String> = callee.results.iter().map(|&ty| self.fresh(ty)).collect();
        let call = format!("func.call @{}({})", callee.name, operands.join(", "));
        let _ = writeln!(self.text, "  {} = {call} : {types}", names.join(", "));
    }
}

fn show(extents: &[i64]) -> String {
    let parts: Vec<String> = extents.iter().map(i64::to_string).collect();
    format!("[{}]", parts.join(", "))
}

/// A shape: mostly small, now and then of rank 0, with an extent of 0, or with one that overflows.
pub(crate) fn random_extents(rng: &mut Rng) -> Extents {
    (0..if rng.chance(10) { 0 } else { 1 + rng.below(4) })
        .map(|_| match rng.below(24) {
            0 => 0,
            1 => 1 << 31,
            2 => i64::MAX,
            _ => rng.between(1, 4),
        })
        .collect()
}

/// Operands of the types; shapes often repeat one that came before, or differ from it in one extent.
pub(crate) fn random_operands(rng: &mut Rng, types: &[&str]) -> Vec<Value> {
    let mut before: Vec<Extents> = Vec::new();
    let mut shape = |rng: &mut Rng| {
        let mut extents = match before.get(rng.below(before.len())) {
            Some(same) if rng.chance(60) => same.clone(),
            _ => random_extents(rng),
        };
        if rng.chance(20) && !extents.is_empty() {
            let position = rng.below(extents.len());
            extents[position] = rng.between(0, 5);
        }
        before.push(extents.clone());
        extents
    };
    types
        .iter()
        .map(|ty| match *ty {
            "!shape.size" => Value::Size(if rng.chance(5) { i64::MAX } else { rng.between(-1, 5) }),
            "!shape.shapes" => Value::Shapes((0..rng.below(4)).map(|_| shape(rng)).collect()),
            _ => Value::Extents(shape(rng)),
        })
        .collect()
}

/// Attributes under the names that random functions ask for.
pub(crate) fn random_attributes(rng: &mut Rng) -> AttributeTable {
    let shape = random_extents(rng);
    let count = rng.below(5);
    AttributeTable::new()
        .with_size("size", rng.between(-1, 4))
        .with_sizes("sizes", (0..count).map(|_| rng.between(-2, 5)))
        .with("shape", Value::Extents(shape))
}

/// Something that is true of the value.
pub(crate) fn forget(rng: &mut Rng, value: &Value) -> Known {
    if rng.chance(25) {
        return Known::Exact(value.clone());
    }
    let size = |rng: &mut Rng, size: i64| match rng.below(4) {
        0 | 1 => Interval::point(size),
        2 => Interval::new(size.min(0), i64::MAX),
        _ => Interval::new(size.min(0), size.saturating_add(rng.between(0, 3))),
    };
    let shape = |rng: &mut Rng, extents: &Extents| {
        if rng.chance(20) {
            let rank = extents.len() as i64;
            let rank = Interval::new(rank - rng.between(0, rank), rank + rng.between(0, 200));
            return KnownShape::Unranked { rank, extent: Interval::new(0, i64::MAX) };
        }
        KnownShape::Ranked(extents.iter().map(|&extent| size(rng, extent)).collect())
    };
    match value {
        Value::Size(given) => Known::Size(size(rng, *given)),
        Value::Extents(extents) => Known::List(shape(rng, extents)),
        Value::Shapes(shapes) if rng.chance(30) => {
            Known::Shapes(Err(Interval::new(0, shapes.len() as i64 + rng.between(0, 3))))
        }
        Value::Shapes(shapes) => Known::Shapes(Ok(shapes.iter().map(|extents| shape(rng, extents)).collect())),
        Value::Bool(_) | Value::Witness(_) => Known::Truth { may_hold: true, may_fail: true },
    }
}
