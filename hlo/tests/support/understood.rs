//! The programs of the corpus whose unoptimized form every layer must handle.

pub(crate) const UNDERSTOOD: [&str; 11] = [
    "activations_grad",
    "argreduce",
    "batchnorm_train",
    "broadcasting",
    "ew_bool",
    "ew_unary_f32",
    "heat_roll",
    "layernorm",
    "life",
    "scalar_and_empty",
    "softmax",
];
