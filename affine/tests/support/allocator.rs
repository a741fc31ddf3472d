//! The allocator of the command `weft`, for tests as well: those that compile the corpus take 0.8 to 0.9 of the time.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
