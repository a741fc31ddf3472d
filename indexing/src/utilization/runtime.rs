//! A common list of runtime variables for several maps.

use weft_affine::{Atom, Constraint, Expr, Var};

use crate::{Error, IndexingMap, Interval, RuntimeVariable};

/// Values of runtime variables that are gone through one by one.
const MAX_ASSIGNMENTS: u128 = 256;

/// Maps over one list of runtime variables.
#[derive(Clone, Debug)]
pub(crate) struct Uses {
    /// All have the same runtime variables in the same order; those that no map depends on have one value.
    pub(crate) maps: Vec<IndexingMap>,
    /// Whether some runtime variable that maps depend on is an element that depends on the index, and so has many values in one
    /// run.
    varies: bool,
}

impl Uses {
    /// The maps as given and simplified, with one number for equal runtime variables, and one value for those that do not
    /// matter once simplified.
    pub(crate) fn pair(given: &[IndexingMap], simple: &[IndexingMap]) -> Result<(Uses, Uses), Error> {
        let mut all: Vec<RuntimeVariable> = Vec::new();
        let (mut given_maps, mut simple_maps) = (given.to_vec(), simple.to_vec());
        for (given, simple) in given_maps.iter_mut().zip(&mut simple_maps) {
            let mut numbers: Vec<Expr> = Vec::with_capacity(simple.runtime.len());
            for variable in &simple.runtime {
                let access = variable.access.iter().map(|e| rename(e, &numbers)).collect::<Result<_, _>>()?;
                let moved = RuntimeVariable { access, ..variable.clone() };
                let at = all.iter().position(|known| known.is_same_value(&moved)).unwrap_or(all.len());
                match all.get_mut(at) {
                    // One value, for which each map has bounds of its own; see below.
                    Some(known) => known.bounds = known.bounds.hull(moved.bounds),
                    None => all.push(moved),
                }
                let number =
                    u32::try_from(at).map_err(|_| weft_affine::Error::Overflow { what: "a number of variables" })?;
                numbers.push(Expr::runtime(number));
            }
            for map in [given, simple] {
                for e in map.results.iter_mut().chain(map.constraints.iter_mut().map(|c| &mut c.expr)) {
                    *e = rename(e, &numbers)?;
                }
                let own = numbers.iter().zip(&map.runtime).map(|(e, v)| Constraint::new(e.clone(), v.bounds));
                map.constraints.extend(own.collect::<Vec<_>>());
            }
        }
        let of = |mut maps: Vec<IndexingMap>| {
            for map in &mut maps {
                map.runtime.clone_from(&all);
                let bounds = map.variable_ranges();
                map.constraints.retain(|c| !c.expr.as_var().is_some_and(|v| c.bounds.contains_interval(bounds.get(v))));
            }
            Uses { varies: varies_with_index(&maps), maps }
        };
        let (mut given, mut simple) = (of(given_maps), of(simple_maps));
        for i in simple.runtime_numbers() {
            if !simple.maps.iter().any(|map| mentions(map, i)) {
                let least = simple.bounds(i).lo;
                given.fix(i, least);
                simple.fix(i, least);
            }
        }
        Ok((given, simple))
    }

    fn runtime_numbers(&self) -> std::ops::Range<usize> {
        0..self.maps.first().map_or(0, |map| map.runtime.len())
    }

    fn bounds(&self, i: usize) -> Interval {
        self.maps.first().and_then(|map| map.runtime.get(i)).map_or(Interval::EMPTY, |v| v.bounds)
    }

    /// Gives a runtime variable one value.
    fn fix(&mut self, i: usize, value: i64) {
        for variable in self.maps.iter_mut().filter_map(|map| map.runtime.get_mut(i)) {
            variable.bounds = Interval::point(value);
        }
    }

    /// Runtime variables with more than one value.
    pub(crate) fn open(&self) -> Vec<usize> {
        self.runtime_numbers().filter(|i| self.bounds(*i).size() > 1).collect()
    }

