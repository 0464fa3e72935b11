# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which one layer is built with its own tests alone."""
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

from runs import Limits, end_descendants, judge

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Failure(Exception):
    """What ends scripts/mutate, in words for the user."""


def quick(suites):
    """Of suites with their seconds: the quickest, which together need a third of the time."""
    found, left = [], sum(suites.values()) / 3
    for suite, seconds in sorted(suites.items(), key=lambda item: item[1]):
        left -= seconds
        if left < 0:
            break
        found.append(suite)
    return found


class Layer:
    def __init__(self, name, parallel=False, skipped=None):
        self.name, self.parallel, self.skipped = name, parallel, skipped
        # One copy for all layers: what lies below them is built once.
        self.folder = ROOT / ".build" / "mutate"
        self.tree, self.scratch = self.folder / "tree", self.folder / "build"
        if not (ROOT / "Sources" / name).is_dir() or not (ROOT / "Tests" / f"{name}Tests").is_dir():
            raise Failure(f"There is no layer '{name}' with tests. See Sources/ and Tests/.")
        self.sources = {
            str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
            for path in sorted((ROOT / "Sources" / name).rglob("*.swift"))
        }
        self.total = self.silence = None
        self.quick = []  # the suites that together need a third of the time

    @property
    def digest(self):
        return hashlib.sha256(json.dumps(self.sources, sort_keys=True).encode()).hexdigest()[:16]

    def prepare(self):
        """Brings the copy to the state of the tree, and keeps other runs out of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.folder / "lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure(f"Another run uses {self.folder}. Wait for its end.") from None
        self.copy_tree()
        # SwiftPM's own entry point would need an index.
        shutil.copy2(ROOT / "scripts/TestMain.swift", self.tree / "Tests/XCTMain.swift")
        self.suites = {}  # suite -> the text of its file
        for path in sorted((self.tree / "Tests" / f"{self.name}Tests").rglob("*.swift")):
            text = path.read_text(encoding="utf-8")
            for suite in re.findall(r"^(?:@Suite[^\n]*?|public |final )*(?:struct|class|actor) (\w+Tests)\b", text, re.M):
                self.suites[suite] = text

    def copy_tree(self):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
        ).stdout.decode().split("\0")
        wanted = {name for name in listed if name and os.path.lexists(ROOT / name)}
        if (ROOT / "Package.resolved").exists():
            wanted.add("Package.resolved")
        self.tree.mkdir(parents=True, exist_ok=True)
        for folder, folders, files in os.walk(self.tree):  # which follows no links: some lead to the system's headers
            for path in (pathlib.Path(folder, name) for name in folders + files):
                is_kept = str(path.relative_to(self.tree)) in wanted | {"Package.resolved"}
                if (path.is_symlink() or path.is_file()) and not is_kept:
                    path.unlink()
        for name in wanted:
            source, copy = ROOT / name, self.tree / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                if not copy.is_symlink() or os.readlink(copy) != os.readlink(source):
                    copy.unlink(missing_ok=True)
                    copy.symlink_to(os.readlink(source))
            elif not copy.is_file() or copy.read_bytes() != source.read_bytes():
                shutil.copyfile(source, copy)

    # MARK: Building

    def build(self):
        """Builds the layer and its tests. Returns true if they compile, and what was printed."""
        # The tests alone: other targets of the manifest are not built.
        return self.printed(
            "swift", "build", "--product", "EarshotPackageTests", "-c", "release", "--disable-index-store", "-Xcc",
            "-falign-loops=64", "--disable-xctest", "-Xswiftc", "-enable-testing", "--scratch-path", str(self.scratch))

    def build_layer(self):
        """Compiles the layer alone and links it with all else as it was built last."""
        # What computes few samples is compiled sooner than the tests would gain by the optimiser.
        computing = sum("@_noLocks" in text for text in self.sources.values())
        level = ["-O"] if 4 * computing > len(self.sources) else ["-Onone", "-assert-config", "Release"]
        for prefix, suffix in ((f"C.Earshot{self.name}-", ".module"), ("C.EarshotPackageTests-", ".test")):
            arguments = self.command(prefix, suffix)
            at = arguments.index("-O") if "-O" in arguments and suffix == ".module" else len(arguments)
            compiles, log = self.printed(*arguments[:at], *(level if at < len(arguments) else []), *arguments[at + 1 :])
            if not compiles:
                return compiles, log
        return compiles, log

    @property
    def is_inlined_elsewhere(self):
        """True if another module that uses the layer is optimised, and so may keep code of it."""
        users = [block for block in self.plan() if f"/Modules/Earshot{self.name}.swiftmodule" in block and '"-O"' in block]
        own = f'  "C.Earshot{self.name}-'
        return any(not block.startswith(own) and '"-Onone"' not in block for block in users)

    def plan(self):
        """SwiftPM's commands for the last build."""
        return re.split(r"\n(?=  \")", (self.scratch / "release.yaml").read_text(encoding="utf-8"))

    def command(self, prefix, suffix):
        """The arguments of one of these commands."""
        for block in self.plan():
            if not block.startswith(f'  "{prefix}') or not block.split('"', 2)[1].endswith(suffix):
                continue
            if match := re.search(r"^    args: (\[.*\])$", block, re.M):
                return json.loads(match[1])
        raise Failure(f"SwiftPM's plan {self.scratch / 'release.yaml'} has no command '{prefix}…{suffix}'.")

    def printed(self, *command):
        """Runs a command. Returns true if it succeeded, and what it printed."""
        with open(self.folder / "build.log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                command, cwd=self.tree, env=self.environment(), stdout=log, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL)  # fmt: skip
            try:
                status = process.wait(1_800)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            log.seek(0)
            return status == 0, log.read()

    def environment(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("EARSHOT_")}
        return kept | {"EARSHOT_LAYERS": self.name}

    # MARK: Running

    def try_unchanged(self):
        """Builds and runs the unchanged tests, which must pass, and sets the limits by what they take."""
        compiles, log = self.build()
        if not compiles:
            raise Failure(f"The unchanged layer does not compile:\n{log[-2_000:]}")
        how, by, seconds, limits = self.run_tests()
        if how:
            raise Failure(f"The unchanged layer's tests do not pass ({how}): {by}")
        self.total, self.silence = 3 * seconds + 60, 3 * limits.longest_silence + 20
        if not limits.suites:
            raise Failure("The filters leave no suite to run.")
        self.quick = quick(limits.suites)
        return seconds

    def first_suites(self, file):
        """The suites that name the type of a source: those that will notice, as a rule."""
        stem = re.split(r"[+.]", pathlib.Path(file).name)[0]
        found = [suite for suite, text in self.suites.items() if re.search(rf"\b{stem}(Tests)?\b", text)]
        return found if len(found) <= len(self.suites) / 2 else []

    def run_tests(self, first=()):
        """Runs the layer's tests up to the first that fails: the suites `first`, then the quick ones, then the others.

        Returns how it ended, by which test, the seconds, and what was seen on the way.
        """
        begin = time.monotonic()
        everything = ["--filter", rf"^{self.name}Tests\."]
        runs, skipped = [], []
        for suites in (first, set(self.quick) - set(first)):
            if suites:
                pattern = rf"^{self.name}Tests\.({'|'.join(sorted(suites))})/"
                runs.append(["--filter", pattern, *skipped])
                skipped += ["--skip", pattern]
        runs.append([*everything, *skipped])
        limits = Limits(self.total, self.silence)
        for arguments in runs:
            how, by = self.run_once(arguments, limits)
            if how:
                break
        return how, by, time.monotonic() - begin, limits

    def run_once(self, arguments, limits):
        bundle = self.scratch / "release" / "EarshotPackageTests.xctest"
        command = [str(bundle), "--testing-library", "swift-testing", *arguments]
        command += [] if self.parallel else ["--no-parallel"]
        command += ["--skip", self.skipped] if self.skipped else []
        temporary = self.folder / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        environment = self.environment() | {
            "SWIFT_BACKTRACE": "enable=no", "TMPDIR": str(temporary), "NO_COLOR": "1",  # else a pipe gets colours
        }
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2

        def confine():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

        process = subprocess.Popen(
            command, cwd=self.tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=confine)  # fmt: skip
        try:
            return judge(process, limits)
        finally:
            end_descendants()
            process.stdout.close()
