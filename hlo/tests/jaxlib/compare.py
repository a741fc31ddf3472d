#!/usr/bin/env python3
"""Compares the verdicts of Weft and of jaxlib's HLO reader on good, broken and mutated texts.

Needs jaxlib (`pip install jaxlib`), which holds XLA's reader, and the example `verdict`:

    cargo build -p weft-hlo --example verdict
    python hlo/tests/jaxlib/compare.py target/debug/examples/verdict --mutants 5000

Every class of disagreement is printed with its count, the reason if there is one in `reasons.py`, and an example.
`--write` stores the table beside this script, in `result.txt`. It runs by hand, not in CI.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from reasons import REASONS

HLO = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 12_000
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_%][A-Za-z0-9_.-]*=?|-?[0-9][0-9.eE_x+-]*|->|<=|\s+|.', re.S)
WORDS = """f32 s32 pred bf16 u4 token[] f32[] f32[2] f32[2]{0} f32[?] f32[<=4] ( ) { } [ ] , = : -> <= ? * 0 1 2 7 -1 9999
    99999999999999999999 1.5 nan inf true false {0} {1,0} {} "a" ROOT ENTRY %x %p add negate multiply reduce parameter(0)
    constant(1) dimensions={0} to_apply=add metadata={op_name="a"} sharding={replicated} index=0 HloModule /*a*/ T(8)
    backend_config="x" control-predecessors={%p} frontend_attributes={a="b"} is_stable=true direction=LT window={size=2}
    replica_groups={{0,1}} channel_id=1 x: p: constant(1.5) dot async-done after-all map slice_sizes={{1}}""".split()


def theirs(text):
    """('ok' | 'error' | 'crash', message) of jaxlib, in a process of its own, for some texts end it."""
    from jaxlib import _hlo

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.close(read)
        try:
            _hlo.hlo_module_from_text(text)
            verdict = "ok\n"
        except Exception as error:  # noqa: BLE001, whatever it raises is its verdict
            verdict = "error\n" + str(error)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(verdict.encode(errors="replace"))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    kind, _, message = answer.partition("\n")
    if not kind:
        return "crash", ""
    found = re.findall(r"error: (.*)", message)
    return kind, found[0] if found else message.strip()


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, text):
        data = text.encode(errors="replace")
        self.process.stdin.write(f"{len(data)}\n".encode() + data)
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().strip()
        return ("ok", "") if answer == "ok" else ("error", answer)


def good_texts():
    """Programs of the corpus, a module for each operation in the spelling that XLA prints, and other spellings, also with
    the line ends of other systems."""
    for path in sorted(HLO.glob("corpus/*/*.hlo")):
        yield f"corpus/{path.parent.name}/{path.stem}", path.read_text()
    for name in ("canonical", "spellings"):
        path = HLO / "tests/operations" / f"{name}.txt"
        for case in path.read_text().split("=== ")[1:] if path.exists() else []:
            title, _, text = case.partition("\n")
            yield f"operations/{title}", text
            for end in ("\r\n", "\r") if name == "spellings" else ():
                yield f"operations/{title} with {end!r}", text.replace("\n", end)


def broken_texts():
    """Our broken texts."""
    for path in sorted(HLO.glob("tests/broken/*.txt")):
        for case in path.read_text().split("=== ")[1:]:
            name, _, rest = case.partition("\n")
            yield f"broken/{path.stem}/{name}", rest.partition("\n---\n")[0]


def mutant(text, rng):
    """The text with one to three edits of tokens."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        solid = [place for place, token in enumerate(tokens) if not token.isspace()]
        if not solid:
            break
        place = rng.choice(solid)
        numbers = [at for at in solid if re.fullmatch(r"-?[0-9]+", tokens[at])]
        names = [at for at in solid if tokens[at].endswith("=")]
        kind = rng.randrange(8)
        if kind == 0:
            del tokens[place]
        elif kind == 1:
            tokens.insert(place, tokens[place])
        elif kind == 2:
            other = rng.choice(solid)
            tokens[place], tokens[other] = tokens[other], tokens[place]
        elif kind == 3:
            tokens[place] = rng.choice(WORDS)
        elif kind == 4:
            tokens[place] = tokens[rng.choice(solid)]
        elif kind == 5:
            tokens.insert(place, rng.choice(WORDS))
        elif kind == 6 and numbers:
            at = rng.choice(numbers)
            number = int(tokens[at])
            edits = (number + 1, number - 1, -number, number * 10, 0, 2**31, 2**63 - 1, 2**63, 2**64)
            tokens[at] = str(rng.choice(edits))
        elif names:
            at = rng.choice(names)
            other = rng.choice(names)
            tokens[at] = rng.choice((tokens[other], tokens[at][1:], tokens[at][:-2] + "=", "zzz="))
    return "".join(tokens)


