# SPDX-License-Identifier: Apache-2.0
"""Runs of tests: followed up to the first failure, and rid of what they leave behind."""
import ctypes
import os
import pathlib
import re
import selectors
import signal
import time

NO_TESTS = 69  # the status of a run whose filters leave no test
SIGNALS = {number.value: number.name for number in signal.Signals}


def become_reaper():
    """Programs that a killed test leaves behind become children of this process, which then ends them."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants():
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(folder.name))
    found, open_ones = [], [os.getpid()]
    while open_ones:
        for child in parents.get(open_ones.pop(), []):
            found.append(child)
            open_ones.append(child)
    return found


def end_descendants():
    for pid in descendants():
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    while True:
        try:
            if os.waitpid(-1, 0)[0] == 0:
                return
        except (ChildProcessError, OSError):
            return


class Limits:
    """Seconds after which a run of tests hangs: in all, and without a line of output. Keeps what each suite needed."""

    def __init__(self, total=None, silence=None):
        self.end = None if total is None else time.monotonic() + total
        self.silence = silence
        self.longest_silence = 0.0
        self.suites = {}
        self.last_line = time.monotonic()

    def heard(self):
        now = time.monotonic()
        self.longest_silence = max(self.longest_silence, now - self.last_line)
        self.last_line = now

    def left(self):
        ends = [self.end, None if self.silence is None else self.last_line + self.silence]
        return min((end - time.monotonic() for end in ends if end is not None), default=float("inf"))


def judge(process, limits):
    """Follows a run of tests up to its first failure: (None, "") if all passed, else how it failed, and in which test."""
    tests, has_passed, rest = {}, False, b""  # those that run

    def running():
        return ", ".join(list(tests)[:3])

    limits.heard()
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = limits.left()
            if left <= 0:
                return "hang", running()
            if not selector.select(min(5, left)):
                if process.poll() is not None:
                    break  # a program that it started has its output open
                continue
            data = os.read(process.stdout.fileno(), 65_536)
            if not data:
                break
            limits.heard()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                text = line.decode("utf-8", "replace")
                if match := re.match(r"✘ Test (.*?) recorded an issue(.*)", text):
                    source = re.search(r"at (\w+\.swift:\d+)", match[2])
                    return "test", f"{short(match[1])}{f' ({source[1]})' if source else ''}"
                if match := re.match(r"◇ Test (?!run|case)(.*) started\.", text):
                    tests[short(match[1])] = True
                if match := re.match(r"[✔✘] Test (?!run|case)(.*?)(?: with \d+ test cases?)? (?:passed|failed) after", text):
                    tests.pop(short(match[1]), None)
                if match := re.match(r"✔ Suite (\w+) passed after ([\d.]+) seconds", text):
                    limits.suites[match[1]] = float(match[2])
                has_passed = has_passed or bool(re.match(r".*Test run with .* passed", text))
    status = process.wait()
    if status == NO_TESTS and has_passed:
        return None, ""
    if status < 0:
        return "crash", f"{running()} ({SIGNALS.get(-status, -status)})"
    if status:
        return "test", f"status {status}"
    return (None, "") if has_passed else ("crash", f"the run ended early: {running()}")


def short(name):
    return re.sub(r" with \d+ argument.*", "", name).strip('"').removesuffix("()").strip("`")
