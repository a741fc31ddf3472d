"""Compares the simplifier with isl on the corpus, in one run on one machine.

Usage: python3 benches/isl.py [the bench binary]        (pip install islpy)

Runs `cargo bench -p weft-affine --bench simplify -- --table`, or the given binary with `--table`, which times our simplifier
and prints each case in isl's notation. Each case is then simplified by isl, as a polyhedral compiler would do it: the
function's gist over the domain, coalesced, written as an AST expression in a build that knows the domain. Reading the case
is not timed. isl's result is priced as ours is: 20 for each division or remainder, one for each variable, factor and constant.
"""

import math
import subprocess
import sys
import time

import islpy as isl

COLUMNS = ["name", "hard", "cold", "directed", "memo", "input", "best", "cost", "directed_cost", "function", "domain"]
BATCH_NANOSECONDS = 2_000_000
BATCHES = 7
OP = isl.ast_expr_op_type
DIVISIONS = {OP.fdiv_q, OP.pdiv_q, OP.div, OP.pdiv_r, OP.zdiv_r}


def our_table():
    if len(sys.argv) > 1:
        command = [sys.argv[1], "--table"]
    else:
        command = ["cargo", "bench", "-p", "weft-affine", "--bench", "simplify", "--", "--table"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [dict(zip(COLUMNS, line.split("\t")[1:])) for line in lines if line.startswith("case\t")]
    print("\n".join(line for line in lines if not line.startswith("case\t")))
    for row in rows:
        for column in COLUMNS[2:9]:
            row[column] = float(row[column])
    return rows


def nanoseconds(work):
    """The time of one run in the quickest batch; a batch takes at least two milliseconds."""
    count = 1
    while run(work, count) < BATCH_NANOSECONDS:
        count *= 2
    return min(run(work, count) for _ in range(BATCHES)) / count


def run(work, count):
    start = time.perf_counter_ns()
    for _ in range(count):
        work()
    return time.perf_counter_ns() - start


class Unpriced(Exception):
    """The result holds an operation that expressions of ours do not have, such as a choice between pieces."""


def linear(e):
    """An AST expression as a constant and coefficients of atoms, each a (text, price) pair: our canonical sum."""
    kind = e.get_type()
    if kind == isl.ast_expr_type.int:
        return int(e.get_val().to_python()), {}
    if kind == isl.ast_expr_type.id:
        return 0, {(e.to_C_str(), 1): 1}
    op = e.op_get_type()
    arguments = [e.op_get_arg(i) for i in range(e.op_get_n_arg())]
    if op in DIVISIONS:
        return 0, {(e.to_C_str(), 20 + price(linear(arguments[0]))): 1}
    parts = [linear(a) for a in arguments]
    if op == OP.minus:
        return scaled(parts[0], -1)
    if op == OP.add:
        return added(parts[0], parts[1])
    if op == OP.sub:
        return added(parts[0], scaled(parts[1], -1))
    if op == OP.mul:
        for factor, other in (parts, parts[::-1]):
            if not factor[1]:
                return scaled(other, factor[0])
    raise Unpriced(e.to_C_str())


def scaled(form, factor):
    constant, terms = form
    return constant * factor, {atom: k * factor for atom, k in terms.items()}


def added(a, b):
    terms = dict(a[1])
    for atom, k in b[1].items():
        terms[atom] = terms.get(atom, 0) + k
    return a[0] + b[0], {atom: k for atom, k in terms.items() if k}


def price(form):
    constant, terms = form
    return bool(constant) + sum(cost + (k != 1) for (_, cost), k in terms.items())


def isl_result(row):
    function, domain = isl.PwAff(row["function"]), isl.Set(row["domain"])
    build = isl.AstBuild.from_context(domain)
    simplify = lambda: build.expr_from_pw_aff(function.gist(domain).coalesce())
    try:
        cost = price(linear(simplify()))
    except Unpriced:
        cost = math.inf
    return nanoseconds(simplify), cost


def grade(row, cost):
    if cost <= row["best"]:
        return "solved"
    return "partly" if cost < row["input"] else "not"


def percentile(values, share):
    return sorted(values)[math.ceil(len(values) * share) - 1]


def main():
    rows = our_table()
    for row in rows:
        row["isl"], row["isl_cost"] = isl_result(row)
    for who, column in [("weft", "cost"), ("weft, e-graph off", "directed_cost"), ("isl", "isl_cost")]:
        grades = [grade(row, row[column]) for row in rows]
        kinds = {}
        for row, found in zip(rows, grades):
            if row["hard"]:
                kinds[row["hard"]] = kinds.get(row["hard"], True) and found == "solved"
        counts = "/".join(str(grades.count(g)) for g in ["solved", "partly", "not"])
        print(f"{who}: solved/partly/not {counts} of {len(rows)}, hard kinds {sum(kinds.values())} of {len(kinds)}")
    unpriced = sum(row["isl_cost"] == math.inf for row in rows)
    print(f"isl: {unpriced} results hold operations that our expressions do not have; they count as not solved")
    theirs = [row["isl"] for row in rows]
    print(f"nanoseconds, isl: {shares(theirs)}")
    for title, column, share, of, bar in [
        ("median of ours / median of isl", "cold", 0.5, 0.5, 15),
        ("p90 of ours / p90 of isl", "cold", 0.9, 0.9, 5),
        ("median of remembered / median of isl", "memo", 0.5, 0.5, 50),
        ("p90 of remembered / median of isl", "memo", 0.9, 0.5, 50),
    ]:
        ratio = percentile([row[column] for row in rows], share) / percentile(theirs, of)
        print(f"{title}: 1/{1 / ratio:.1f} (at most 1/{bar}: {'met' if ratio <= 1 / bar else 'MISSED'})")


def shares(values):
    return f"median {percentile(values, 0.5):.0f}, p90 {percentile(values, 0.9):.0f}, max {max(values):.0f}"


if __name__ == "__main__":
    main()
