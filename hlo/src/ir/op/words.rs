//! Attributes that are one word of a few: kinds, directions, precisions, algorithms.

macro_rules! spelled {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
        }

        impl $enum {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$enum] = &[$($enum::$variant,)*];

            /// The spellings of [`ALL`](Self::ALL), in that order.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// The spelling in HLO text.
            pub fn name(self) -> &'static str {
                match self { $($enum::$variant => $name,)* }
            }

            /// The variant spelled `name`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some($enum::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = $crate::ir::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::from_name(name).ok_or_else(|| $crate::ir::UnknownName::new(stringify!($enum), name))
            }
        }
    };
}

spelled! {
    /// The relation that `compare` tests.
    ComparisonDirection { Eq "EQ", Ne "NE", Ge "GE", Gt "GT", Le "LE", Lt "LT", }
}

impl ComparisonDirection {
    /// The relation of the operands the other way round: `a < b` is `b > a`.
    pub fn swapped(self) -> Self {
        match self {
            ComparisonDirection::Eq | ComparisonDirection::Ne => self,
            ComparisonDirection::Ge => ComparisonDirection::Le,
            ComparisonDirection::Gt => ComparisonDirection::Lt,
            ComparisonDirection::Le => ComparisonDirection::Ge,
            ComparisonDirection::Lt => ComparisonDirection::Gt,
        }
    }
}

spelled! {
    /// The order by which `compare` compares its operands; the default follows from the element type.
    #[non_exhaustive]
    ComparisonType { Float "FLOAT", TotalOrder "TOTALORDER", Signed "SIGNED", Unsigned "UNSIGNED", }
}

spelled! {
    /// XLA's kinds of fusion.
    #[non_exhaustive]
    FusionKind { Loop "kLoop", Input "kInput", Output "kOutput", Custom "kCustom", }
}

spelled! {
    /// The precision at which a dot or a convolution reads an operand.
    #[non_exhaustive]
    Precision { Default "default", High "high", Highest "highest", }
}

spelled! {
    /// The arithmetic of a dot: the types in which it multiplies and accumulates, and in how many passes.
    #[non_exhaustive]
    DotAlgorithm {
        Unset "unset", F8F32 "dot_any_f8_any_f8_f32", F8F32FastAccumulation "dot_any_f8_any_f8_f32_fast_accum",
        F16F16 "dot_f16_f16_f16", F16F32 "dot_f16_f16_f32", Bf16Bf16 "dot_bf16_bf16_bf16", Bf16F32 "dot_bf16_bf16_f32",
        Bf16F32X3 "dot_bf16_bf16_f32_x3", Bf16F32X6 "dot_bf16_bf16_f32_x6", Bf16F32X9 "dot_bf16_bf16_f32_x9",
        Tf32F32 "dot_tf32_tf32_f32", Tf32F32X3 "dot_tf32_tf32_f32_x3", F32F32 "dot_f32_f32_f32",
        F64F64 "dot_f64_f64_f64",
    }
}

spelled! {
    /// The kind of a convolution: forward, or one of its two gradients.
    #[non_exhaustive]
    ConvolutionKind { Forward "fprop", InputGradient "dgrad", FilterGradient "wgrad", Unset "unset", }
}

spelled! {
    /// The padding of a custom call before it became numbers.
    #[non_exhaustive]
    PaddingType { Invalid "PADDING_INVALID", Valid "PADDING_VALID", Same "PADDING_SAME", }
}

spelled! {
    /// The Fourier transforms.
    FftType { Forward "FFT", Inverse "IFFT", RealForward "RFFT", RealInverse "IRFFT", }
}

spelled! {
    /// The transposition of `triangular-solve`'s matrix.
    TransposeKind {
        Invalid "TRANSPOSE_INVALID", None "NO_TRANSPOSE", Transpose "TRANSPOSE", Adjoint "ADJOINT",
    }
}

spelled! {
    /// The distributions of `rng`.
    #[non_exhaustive]
    RandomDistribution { Uniform "rng_uniform", Normal "rng_normal", Invalid "rng_invalid", }
}

spelled! {
    /// The generators of `rng-bit-generator`.
    #[non_exhaustive]
    RandomAlgorithm { Default "rng_default", ThreeFry "rng_three_fry", Philox "rng_philox", }
}

spelled! {
    /// The kind of ids in the groups of a collective.
    #[non_exhaustive]
    CollectiveMode {
        CrossReplica "cross_replica", CrossPartition "cross_partition",
        CrossReplicaAndPartition "cross_replica_and_partition", FlattenedId "flattened_id",
    }
}

spelled! {
    /// The phase of an asynchronous operation, a suffix of the opcode in the text.
    AsyncPhase { Start "-start", Update "-update", Done "-done", }
}

spelled! {
    /// The calling convention of a custom call.
    #[non_exhaustive]
    ApiVersion {
        Original "API_VERSION_ORIGINAL", StatusReturning "API_VERSION_STATUS_RETURNING",
        StatusReturningUnified "API_VERSION_STATUS_RETURNING_UNIFIED", TypedFfi "API_VERSION_TYPED_FFI",
    }
}

spelled! {
    /// When a custom call is scheduled.
    #[non_exhaustive]
    CallSchedule { None "SCHEDULE_NONE", Latest "SCHEDULE_LATEST", Earliest "SCHEDULE_EARLIEST", }
}
