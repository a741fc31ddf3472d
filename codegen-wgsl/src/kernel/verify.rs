//! The rules every kernel keeps, at every stage, and what could not be proved of it.

mod function;
mod lanes;
mod limits;
mod matrices;
mod reads;
mod tiles;
mod uniform;
mod updates;
mod windows;
mod writes;

use super::{FunctionId, Kernel, Space, ValueType};
use function::FunctionRules;
pub(crate) use lanes::is_multiple;
pub(crate) use reads::is_within;
use std::collections::BTreeSet;
use std::fmt;
use weft_hlo::ir::ElementType;
use weft_partition::Form;
pub(super) use writes::indexed_extents;

/// One broken rule, or something that could not be proved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The function or memory concerned, as the text spells it; `entry` for the entry.
    pub place: String,
    /// What is wrong, or unproved.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for Finding {}

impl Kernel {
    /// Checks that the kernel makes sense:
    /// - names are distinct, extents not negative, shapes static and without layouts, buffers before other memories;
    /// - every value is defined once, before its uses, in the block of the use or one around it;
    /// - types agree, lanes included, and so do the lengths of everything that is passed, yielded, carried or returned;
    /// - indices use the variables in sight alone, one index per dimension or, flat, a single one;
    /// - memories are read and written only where their access allows it, and written by the entry only;
    /// - functions call later ones only, so no function can reach itself;
    /// - barriers and collectives of the workgroup stand where all its invocations come;
    /// - every element of every result is written exactly once, every index is within its memory, tiles are written before they are
    ///   read and by one invocation at a time;
    /// - vectors go to and from buffers only that are not updated in place, from positions on that are multiples of their lanes;
    /// - a dispatch uses of memories what it binds of them, [windows](super::Window) of one buffer are the same, and begin at multiples of 4;
    /// - parts of one tensor are read only, and each has a binding of its own;
    /// - of a memory that is read and written an element is written by one invocation at most, which alone reads it.
    ///
    /// Returns what of the elements and indices could be neither proved nor refuted.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the text. A value used without a definition is reported once per use.
    pub fn verify(&self) -> Result<Vec<Finding>, Vec<Finding>> {
        self.verify_rules()?;
        let [mut findings, mut unproved] = [Findings(Vec::new()), Findings(Vec::new())];
        match self.without_names() {
            Ok(written) => written.as_ref().unwrap_or(self).verify_elements(&mut findings, &mut unproved),
            Err(error) => findings.add("kernel", error.to_string()),
        }
        if findings.0.is_empty() { Ok(unproved.0) } else { Err(findings.0) }
    }

    /// Checks what of [`verify`](Self::verify) is a rule, as a lowering keeps it, and no proof of where indices lead: quick enough to be done
    /// after each.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the text.
    pub(crate) fn verify_rules(&self) -> Result<(), Vec<Finding>> {
        let mut findings = Findings(Vec::new());
        self.verify_memories(&mut findings);
        for (id, function) in self.functions.iter() {
            FunctionRules::check(self, Some(id), function, &mut findings);
        }
        self.verify_launch(&mut findings);
        FunctionRules::check(self, None, &self.entry, &mut findings);
        if findings.0.is_empty() {
            uniform::check(self, &mut findings);
        }
        if findings.0.is_empty() { Ok(()) } else { Err(findings.0) }
    }

    /// Whether it is proved that every element of every result is written exactly once.
    pub(crate) fn is_written_once(&self) -> bool {
        let [mut findings, mut unproved] = [Findings(Vec::new()), Findings(Vec::new())];
        writes::check(self, &mut findings, &mut unproved);
        findings.0.is_empty() && unproved.0.is_empty()
    }

    /// What is asked of indices and of the elements they lead to.
    fn verify_elements(&self, findings: &mut Findings, unproved: &mut Findings) {
        lanes::check(self, findings);
        reads::check(self, findings, unproved);
        writes::check(self, findings, unproved);
        updates::check(self, findings, unproved);
        windows::check(self, unproved);
        tiles::check(self, findings, unproved);
    }

