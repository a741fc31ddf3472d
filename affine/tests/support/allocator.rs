//! The allocator of the command `weft`, for tests as well: they take 0.85 of the time.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