    /// Whether some runtime variable that matters has many values in one run.
    pub(crate) fn varies_with_index(&self) -> bool {
        self.varies
    }

    /// Runtime variables that shift what all maps read by the same steps matter to no count: they get one value.
    pub(crate) fn fix_shifts(&mut self) {
        for i in self.open() {
            let Ok(number) = u32::try_from(i) else { continue };
            let mut shifts = self.maps.iter().map(|map| shift(map, Var::Runtime(number)));
            let first = shifts.next().flatten();
            if first.is_some() && shifts.all(|other| other == first) {
                self.fix(i, self.bounds(i).lo);
            }
        }
    }

    /// These uses and those `beside` them for each choice of the values of the runtime variables open here; nothing where there
    /// are too many. Those open only beside get their least value: they do not matter.
    pub(crate) fn assignments(&self, beside: &Uses) -> Option<Vec<(Uses, Uses)>> {
        let open = self.open();
        let number = open.iter().fold(1u128, |n, i| n.saturating_mul(self.bounds(*i).size()));
        if number > MAX_ASSIGNMENTS {
            return None;
        }
        let mut settled = beside.clone();
        for i in beside.open().into_iter().filter(|i| !open.contains(i)) {
            settled.fix(i, settled.bounds(i).lo);
        }
        let mut chosen = vec![(self.clone(), settled)];
        for i in open {
            let Interval { lo, hi } = self.bounds(i);
            let with = |(here, beside): &(Uses, Uses), value: i64| {
                let (mut here, mut beside) = (here.clone(), beside.clone());
                here.fix(i, value);
                beside.fix(i, value);
                (here, beside)
            };
            chosen = chosen.iter().flat_map(|both| (lo..=hi).map(move |value| with(both, value))).collect();
        }
        Some(chosen)
    }
}

fn rename(e: &Expr, numbers: &[Expr]) -> Result<Expr, weft_affine::Error> {
    e.substitute(|v| match v {
        Var::Runtime(i) => numbers.get(i as usize).cloned(),
        _ => None,
    })
}

/// Whether some map depends on an element that depends on the index, be it through an element that another one is read at.
fn varies_with_index(maps: &[IndexingMap]) -> bool {
    let Some(map) = maps.first() else { return false };
    let mut varying: Vec<bool> = Vec::with_capacity(map.runtime.len());
    for variable in &map.runtime {
        let mentioned = variable.access.iter().flat_map(Expr::variables);
        let own = mentioned.into_iter().any(|v| match v {
            Var::Dim(_) | Var::Range(_) => true,
            Var::Runtime(j) => varying.get(j as usize).copied().unwrap_or(false),
        });
        varying.push(own && variable.bounds.size() > 1);
    }
    let matters = |i: usize| maps.iter().any(|map| mentions(map, i));
    (0..varying.len()).any(|i| varying[i] && matters(i))
}

/// Whether results or constraints depend on the runtime variable.
fn mentions(map: &IndexingMap, runtime: usize) -> bool {
    let own = |v: &Var| matches!(v, Var::Runtime(i) if *i as usize == runtime);
    map.results.iter().chain(map.constraints.iter().map(|c| &c.expr)).any(|e| e.variables().iter().any(own))
}

/// The coefficient of the variable in each result, where that is all it does.
fn shift(map: &IndexingMap, v: Var) -> Option<Vec<i64>> {
    if map.constraints.iter().any(|c| c.expr.variables().contains(&v)) {
        return None;
    }
    let coefficient = |e: &Expr| {
        let within = |atom: &Atom| atom.argument().is_some_and(|x| x.variables().contains(&v));
        if e.terms().iter().any(|t| within(&t.atom)) {
            return None;
        }
        Some(e.terms().iter().find(|t| matches!(t.atom, Atom::Var(w) if w == v)).map_or(0, |t| t.coefficient))
    };
    map.results.iter().map(coefficient).collect()
}
