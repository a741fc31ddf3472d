"""NumPy on what `cargo bench -p weft-hlo --bench eval` times, in milliseconds, the best of ten: python benches/times_of_numpy.py"""

import time

import numpy as np


def best(call):
    times = []
    for _ in range(10):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


x = ((np.arange(1 << 22) % 1000) * 0.001 + 0.5).astype(np.float32)
y = x.copy()
a = x[: 512 * 512].reshape(512, 512)
b = a.copy()
m = x.reshape(2048, 2048)
for name, call in {
    "add": lambda: x + y,
    "multiply": lambda: x * y,
    "divide": lambda: x / y,
    "remainder": lambda: np.fmod(x, y),
    "maximum": lambda: np.maximum(x, y),
    "power": lambda: x**y,
    "atan2": lambda: np.arctan2(x, y),
    "compare": lambda: x < y,
    "convert to s32": lambda: x.astype(np.int32),
    "convert to f16": lambda: x.astype(np.float16),
    "negate": lambda: -x,
    "floor": lambda: np.floor(x),
    "sqrt": lambda: np.sqrt(x),
    "cbrt": lambda: np.cbrt(x),
    "exponential": lambda: np.exp(x),
    "exponential minus one": lambda: np.expm1(x),
    "log": lambda: np.log(x),
    "log plus one": lambda: np.log1p(x),
    "sine": lambda: np.sin(x),
    "cosine": lambda: np.cos(x),
    "tan": lambda: np.tan(x),
    "tanh": lambda: np.tanh(x),
    "sum of rows": lambda: m.sum(axis=1),
    "dot 512": lambda: a @ b,
}.items():
    print(f"{name:<22}{best(call):10.3f}")
