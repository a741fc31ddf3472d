#!/usr/bin/env python3
"""Writes modules with inputs and what XLA computes of them on the CPU: cases.txt, lapack.txt or programs.txt.

Needs jax (`pip install jax`):

    python hlo/tests/numeric/oracle.py cases > hlo/tests/numeric/cases.txt

Elements are written as their bits. It runs by hand, not in CI.
"""

import os
import sys

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.extend.backend
import ml_dtypes
import numpy as np
from jaxlib import _hlo, _jax

BACKEND = jax.extend.backend.get_backend("cpu")
RANDOM = np.random.default_rng(7)
DTYPES = {
    "pred": np.bool_, "u2": ml_dtypes.uint2, "u4": ml_dtypes.uint4, "s4": ml_dtypes.int4, "u8": np.uint8, "s8": np.int8,
    "u16": np.uint16, "s16": np.int16, "u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3": ml_dtypes.float8_e4m3, "f8e3m4": ml_dtypes.float8_e3m4, "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}
NARROW = {"u2": 3, "u4": 15, "s4": 15, "f4e2m1fn": 15}


def shape(kind, array):
    return f"{kind}[{','.join(map(str, array.shape))}]"


def bits(kind, array):
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.size == 0:
        return ""
    width = flat.dtype.itemsize
    raw = flat.tobytes()
    numbers = [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]
    return " ".join(f"{number & NARROW.get(kind, (1 << 128) - 1):x}" for number in numbers)


def of_bits(kind, numbers, extents=None):
    dtype = np.dtype(DTYPES[kind])
    raw = b"".join(int(number).to_bytes(dtype.itemsize, "little") for number in numbers)
    return np.frombuffer(raw, dtype).reshape(extents or [len(numbers)])


def case(name, lines, inputs, outputs, tolerance=0):
    """`inputs` are kinds and arrays for x0, x1, …; `outputs` the kinds of the results, with None for one that is free, and
    "sizes f32" for one of which the absolute values are compared."""
    lines = [f"x{number} = {shape(kind, array)} parameter({number})" for number, (kind, array) in enumerate(inputs)] + lines
    lines[-1] = "ROOT " + lines[-1]
    text = "ENTRY main {\n" + "\n".join(lines) + "\n}"
    module = _hlo.hlo_module_from_text("HloModule m\n\n" + text)
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    stable = _jax.mlir.xla_computation_to_mlir_module(computation)
    devices = _jax.DeviceList(tuple(BACKEND.local_devices()[:1]))
    executable = BACKEND.compile_and_load(stable, devices)
    results = executable.execute([jax.device_put(array) for _, array in inputs])
    print(f"case {name} | {tolerance}")
    print("\n".join("  " + line for line in lines))
    for kind, array in inputs:
        print("in", shape(kind, array), bits(kind, array))
    assert len(results) == len(outputs), name
    written(outputs, results)


def written(outputs, results):
    for kind, result in zip(outputs, results):
        array = np.asarray(result)
        how, kind = ("free", kind) if kind is None else kind.split() if " " in kind else ("out", kind)
        print("free" if kind is None else f"{how} {shape(kind, array)} {bits(kind, array)}")
    print()


def random(kind, extents):
    values = RANDOM.standard_normal(extents)
    if kind in ("c64", "c128"):
        values = values + 1j * RANDOM.standard_normal(extents)
    return np.asarray(values).astype(DTYPES[kind])


def bit_generators():
    states = [[1, 2], [0xFEDCBA9876543210, 0xFFFFFFFFFFFFFFFF]]
    shapes = ["[]", "[1]", "[5]", "[8]", "[3,4]", "[7,5]", "[5,7]", "[2,2,2]", "[3,1,5]", "[3,3,3]", "[0,3]", "[4,3]"]
    wanted = [("u32", extents) for extents in shapes]
    wanted += [(kind, extents) for kind in ("u8", "u16", "u64") for extents in ("[]", "[5]", "[3,3]", "[2,3]", "[0]")]
    wanted += [(kind, "[5]") for kind in ("u4", "s8", "s16", "s32", "s64", "f16", "f32", "f64")]
    for algorithm in ("rng_three_fry", "rng_philox", "rng_default"):
        for state in states + ([[7, 0xFFFFFFFFFFFFFFFF, 3]] if algorithm != "rng_three_fry" else []):
            for kind, extents in wanted if state == states[0] else wanted[:13:3] + wanted[12::4]:
                held = np.array(state, np.uint64)
                line = f"r = (u64[{len(state)}], {kind}{extents}) rng-bit-generator(x0), algorithm={algorithm}"
                case(f"{algorithm} {kind}{extents} of {len(state)}", [line], [("u64", held)], ["u64", kind])


def states():
    lines = ["a = u64[2] rng-get-and-update-state(), delta=3", "b = u64[2] rng-get-and-update-state(), delta=5"]
    case("states", lines + ["t = (u64[2], u64[2]) tuple(a, b)"], [], ["u64", "u64"])


def precisions():
    fields = [(5, 10), (8, 7), (8, 0), (1, 0), (2, 3), (8, 23), (60, 60), (5, 23), (5, 0), (4, 3), (3, 1), (11, 52)]
    for kind, width in [("f32", 32), ("f64", 64), ("f16", 16), ("bf16", 16)]:
        exponent, mantissa = {"f32": (8, 23), "f64": (11, 52), "f16": (5, 10), "bf16": (8, 7)}[kind]
        patterns = {0, 1, (1 << mantissa) - 1, 1 << mantissa, (1 << width - 1) - 1, ((1 << exponent) - 1) << mantissa}
        bias = (1 << exponent - 1) - 1
        for power in (-15, -14, -8, -7, -1, 0, 1, 8, 15, 16):
            for low in (0, 1, (1 << mantissa) - 1, 1 << mantissa - 1, (1 << mantissa - 1) + 1, int(RANDOM.integers(1 << mantissa))):
                patterns.add(max(bias + power, 0) << mantissa | low)
        # A NaN whose payload XLA's conversion of narrow types does not keep is left out.
        nan = ((1 << exponent) - 1) << mantissa
        patterns = sorted(p for p in patterns if p <= nan and p < nan + 1)
        patterns += [p | 1 << width - 1 for p in patterns[::5]]
        held = of_bits(kind, patterns)
        for e, m in fields if kind == "f32" else fields[:1] + fields[3:5] + fields[8:11]:
            line = f"r = {kind}[{len(patterns)}] reduce-precision(x0), exponent_bits={e}, mantissa_bits={m}"
            case(f"reduce-precision {kind} {e} {m}", [line], [(kind, held)], [kind])
    for kind in ("f8e4m3fn", "f8e5m2", "f8e4m3", "f8e3m4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f4e2m1fn"):
        every = of_bits(kind, [p for p in range(16 if kind == "f4e2m1fn" else 256)])
        every = every[~np.isnan(every.astype(np.float32))]
        for e, m in [(3, 1), (4, 2), (1, 1)]:
            line = f"r = {kind}[{every.size}] reduce-precision(x0), exponent_bits={e}, mantissa_bits={m}"
            case(f"reduce-precision {kind} {e} {m}", [line], [(kind, every)], [kind])


def stochastic():
    values = np.array([0.0, 1.5, -1.5, 2.0, 0.25, -0.25, 100.75, -100.75, 1e9, -1e9, 126.5, 127.5, -127.5, -128.5, np.inf,
                       -np.inf, np.nan], np.float64)
    for kind, bits_of in [("f32", "u32"), ("f16", "u16"), ("bf16", "u16"), ("f64", "u64")]:
        top = (1 << int(bits_of[1:])) - 1
        for to in ("s8", "s16", "s32"):
            for word in (0, top // 4 + 1, top // 2):
                words = np.full(values.size, word, DTYPES[bits_of])
                line = f"r = {to}[{values.size}] stochastic-convert(x0, x1)"
                with np.errstate(all="ignore"):
                    held = values.astype(DTYPES[kind])
                case(f"stochastic-convert {kind} {to} {word:x}", [line], [(kind, held), (bits_of, words)], [to])


def bitcasts():
    for source, extents, target in [
        ("s8", [2], "s4[2,2]"), ("u8", [3], "u2[3,4]"), ("s4", [2, 2], "s8[2]"), ("u4", [1, 4], "u16[1]"),
        ("u16", [2], "u8[2,2]"), ("u8", [2, 8], "f64[2]"), ("f64", [2], "u16[2,4]"), ("f32", [3], "s32[3]"),
        ("u8", [0, 4], "f32[0]"), ("bf16", [2, 2], "f32[2]"), ("u64", [2, 2], "s64[2,2]"), ("f4e2m1fn", [2, 2], "u8[2]"),
    ]:
        mask = NARROW.get(source, (1 << 64) - 1)
        width = np.dtype(DTYPES[source]).itemsize
        count = int(np.prod(extents))
        held = of_bits(source, [int(RANDOM.integers(1 << 62)) & mask & ((1 << 8 * width) - 1) for _ in range(count)], extents)
        case(f"bitcast {source} {target}", [f"r = {target} bitcast-convert(x0)"], [(source, held)], [target.split("[")[0]])


def transforms():
    for real, complex_, tolerance in [("f32", "c64", 1e-5), ("f64", "c128", 1e-13)]:
        for extents, count in [([1], 1), ([2], 1), ([3], 1), ([8], 1), ([12], 1), ([2, 17], 1), ([67], 1), ([134], 1),
                               ([4, 6], 2), ([2, 5, 7], 2), ([3, 4, 5], 3), ([2, 3, 1, 4], 3), ([2, 0], 1)]:
            lengths = extents[-count:]
            half = extents[:-1] + [extents[-1] // 2 + 1 if extents[-1] else 0]
            comma = lambda values: ",".join(map(str, values))
            length = "{" + comma(lengths) + "}"
            for kind in ("FFT", "IFFT"):
                line = f"r = {complex_}[{comma(extents)}] fft(x0), fft_type={kind}, fft_length={length}"
                case(f"{kind} {complex_} {extents} {count}", [line], [(complex_, random(complex_, extents))], [complex_], tolerance)
            line = f"r = {complex_}[{comma(half)}] fft(x0), fft_type=RFFT, fft_length={length}"
            case(f"RFFT {real} {extents} {count}", [line], [(real, random(real, extents))], [complex_], tolerance)
            line = f"r = {real}[{comma(extents)}] fft(x0), fft_type=IRFFT, fft_length={length}"
            case(f"IRFFT {real} {extents} {count}", [line], [(complex_, random(complex_, half))], [real], tolerance)


TOLERANCES = {"f16": 5e-3, "f32": 1e-4, "f64": 1e-12, "c64": 1e-4, "c128": 1e-12}


def definite(kind, extents):
    a = random(kind if kind != "f16" else "f32", extents)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + extents[-1] * np.eye(extents[-1])).astype(DTYPES[kind])


def factorizations():
    for kind in ("f16", "f32", "f64", "c64", "c128"):
        for extents in ([1, 1], [4, 4], [2, 2, 3, 3], [0, 0]):
            text = f"{kind}[{','.join(map(str, extents))}]"
            for lower in ("true", "false"):
                case(f"cholesky {text} {lower}", [f"r = {text} cholesky(x0), lower={lower}"],
                     [(kind, definite(kind, extents))], [kind], TOLERANCES[kind])
        bad = definite(kind, [2, 3, 3])
        bad[0, 2, 2] = -1
        case(f"cholesky {kind} indefinite", [f"r = {kind}[2,3,3] cholesky(x0), lower=true"], [(kind, bad)], [kind], TOLERANCES[kind])
    zeros = np.zeros([2, 2], np.float32)
    case("cholesky of zeros", ["r = f32[2,2] cholesky(x0), lower=true"], [("f32", zeros)], ["f32"])


def triangles():
    for kind in ("f32", "c128"):
        for left in (True, False):
            for lower in (True, False):
                for unit in (True, False):
                    for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                        a = random(kind, [2, 3, 3]) + (3 * np.eye(3)).astype(DTYPES[kind])
                        b = random(kind, [2, 3, 2] if left else [2, 2, 3])
                        lines = [f"r = {shape(kind, b)} triangular-solve(x0, x1), left_side={str(left).lower()}, "
                                 f"lower={str(lower).lower()}, unit_diagonal={str(unit).lower()}, transpose_a={transpose}"]
                        case(f"triangular-solve {kind} {left} {lower} {unit} {transpose}", lines, [(kind, a), (kind, b)],
                             [kind], TOLERANCES[kind])


def columns_first(extents, batch_rank):
    """The layout of matrices that LAPACK takes, and of vectors; batches are row-major."""
    rank = len(extents)
    inner = list(range(batch_rank, rank))
    order = inner + list(range(batch_rank - 1, -1, -1))
    return "{" + ",".join(map(str, order)) + "}" if order else ""


def lapack(routine, options, inputs, outputs, tolerance, name="", matrix=0):
    """`outputs` are kinds, extents and whether the elements are compared, or "sizes"; `matrix` says which input is one."""
    batch_rank = inputs[matrix][1].ndim - 2
    layouts = ", ".join(shape(kind, array) + columns_first(array.shape, batch_rank) for kind, array in inputs)
    results = [f"{kind}[{','.join(map(str, extents))}]{columns_first(extents, batch_rank)}" for kind, extents, _ in outputs]
    result = results[0] if len(results) == 1 else "(" + ", ".join(results) + ")"
    option = lambda value: f"{ord(value)} : ui8" if isinstance(value, str) else f"{value} : i32"
    option = lambda value, of=option: str(value).lower() if isinstance(value, bool) else of(value)
    config = ", ".join(f"{key} = {option(value)}" for key, value in sorted(options.items()))
    arguments = ", ".join(f"x{number}" for number in range(len(inputs)))
    target = routine if "_" in routine else f"lapack_{routine}_ffi"
    line = (f'r = {result} custom-call({arguments}), custom_call_target="{target}", '
            f"operand_layout_constraints={{{layouts}}}, api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}")
    kinds = {True: "{}", "sizes": "sizes {}"}
    outputs = [kinds[compared].format(kind) if compared else None for kind, _, compared in outputs]
    case(f"{routine} {name}", [line], inputs, outputs, tolerance)


def routines():
    for letter, kind in zip("sdcz", ("f32", "f64", "c64", "c128")):
        real = {"c64": "f32", "c128": "f64"}.get(kind, kind)
        is_real = real == kind
        tolerance = TOLERANCES[kind]
        for uplo in "LU":
            a = definite(kind, [2, 4, 4])
            lapack(f"{letter}potrf", {"uplo": uplo}, [(kind, a)], [(kind, [2, 4, 4], True), ("s32", [2], True)], tolerance, uplo)
        a = definite(kind, [3, 3])
        a[1, 1] = -2
        lapack(f"{letter}potrf", {"uplo": "L"}, [(kind, a)], [(kind, [3, 3], False), ("s32", [], True)], tolerance, "indefinite")
        for side in "LR":
            for uplo in "LU":
                for trans in "NTC":
                    for diag in "NU":
                        if kind not in ("f32", "c128") and diag == "U":
                            continue
                        a = random(kind, [3, 3]) + (3 * np.eye(3)).astype(DTYPES[kind])
                        b = random(kind, [3, 2] if side == "L" else [2, 3])
                        lapack(f"{letter}trsm", {"side": side, "uplo": uplo, "trans_x": trans, "diag": diag},
                               [(kind, a), (kind, b)], [(kind, list(b.shape), True)], tolerance, side + uplo + trans + diag)
        for extents in ([2, 4, 4], [5, 3], [3, 5], [1, 1]):
            batch, least = extents[:-2], min(extents[-2:])
            a = random(kind, extents)
            lapack(f"{letter}getrf", {}, [(kind, a)], [(kind, extents, True), ("s32", batch + [least], True), ("s32", batch, True)],
                   tolerance, str(extents))
            lapack(f"{letter}geqrf", {}, [(kind, a)], [(kind, extents, True), (kind, batch + [least], True)], tolerance, str(extents))
        singular = random(kind, [3, 3])
        singular[:, 1] = 0
        lapack(f"{letter}getrf", {}, [(kind, singular)], [(kind, [3, 3], True), ("s32", [3], True), ("s32", [], True)], tolerance, "singular")
        lapack(f"{letter}geqrf", {}, [(kind, singular)], [(kind, [3, 3], False), (kind, [3], True)], tolerance, "singular")
        for extents, count in ([4, 3], 3), ([4, 4], 2), ([2, 3, 3], 3):
            a, taus = random(kind, extents), random(kind, extents[:-2] + [count])
            lapack(letter + ("orgqr" if is_real else "ungqr"), {}, [(kind, a), (kind, taus)], [(kind, extents, True)], tolerance, str(extents))
        for extents in ([4, 4], [2, 3, 3], [1, 1]):
            for uplo in "LU":
                a = random(kind, extents)
                lapack(letter + ("syevd" if is_real else "heevd"), {"mode": "V", "uplo": uplo}, [(kind, a)],
                       [(kind, extents, False), (real, extents[:-1], True), ("s32", extents[:-2], True)], tolerance, f"{extents} {uplo}")
        for routine in ("gesdd", "gesvd"):
            for extents in ([4, 3], [3, 4], [2, 3, 3]):
                for mode in "ASN":
                    batch, (m, n) = extents[:-2], extents[-2:]
                    k = min(m, n)
                    u, v = ([m, k], [k, n]) if mode == "S" else ([m, m], [n, n])
                    lapack(letter + routine, {"mode": mode}, [(kind, random(kind, extents))],
                           [(kind, extents, False), (real, batch + [k], True), (kind, batch + u, False), (kind, batch + v, False),
                            ("s32", batch, True)], tolerance, f"{extents} {mode}")


def reductions():
    """Forms on the way to eigenvalues, and what is done with reflections."""
    for letter, kind in zip("sdcz", ("f32", "f64", "c64", "c128")):
        real = {"c64": "f32", "c128": "f64"}.get(kind, kind)
        is_real = real == kind
        tolerance = TOLERANCES[kind]
        for extents in ([4, 4], [2, 3, 3], [1, 1]):
            batch, n = extents[:-2], extents[-1]
            lapack(f"{letter}gehrd", {"low": 1, "high": n}, [(kind, random(kind, extents))],
                   [(kind, extents, True), (kind, batch + [n - 1], True), ("s32", batch, True)], tolerance, str(extents))
            for uplo in "LU" if n > 1 else "L":
                lapack(letter + ("sytrd" if is_real else "hetrd"), {"uplo": uplo}, [(kind, random(kind, extents))],
                       [(kind, extents, True), (real, batch + [n], True), (real, batch + [n - 1], True),
                        (kind, batch + [n - 1], True), ("s32", batch, True)], tolerance, f"{extents} {uplo}")
        a = random(kind, [5, 5])
        a[2:, 0], a[4, :4] = 0, 0
        lapack(f"{letter}gehrd", {"low": 2, "high": 4}, [(kind, a)], [(kind, [5, 5], True), (kind, [4], True), ("s32", [], True)],
               tolerance, "of a part")
        for extents, first in ([4, 3], [0, 0, 0]), ([3, 5], [0, 0, 0, 0, 0]), ([2, 3, 3], [0, 0, 0]), ([4, 4], [0, 0, 1, 0]):
            batch, (m, n) = extents[:-2], extents[-2:]
            order = np.broadcast_to(np.array(first, np.int32), batch + [n])
            lapack(f"{letter}geqp3", {}, [(kind, random(kind, extents)), ("s32", order)],
                   [(kind, extents, True), ("s32", batch + [n], True), (kind, batch + [min(m, n)], True)], tolerance, f"{extents} {first}")
        for left in (True, False):
            for transpose in (True, False):
                for batch, m, k, n in ([], 4, 3, 2), ([2], 3, 3, 1):
                    a, taus = random(kind, batch + [m, k]), random(kind, batch + [k])
                    c = random(kind, batch + ([m, n] if left else [n, m]))
                    lapack(letter + ("ormqr" if is_real else "unmqr"), {"left": left, "transpose": transpose},
                           [(kind, a), (kind, taus), (kind, c)], [(kind, list(c.shape), True)], tolerance, f"{batch} {left} {transpose}")


def bands():
    for letter, kind in zip("sdcz", ("f32", "f64", "c64", "c128")):
        tolerance = 10 * TOLERANCES[kind]
        for batch, n, columns in ([], 6, 2), ([2], 3, 1), ([], 1, 2), ([], 2, 1):
            below, diagonal, above = (random(kind, batch + [n]) for _ in range(3))
            b = random(kind, batch + [n, columns])
            given = [(kind, below), (kind, diagonal), (kind, above), (kind, b)]
            outputs = [(kind, batch + [n], True)] * 3 + [(kind, batch + [n, columns], True), ("s32", batch, True)]
            lapack(f"{letter}gtsv", {}, given, outputs, tolerance, f"{batch} {n}", 3)
            lapack("tridiagonal_solve_perturbed_ffi", {}, given, [(kind, list(b.shape), True)], tolerance, f"{kind} {batch} {n}", 3)
        for zeros in ([0], [0, 1], [2], [3, 4]):
            # Whole numbers: no rounding decides what is zero.
            below, diagonal, above = (np.array(v, DTYPES[kind]) for v in ([0, 2, 0, 1, 4], [8, 4, 2, 1, 8], [4, 1, 0, 2, 0]))
            diagonal[zeros] = 0
            below[zeros] = 0
            b = random(kind, [5, 1])
            given = [(kind, below), (kind, diagonal), (kind, above), (kind, b)]
            outputs = [(kind, [5], True)] * 3 + [(kind, [5, 1], False), ("s32", [], True)]
            lapack(f"{letter}gtsv", {}, given, outputs, tolerance, f"singular {zeros}", 3)


def spectra():
    """Eigenvalues in LAPACK's order, and vectors, of which the phase is free; Schur's forms, of which signs are free."""
    for letter, kind in zip("sdcz", ("f32", "f64", "c64", "c128")):
        real = {"c64": "f32", "c128": "f64"}.get(kind, kind)
        complex_ = {"f32": "c64", "f64": "c128"}.get(kind, kind)
        tolerance = 10 * TOLERANCES[kind]
        made = lambda rows: np.array(rows, DTYPES[kind])
        matrices = {str(extents): random(kind, extents) for extents in ([3, 3], [5, 5], [2, 3, 3], [1, 1])}
        matrices |= {
            "rotation": made([[0, -1], [1, 0]]), "of whole numbers": made([[-2, 1, 0], [0, 3, 1], [5, 0, -1]]),
            "triangular": made([[1, 2, 3], [0, 4, 5], [0, 0, 6]]), "permuted": made([[1, 0, 0], [2, 3, 4], [5, 0, 6]]),
            "zeros": made([[0, 0], [0, 0]]), "one": made([[1, 0], [0, 1]]), "cycle": made([[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
            "unbalanced": made([[1, 1e4, 0], [1e-4, 2, 1e3], [1e-6, 1e-3, 3]]), "defective": made([[1, 1], [0, 1]]),
            "repeated": made([[2, 1, 0, 0], [0, 2, 0, 0], [0, 0, 2, 1], [0, 0, 0, 3]]),
        }
        for name, a in matrices.items():
            batch, n = list(a.shape[:-2]), a.shape[-1]
            values = [(real, batch + [n], True)] * 2 if real == kind else [(kind, batch + [n], True)]
            square = batch + [n, n]
            modes = "VV VN NV NN" if name == "[3, 3]" else "VV"
            for left, right in modes.split():
                lapack(f"{letter}geev", {"compute_left": left, "compute_right": right}, [(kind, a)],
                       values + [(complex_, square, "sizes" if side == "V" else False) for side in (left, right)] + [("s32", batch, True)],
                       tolerance, f"{name} {left}{right}")
            if name == "unbalanced":
                continue  # LAPACK does not balance here, and f32 has too few digits for this one.
            # A pair of eigenvalues may stand in a block in four ways, and in a normal matrix in any.
            form = False if name in ("cycle", "[5, 5]") else "sizes"
            for mode in "VN" if name == "[3, 3]" else "V":
                lapack(f"{letter}gees", {"mode": mode, "sort": "N"}, [(kind, a)],
                       [(kind, square, form), (kind, square, form if mode == "V" else False)] + values + [("s32", batch, True)] * 2,
                       tolerance, f"{name} {mode}")
        a = made([[1, 2], [3, np.nan]])
        outputs = [(kind, [2], False)] * (2 if real == kind else 1) + [(complex_, [2, 2], False)] * 2 + [("s32", [], True)]
        lapack(f"{letter}geev", {"compute_left": "V", "compute_right": "V"}, [(kind, a)], outputs, tolerance, "NaN")


def programs():
    """What JAX lowers its linear algebra to. Results do not depend on what eigenvectors and factors leave open."""
    np_, sp, lax = jax.numpy.linalg, jax.scipy.linalg, jax.lax.linalg
    H = lambda x: jax.numpy.conj(x.T)

    def eig(a):
        w, v = np_.eig(a)
        return w, v * w @ np_.inv(v), jax.numpy.abs(v)

    def left(a):
        w, u = lax.eig(a, compute_right_eigenvectors=False)
        return w, H(u) @ a - w[:, None] * H(u)

    def schur(a):
        t, z = sp.schur(a, output="complex")
        return z @ t @ H(z), H(z) @ z

    def hessenberg(a):
        h, q = sp.hessenberg(a, calc_q=True)
        return h, q

    def pivoted(a):
        q, r, p = sp.qr(a, pivoting=True)
        return q, r, p

    def sylvester(a, b, c):
        return sp.solve_sylvester(a, b, c)

    def spectrum(d, e):
        w, v = sp.eigh_tridiagonal(d, e)
        return w, v * w @ v.T

    def tridiagonal(a):
        _, d, e, taus = lax.tridiagonal(a + H(a))
        return d, e, taus

    def multiplied(a, c):
        packed, taus = np_.qr(a, mode="raw")
        return lax.ormqr(packed.T, taus, c, left=True, transpose=True)

    wanted = [
        (eig, "f64", ["4,4"]), (eig, "c64", ["2,3,3"]), (left, "f32", ["3,3"]), (np_.eigvals, "c128", ["4,4"]), (schur, "f64", ["4,4"]),
        (schur, "c64", ["3,3"]), (hessenberg, "f32", ["4,4"]), (hessenberg, "c128", ["2,4,4"]), (pivoted, "f64", ["4,3"]),
        (sp.sqrtm, "f64", ["3,3"]), (sylvester, "f64", ["3,3", "2,2", "3,2"]), (spectrum, "f64", ["5", "4"]),
        (tridiagonal, "c64", ["4,4"]), (lax.tridiagonal_solve, "f32", ["2,4", "2,4", "2,4", "2,4,3"]), (multiplied, "c128", ["4,3", "4,2"]),
        (np_.slogdet, "c128", ["3,3"]),
    ]
    for function, kind, shapes in wanted:
        arrays = [random(kind, [int(extent) for extent in text.split(",")]) for text in shapes]
        batched_ = function in (eig, left, schur, hessenberg, pivoted) and arrays[0].ndim == 3
        traced = jax.jit(jax.vmap(function) if batched_ else function)
        lowered = traced.lower(*arrays)
        text = [line for line in lowered.as_text(dialect="hlo").splitlines() if line.strip()]
        name = getattr(function, "__name__", "program").strip("<>")
        print(f"case program {name} {kind} {shapes} | {100 * TOLERANCES[kind]}")
        print("\n".join("  " + line for line in text))
        for array in arrays:
            print("in", shape(kind, array), bits(kind, array))
        results = jax.tree.leaves(traced(*arrays))
        kinds = {np.dtype(dtype): kind for kind, dtype in DTYPES.items()}
        written([kinds[np.asarray(result).dtype] for result in results], results)


def products():
    """Factors of mixed types. Sums are exact in f32, so that only the last rounding counts."""
    chance = np.random.default_rng(11)

    def small(kind, extents):
        low = 0 if kind in ("pred", "u4", "u8", "u32") else -7
        values = chance.integers(low, 2 if kind == "pred" else 8, extents)
        if kind in ("c64", "c128"):
            values = values + 1j * chance.integers(-7, 8, extents)
        return values.astype(DTYPES[kind])

    mixed = [("s8", "bf16", "bf16"), ("bf16", "s8", "bf16"), ("s8", "bf16", "f32"), ("u8", "f16", "f16"), ("s32", "f32", "f32"),
             ("s64", "f32", "f64"), ("u32", "f64", "f64"), ("pred", "f32", "f32"), ("s8", "c64", "c64"), ("f32", "c64", "c64"),
             ("c64", "f64", "c128"), ("s8", "s8", "bf16"), ("s16", "u8", "f32"), ("f32", "bf16", "c64"), ("f8e4m3fn", "s8", "bf16")]
    for left, right, result in mixed:
        sides = [(left, small(left, [3, 6])), (right, small(right, [6, 4]))]
        line = f"r = {result}[3,4] dot(x0, x1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        case(f"dot {left} {right} {result}", [line], sides, [result])
    for left, right, result in mixed[:4] + mixed[11:13]:
        sides = [(left, small(left, [2, 5, 4, 3])), (right, small(right, [2, 3, 3, 4]))]
        line = f"r = {result}[2,4,2,4] convolution(x0, x1), window={{size=2x3}}, dim_labels=b01f_01io->b01f"
        case(f"convolution {left} {right} {result}", [line], sides, [result])


def main():
    # JAX finds LAPACK when it first calls it.
    jax.numpy.linalg.cholesky(np.eye(2)).block_until_ready()
    groups = {
        "cases": [products, bit_generators, states, precisions, stochastic, bitcasts, transforms, factorizations, triangles, routines],
        "lapack": [reductions, bands, spectra],
        "programs": [programs],
    }
    for write in groups[sys.argv[1]]:
        write()


main()
