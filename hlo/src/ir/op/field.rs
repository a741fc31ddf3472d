//! A uniform view of the attributes of operations: name, spelling and value.
//!
//! The table of operations in [`super`] declares them once; the reader, the writer and the shape functions go through
//! this module, so that none of them has a list of its own.

use super::{
    ApiVersion, CallSchedule, CollectiveMode, ComparisonDirection, ComparisonType, ConvolutionDimensions,
    ConvolutionKind, DotAlgorithm, FftType, FusionKind, OperandAlias, PadDimension, PaddingType, Precision,
    RandomAlgorithm, RandomDistribution, ReplicaGroups, SliceDimension, TransposeKind, Window,
};
use crate::ir::{ComputationId, Literal, Shape};

/// How the text spells the value of an attribute.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `3`
    Integer,
    /// `{3}`
    Dimension,
    /// `{0,1}`
    Dimensions,
    /// `true`
    Flag,
    /// `0.001`
    Epsilon,
    /// `"text"`
    Quoted,
    /// `{kind="sharding", entry={replicated}, exit={manual}}`
    Domain,
    /// `{}`
    Sparsity,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, in any case.
    AnyCase(&'static [&'static str]),
    /// `{high,default}`
    Precisions,
    /// `{[0:5], [1:20:2]}`
    Slices,
    /// `1_4x0_0_2`
    Padding,
    /// `{size=3x3 stride=2x2}`
    Window,
    /// `b01f_01io->b01f`
    Labels,
    /// `{{0,1},{2,3}}` or `[2,2]<=[4]`
    Groups,
    /// `{{0,1},{1,0}}`
    Pairs,
    /// `add`
    Computation,
    /// `{a, b}`
    Computations,
    /// `f32[2]{0}`
    Shape,
    /// `{f32[2]{0}, s32[]}`
    Shapes,
    /// `s32[2]{0} {1, 2}`, `( f32[] 1, s32[] 2 )`
    Literal,
    /// `{{0}: (1, {})}`
    Aliases,
}

/// Whether an attribute may be left out, and what is printed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It must be there.
    Required,
    /// It may be missing, which is a value of its own.
    Optional,
    /// Where it is missing it has its default, and where it has its default it is not printed.
    Default,
    /// Where it is missing it has its default; it is always printed.
    Assumed,
}

/// One attribute that an operation owns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name in the text.
    pub(crate) name: &'static str,
    /// How its value is spelled.
    pub(crate) spelling: Spelling,
    /// Whether it may be left out.
    pub(crate) presence: Presence,
}

/// The number of a batch-normalization operation that keeps it from dividing by zero. Equal by its bits.
#[derive(Copy, Clone, Debug, Default)]
pub struct Epsilon(pub f32);

impl PartialEq for Epsilon {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Epsilon {}

/// A type that an attribute may have.
pub(crate) trait FieldType: Sized {
    /// The value that was read, if it is of this type.
    fn from_value(value: FieldValue) -> Option<Self>;
    /// The value for all who look at attributes without knowing the operation.
    fn view(&self) -> FieldView<'_>;
    /// The computations that it names.
    fn callees(&mut self) -> &mut [ComputationId] {
        &mut []
    }
}

macro_rules! field_values {
    ($($variant:ident($type:ty) $(|$value:ident| $callees:expr)?,)*) => {
        /// A value that was read.
        #[derive(Clone, Debug)]
        pub(crate) enum FieldValue {
            Word(&'static str),
            Precisions(Vec<Precision>),
            $($variant($type),)*
        }

        /// A value that an operation holds.
        #[derive(Copy, Clone, Debug)]
        pub(crate) enum FieldView<'a> {
            Word(&'static str),
            Precisions(&'a [Precision]),
            $($variant(&'a $type),)*
        }

        $(impl FieldType for $type {
            fn from_value(value: FieldValue) -> Option<Self> {
                match value {
                    FieldValue::$variant(value) => Some(value),
                    _ => None,
                }
            }
            fn view(&self) -> FieldView<'_> {
                FieldView::$variant(self)
            }
            $(fn callees(&mut self) -> &mut [ComputationId] {
                let $value = self;
                $callees
            })?
        })*
    };
}

field_values! {
    Integer(i64),
    Integers(Vec<i64>),
    Flag(bool),
    Epsilon(Epsilon),
    Text(String),
    Slices(Vec<SliceDimension>),
    Padding(Vec<PadDimension>),
    Window(Window),
    Labels(ConvolutionDimensions),
    Groups(ReplicaGroups),
    Pairs(Vec<Vec<i64>>),
    Computation(ComputationId) |one| std::slice::from_mut(one),
    Computations(Vec<ComputationId>) |all| all,
    Shape(Shape),
    Shapes(Vec<Shape>),
    Literal(Literal),
    Aliases(Vec<OperandAlias>),
}

impl<T: FieldType> FieldType for Box<T> {
    fn from_value(value: FieldValue) -> Option<Self> {
        T::from_value(value).map(Box::new)
    }
    fn view(&self) -> FieldView<'_> {
        T::view(self)
    }
}

impl FieldType for Vec<Precision> {
    fn from_value(value: FieldValue) -> Option<Self> {
        match value {
            FieldValue::Precisions(value) => Some(value),
            _ => None,
        }
    }
    fn view(&self) -> FieldView<'_> {
        FieldView::Precisions(self)
    }
}

macro_rules! words {
    ($($type:ident),* $(,)?) => {$(
        impl FieldType for $type {
            fn from_value(value: FieldValue) -> Option<Self> {
                match value {
                    FieldValue::Word(name) => $type::from_name(name),
                    _ => None,
                }
            }
            fn view(&self) -> FieldView<'_> {
                FieldView::Word(self.name())
            }
        }
    )*};
}

words!(
    ApiVersion,
    CallSchedule,
    CollectiveMode,
    ComparisonDirection,
    ComparisonType,
    ConvolutionKind,
    DotAlgorithm,
    FftType,
    FusionKind,
    PaddingType,
    RandomAlgorithm,
    RandomDistribution,
    TransposeKind,
);

/// The attributes read after an instruction, by name.
#[derive(Debug, Default)]
pub(crate) struct FieldValues(Vec<(&'static str, FieldValue)>);

impl FieldValues {
    pub(crate) fn insert(&mut self, name: &'static str, value: FieldValue) {
        self.0.push((name, value));
    }

    /// Takes the value of an attribute out; `None` if it was not there.
    pub(crate) fn take<T: FieldType>(&mut self, name: &str) -> Option<T> {
        let position = self.0.iter().position(|(found, _)| *found == name)?;
        T::from_value(self.0.swap_remove(position).1)
    }
}
