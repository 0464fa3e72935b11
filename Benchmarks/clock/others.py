# SPDX-License-Identifier: Apache-2.0
"""Measures the clocks of Ableton Link and Snapcast between network namespaces of one machine, whose true difference is zero.

usage: others.py link|snapcast PROFILE PAIRS SECONDS; as root, in real time

A relay joins two TAP devices and delays each frame as the profiles of docs/simulation.md do: lan, wifi-good, wifi-congested. Prints a
row of a table: the 95th percentiles of the errors in ms 1 s and 10 s after two programs see each other. Link's error is the
difference of both programs' beats at 60 a minute. Snapcast's client prints its error once, after its first exchanges.
SNAPCAST names the folder with snapserver and snapclient.
"""
import array
import asyncio
import bisect
import ctypes
import fcntl
import heapq
import json
import math
import os
import pathlib
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

TUNSETIFF, TAP_WITHOUT_HEADER, NEW_NETWORK = 0x400454CA, 0x1002, 0x40000000
LATER_START = 3  # seconds after the first program of a pair


def open_tap(side):
    """Moves this process to a network of its own, and returns the other end of its only device."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "unshare")
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", b"tap0", TAP_WITHOUT_HEADER))
    for command in ("link set lo up", f"addr add 10.0.0.{side + 1}/24 dev tap0", "link set tap0 up",
                    "route add 224.0.0.0/4 dev tap0"):
        subprocess.run(["ip", *command.split()], check=True)
    return tap


async def follow_link(seconds, path):
    """Writes the second at which another program is seen, and the beat at each of some times."""
    import aalink
    link = aalink.Link(60)
    link.enabled = True
    end, seen, beats = time.monotonic() + seconds, None, []
    while time.monotonic() < end:
        await asyncio.sleep(0.02)
        before = time.monotonic()
        beat = link.beat
        after = time.monotonic()
        if link.num_peers and seen is None:
            seen = before
        if after - before < 3e-4:
            beats.append(((before + after) / 2, beat))
    path.write_text(json.dumps({"seen": seen, "beats": beats}))


def run_snapcast(side, seconds, path, folder):
    programs = pathlib.Path(os.environ["SNAPCAST"])
    pipe = folder / f"pipe-{os.getpid()}"
    if side == 0:
        os.mkfifo(pipe)
        server = [programs / "snapserver", "--stream.source", f"pipe://{pipe}?name=default", "--server.datadir", f"{pipe}-data",
                  "--http.enabled=false"]
        os.mkdir(f"{pipe}-data")
        command = server
    else:
        command = [programs / "snapclient", "-h", "10.0.0.1", "--player", "file", "--logsink", "stderr"]
    with open(path, "wb") as log:
        subprocess.run(["timeout", str(seconds), *map(str, command)], stdout=subprocess.DEVNULL, stderr=log, check=False)


def run_program(kind, side, seconds, path, channel):
    tap = open_tap(side)
    channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [tap]))])
    time.sleep(LATER_START * side)
    if kind == "link":
        asyncio.run(follow_link(seconds - LATER_START * side, path))
    else:
        run_snapcast(side, seconds - LATER_START * side, path, path.parent)


class Relay:
    """Carries frames between the devices of each pair, with the delays and losses of a profile."""

    def __init__(self, profile, pairs):
        self.profile, self.begin, self.queue, self.count = profile, time.monotonic(), [], 0
        self.other = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
        self.latest = dict.fromkeys(self.other, 0)
        self.is_bad = dict.fromkeys(self.other, False)
        self.poll = select.epoll()
        for tap in self.other:
            os.set_blocking(tap, False)
            self.poll.register(tap, select.EPOLLIN)

    def delay(self):
        if self.profile == "lan":
            return random.uniform(0.001, 0.003)
        while True:
            good = self.profile == "wifi-good"
            delay = random.gauss(0.040, 0.005) if good else 0.020 + random.gammavariate(2, 0.006)
            if (0.025 if good else 0.020) <= delay <= (0.055 if good else 0.060):
                return delay

    def take(self, tap, frame, now):
        departure = now
        if self.profile == "wifi-good" and random.random() < 0.002:
            return
        if self.profile == "wifi-congested":
            # Bursts of 2.5 frames, 3 % of all; a stall of 150 ms every 5 s.
            self.is_bad[tap] = random.random() >= 1 / 2.5 if self.is_bad[tap] else random.random() < 0.03 / 0.97 / 2.5
            if self.is_bad[tap]:
                return
            since = (now - self.begin) % 5
            departure += max(0, 0.150 - since)
        arrival = departure + self.delay()
        if self.profile == "wifi-congested" and random.random() < 0.02:
            arrival += 0.025
        else:
            arrival = self.latest[tap] = max(arrival, self.latest[tap])
        self.count += 1
        heapq.heappush(self.queue, (arrival, self.count, self.other[tap], frame))

    def run(self, seconds):
        while time.monotonic() < self.begin + seconds:
            wait = min(0.05, max(0, self.queue[0][0] - time.monotonic())) if self.queue else 0.05
            for tap, _ in self.poll.poll(wait):
                try:
                    self.take(tap, os.read(tap, 2048), time.monotonic())
                except OSError:
                    continue
            while self.queue and self.queue[0][0] <= time.monotonic():
                _, _, tap, frame = heapq.heappop(self.queue)
                try:
                    os.write(tap, frame)
                except OSError:
                    continue


def link_errors(paths):
    """Returns the errors in ms 1 s and 10 s after the second program saw the first one."""
    first, second = (json.loads(path.read_text()) for path in paths)
    times = [at for at, _ in first["beats"]]

    def error(since):
        found = []
        for at, beat in second["beats"]:
            index = bisect.bisect(times, at)
            if not since <= at - second["seen"] < since + 0.3 or not 0 < index < len(times):
                continue
            (t0, b0), (t1, b1) = first["beats"][index - 1:index + 1]
            difference = b0 + (b1 - b0) * (at - t0) / (t1 - t0) - beat
            found.append(abs(difference - round(difference)) * 1e3)
        return sorted(found)[len(found) // 2]

    return error(1), error(10)


def snapcast_errors(paths):
    found = re.search(r"diff to server \[ms\]: (-?[\d.]+)", paths[1].read_text(errors="replace"))
    return (abs(float(found[1])),)


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("link", "snapcast"):
        sys.exit(__doc__)
    kind, profile, count, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="clocks."))
    pairs, processes = [], []
    for pair in range(count):
        taps = []
        for side in (0, 1):
            ours, theirs = socket.socketpair()
            process = os.fork()
            if process == 0:
                os.setsid()
                try:
                    run_program(kind, side, seconds, folder / f"{pair}-{side}", theirs)
                finally:
                    os._exit(0)
            theirs.close()
            processes.append(process)
            _, parts, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
            taps.append(struct.unpack("i", parts[0][2][:4])[0])
        pairs.append(taps)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    Relay(profile, pairs).run(seconds + 2)
    for process in processes:
        try:
            os.killpg(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    found = []
    for pair in range(count):
        try:
            found.append((link_errors if kind == "link" else snapcast_errors)([folder / f"{pair}-{side}" for side in (0, 1)]))
        except (OSError, ValueError, TypeError, IndexError) as error:
            print(f"pair {pair} has no result: {error}", file=sys.stderr)
    if not found:
        sys.exit("nothing was measured")
    p95 = [sorted(column)[math.ceil(0.95 * len(column)) - 1] for column in zip(*found)]
    cells = [f"{value:.3f}" for value in p95] + [""] * (2 - len(p95))
    print(f"| {kind} | {profile} | {len(found)} | " + " | ".join(cells) + " |")


main()