def plain(message):
    """A message without what differs from text to text."""
    message = re.sub(r"`[^`]*`|\"[^\"]*\"|'[^']*'", "…", message)
    message = re.sub(r"\b[su]?[0-9]+\S*", "0", message)
    message = re.sub(r"([a-z0-9]+\[\S*|\{\S*|%\S+)", "…", message)
    return message[:110]


def code(finding):
    found = re.search(r"(parse|verify): \S* ?(HLO\d+)", finding)
    return f"{found.group(1)} {found.group(2)}" if found else finding[:40]


def reason(kind, theirs_says, ours_says, text):
    for wanted, their_pattern, our_pattern, words in REASONS:
        if wanted == kind and re.search(their_pattern, theirs_says) and re.search(our_pattern, ours_says):
            return words
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("--mutants", type=int, default=5000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--examples", type=int, default=1, help="shown of each class without a reason")
    arguments.add_argument("--write", action="store_true")
    arguments = arguments.parse_args()
    ours = Ours(arguments.program)
    good = list(good_texts())
    broken = list(broken_texts())
    rng = random.Random(arguments.seed)
    seeds = [(name, text) for name, text in good if len(text) < LARGEST]
    mutants = []
    for number in range(arguments.mutants):
        name, text = seeds[number % len(seeds)]
        mutants.append((f"mutant {number} of {name}", mutant(text, rng)))
    lines = []
    unexplained = []
    reasons = collections.Counter()
    for group, texts in (("good", good), ("broken", broken), ("mutated", mutants)):
        counts = collections.Counter()
        for name, text in texts:
            (their_kind, their_says), (our_kind, our_says) = theirs(text), ours(text)
            counts[(their_kind, our_kind)] += 1
            if their_kind in (our_kind, "crash"):
                continue
            kind = "they accept" if their_kind == "ok" else "we accept"
            words = reason(kind, their_says, our_says, text)
            if words:
                reasons[(kind, words)] += 1
            else:
                unexplained.append((kind, plain(their_says), code(our_says), name, their_says, our_says, text))
        table = ", ".join(f"jaxlib {their} / weft {our}: {count}" for (their, our), count in sorted(counts.items()))
        lines.append(f"{group}: {len(texts)} texts; {table}")
    lines.append("")
    lines.append("Disagreements with a reason:")
    for (kind, words), count in reasons.most_common():
        lines.append(f"  {count:5} {kind}: {words}")
    lines.append(f"Disagreements without a reason: {len(unexplained)}")
    classes = collections.defaultdict(list)
    for kind, their_class, our_class, *rest in unexplained:
        classes[(kind, their_class, our_class)].append(rest)
    for (kind, their_class, our_class), members in sorted(classes.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(members):5} {kind}: jaxlib: {their_class} / weft: {our_class}")
    result = "\n".join(lines) + "\n"
    print(result)
    for key, members in sorted(classes.items(), key=lambda item: -len(item[1])):
        for name, their_says, our_says, text in members[: arguments.examples]:
            print(f"--- {key}\n{name}\ntheirs: {their_says}\nours: {our_says}")
            at = re.search(r"(\d+):(\d+): HLO", our_says)
            rows = re.split(r"\r\n|\r|\n", text)
            if at:
                print("    " + rows[min(int(at.group(1)), len(rows)) - 1][:240])
            elif len(text) < 1500:
                print(text)
    if arguments.write:
        import jaxlib

        head = f"jaxlib {jaxlib.__version__}; {arguments.mutants} mutants, seed {arguments.seed}\n\n"
        (pathlib.Path(__file__).parent / "result.txt").write_text(head + result)


main()
