"""Writes functions.txt: f64 and c128 functions of numbers, computed with mpmath in several hundred bits.

python functions.py > functions.txt

A line is the operation, the arguments' bits and, for each part of the result, the bits of the nearest f64 and how far the value
lies from it, in thousandths of the distance between f64s there.
"""

import random
import struct

import mpmath
from mpmath import mp, mpc, mpf

mp.prec = 1400
random.seed(15)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def of_bits(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def nearest(value):
    """The nearest f64 and the distance to it in thousandths of a unit in the last place."""
    if value == 0:
        return 0.0, 0
    exponent = max(int(mp.floor(mp.log(abs(value), 2))) - 52, -1074)
    scaled = value / mpf(2) ** exponent
    whole = int(mp.nint(scaled))
    if abs(whole) >= 2**53 * 2 ** (971 - exponent):
        return (float("inf") if value > 0 else float("-inf")), 0
    return float(mpf(whole) * mpf(2) ** exponent), int(mp.nint((scaled - whole) * 1000))


def part(value):
    near, rest = nearest(value)
    return f"{bits(near):016x} {rest}"


def uniform(low, high):
    return random.uniform(low, high)


def spread(low, high):
    """Of a size between two powers of ten."""
    return random.choice([-1, 1]) * 10 ** uniform(low, high)


def near(x):
    return x * (1 + spread(-15, -2))


def any_finite():
    while True:
        x = of_bits(random.getrandbits(64))
        if x == x and abs(x) != float("inf"):
            return x


HALF_PI = 1.5707963267948966
REAL = {
    "acos": (mp.acos, [lambda: uniform(-1, 1), lambda: 1 - 10 ** uniform(-15, -1), lambda: spread(-20, 0)]),
    "acosh": (mp.acosh, [lambda: uniform(1, 10), lambda: 1 + 10 ** uniform(-15, 0), lambda: 10 ** uniform(0, 308)]),
    "asin": (mp.asin, [lambda: uniform(-1, 1), lambda: 1 - 10 ** uniform(-15, -1), lambda: spread(-20, 0)]),
    "asinh": (mp.asinh, [lambda: uniform(-9, 9), lambda: spread(-20, 0), lambda: spread(0, 308)]),
    "atanh": (mp.atanh, [lambda: uniform(-1, 1), lambda: 1 - 10 ** uniform(-15, -1), lambda: spread(-20, 0)]),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [any_finite, lambda: uniform(-9, 9)]),
    "cosine": (mp.cos, [lambda: uniform(-9, 9), lambda: near(HALF_PI * random.randint(-99, 99)), lambda: spread(0, 308)]),
    "cosh": (mp.cosh, [lambda: uniform(-2, 2), lambda: uniform(-711, 711), lambda: spread(-9, 0)]),
    "exponential": (mp.exp, [lambda: uniform(-2, 2), lambda: uniform(-745, 710), lambda: spread(-17, 0)]),
    "exponential-minus-one": (mp.expm1, [lambda: uniform(-2, 2), lambda: uniform(-60, 710), lambda: spread(-17, 0)]),
    "log": (mp.log, [lambda: uniform(0.5, 2), lambda: abs(near(1.0)), lambda: abs(any_finite())]),
    "log-plus-one": (mp.log1p, [lambda: uniform(-1, 2), lambda: spread(-17, 0), lambda: abs(any_finite())]),
    "logistic": (lambda x: 1 / (1 + mp.exp(-x)), [lambda: uniform(-9, 9), lambda: uniform(-745, 45)]),
    "sine": (mp.sin, [lambda: uniform(-9, 9), lambda: near(HALF_PI * random.randint(-99, 99)), lambda: spread(0, 308)]),
    "sinh": (mp.sinh, [lambda: uniform(-2, 2), lambda: uniform(-711, 711), lambda: spread(-17, 0)]),
    "tan": (mp.tan, [lambda: uniform(-9, 9), lambda: near(HALF_PI * random.randint(-99, 99)), lambda: spread(0, 308)]),
    "tanh": (mp.tanh, [lambda: uniform(-2, 2), lambda: uniform(-22, 22), lambda: spread(-17, 0)]),
}


