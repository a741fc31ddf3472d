//! The rows of the table of operations for transfers to the host, collectives and asynchronous operations.

/// Hands the table on to `operations!` with these rows behind the others.
macro_rules! with_communication {
    (
        $(#[$doc:meta])* special $special:tt
        opcodes $opcodes:tt
        unary $unary:tt
        binary $binary:tt
        units { $($units:tt)* }
        fields { $($fields:tt)* }
    ) => {
        operations! {
            $(#[$doc])* special $special
            opcodes $opcodes
            unary $unary
            binary $binary
            units {
                $($units)*
                /// The end of an `all-gather-start`.
                AllGatherDone "all-gather-done" [SIDE_EFFECTS],
                /// The end of an `all-reduce-start`.
                AllReduceDone "all-reduce-done" [SIDE_EFFECTS],
                /// The end of a `collective-permute-start`.
                CollectivePermuteDone "collective-permute-done" [SIDE_EFFECTS],
                /// The end of a `copy-start`.
                CopyDone "copy-done" [SIDE_EFFECTS],
            }
            fields {
                $($fields)*
                /// Data from the host.
                Infeed "infeed" [SIDE_EFFECTS] {
                    /// The configuration for the target, an opaque text.
                    infeed_config: String = "infeed_config" Quoted, Optional;
                }
                /// Data to the host.
                Outfeed "outfeed" [SIDE_EFFECTS] {
                    /// The shape that leaves.
                    outfeed_shape: Shape = "outfeed_shape" Shape, Optional;
                    /// The configuration for the target, an opaque text.
                    outfeed_config: String = "outfeed_config" Quoted, Optional;
                }
                /// The start of a transfer to another partition or the host.
                Send "send" [SIDE_EFFECTS] {
                    /// The channel.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// Whether the host is at the other end.
                    is_host_transfer: bool = "is_host_transfer" Flag, Default(false);
                }
                /// The end of a `send`.
                SendDone "send-done" [SIDE_EFFECTS] {
                    /// The channel.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// Whether the host is at the other end.
                    is_host_transfer: bool = "is_host_transfer" Flag, Default(false);
                }
                /// The start of a transfer from another partition or the host.
                Recv "recv" [SIDE_EFFECTS] {
                    /// The channel.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// Whether the host is at the other end.
                    is_host_transfer: bool = "is_host_transfer" Flag, Default(false);
                }
                /// The end of a `recv`.
                RecvDone "recv-done" [SIDE_EFFECTS] {
                    /// The channel.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// Whether the host is at the other end.
                    is_host_transfer: bool = "is_host_transfer" Flag, Default(false);
                }
                /// The parts of all members, joined.
                AllGather "all-gather" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// Whether the layout of operands and results is fixed.
                    constrain_layout: bool = "constrain_layout" Flag, Default(false);
                    /// The dimension along which the members' parts are joined.
                    dimension: i64 = "dimensions" Dimension, Required;
                    /// Whether groups name devices rather than replicas.
                    use_global_device_ids: bool = "use_global_device_ids" Flag, Default(false);
                }
                /// The start of an `all-gather`.
                AllGatherStart "all-gather-start" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// Whether the layout of operands and results is fixed.
                    constrain_layout: bool = "constrain_layout" Flag, Default(false);
                    /// The dimension along which the members' parts are joined.
                    dimension: i64 = "dimensions" Dimension, Required;
                    /// Whether groups name devices rather than replicas.
                    use_global_device_ids: bool = "use_global_device_ids" Flag, Default(false);
                }
                /// The values of all members, combined.
                AllReduce "all-reduce" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The kind of ids in the groups, where the text says so.
                    mode: CollectiveMode = "mode" Word(CollectiveMode::NAMES), Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// Whether the layout of operands and results is fixed.
                    constrain_layout: bool = "constrain_layout" Flag, Default(false);
                    /// Whether groups name devices rather than replicas.
                    use_global_device_ids: bool = "use_global_device_ids" Flag, Default(false);
                    /// The combining computation.
                    to_apply: ComputationId = "to_apply" Computation, Required;
                }
                /// The start of an `all-reduce`.
                AllReduceStart "all-reduce-start" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The kind of ids in the groups, where the text says so.
                    mode: CollectiveMode = "mode" Word(CollectiveMode::NAMES), Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// Whether the layout of operands and results is fixed.
                    constrain_layout: bool = "constrain_layout" Flag, Default(false);
                    /// Whether groups name devices rather than replicas.
                    use_global_device_ids: bool = "use_global_device_ids" Flag, Default(false);
                    /// The combining computation.
                    to_apply: ComputationId = "to_apply" Computation, Required;
                }
                /// The values of all members, combined; each keeps its part.
                ReduceScatter "reduce-scatter" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The kind of ids in the groups, where the text says so.
                    mode: CollectiveMode = "mode" Word(CollectiveMode::NAMES), Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// Whether the layout of operands and results is fixed.
                    constrain_layout: bool = "constrain_layout" Flag, Default(false);
                    /// Whether groups name devices rather than replicas.
                    use_global_device_ids: bool = "use_global_device_ids" Flag, Default(false);
                    /// The dimension that is cut into parts.
                    dimension: i64 = "dimensions" Dimension, Required;
                    /// The combining computation.
                    to_apply: ComputationId = "to_apply" Computation, Required;
                }
                /// Each member's parts, one for each member.
                AllToAll "all-to-all" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// Whether the layout of operands and results is fixed.
                    constrain_layout: bool = "constrain_layout" Flag, Default(false);
                    /// The dimension that is cut and joined; `None` where operands are the parts.
                    dimension: i64 = "dimensions" Dimension, Optional;
                }
                /// An `all-to-all` of parts of different sizes.
                RaggedAllToAll "ragged-all-to-all" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                    /// The dimension that is cut.
                    dimension: i64 = "dimensions" Dimension, Optional;
                }
                /// The value of another member.
                CollectivePermute "collective-permute" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The pairs of a source and a target.
                    source_target_pairs: Vec<Vec<i64>> = "source_target_pairs" Pairs, Required;
                    /// The extents of what is sent, where that is a part.
                    slice_sizes: Vec<Vec<i64>> = "slice_sizes" Pairs, Default(Vec::new());
                }
                /// The start of a `collective-permute`.
                CollectivePermuteStart "collective-permute-start" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The pairs of a source and a target.
                    source_target_pairs: Vec<Vec<i64>> = "source_target_pairs" Pairs, Required;
                    /// The extents of what is sent, where that is a part.
                    slice_sizes: Vec<Vec<i64>> = "slice_sizes" Pairs, Default(Vec::new());
                }
                /// The value of the first member of each group.
                CollectiveBroadcast "collective-broadcast" [SIDE_EFFECTS] {
                    /// The channel over which partitions talk; `None` within one partition's replicas.
                    channel_id: i64 = "channel_id" Integer, Optional;
                    /// The groups of participants that exchange data.
                    replica_groups: ReplicaGroups = "replica_groups" Groups, Assumed(ReplicaGroups::default());
                }
                /// The start of a copy.
                CopyStart "copy-start" [SIDE_EFFECTS] {
                    /// The index of the prefetch across programs.
                    cross_program_prefetch_index: i64 = "cross_program_prefetch_index" Integer, Optional;
                }
                /// The start of a computation that runs beside others.
                AsyncStart "async-start" [SIDE_EFFECTS] {
                    /// The thread it runs on.
                    async_execution_thread: String = "async_execution_thread" Quoted, Optional;
                    /// Parts of the result that share a buffer with an operand.
                    output_to_operand_aliasing: Vec<OperandAlias> = "output_to_operand_aliasing" Aliases, Default(Vec::new());
                    /// The computation.
                    calls: ComputationId = "calls" Computation, Required;
                }
                /// A step of what an `async-start` started.
                AsyncUpdate "async-update" [SIDE_EFFECTS] {
                    /// The thread it runs on.
                    async_execution_thread: String = "async_execution_thread" Quoted, Optional;
                    /// The computation, where the text repeats it.
                    calls: ComputationId = "calls" Computation, Optional;
                }
                /// The end of what an `async-start` started.
                AsyncDone "async-done" [SIDE_EFFECTS] {
                    /// The thread it runs on.
                    async_execution_thread: String = "async_execution_thread" Quoted, Optional;
                    /// The computation, where the text repeats it.
                    calls: ComputationId = "calls" Computation, Optional;
                }
            }
        }
    };
}
