//! Results of the coalescing analysis, as values and as text.

use std::fmt;

use super::strides::VariableStride;
use super::vector::VectorLimit;
use crate::{Rational, Unknown};

/// The degrees of coalescing, the best first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing is read.
    Nothing,
    /// Every request needs at most one segment more than the least number that could hold its bytes; the one more is for a
    /// start in the middle of a segment.
    Coalesced,
    /// Some requests need more than that, but lanes share segments.
    Partial,
    /// Wherever more is needed than that, each element takes a segment of its own.
    Uncoalesced,
    /// The analysis has no answer, for this reason.
    Unknown(Unknown),
}

impl Verdict {
    /// A stable name, as in the JSON form.
    pub fn code(self) -> &'static str {
        match self {
            Verdict::Nothing => "nothing",
            Verdict::Coalesced => "coalesced",
            Verdict::Partial => "partial",
            Verdict::Uncoalesced => "uncoalesced",
            Verdict::Unknown(_) => "unknown",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Nothing => f.write_str("nothing read"),
            Verdict::Coalesced => f.write_str("coalesced"),
            Verdict::Partial => f.write_str("partly coalesced"),
            Verdict::Uncoalesced => f.write_str("uncoalesced"),
            Verdict::Unknown(reason) => write!(f, "unknown, since {reason}"),
        }
    }
}

/// The access pattern of requests, the reason for a verdict.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Pattern {
    /// All lanes read one element.
    Uniform,
    /// The elements are adjacent, in any order of lanes.
    Contiguous,
    /// There are gaps in some requests, so small that hardly a segment is wasted.
    Close,
    /// There are gaps in some requests, and a segment holds several of the elements.
    Sparse,
    /// Each element lies in a segment of its own.
    Scattered,
}

impl Pattern {
    /// A stable name, as in the JSON form.
    pub fn code(self) -> &'static str {
        match self {
            Pattern::Uniform => "uniform",
            Pattern::Contiguous => "contiguous",
            Pattern::Close => "close",
            Pattern::Sparse => "sparse",
            Pattern::Scattered => "scattered",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pattern::Uniform => "all lanes of a subgroup read one element",
            Pattern::Contiguous => "the elements that a subgroup reads are adjacent",
            Pattern::Close => "gaps between the elements that a subgroup reads are small",
            Pattern::Sparse => "there are gaps between the elements that a subgroup reads",
            Pattern::Scattered => "each element that a subgroup reads lies in a segment of its own",
        })
    }
}

/// All requests of a launch together.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Totals {
    /// Requests: subgroups times the values of all variables other than threads and vectors, where anything is read.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    pub requests: u128,
    /// Segments that they need.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    pub transactions: u128,
    /// The least number of segments that could hold the bytes of each.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    pub least_transactions: u128,
    /// Bytes of the distinct elements of each.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    pub bytes: u128,
}

impl Totals {
    /// Transactions of the average request.
    pub fn average(&self) -> Option<Rational> {
        Rational::new(self.transactions, self.requests)
    }

    /// The fraction of fetched bytes that are asked for, given the size of a segment.
    pub fn efficiency(&self, segment_bytes: u32) -> Option<Rational> {
        Rational::new(self.bytes, self.transactions.checked_mul(u128::from(segment_bytes))?)
    }
}

/// The memory transactions of a map, exactly.
///
/// The fields keep their names in the JSON form (feature `serde`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Reads {
    /// Segments that a request needs at best, for any values of all other variables.
    pub best: u64,
    /// Segments that a request needs at worst.
    pub worst: u64,
    /// All requests of a launch; unknown where they depend on runtime values.
    pub totals: Known<Totals>,
    /// Bytes, a number that divides the address of the first element of every request.
    pub alignment: u64,
    /// Elements that a thread may read by one instruction: adjacent, aligned and all within the domain, everywhere.
    pub vector_width: u64,
    /// Why it is not twice as many.
    pub vector_limit: VectorLimit,
    /// Bytes that a thread reads by one such instruction.
    pub bytes_per_lane: u64,
    /// The access pattern of the requests.
    pub pattern: Pattern,
}

/// A value, or the reason why it is not known.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Known<T> {
    /// It is known, and exact.
    Known(T),
    /// It is not known.
    Unknown(Unknown),
}

impl<T> Known<T> {
    /// The value, where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Known::Known(value) => Some(value),
            Known::Unknown(_) => None,
        }
    }
}

/// The coalescing of one map's reads of one tensor; see [`crate::IndexingMap::coalescing`].
///
/// The fields keep their names in the JSON form (feature `serde`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Coalescing {
    /// The degree of coalescing.
    pub verdict: Verdict,
    /// The numbers behind the verdict; nothing where nothing is read or it is unknown.
    pub reads: Option<Reads>,
    /// The extents of the block, one for each thread variable; those of the bounds where the launch names none, and
    /// none where it names none and the map is undefined.
    pub block: Vec<i64>,
    /// The stride of each variable; empty where there is no address, since the map is undefined or the strides of the
    /// shape leave `i64`.
    pub strides: Vec<VariableStride>,
}

/// One line: the verdict, the reason, the transactions, vectors, alignment, the block where there are several thread variables,
/// and strides.
impl fmt::Display for Coalescing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict)?;
        if let Some(reads) = &self.reads {
            write!(f, ", since {}; {}", reads.pattern, reads.best)?;
            if reads.worst != reads.best {
                write!(f, " to {}", reads.worst)?;
            }
            f.write_str(" transactions per request")?;
            match &reads.totals {
                Known::Known(totals) => {
                    if let Some(average) = totals.average().filter(|_| reads.worst != reads.best) {
                        write!(f, ", {average} on average")?;
                    }
                }
                Known::Unknown(reason) => write!(f, ", total unknown, since {reason}")?,
            }
            write!(
                f,
                "; {} bytes per lane (vectors of {}, since {}); starts are multiples of {} bytes",
                reads.bytes_per_lane, reads.vector_width, reads.vector_limit, reads.alignment
            )?;
        }
        if let [_, _, ..] = self.block.as_slice() {
            let extents: Vec<String> = self.block.iter().map(i64::to_string).collect();
            write!(f, "; blocks of {} threads", extents.join(" x "))?;
        }
        let mut separator = "; strides ";
        for VariableStride { name, stride, .. } in &self.strides {
            write!(f, "{separator}{name}: {stride}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// The coalescing of one operand of a fusion, over all maps that read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OperandCoalescing {
    /// The worst verdict of all uses.
    pub verdict: Verdict,
    /// Each map alone, in the order given.
    pub uses: Vec<Coalescing>,
}

/// The coalescing of all operands of a fusion, in the order given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FusionCoalescing {
    /// Each operand.
    pub operands: Vec<OperandCoalescing>,
}

/// A line for each operand, and below it one for each use.
impl fmt::Display for FusionCoalescing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (i, operand) in self.operands.iter().enumerate() {
            write!(f, "{separator}operand {i}: {}", operand.verdict)?;
            for (k, one) in operand.uses.iter().enumerate() {
                write!(f, "\n  use {k}: {one}")?;
            }
            separator = "\n";
        }
        Ok(())
    }
}
