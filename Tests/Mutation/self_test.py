# SPDX-License-Identifier: Apache-2.0
"""Tests the choice of places on a piece of Swift, and the judgement of runs."""
import collections
import os
import signal
import subprocess

from places import Mutant, draws, sites_of
from layer import quick
from runs import Limits, judge
from tokens import is_compiled

FIXTURE = '''
import AudioBase
// a + b in a comment, true
/* a - b /* nested 1 */ if x { y() } */
/// Doc: 5 < 6.
@available(macOS 10.15, *)
public struct Meter: Sendable, Equatable {
    private static var limit: Double { @_noLocks get { 0.5 } }
    var count = 3
    let text = "a + b \\(count + 1) true" + #"raw "1" \\#(2)"#

    func isLoud(_ x: Double, _ tuple: (Int, Int)) -> Bool {
        precondition(x > -1, "x is below 1")
        guard x >= limit, let y = other(x) else { return false }
        if !isMuted && y != 0x1F { reset() }
        if isReady {
            total += x * 2
            meters[0].set(x)
                .apply()
        }
        switch tuple.0 {
        case 1: reset()
        default: break
        }
        return x > y
    }

    #if os(macOS)
    func mac() { count = 7 }
    #else
    func linux() { count = 8 }
    #endif

    var mean: Float { total / Float(count) }
    func first<T>(_ values: Array<T>) -> T? where T: Sendable { values.first { $0.isGood } }
    func all() -> [Int] {
        for n in 0..<count where n % 2 == 0 { queue.withLock { $0.append(n) } }
        _ = queue.take()
        return values
    }
    func text(_ kind: Kind) -> String {
        switch kind {
        case .low: name(of: kind)
        case .high: return "high"
        }
    }
}
'''

# line: what is changed there, and into what.
WANTED = {
    8: {("0.5", "1.5"), ("0.5", "1.0"), ("0.5", "0.0")},
    9: {("3", "4"), ("3", "6"), ("3", "0")},
    10: {("+", "-")},
    13: {(">", ">="), (">", "<="), ("1", "2"), ("1", "0")},
    14: {(">=", ">"), (">=", "<"), ("false", "true"), ("return false", "return true")},
    15: {
        ("!", ""), ("&&", "||"), ("!=", "=="), ("0x1F", "0x20"), ("0x1F", "0x3e"), ("0x1F", "0x0"), ("reset()", "_ = ()"),
        ("!isMuted && y != 0x1F", "!(!isMuted && y != 0x1F)"),
    },
    16: {("isReady", "!(isReady)")},
    17: {("+=", "-="), ("*", "/"), ("2", "3"), ("2", "4"), ("2", "0"), ("total += x * 2", "_ = ()")},
    18: {("0", "1"), ("meters[0].set(x)\n                .apply()", "_ = ()")},
    22: {("1", "2"), ("1", "0"), ("reset()", "_ = ()")},
    25: {(">", ">="), (">", "<="), ("return x > y", "return true"), ("return x > y", "return false")},
    31: {("8", "9"), ("8", "16"), ("8", "0"), ("count = 8", "_ = ()")},
    34: {("/", "*"), ("total / Float(count)", "0")},
    35: {("values.first { $0.isGood }", "nil")},
    37: {
        ("0", "1"), ("..<", "..."), ("%", "*"), ("2", "3"), ("2", "4"), ("2", "0"), ("==", "!="),
        ("queue.withLock { $0.append(n) }", "_ = ()"), ("$0.append(n)", "_ = ()"),
    },
    38: {("_ = queue.take()", "_ = ()")},
    39: {("return values", "return []")},
    43: {("name(of: kind)", '""')},
    44: {('return "high"', 'return ""')},
}  # fmt: skip


def self_test():
    wrong = []

    def expect(name, got, wanted):
        if got != wanted:
            wrong.append(f"{name}: {got!r}, not {wanted!r}")

    found = collections.defaultdict(set)
    for site in sites_of(FIXTURE, "Meter.swift"):
        for after in site.replacements:
            mutant = Mutant(site, after, FIXTURE)
            found[mutant.line].add((mutant.before, after))
            changed = mutant.applied(FIXTURE)
            expect("a change", changed[mutant.start : mutant.start + len(after)], after)
            expect("the rest", (changed[: mutant.start], changed[mutant.start + len(after) :]),
                   (FIXTURE[: mutant.start], FIXTURE[mutant.end :]))  # fmt: skip
    for line in sorted(set(found) | set(WANTED)):
        expect(f"line {line}", sorted(found.get(line, set())), sorted(WANTED.get(line, set())))
    sources = {"Meter.swift": FIXTURE, "Other.swift": "func f() -> Int { return 5 }\n"}
    first, again, other = (["%s" % m.key for m in draws(sources, seed)] for seed in (1, 1, 2))
    expect("draws of one seed", first, again)
    expect("places of two seeds", sorted(k.rsplit(":", 1)[0] for k in first), sorted(k.rsplit(":", 1)[0] for k in other))
    expect("draws differ by seed", first == other, False)
    for condition, is_built in {"os(Linux)": True, "os(macOS)": False, "!os(macOS) && swift(>=6)": True, "DEBUG": False,
                                "canImport(Darwin) || canImport(Glibc)": True}.items():  # fmt: skip
        expect(condition, is_compiled(condition), is_built)
    outputs = {
        "echo '◇ Test a() started.'; echo '✘ Test a() recorded an issue at ATests.swift:3:5: x'; sleep 60": ("test", "a (ATests.swift:3)"),
        "echo '✔ Test run with 3 tests in 1 suite passed after 0.1 seconds.'": (None, ""),
        "echo '◇ Test \"b c\" started.'; kill -SEGV $$": ("crash", "b c (SIGSEGV)"),
        "echo '◇ Test d() started.'; sleep 60": ("hang", "d"),
        "echo '◇ Test g() started.'; echo '◇ Test h() started.'; echo '✔ Test g() with 2 test cases passed after 1 seconds.'; sleep 60":
        ("hang", "h"),
        "echo '✘ Test e() recorded a known issue at E.swift:1:1'; echo '✔ Test run with 1 test passed'": (None, ""),
        "echo '◇ Test f() started.'": ("crash", "the run ended early: f"),
        "echo '✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.'; exit 69": (None, ""),
    }
    for script, wanted in outputs.items():
        process = subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
        expect(script, judge(process, Limits(silence=1)), wanted)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    expect("the quick suites", quick({"ATests": 5, "BTests": 1, "CTests": 30, "DTests": 6}), ["BTests", "ATests", "DTests"])
    for line in wrong:
        print("FAILED:", line)
    print(f"self-test: {len(wrong)} wrong" if wrong else "self-test: ok")
    return 1 if wrong else 0
