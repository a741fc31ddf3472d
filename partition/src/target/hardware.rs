//! What memory and arithmetic cost on a device.

/// The machine behind a device, as far as a cost model asks: XLA's for GPUs, where
///
/// - a byte read from memory for the first time comes at [`dram_bytes_per_second`](Hardware::dram_bytes_per_second); a byte that
///   is read again comes faster by the factor of the smallest cache that holds all that is read;
/// - an operation takes `1 / (min(workgroups, cores) * lanes_per_core * 2 * clock_hertz)` seconds, since a lane starts a fused
///   multiply-add each cycle, which is two operations;
/// - a launch adds its own time.
///
/// All are integers, so that a description is equal to itself after a trip through text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Hardware {
    /// What executes whole workgroups: streaming multiprocessors, compute units, shader cores, threads of a CPU.
    pub cores: u32,
    /// `f32` operations (fused multiply-adds) that a core starts each cycle.
    pub lanes_per_core: u32,
    /// Cycles per second.
    pub clock_hertz: u64,
    /// Bytes per second between the device and the memory where its buffers lie, reads and writes together.
    pub dram_bytes_per_second: u64,
    /// Bytes that memory transfers at once: of a single element read apart from others, all of them are paid. 64 in XLA's model.
    pub dram_transaction_bytes: u32,
    /// Bytes of the cache that all cores share.
    pub l2_bytes: u64,
    /// Speed of that cache in hundredths of the memory's: 250 is 2.5 times as fast, as in XLA's model.
    pub l2_speed_percent: u32,
    /// Bytes of the cache of each core.
    pub l1_bytes_per_core: u32,
    /// Speed of the caches of cores in hundredths of the shared cache's: 800 is 8 times as fast, as in XLA's model.
    pub l1_speed_percent: u32,
    /// Nanoseconds that a launch takes besides its work. 1,000 in XLA's model.
    pub launch_nanoseconds: u32,
    /// Whether the device's compiler gives an invocation so few registers that four lanes of a function of the library do not fit: each of them
    /// is computed by itself there. So does SwiftShader's, which allocates the 16 registers of x86 in one pass, every lane of a vector one of them, and writes to
    /// memory what does not fit: a logarithm of 4096² elements and of their transposition takes 1.45 times as long with vectors. Others order operations anew, and do
    /// not care. So sums of products are made one lane after the other too, and tiles of products that a subgroup reads together have more rows, since their operands are in memory anyway.
    pub few_registers: bool,
    /// Whether the lanes of a vector of invocations access memory one after the other, number by number, so that one of 64 bits takes as long as one of 32:
    /// vectors of words are read and written as such numbers then, where the device has them. So does llvmpipe, which loops over its lanes for each component: 2^24 `f32`
    /// are read in 0.6 of the time. Others read vectors of words at once. Loops of few rounds stay loops there, for each access that is written out is such a loop to compile.
    pub serial_access: bool,
}

impl Hardware {
    /// `f32` operations per second of all cores, two for each lane and cycle.
    pub fn flops_per_second(&self) -> f64 {
        f64::from(self.cores) * f64::from(self.lanes_per_core) * 2.0 * self.clock_hertz as f64
    }

    /// Bytes that memory moves in the time that a launch takes besides its work: what moves no more than that is *small*, its launch costs more than it does.
    pub fn bytes_of_a_launch(&self) -> u64 {
        let moved = u128::from(self.dram_bytes_per_second) * u128::from(self.launch_nanoseconds) / 1_000_000_000;
        u64::try_from(moved).unwrap_or(u64::MAX)
    }

    /// Seconds that a launch takes besides its work.
    pub fn launch_seconds(&self) -> f64 {
        f64::from(self.launch_nanoseconds) / 1e9
    }
}
