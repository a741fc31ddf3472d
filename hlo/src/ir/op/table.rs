//! The table of HLO's operations.
//!
//! It has for each its opcode, what is true of all of its kind ([`Opcode`]'s flags), its attributes in the order in which XLA
//! prints them, how each is spelled, and whether it may be left out. Operations of one or two operands without attributes that
//! work element by element, and those whose syntax is their own, come first; the rows for communication are in
//! `communication.rs`.

use super::declare::same;
use super::field::{Epsilon, Field, FieldType, FieldValues, FieldView, Presence, Spelling};
use super::{
    ApiVersion, AsyncPhase, CallSchedule, CollectiveMode, ComparisonDirection, ComparisonType, ConvolutionDimensions,
    ConvolutionKind, DotAlgorithm, FftType, FusionKind, OperandAlias, PadDimension, PaddingType, Precision,
    RandomAlgorithm, RandomDistribution, ReplicaGroups, SliceDimension, TransposeKind, Window,
};
use crate::ir::{ComputationId, Literal, Shape};

with_communication! {
    /// An operation with the attributes it owns.
    ///
    /// Semantics are those of XLA's operation semantics document.
    special {
        /// The computation's argument `number`.
        Parameter {
            /// Position in the argument list, from 0.
            number: i64,
        },
        /// A value known when the program was written.
        Constant(Literal),
        /// An elementwise operation of one operand.
        Unary(UnaryOp),
        /// An elementwise operation of two operands.
        Binary(BinaryOp),
        /// One of several computations, chosen by the first operand and applied to its own operand, one of those after the first.
        Conditional {
            /// For a choice by `pred` the branches for true and false; else those for 0, 1, …, of which the last is also
            /// taken for any other number.
            branches: Vec<ComputationId>,
            /// Whether a number chooses, rather than a `pred`.
            indexed: bool,
        },
        /// `slice-start`, `slice-update`, `slice-done` and the like: an asynchronous operation whose computation would hold
        /// one instruction only, spelled without that computation.
        AsyncShorthand {
            /// The opcode of what was started, `slice`.
            wrapped: Opcode,
            /// The phase: start, update or done.
            phase: AsyncPhase,
            /// The operation that is started; `None` for an update and for the end.
            operation: Option<Box<Op>>,
            /// The thread it runs on.
            async_execution_thread: Option<String>,
            /// Parts of the result that share a buffer with an operand, where what it starts does not say so itself.
            output_to_operand_aliasing: Vec<OperandAlias>,
        },
    }
    opcodes {
        Parameter "parameter" [COMPUTED],
        Constant "constant" [COMPUTED],
        Conditional "conditional" [SHAPE_FOLLOWS],
    }
    unary {
        Abs "abs", Acos "acos", Acosh "acosh", Asin "asin", Asinh "asinh", Atanh "atanh", Cbrt "cbrt", Ceil "ceil",
        CountLeadingZeros "count-leading-zeros", Cosine "cosine", Cosh "cosh", Erf "erf", Exponential "exponential",
        ExponentialMinusOne "exponential-minus-one", Floor "floor", IsFinite "is-finite", Log "log",
        LogPlusOne "log-plus-one", Logistic "logistic", Negate "negate", Not "not", PopulationCount "popcnt",
        RoundNearestAfz "round-nearest-afz", RoundNearestEven "round-nearest-even", Rsqrt "rsqrt", Sign "sign",
        Sine "sine", Sinh "sinh", Sqrt "sqrt", Tan "tan", Tanh "tanh",
    }
    binary {
        Add "add", And "and", Atan2 "atan2", Divide "divide", Maximum "maximum", Minimum "minimum",
        Multiply "multiply", Or "or", Power "power", Remainder "remainder", ShiftLeft "shift-left",
        ShiftRightArithmetic "shift-right-arithmetic", ShiftRightLogical "shift-right-logical", Subtract "subtract",
        Xor "xor",
    }
    units {
        /// The same elements in row-major order under other extents.
        Reshape "reshape" [COMPUTED MOVES_DATA],
        /// The same bytes under another shape and layout.
        Bitcast "bitcast" [COMPUTED MOVES_DATA],
        /// The same bits as elements of another type; a wider type takes the last dimension, a narrower one adds one.
        BitcastConvert "bitcast-convert" [COMPUTED],
        /// The operand, possibly in another layout.
        Copy "copy" [COMPUTED MOVES_DATA SHAPE_FOLLOWS],
        /// Each element as another type.
        Convert "convert" [COMPUTED ELEMENTWISE],
        /// Each element as a narrower float, rounded up or down by chance, as the random bits of the second operand
        /// say.
        StochasticConvert "stochastic-convert" [ELEMENTWISE],
        /// The second operand where the first is true, else the third.
        Select "select" [COMPUTED ELEMENTWISE SHAPE_FOLLOWS],
        /// The second operand, no less than the first and no more than the third.
        Clamp "clamp" [COMPUTED ELEMENTWISE SHAPE_FOLLOWS],
        /// The upper half of the product of two integers.
        MultiplyHigh "mulhi" [ELEMENTWISE SHAPE_FOLLOWS],
        /// Complex numbers of a real and an imaginary part.
        Complex "complex" [ELEMENTWISE SHAPE_FOLLOWS],
        /// The real part.
        Real "real" [ELEMENTWISE SHAPE_FOLLOWS],
        /// The imaginary part.
        Imag "imag" [ELEMENTWISE SHAPE_FOLLOWS],
        /// The operands as one value.
        Tuple "tuple" [COMPUTED SHAPE_FOLLOWS],
        /// The first operand with a box, that starts at the clamped indices of the further ones, replaced by the
        /// second.
        DynamicUpdateSlice "dynamic-update-slice" [],
        /// The same elements in row-major order; the further operands are the extents at run time.
        DynamicReshape "dynamic-reshape" [],
        /// A token that comes after the operands, tokens or any other values.
        AfterAll "after-all" [SHAPE_FOLLOWS],
        /// The first operand, not before the second.
        AddDependency "add-dependency" [SHAPE_FOLLOWS],
        /// The operand; nothing is moved from one side of it to the other.
        OptimizationBarrier "opt-barrier" [],
        /// The number of the partition that runs this.
        PartitionId "partition-id" [SHAPE_FOLLOWS],
        /// The number of the replica that runs this.
        ReplicaId "replica-id" [SHAPE_FOLLOWS],
    }
    fields {
        /// The index along `dimension`, as a number.
        Iota "iota" [COMPUTED] {
            /// The dimension counted along.
            dimension: i64 = "iota_dimension" Integer, Required;
        }
        /// Operand dimension `i` becomes result dimension `dimensions[i]`; the rest repeat.
        Broadcast "broadcast" [COMPUTED MOVES_DATA] {
            /// One result dimension per operand dimension.
            dimensions: Vec<i64> = "dimensions" Dimensions, Assumed(Vec::new());
        }
        /// Result dimension `i` is operand dimension `permutation[i]`.
        Transpose "transpose" [COMPUTED MOVES_DATA SHAPE_FOLLOWS] {
            /// A permutation of the dimensions.
            permutation: Vec<i64> = "dimensions" Dimensions, Required;
        }
        /// A strided box of the operand.
        Slice "slice" [COMPUTED MOVES_DATA] {
            /// One per dimension.
            dimensions: Vec<SliceDimension> = "slice" Slices, Required;
        }
        /// The operand mirrored along some dimensions.
        Reverse "reverse" [COMPUTED MOVES_DATA SHAPE_FOLLOWS] {
            /// The dimensions mirrored.
            dimensions: Vec<i64> = "dimensions" Dimensions, Required;
        }
        /// The operands one after the other.
        Concatenate "concatenate" [COMPUTED SHAPE_FOLLOWS] {
            /// The dimension they are joined along.
            dimension: i64 = "dimensions" Dimension, Required;
        }
        /// The first operand with the second, a scalar, around and between its elements.
        Pad "pad" [COMPUTED SHAPE_FOLLOWS] {
            /// One per dimension.
            padding: Vec<PadDimension> = "padding" Padding, Required;
        }
        /// A relation of two operands, element by element.
        Compare "compare" [COMPUTED ELEMENTWISE SHAPE_FOLLOWS] {
            /// The relation.
            direction: ComparisonDirection = "direction" Word(ComparisonDirection::NAMES), Required;
            /// The order of elements, where the text gives it.
            order: ComparisonType = "type" Word(ComparisonType::NAMES), Optional;
        }
        /// Each element with fewer bits of exponent and mantissa, in its old type.
        ReducePrecision "reduce-precision" [ELEMENTWISE] {
            /// Bits of the exponent, at least 1.
            exponent_bits: i64 = "exponent_bits" Integer, Required;
            /// Bits of the mantissa, at least 0.
            mantissa_bits: i64 = "mantissa_bits" Integer, Required;
        }
        /// `N` inputs and `N` initial values, folded along `dimensions` with `to_apply`, which takes `N` accumulators
        /// and `N` elements.
        Reduce "reduce" [COMPUTED SHAPE_FOLLOWS] {
            /// The dimensions that disappear.
            dimensions: Vec<i64> = "dimensions" Dimensions, Required;
            /// The combining computation.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// `N` inputs and `N` initial values, folded over each position of a window with `to_apply`.
        ReduceWindow "reduce-window" [SHAPE_FOLLOWS] {
            /// The window.
            window: Window = "window" Window, Default(Window::default());
            /// The combining computation.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// The initial value, combined by `scatter` with each element of the source at the place in its window that
        /// `select` prefers.
        SelectAndScatter "select-and-scatter" [SHAPE_FOLLOWS] {
            /// The window.
            window: Window = "window" Window, Default(Window::default());
            /// Whether the first of two elements is preferred.
            select: ComputationId = "select" Computation, Required;
            /// The combining computation.
            scatter: ComputationId = "scatter" Computation, Required;
        }
        /// Slices of the first operand at start indices of the second, which are clamped.
        Gather "gather" [SHAPE_FOLLOWS] {
            /// Dimensions of the result that index into a slice.
            offset_dims: Vec<i64> = "offset_dims" Dimensions, Required;
            /// Dimensions of a slice, of one element, that the result does not have.
            collapsed_slice_dims: Vec<i64> = "collapsed_slice_dims" Dimensions, Required;
            /// For each component of a start index the operand's dimension it is for.
            start_index_map: Vec<i64> = "start_index_map" Dimensions, Required;
            /// Batch dimensions of the operand.
            operand_batching_dims: Vec<i64> = "operand_batching_dims" Dimensions, Default(Vec::new());
            /// Batch dimensions of the start indices, in the order of the operand's.
            start_indices_batching_dims: Vec<i64> = "start_indices_batching_dims" Dimensions, Default(Vec::new());
            /// The dimension of the start indices along which their components lie; their rank if they have one
            /// component each.
            index_vector_dim: i64 = "index_vector_dim" Integer, Required;
            /// Extents of a slice, one per dimension of the operand.
            slice_sizes: Vec<i64> = "slice_sizes" Dimensions, Required;
            /// Whether the start indices are promised to be sorted.
            indices_are_sorted: bool = "indices_are_sorted" Flag, Default(false);
        }
        /// The inputs with windows at scatter indices combined with updates; windows out of bounds are skipped.
        Scatter "scatter" [SHAPE_FOLLOWS] {
            /// Dimensions of the updates that index into a window.
            update_window_dims: Vec<i64> = "update_window_dims" Dimensions, Required;
            /// Dimensions of a window, of one element, that the updates do not have.
            inserted_window_dims: Vec<i64> = "inserted_window_dims" Dimensions, Required;
            /// For each component of a scatter index the operand's dimension it is for.
            scatter_dims_to_operand_dims: Vec<i64> = "scatter_dims_to_operand_dims" Dimensions, Required;
            /// Batch dimensions of the operand.
            input_batching_dims: Vec<i64> = "input_batching_dims" Dimensions, Default(Vec::new());
            /// Batch dimensions of the scatter indices, in the order of the operand's.
            scatter_indices_batching_dims: Vec<i64> = "scatter_indices_batching_dims" Dimensions, Default(Vec::new());
            /// The dimension of the scatter indices along which their components lie; their rank if they have one
            /// component each.
            index_vector_dim: i64 = "index_vector_dim" Integer, Required;
            /// Whether the start indices are promised to be sorted.
            indices_are_sorted: bool = "indices_are_sorted" Flag, Default(false);
            /// Whether no element is promised to be updated twice.
            unique_indices: bool = "unique_indices" Flag, Default(false);
            /// Combines the element that is there with its update.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// A box of the first operand that starts at the clamped indices of the further operands.
        DynamicSlice "dynamic-slice" [] {
            /// The extents of the box.
            dynamic_slice_sizes: Vec<i64> = "dynamic_slice_sizes" Dimensions, Required;
        }
        /// Sums of products over contracting dimensions.
        Dot "dot" [SHAPE_FOLLOWS] {
            /// Batch dimensions of the left operand.
            lhs_batch_dims: Vec<i64> = "lhs_batch_dims" Dimensions, Default(Vec::new());
            /// Dimensions of the left operand that are summed over.
            lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims" Dimensions, Assumed(Vec::new());
            /// Batch dimensions of the right operand, in the order of those on the left.
            rhs_batch_dims: Vec<i64> = "rhs_batch_dims" Dimensions, Default(Vec::new());
            /// Dimensions of the right operand that are summed over, in the order of those on the left.
            rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims" Dimensions, Assumed(Vec::new());
            /// One per operand; empty for the default of all.
            operand_precision: Vec<Precision> = "operand_precision" Precisions, Default(Vec::new());
            /// The arithmetic, where the text says so.
            algorithm: DotAlgorithm = "algorithm" AnyCase(DotAlgorithm::NAMES), Optional;
        }
        /// A dot of which one dimension is cut into groups of given sizes.
        RaggedDot "ragged-dot" [SHAPE_FOLLOWS] {
            /// Batch dimensions of the left operand.
            lhs_batch_dims: Vec<i64> = "lhs_batch_dims" Dimensions, Default(Vec::new());
            /// Dimensions of the left operand that are summed over.
            lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims" Dimensions, Assumed(Vec::new());
            /// Batch dimensions of the right operand, in the order of those on the left.
            rhs_batch_dims: Vec<i64> = "rhs_batch_dims" Dimensions, Default(Vec::new());
            /// Dimensions of the right operand that are summed over, in the order of those on the left.
            rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims" Dimensions, Assumed(Vec::new());
            /// The left operand's dimension that is cut.
            lhs_ragged_dims: Vec<i64> = "lhs_ragged_dims" Dimensions, Assumed(Vec::new());
            /// The right operand's dimensions of groups.
            rhs_group_dims: Vec<i64> = "rhs_group_dims" Dimensions, Assumed(Vec::new());
            /// One per operand; empty for the default of all.
            operand_precision: Vec<Precision> = "operand_precision" Precisions, Default(Vec::new());
        }
        /// A dot whose operands are scaled block by block.
        ScaledDot "scaled-dot" [] {
            /// Batch dimensions of the left operand.
            lhs_batch_dims: Vec<i64> = "lhs_batch_dims" Dimensions, Default(Vec::new());
            /// Dimensions of the left operand that are summed over.
            lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims" Dimensions, Assumed(Vec::new());
            /// Batch dimensions of the right operand, in the order of those on the left.
            rhs_batch_dims: Vec<i64> = "rhs_batch_dims" Dimensions, Default(Vec::new());
            /// Dimensions of the right operand that are summed over, in the order of those on the left.
            rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims" Dimensions, Assumed(Vec::new());
            /// One per operand; empty for the default of all.
            operand_precision: Vec<Precision> = "operand_precision" Precisions, Default(Vec::new());
            /// The arithmetic, where the text says so.
            algorithm: DotAlgorithm = "algorithm" AnyCase(DotAlgorithm::NAMES), Optional;
        }
        /// A kernel moved over a base area, with products summed over window and input features.
        Convolution "convolution" [SHAPE_FOLLOWS] {
            /// The window.
            window: Window = "window" Window, Default(Window::default());
            /// The roles of the dimensions of operands and result.
            dim_labels: Box<ConvolutionDimensions> = "dim_labels" Labels, Required;
            /// Groups into which the features are cut.
            feature_group_count: i64 = "feature_group_count" Integer, Default(1);
            /// Groups into which the batch is cut.
            batch_group_count: i64 = "batch_group_count" Integer, Default(1);
            /// One per operand; empty for the default of all.
            operand_precision: Vec<Precision> = "operand_precision" Precisions, Default(Vec::new());
            /// The kind of convolution it was written as.
            convolution_kind: ConvolutionKind = "convolution_kind" Word(ConvolutionKind::NAMES), Default(ConvolutionKind::Unset);
            /// The text of the attribute.
            sparsity_config: String = "sparsity_config" Sparsity, Optional;
        }
        /// The inputs sorted along a dimension by a comparator of pairs of elements.
        Sort "sort" [SHAPE_FOLLOWS] {
            /// The dimension sorted along.
            dimension: i64 = "dimensions" Dimension, Required;
            /// Whether equal elements keep their order.
            is_stable: bool = "is_stable" Flag, Default(false);
            /// Whether the first of two elements comes before the second.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// The `k` largest or smallest elements of the last dimension, sorted, and their indices.
        TopK "topk" [SHAPE_FOLLOWS] {
            /// The number of elements of each row.
            k: i64 = "k" Integer, Required;
            /// Largest or smallest.
            largest: bool = "largest" Flag, Assumed(true);
        }
        /// Computation applied to the elements of all operands.
        Map "map" [SHAPE_FOLLOWS] {
            /// All dimensions, in order; text may leave them out.
            dimensions: Vec<i64> = "dimensions" Dimensions, Assumed(Vec::new());
            /// The computation, of scalars.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// A scan along a dimension.
        Scan "scan" [] {
            /// The dimension scanned.
            dimension: i64 = "dimensions" Dimension, Required;
            /// The number of carried values.
            num_carries: i64 = "num_carries" Integer, Required;
            /// Whether it runs from the end to the start.
            is_reverse: bool = "is_reverse" Flag, Default(false);
            /// Whether the steps may be regrouped.
            is_associative: bool = "is_associative" Flag, Assumed(false);
            /// One step.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// A Fourier transform of the last dimensions.
        Fft "fft" [SHAPE_FOLLOWS] {
            /// The kind of transform.
            fft_type: FftType = "fft_type" Word(FftType::NAMES), Required;
            /// The extents transformed.
            fft_length: Vec<i64> = "fft_length" Dimensions, Required;
        }
        /// The triangular factor of symmetric positive definite matrices.
        Cholesky "cholesky" [SHAPE_FOLLOWS] {
            /// Whether the lower triangle is read and written.
            lower: bool = "lower" Flag, Default(false);
        }
        /// The solution of systems with triangular matrices.
        TriangularSolve "triangular-solve" [SHAPE_FOLLOWS] {
            /// Whether the matrix stands left of the unknown.
            left_side: bool = "left_side" Flag, Default(false);
            /// Whether the lower triangle is read.
            lower: bool = "lower" Flag, Default(false);
            /// Whether the diagonal counts as ones.
            unit_diagonal: bool = "unit_diagonal" Flag, Default(false);
            /// The transposition of the matrix.
            transpose_a: TransposeKind = "transpose_a" Word(TransposeKind::NAMES), Default(TransposeKind::Invalid);
        }
        /// Random numbers between or about two operands.
        Rng "rng" [SIDE_EFFECTS] {
            /// The distribution.
            distribution: RandomDistribution = "distribution" AnyCase(RandomDistribution::NAMES), Required;
        }
        /// Random bits of a state, and the next state.
        RngBitGenerator "rng-bit-generator" [] {
            /// The generator.
            algorithm: RandomAlgorithm = "algorithm" AnyCase(RandomAlgorithm::NAMES), Required;
        }
        /// The device's random state before it is moved on: a `u64[2]`; or, of `u64[]`, how many `rng` have run.
        RngGetAndUpdateState "rng-get-and-update-state" [SIDE_EFFECTS] {
            /// The amount by which the state is moved on.
            delta: i64 = "delta" Integer, Required;
        }
        /// Normalized features, their means and variances.
        BatchNormTraining "batch-norm-training" [SHAPE_FOLLOWS] {
            /// Added to the variance.
            epsilon: Epsilon = "epsilon" Epsilon, Required;
            /// The dimension of the features.
            feature_index: i64 = "feature_index" Integer, Required;
        }
        /// Features normalized by given means and variances.
        BatchNormInference "batch-norm-inference" [SHAPE_FOLLOWS] {
            /// Added to the variance.
            epsilon: Epsilon = "epsilon" Epsilon, Required;
            /// The dimension of the features.
            feature_index: i64 = "feature_index" Integer, Required;
        }
        /// The gradients of `batch-norm-training`.
        BatchNormGrad "batch-norm-grad" [SHAPE_FOLLOWS] {
            /// Added to the variance.
            epsilon: Epsilon = "epsilon" Epsilon, Required;
            /// The dimension of the features.
            feature_index: i64 = "feature_index" Integer, Required;
        }
        /// The extent of a dimension at run time.
        GetDimensionSize "get-dimension-size" [SHAPE_FOLLOWS] {
            /// The dimension.
            dimension: i64 = "dimensions" Dimension, Required;
        }
        /// The first operand with the extent of a dimension set to the second.
        SetDimensionSize "set-dimension-size" [SHAPE_FOLLOWS] {
            /// The dimension.
            dimension: i64 = "dimensions" Dimension, Required;
        }
        /// One element of a tuple.
        GetTupleElement "get-tuple-element" [COMPUTED SHAPE_FOLLOWS] {
            /// The index of the element, from 0.
            index: i64 = "index" Integer, Required;
        }
        /// The value of a computation applied to the operands.
        Call "call" [COMPUTED SHAPE_FOLLOWS] {
            /// The computation.
            to_apply: ComputationId = "to_apply" Computation, Required;
        }
        /// A computation that is to run as one kernel.
        Fusion "fusion" [COMPUTED] {
            /// XLA's kind.
            kind: FusionKind = "kind" Word(FusionKind::NAMES), Required;
            /// Parts of the result that share a buffer with an operand.
            output_to_operand_aliasing: Vec<OperandAlias> = "output_to_operand_aliasing" Aliases, Default(Vec::new());
            /// The computation.
            calls: ComputationId = "calls" Computation, Required;
        }
        /// The body applied to a value as long as the condition holds.
        While "while" [SHAPE_FOLLOWS] {
            /// Whether to go on.
            condition: ComputationId = "condition" Computation, Required;
            /// One round.
            body: ComputationId = "body" Computation, Required;
        }
        /// A call of a function that only the target defines.
        CustomCall "custom-call" [SIDE_EFFECTS] {
            /// The window.
            window: Window = "window" Window, Default(Window::default());
            /// The roles of dimensions, of calls that are convolutions.
            dim_labels: Box<ConvolutionDimensions> = "dim_labels" Labels, Optional;
            /// Groups of features, of calls that are convolutions.
            feature_group_count: i64 = "feature_group_count" Integer, Default(1);
            /// Groups of the batch, of calls that are convolutions.
            batch_group_count: i64 = "batch_group_count" Integer, Default(1);
            /// One per operand; empty for the default of all.
            operand_precision: Vec<Precision> = "operand_precision" Precisions, Default(Vec::new());
            /// The padding, of calls that are convolutions.
            padding_type: PaddingType = "padding_type" Word(PaddingType::NAMES), Default(PaddingType::Invalid);
            /// The name of the function that is called.
            custom_call_target: String = "custom_call_target" Quoted, Required;
            /// The layouts that operands must have.
            operand_layout_constraints: Vec<Shape> = "operand_layout_constraints" Shapes, Optional;
            /// Whether it must run though its value is not used.
            custom_call_has_side_effect: bool = "custom_call_has_side_effect" Flag, Default(false);
            /// A literal that the target receives with the call.
            literal: Box<Literal> = "literal" Literal, Optional;
            /// Parts of the result that share a buffer with an operand.
            output_to_operand_aliasing: Vec<OperandAlias> = "output_to_operand_aliasing" Aliases, Default(Vec::new());
            /// The scheduling constraint.
            schedule: CallSchedule = "schedule" AnyCase(CallSchedule::NAMES), Default(CallSchedule::None);
            /// The calling convention.
            api_version: ApiVersion = "api_version" AnyCase(ApiVersion::NAMES), Default(ApiVersion::Original);
            /// The computation it calls.
            to_apply: ComputationId = "to_apply" Computation, Optional;
            /// The computations it calls.
            called_computations: Vec<ComputationId> = "called_computations" Computations, Default(Vec::new());
        }
        /// The boundary between two domains of metadata; its value is the operand's.
        Domain "domain" [SHAPE_FOLLOWS] {
            /// The text of the attribute.
            domain: String = "domain" Domain, Required;
        }
    }
}
