"""Writes the files beside this one: how jaxlib reads and prints literals. Not a part of CI.

    python oracle.py

needs jaxlib (this was written with 0.10.2), ml_dtypes and numpy. Every text is read in a process of its own, for some
texts end jaxlib's.
"""

import decimal
import os
import random
import re
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
from jaxlib import _hlo

HERE = Path(__file__).parent
decimal.getcontext().prec = 400
INTEGERS = "pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64".split()
SMALL = {
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f6e2m3fn": ml_dtypes.float6_e2m3fn,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}
FLOATS = [*SMALL, "f32", "f64"]
MANTISSA = {"f8e3m4": 4, "f8e4m3": 3, "f8e5m2": 2, "f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def printed(shape, literal):
    """What the printer makes of the literal; None where the reader refuses it, or ends."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        answer = ""
        try:
            options = _hlo.HloPrintOptions()
            options.print_large_constants = True
            text = f"HloModule m\n\nENTRY e {{\n  ROOT x = {shape} constant({literal})\n}}\n"
            answer = "+" + _hlo.hlo_module_from_text(text).to_string(options)
        except Exception:
            pass
        data = answer.encode()
        while data:
            data = data[os.write(writer, data) :]
        os._exit(0)
    os.close(writer)
    answer = b""
    while chunk := os.read(reader, 1 << 16):
        answer += chunk
    os.close(reader)
    os.waitpid(child, 0)
    if not answer:
        return None
    return re.search(r" constant\((.*)\)\n\}", answer.decode(), re.S).group(1)


def array(element_type, texts):
    """The spelling of each element."""
    text = printed(f"{element_type}[{len(texts)}]", "{" + ", ".join(texts) + "}")
    spelled = re.findall(r"\(.*?, .*?\)|[^, ]+(?:\(0x\w+\))?", text[1:-1])
    assert len(spelled) == len(texts), element_type
    return spelled


def readable(element_type, bits, value, width):
    """A text that the reader reads as these bits."""
    if value == value:
        return repr(float(value)) if abs(value) != float("inf") else ("-inf" if value < 0 else "inf")
    sign = "-" if bits >> (width - 1) else ""
    mantissa = MANTISSA.get(element_type)
    return f"{sign}nan" + (f"(0x{bits & ((1 << mantissa) - 1):x})" if mantissa else "")


def fnv(texts):
    """FNV-1a of 64 bits of the texts, each with a newline after it."""
    value = 0xCBF29CE484222325
    for byte in "".join(text + "\n" for text in texts).encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def spellings():
    lines = [
        "# How jaxlib 0.10.2 prints floats; written by oracle.py. Type, then the spellings of all patterns of bits from 0",
        "# on; of f16 and bf16 the FNV-1a hash of all 65536, each with a newline. Then lines of type, bits and spelling.",
    ]
    for element_type, dtype in SMALL.items():
        width = int(re.match(r"b?f(\d+)", element_type).group(1))
        patterns = np.arange(1 << width, dtype=np.uint8 if width <= 8 else np.uint16)
        with np.errstate(all="ignore"):
            values = patterns.view(dtype).astype(np.float64)
        texts = [readable(element_type, int(bits), values[bits], width) for bits in patterns]
        spelled = array(element_type, texts)
        lines.append(f"{element_type} " + (f"{fnv(spelled):#x}" if width == 16 else " ".join(spelled)))
    source = random.Random(7)
    for element_type, width, integer, dtype in [("f32", 32, np.uint32, np.float32), ("f64", 64, np.uint64, np.float64)]:
        patterns = [source.getrandbits(width) for _ in range(120)]
        patterns += [int(np.array(source.uniform(-9, 9), dtype).view(integer)) for _ in range(40)]
        patterns += [int(np.array(source.randrange(10**7) / 1000, dtype).view(integer)) for _ in range(40)]
        patterns += [int(np.array(10.0**power, dtype).view(integer)) for power in range(-40, 39)]
        patterns += [bits | sign << (width - 1) for bits in range(1, 12) for sign in (0, 1)]
        mantissa = MANTISSA[element_type]
        top = (1 << (width - 1)) - (1 << mantissa)
        patterns += [top - 1, top, top + 1, top + (1 << mantissa) - 1, top + (1 << (mantissa - 1)), 1 << mantissa]
        with np.errstate(all="ignore"):
            texts = [
                readable(element_type, bits, np.array(bits, integer).view(dtype)[()].astype(np.float64), width)
                for bits in patterns
            ]
        for bits, text in zip(patterns, array(element_type, texts)):
            lines.append(f"{element_type} {bits:#x} {text}")
    (HERE / "spellings.txt").write_text("\n".join(lines) + "\n")


def nearest(values, number, element_type):
    """The bits of the value nearest to an exact number by the definition: no float is rounded on the way."""
    magnitude = abs(number)
    codes = sorted(values)
    low = max((code for code in codes if values[code] <= magnitude), default=None)
    if low is None:
        return codes[0]
    if low == codes[-1]:
        gap = values[low] - values[low - 1] if element_type != "f8e8m0fnu" else values[low]
        middle = values[low] + gap / 2
        if element_type in ("f4e2m1fn", "f6e2m3fn", "f6e3m2fn"):
            return low
        kept = magnitude < middle or (magnitude == middle and low % 2 == 0 and element_type != "f8e8m0fnu")
        return low if kept else None
    middle = (values[low] + values[low + 1]) / 2
    if magnitude == middle:
        return low + 1 if low % 2 or element_type == "f8e8m0fnu" else low
    return low if magnitude < middle else low + 1


def roundings():
    """Decimals near the middles between two values, and the bits of the nearest one by exact arithmetic."""
    lines = [
        "# Decimals and the bits of the nearest value, ties to even, by exact rational arithmetic; written by oracle.py.",
        "# Where the decimal is that of an f64, numpy and ml_dtypes agree, but for what they round twice (bf16).",
    ]
    source = random.Random(11)
    for element_type, dtype in SMALL.items():
        width = int(re.match(r"b?f(\d+)", element_type).group(1))
        signed = element_type != "f8e8m0fnu"
        patterns = np.arange(1 << (width - signed), dtype=np.uint8 if width <= 8 else np.uint16)
        with np.errstate(all="ignore"):
            floats = patterns.view(dtype).astype(np.float64)
        values = {code: Fraction(float(value)) for code, value in enumerate(floats) if np.isfinite(value)}
        last = max(values)
        for _ in range(60):
            low = source.choice([source.randrange(last), source.randrange(min(last, 9)), last - 1 - source.randrange(3)])
            low = max(low, 0)
            middle = (values[low] + values[low + 1]) / 2
            exact = decimal.Decimal(middle.numerator) / decimal.Decimal(middle.denominator)
            step = decimal.Decimal(10) ** (exact.adjusted() - source.choice([2, 8, 15, 17, 20, 40, 160]))
            number = exact + source.choice([-1, 0, 0, 1]) * step
            if source.random() < 0.25:
                number = number.normalize(decimal.Context(prec=source.randrange(1, 20)))
            if signed and source.random() < 0.5:
                number = -number
            text = f"{number:{source.choice('ef')}}" if abs(number.adjusted()) < 60 else f"{number:e}"
            if "." not in text and "e" not in text:
                text += "."
            code = nearest(values, Fraction(text.rstrip(".")), element_type)
            if code is None:
                lines.append(f"{element_type} {text} refused")
                continue
            bits = code | (1 << (width - 1) if text[0] == "-" and not (code == 0 and "fnuz" in element_type) else 0)
            double = float(text)
            if Fraction(double) == Fraction(text.rstrip(".")) and element_type != "bf16":
                with np.errstate(all="ignore"):
                    theirs = int(np.array(double).astype(dtype).view(patterns.dtype))
                if theirs != bits:
                    print(f"ml_dtypes differs: {element_type} {text}: {theirs:#x}, by exact arithmetic {bits:#x}")
            lines.append(f"{element_type} {text} {bits:#x}")
    (HERE / "roundings.txt").write_text("\n".join(lines) + "\n")


NUMBERS = """0 -0 0.0 -0.0 1 -1 2 -2 3 4 7 8 -8 -9 127 128 -128 -129 255 256 32767 32768 -32769 65504 65519 65520 65535
65536 2147483647 2147483648 -2147483649 4294967295 4294967296 9223372036854775807 9223372036854775808
-9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616 -18446744073709551615 01 007 -01
00012.5 1.0 1. .5 -.5 -. . - -- --1 +1 1e0 1e5 1e-5 1E5 1e+5 1.e5 -.e3 1e 1e+ 1.5e 1.5e3 1e400 -1e400 1e-400 0x1 0x10
0x1p3 1_0 1u 1f 1x2 1.2.3 1..2 nan -nan inf -inf Inf NaN infinity -Inf NAN nan(0x1) -nan(0x1) nan(0x0) nan(0x2) nan(0x3)
nan(0x4) nan(0x7) nan(0x8) nan(0xf) nan(0x10) nan(0x7f) nan(0x80) nan(0x200) nan(0x3ff) nan(0x400) nan(0x400000)
nan(0x7fffff) nan(0x800000) nan(0xfffffffffffff) nan(0x10000000000000) nan(0xFF) nan(0XFF) nan(255) nan(0x) nan()
nan(0x1 true false abc (1,2) 0.1 6 6.5 7.5 7.75 15.5 15.75 16 28 29 30 31 240 247 248 448 464 465 480 57344 61439 61440
1e38 1.7e38 2.55e38 3.39e38 3.3961775e38 3.4e38 3.40282356e38 3.5e38 1e-45 1e-46 1e-320 2.4e-324 2.5e-324
100000000000000000000000 1.5 2.5 0.25 0.75 1.0039062500009095 1.0004882812509095 1.1250000000009095""".split()

COMPLEX = [
    "(1,2)", "(1, -2)", "( 1 , 2 )", "(1 2)", "(1)", "(1,2,3)", "()", "1", "nan", "(1e39,0)", "(0,1e39)", "(1e400,0)",
    "(0.1,1e-5)", "(true,1)", "{1,2}", "1+2i", "(1,2)i", "(1,/*x*/2)", "(inf,nan)", "(1", "(1,2", "(1,,2)", "(,1,2)",
    "(1e-46,1e-330)", "(1.5,-2.25)",
]  # fmt: skip

ARRAYS = [
    line.split(" | ")
    for line in """s32[2] | {1,2,}
s32[2] | {,1,2}
s32[2] | {1 2}
s32[2] | {1,,2}
s32[2] | {1-2}
s32[2] | {1}
s32[2] | {1,2,3}
s32[2] | 1,2
s32[2] | [1,2]
s32[2] | (1,2)
s32[2] | {{1,2}}
s32[2] | {}
s32[1] | 1
s32[1] | 1,
s32[1] | ,1
s32[1] | {1
s32[1] | {1}}
s32[1] | {{1}
s32[1] | {1))
s32[1,1] | 1
s32[1,1] | {1}
s32[1,1] | {{1}}
s32[] | {1}
s32[] | {}
s32[] | ,1
s32[] | 1,
s32[] | {...}
pred[1] | true
c64[1] | (1,2)
s32[2,1] | {1,2}
s32[2,1] | {{1},{2}}
s32[2,1] | {{1,2}}
s32[2,1] | {{1},{2},}
s32[2,1] | {{1}{2}}
s32[0] | {}
s32[0] | {1}
s32[0] | {{}}
s32[0] | {,}
s32[0,2] | {}
s32[0,2] | {{}}
s32[2,0] | {}
s32[2,0] | {{},{}}
s32[2,0] | {{}}
s32[2,0] | {{},{},{}}
s32[0,0] | {}
s32[2,0,3] | {{},{}}
s32[2,0,3] | {{{}},{}}
s32[2,3,0] | {{},{}}
s32[2,3,0] | {{{},{},{}},{{},{},{}}}
s32[2,2,0,2] | {{},{}}
s32[2,2] | {{1,2},{...}}
s32[3] | {1,...,2}
s32[3] | {...,1}
s32[2] | ...
s32[0] | ...
s32[2] | { /*i0=0*/ 1, /*zz*/2 }
f32[2] | {1.5-2}
f32[2] | {1/*a*/2}
f32[2] | {1.5a}
f32[2] | {1,true}
c64[2] | {(1,2)(3,4)}
c64[2] | {1,2}
c64[2] | {(1,2),3}
pred[3] | {true,false,1}
pred[2] | {2,0}
pred[2] | {-1,0}
pred[2] | {1.0,0}
pred[2,2] | {{1,0},{0,1}}
u8[2] | "ab"
u8[2] | {"a",2}
s4[2]{0:E(4)} | {1,2}
s32[2,2]{0,1} | {{1,2},{3,4}}
s32[2,3] | {{1,2,3},{4,5,6}}
s32[1,2,1,1] | {{{{1}},{{2}}}}
s32[2,1,2] | {{{1,2}},{{3,4}}}
s32[2,1,1,2,2] | {{{{{1,2},{3,4}}}},{{{{1,2},{3,4}}}}}
f8e5m2[1,2,1,2] | {{{{1,2}},{{3,inf}}}}
c128[2,2] | {{(1,2),(3,4)},{(0.1,0),(0,-1e300)}}
f32[2] | {inf,-nan(0x7fffff)}
(s32[], f32[]) | (1, 2)
(s32[], f32[]) | (1 2)
(s32[], f32[]) | (1)
(s32[], f32[]) | (1,2,3)
(s32[], f32[]) | {1,2}
(s32[], f32[]) | (1, 2,)
(s32[], f32[]) | (,1,2)
(s32[], f32[]) | (1,,2)
(s32[1], s32[1]) | ({1}{2})
() | ()
() | (,)
((s32[], s32[]), s32[]) | ((1, 2) 3)
(s32[2,2], (c64[2], pred[2])) | ({{1,2},{3,4}}, ({(1,2),(3,4)}, {true,0}))
(s32[], f32[2]) | (1, {2})""".split("\n")
]


def verdicts():
    lines = [
        "# What jaxlib 0.10.2 reads, and how it prints that: shape, literal, printed or `refused`; written by oracle.py.",
        "# A line of several types has their common answer.",
    ]
    for number in NUMBERS:
        answers = {}
        for element_type in INTEGERS + FLOATS:
            answers.setdefault(printed(f"{element_type}[]", number) or "refused", []).append(element_type)
        for answer, types in answers.items():
            lines.append(f"{' '.join(types)} | {number} | {answer}")
    for element_type in ("c64", "c128"):
        for text in COMPLEX:
            lines.append(f"{element_type} | {text} | {printed(f'{element_type}[]', text) or 'refused'}")
    lines.append("# Arrays and tuples.")
    for shape, text in ARRAYS:
        lines.append(f"{shape} | {text} | {printed(shape, text) or 'refused'}")
    (HERE / "verdicts.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    spellings()
    roundings()
    verdicts()
