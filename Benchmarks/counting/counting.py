# SPDX-License-Identifier: Apache-2.0
"""Counts the work of the program `counts` and compares it with what was recorded: called by scripts/counts.

    counting.py PROGRAM SLOW_LIBRARY RECORD check|record|print SWIFT_VERSION [--json] [TOPIC…]
    counting.py --page RECORD

Under callgrind, for each case of a topic: the instructions that functions of the program itself execute, and how often the
program or Swift's own libraries call malloc and its like, swift_allocObject, swift_retain and its like, and memcpy or memmove
(one function in glibc). C libraries' own calls are not counted, nor are their instructions. In real time, slowed: how often a
port's thread wakes and calls the system.
"""

import collections
import concurrent.futures
import json
import os
import platform
import re
import subprocess
import sys
import tempfile

TOPICS = ["calls", "files", "playout", "kernels", "packets", "engine", "codecs"]  # the longest first
KINDS = ["allocations", "objects", "retains", "copies"]
# Instructions may grow by a tenth: a change of the compiler's mind about inlining is less, a copy of a block is seen as a call.
MOST = 1.1
# Arrays grow to what malloc's block holds, which depends on the blocks before it, so on the length of a path: in two folders the
# allocations of calls differed by 0.04 %. A count below 1,000 must be equal.
EQUAL = 0.001
# In ten runs, while programs wanted five times the machine's two cores, they were within 0.8 % of the recorded number: reports
# and consent come at random times. A wake-up more for each packet is 50 %.
NEAR = 0.02
# Time passes so many times slower; where something is not as recorded, once more, and slower still: what a busy machine did to
# one call it does not do to both.
SLOWS = [4, 16]
NOT_JUDGED = 77
PATTERNS = {
    "allocations": re.compile(r"(malloc|calloc|realloc|reallocarray|posix_memalign|memalign|aligned_alloc)$"),
    "objects": re.compile(r"swift_allocObject$"),
    "retains": re.compile(r"swift_\w*[rR]etain\w*$"),
    "copies": re.compile(r"(__)?mem(cpy|move)(_\w+)?$"),
}
SWIFT_LIBRARY = re.compile(r"/lib(swift|_?Foundation|dispatch|BlocksRuntime)[^/]*\.so")


def counts_in(path, program):
    """What one file of callgrind's says."""
    names, own, calls = {}, 0, collections.Counter()

    def name(kind, text):
        number, _, rest = text.partition(" ")
        if rest:
            names[kind, number] = rest
        return names.get((kind, number), rest)

    def kind_of(function):
        function = function.partition("@")[0]  # a symbol's version
        return next((kind for kind, pattern in PATTERNS.items() if pattern.match(function)), None)

    place = function = callee = ""
    is_inclusive = False  # the next line is a call's cost, its callees' included
    for line in open(path, encoding="utf-8", errors="replace"):
        if line[0] in "0123456789+-*":
            if not is_inclusive and place == program:
                own += int(line.split()[1])
            is_inclusive = False
            continue
        key, _, value = line.rstrip("\n").partition("=")
        if key == "ob":
            place = name("ob", value)
        elif key == "cob":
            name("ob", value)
        elif key == "fn":
            function = name("fn", value)
        elif key == "cfn":
            callee = name("fn", value)
        elif key == "calls":
            is_inclusive = True
            kind = kind_of(callee)
            is_ours = place == program or SWIFT_LIBRARY.search(place)
            # What calls its own kind was counted when it was called.
            if kind and is_ours and kind_of(function) != kind:
                calls[kind] += int(value.split()[0])
    return own, calls


def counted(program, topic, folder):
    """The cases of a topic, by name."""
    environment = dict(
        PATH=os.environ["PATH"], HOME=os.environ.get("HOME", "/"), TMPDIR=folder, LC_ALL="C.UTF-8",
        SWIFT_DETERMINISTIC_HASHING="1",
        # Valgrind passes most of the processor on to the program. Libraries that choose by it choose what all have.
        OPENSSL_ia32cap="0x0:0x0",
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-AVX512F,-FMA,-FMA4,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load",
    )
    output = os.path.join(folder, topic)
    place = os.path.join(folder, "work", topic)
    os.makedirs(place)
    run = subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes", "--zero-before=counts_begin",
         "--dump-before=counts_end",         f"--callgrind-out-file={output}", program, topic],
        env=environment, cwd=place, capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        sys.exit(f"error: {topic} ended with status {run.returncode}\n{run.stdout}{run.stderr}")
    cases, vectors = {}, None
    for line in run.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "vectors":
            vectors = int(fields[1])
        elif len(fields) == 2:
            instructions, calls = counts_in(f"{output}.{len(cases) + 1}-01", program)
            if instructions == 0:
                sys.exit(f"error: {topic}: {fields[0]}: no instruction was counted")
            blocks = int(fields[1])
            cases[fields[0]] = {
                "blocks": blocks, "instructions": round(instructions / blocks, 1), **{kind: calls[kind] for kind in KINDS}}
    return cases, vectors