def power():
    base = random.choice([uniform(0, 3), near(1.0), abs(any_finite())])
    most = abs(745 / float(mp.log(base))) if base not in (0, 1) else 1
    return base, random.choice([uniform(-most, most), uniform(-3, 3)])


TWO = {
    "atan2": (mp.atan2, [lambda: (spread(-3, 3), spread(-3, 3)), lambda: (spread(-200, 100), spread(-100, 200))]),
    "power": (lambda x, y: x**y, [power]),
    "abs": (mp.hypot, [lambda: (spread(-3, 3), spread(-3, 3)), lambda: (any_finite(), any_finite())]),
}


def moderate():
    return uniform(-3, 3), uniform(-3, 3)


def wide():
    return spread(-9, 2), spread(-9, 2)


def huge():
    return spread(-200, 200), spread(-200, 200)


def around(re, im):
    return lambda: (re + spread(-9, -1), im + spread(-9, -1))


COMPLEX = {
    "acos": (mp.acos, [moderate, wide, huge, around(1, 0)]),
    "acosh": (mp.acosh, [moderate, wide, huge, around(1, 0)]),
    "asin": (mp.asin, [moderate, wide, huge, around(-1, 0)]),
    "asinh": (mp.asinh, [moderate, wide, huge, around(0, 1)]),
    "atanh": (mp.atanh, [moderate, wide, huge, around(1, 0)]),
    "cbrt": (lambda z: mp.exp(mp.log(z) / 3), [moderate, wide, huge]),
    "cosine": (mp.cos, [moderate, wide]),
    "cosh": (mp.cosh, [moderate, wide]),
    "exponential": (mp.exp, [moderate, wide]),
    "exponential-minus-one": (lambda z: mp.exp(z) - 1, [moderate, wide]),
    "log": (mp.log, [moderate, wide, huge, around(0.6, 0.8)]),
    "log-plus-one": (lambda z: mp.log(1 + z), [moderate, wide, around(-0.4, 0.8)]),
    "logistic": (lambda z: 1 / (1 + mp.exp(-z)), [moderate, wide]),
    "rsqrt": (lambda z: 1 / mp.sqrt(z), [moderate, wide, huge]),
    "sign": (lambda z: z / abs(z), [moderate, wide, huge]),
    "sine": (mp.sin, [moderate, wide]),
    "sinh": (mp.sinh, [moderate, wide]),
    "sqrt": (mp.sqrt, [moderate, wide, huge]),
    "tan": (mp.tan, [moderate, wide, around(1.5, 0)]),
    "tanh": (mp.tanh, [moderate, wide, around(0, 1.5)]),
}


def main():
    for name, (function, draws) in REAL.items():
        for draw in draws:
            for _ in range(60):
                x = draw()
                value = function(mpf(x))
                if isinstance(value, mpc):
                    continue
                print(f"f64 {name} {bits(x):016x} {part(value)}")
    for name, (function, draws) in TWO.items():
        for draw in draws:
            for _ in range(90):
                x, y = draw()
                print(f"pair {name} {bits(x):016x} {bits(y):016x} {part(function(mpf(x), mpf(y)))}")
    for name, (function, draws) in COMPLEX.items():
        for draw in draws:
            for _ in range(25):
                x, y = draw()
                value = mpc(function(mpc(x, y)))
                print(f"c128 {name} {bits(x):016x} {bits(y):016x} {part(value.real)} {part(value.imag)}")
    for _ in range(60):
        x, y, a, b = uniform(-3, 3), uniform(-3, 3), spread(-2, 1), spread(-2, 1)
        value = mp.exp(mpc(a, b) * mp.log(mpc(x, y)))
        words = " ".join(f"{bits(value):016x}" for value in (x, y, a, b))
        print(f"c128 power {words} {part(value.real)} {part(value.imag)}")
    # Roots of unity: what a Fourier transform makes of a one in the second place, for lengths that are summed over directly.
    for n in (3, 5, 7, 11, 37, 61):
        parts = [f"{part(mp.cos(2 * mp.pi * k / n))} {part(-mp.sin(2 * mp.pi * k / n))}" for k in range(n)]
        print(f"roots {n} {' '.join(parts)}")


main()