    fn verify_memories(&self, findings: &mut Findings) {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut own = false;
        for memory in self.memories.values() {
            let place = format!("%{}", memory.name);
            if !names.insert(&memory.name) {
                findings.add(&place, "another memory has this name");
            }
            if memory.shape.extents.iter().any(|extent| *extent < 0) {
                findings.add(&place, "an extent is negative");
            }
            if let Some(packed) = &memory.packed {
                let form = Form::of(packed.element_type).filter(|form| form.is_packed());
                let words = form.zip(elements(&packed.extents)).map(|(form, count)| {
                    let per_word = i128::from(form.per_word());
                    (count + per_word - 1) / per_word
                });
                let is_of_words = memory.shape.element_type == ElementType::U32 && memory.shape.rank() == 1;
                if !is_of_words || words.is_none_or(|words| i128::from(memory.shape.extents[0]) != words) {
                    findings.add(&place, format!("its words are not those that hold {packed}"));
                }
            }
            if memory.shape.layout.is_some() || !memory.shape.dynamic.is_empty() {
                findings.add(&place, "the shape has a layout or a dynamic dimension");
            }
            if memory.pairs && (!memory.is_buffer() || memory.is_uniform()) {
                findings.add(&place, "it is of pairs, which only storage buffers are");
            }
            if self.in_one_buffer(memory).any(|other| other.pairs != memory.pairs) {
                findings.add(&place, "some memories of its buffer are of pairs, and some are not");
            }
            windows::check_memory(self, memory, findings);
            windows::check_part(self, memory, findings);
            match memory.space {
                Space::Buffer { .. } if own => {
                    findings.add(&place, "a buffer comes after a memory of the kernel's own")
                }
                Space::Buffer { offset, .. } if !offset.is_multiple_of(4) => {
                    findings.add(&place, format!("it begins at byte {offset}, which is no whole word"));
                }
                Space::Buffer { .. } => {
                    let shared = self.in_one_buffer(memory).find(|other| other.is_uniform() != memory.is_uniform());
                    if let (Some(other), true) = (shared, memory.is_uniform()) {
                        findings
                            .add(&place, format!("it is a uniform, and %{} in the same buffer is none", other.name));
                    }
                }
                Space::Workgroup | Space::Thread => own = true,
                Space::Matrix { .. } => {
                    own = true;
                    matrices::check_memory(self, memory, findings);
                }
            }
        }
        for function in self.functions.values() {
            if !names.insert(&function.name) {
                findings.add(&format!("@{}", function.name), "another function or a memory has this name");
            }
        }
    }

    fn verify_launch(&self, findings: &mut Findings) {
        if self.threads() < 1 {
            findings.add("entry", "a workgroup has no invocations");
        }
        if !matches!(self.lanes, 1 | 2 | 4) || self.threads() % i64::from(self.lanes.max(1)) != 0 {
            findings
                .add("entry", format!("{} invocations are no whole number of {} lanes", self.threads(), self.lanes));
        }
        let coordinates = self.entry.extents.len() - usize::from(self.window_coordinate().is_some());
        if !(1..=4).contains(&coordinates) {
            findings.add("entry", "workgroups have one to three coordinates, and invocations a number");
        }
        let windows = self.window_coordinate().and_then(|coordinate| self.entry.extents.get(coordinate));
        if self.windows < 1 || windows.is_some_and(|windows| *windows != self.windows) {
            findings
                .add("entry", format!("there are {} windows, and the entry has another number of them", self.windows));
        }
        // Each coordinate is a word; their number may take two.
        if self.entry.extents.iter().any(|extent| *extent > 1 << 32) {
            findings.add("entry", "there are more invocations along one coordinate than 32 bits number");
        }
        if elements(&self.entry.extents).is_none_or(|launched| launched > 1 << 62) {
            findings.add("entry", "there are more invocations than 62 bits number");
        }
    }

    /// How many indices a function takes, its parameters and its results; `None` where a type is not known.
    fn callee(&self, id: FunctionId) -> Option<Signature> {
        let function = self.functions.get(id)?;
        let parameters = function.parameters.iter().map(|value| Some(function.values.get(*value)?.ty()));
        Some(Signature {
            indices: function.extents.len(),
            parameters: parameters.collect(),
            results: function::result_types(function),
        })
    }
}

struct Signature {
    indices: usize,
    parameters: Vec<Option<ValueType>>,
    results: Vec<Option<ValueType>>,
}

/// The number of elements, if it can be counted.
fn elements(extents: &[i64]) -> Option<i128> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().try_fold(1i128, |count, extent| count.checked_mul(i128::from(*extent)))
}

/// What was found so far.
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, place: &str, message: impl Into<String>) {
        self.0.push(Finding { place: place.to_owned(), message: message.into() });
    }
}