def woken(program, library, slow):
    """Wake-ups and calls of the system for a packet, by case."""
    environment = dict(os.environ, SLOW=str(slow), LD_PRELOAD=library)
    run = subprocess.run([program, "port"], env=environment, capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        sys.exit(f"error: port ended with status {run.returncode}\n{run.stdout}{run.stderr}")
    cases = {}
    for line in run.stdout.splitlines():
        fields = line.split("\t")
        if len(fields) == 3:
            cases.setdefault(fields[0], {})[fields[1]] = round(float(fields[2]), 4)
    return cases


def measured(program, library, topics):
    """All that was asked for: topics side by side, as none is judged by time. A path's length decides what it allocates: so /tmp."""
    with tempfile.TemporaryDirectory(prefix="earshot-counts-", dir="/tmp") as folder:
        with concurrent.futures.ThreadPoolExecutor(max_workers=(os.cpu_count() or 1) + 1) as pool:
            port = pool.submit(woken, program, library, SLOWS[0]) if "port" in topics else None
            jobs = {topic: pool.submit(counted, program, topic, folder) for topic in TOPICS if topic in topics}
            found = {topic: job.result() for topic, job in jobs.items()}
            result = {topic: cases for topic, (cases, _) in found.items()}
            widths = {vectors for _, vectors in found.values()}
            if port:
                result["port"] = port.result()
    return result, max(widths, default=None)


def faults(topic, name, before, now):
    """What is wrong with a case, a line each."""
    if before is None:
        return ["is not recorded"]
    if now is None:
        return ["is recorded, and was not counted"]
    if topic == "port":
        return [
            f"{now[word]:.4f} {word} a packet, recorded are {before[word]:.4f} (± {NEAR:.0%})"
            for word in before if not abs(now.get(word, 1e9) - before[word]) <= NEAR * before[word]]
    lines = []
    if before["blocks"] != now["blocks"]:
        return [f"{now['blocks']} blocks, recorded are {before['blocks']}"]
    if now["instructions"] > MOST * before["instructions"]:
        lines.append(
            f"{now['instructions']:,.1f} instructions a block, {now['instructions'] / before['instructions']:.3f} times the "
            f"recorded {before['instructions']:,.1f} (limit {MOST})")
    for kind in KINDS:
        if abs(before[kind] - now[kind]) > EQUAL * before[kind]:
            lines.append(f"{now[kind]} {kind} in {now['blocks']} blocks, recorded are {before[kind]}")
    return lines


def table(record):
    """The page's tables."""
    lines = []
    for topic, cases in record["cases"].items():
        if topic == "port":
            words = ["waits", "signals", "sends", "receives"]
            lines += ["", "## port", "", f"| case, a packet | {' | '.join(words)} | system calls |"]
            lines.append("| --- |" + " ---: |" * (len(words) + 1))
            for name, case in cases.items():
                values = [case[word] for word in words]
                lines.append(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values + [sum(values)]) + " |")
            continue
        lines += ["", f"## {topic}", "", f"| case | instructions | {' | '.join(KINDS)} |"]
        lines.append("| --- |" + " ---: |" * (len(KINDS) + 1))
        for name, case in cases.items():
            per_block = [f"{case[kind] / case['blocks']:.3f}".rstrip("0").rstrip(".") for kind in KINDS]
            lines.append(f"| {name} | {case['instructions']:,.1f} | {' | '.join(per_block)} |")
    return "\n".join(lines)


def written(record):
    """One line a case, so that a change of one is a change of a line."""
    head = json.dumps({key: value for key, value in record.items() if key != "cases"})[:-1]
    topics = []
    for topic, cases in record["cases"].items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())
        topics.append(f" {json.dumps(topic)}: {{\n{lines}\n }}")
    return head + ', "cases": {\n' + ",\n".join(topics) + "\n}}\n"


def main(arguments):
    if arguments[0] == "--page":
        print(table(json.load(open(arguments[1]))).lstrip("\n"))
        return 0
    program, library, path, mode, swift = (os.path.abspath(arguments[0]), os.path.abspath(arguments[1]), *arguments[2:5])
    is_json = "--json" in arguments
    topics = [topic for topic in arguments[5:] if topic != "--json"] or TOPICS + ["port"]
    before = json.load(open(path)) if os.path.exists(path) else None
    here = {"swift": swift, "architecture": platform.machine()}
    if mode == "check" and before is None:
        sys.exit(f"error: nothing is recorded in {path}: scripts/counts --write")
    if mode == "check" and any(before[key] != value for key, value in here.items()):
        print(f"not judged: recorded with Swift {before['swift']} on {before['architecture']}, this is Swift {swift} on "
              f"{here['architecture']}. Record anew with this toolchain: scripts/counts --write")
        return NOT_JUDGED
    cases, vectors = measured(program, library, topics)
    if vectors is not None:
        here["vectors"] = vectors
    if mode == "check" and vectors not in (None, before["vectors"]):
        print(f"not judged: recorded with vectors of {before['vectors']} floats, this processor has vectors of {vectors}")
        return NOT_JUDGED
    record = {**here, "cases": cases}
    if mode == "record":
        if set(topics) != set(TOPICS + ["port"]) and before:
            record = {**before, "cases": {**before["cases"], **cases}}
        open(path, "w").write(written(record))
    if mode != "check":
        print(json.dumps(record) if is_json else table(record).lstrip("\n"))
        return 0
    wrong, verdicts = 0, {}
    for topic in topics:
        old, new = before["cases"].get(topic, {}), cases[topic]
        if topic == "port" and any(faults(topic, name, old.get(name), new.get(name)) for name in {**old, **new}):
            print(f"counts port: counted again {SLOWS[1]} times slower, as it was {new}", file=sys.stderr)
            cases[topic] = new = woken(program, library, SLOWS[1])
        for name in {**old, **new}:
            lines = faults(topic, name, old.get(name), new.get(name))
            verdicts[f"{topic}: {name}"] = lines
            wrong += len(lines)
            if not is_json:
                for line in lines:
                    print(f"error: {topic}: {name}: {line}")
        if not is_json:
            print(f"counts {topic}: {len(new)} cases")
    if is_json:
        print(json.dumps({**record, "faults": {name: lines for name, lines in verdicts.items() if lines}}))
    elif wrong:
        print(f"{wrong} counts are not as recorded. Where that is meant to be so: scripts/counts --write")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
