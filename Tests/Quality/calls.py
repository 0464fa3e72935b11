# SPDX-License-Identifier: Apache-2.0
"""Calls of ten seconds between two processes on simulated cards, in slowed time, all at once.

    calls.py EARSHOT FOLDER     prints `scenario` lines; the status says whether all passed
"""
import json
import os
import socket
import subprocess
import sys

import numpy as np
import scipy.io.wavfile

import slowed
import speech

SECONDS = 10
# name, options of both, of the host, of the guest, least PESQ-WB, longest delay in ms
CASES = [
    ("aac 44.1 kHz 64 kb/s, 256 frames", ["--codec", "aac"], [], [], 4.2, 100),
    ("opus 48 kb/s 20 ms, 256 frames", ["--codec", "opus", "--frame", "20"], [], [], 4.4, 70),
    ("pcm 48 kHz, 256 frames", ["--codec", "pcm"], [], [], 4.5, 40),
    ("opus 10 ms, 44.1 kHz against 48 kHz", ["--codec", "opus", "--frame", "10"], ["--rate", "44100"],
     ["--rate", "48000"], 4.2, 60),
]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def call(earshot, folder, options, host, guest, factor):
    """Holds a call in slowed time; returns both reports and what `earshot analyze` measured."""
    port = str(free_port())
    common = ["--device", "simulated", "--speak", f"{folder}/../speech.wav", "--json"] + options
    environment = slowed.environment(f"{folder}/../libslow.so", factor)
    alone = ["--accept", "all", "--no-announce", "--ephemeral"]
    a = subprocess.Popen([earshot, "host", "--port", port] + alone + ["--overwrite", "--hear", f"{folder}/host.wav", "--duration",
                          str(SECONDS - 1)] + common + host, stdout=open(f"{folder}/host.json", "w"),
                         stderr=subprocess.PIPE, text=True, env=environment)
    while (line := a.stderr.readline()) and not line.startswith("Waiting for guests"):
        pass
    b = subprocess.Popen([earshot, "join", "127.0.0.1:" + port, "--ephemeral", "--overwrite", "--hear", f"{folder}/guest.wav"] + common + guest,
                         stdout=open(f"{folder}/guest.json", "w"), stderr=subprocess.DEVNULL, env=environment)
    try:
        said = a.communicate(timeout=30 * factor)[1]
        if a.returncode or b.wait(10 * factor):
            raise RuntimeError(f"the call failed: {said.splitlines()[-1:]}")
    finally:
        for p in (a, b):
            if p.poll() is None:
                p.kill()
    reports = [json.load(open(f"{folder}/{n}.json")) for n in ("host", "guest")]
    measured = json.loads(subprocess.run([earshot, "analyze", "--json", f"{folder}/host.json", f"{folder}/guest.json"],
                                         capture_output=True, text=True, check=True).stdout)
    return {r["role"]: r for r in reports}, measured


def direction(found, reports, spans):
    """One way of a call: delay, its spread, scores."""
    spoken, heard = reports[found["from"]]["spoken"], reports[found["to"]]["heard"]
    rate = 48000
    sent = speech.resample(*speech.read(spoken["file"]), rate)
    raw, own = speech.read(heard["file"])
    raw = speech.resample(raw, own, rate)
    lag = (heard["firstFrameMonotonicNanoseconds"] - spoken["firstFrameMonotonicNanoseconds"]) * 1e-9
    delay = found["delay"]
    aligned = speech.shifted(raw, (delay["milliseconds"] * 1e-3 - lag) * rate, len(sent))
    return delay, speech.judge(sent, aligned, rate, spans)


def judge(earshot, folder, case, factor, spans):
    name, options, host, guest, least, longest = case
    own = os.path.join(folder, str(CASES.index(case)))
    os.makedirs(own, exist_ok=True)
    try:
        reports, measured = call(earshot, own, options, host, guest, factor)
    except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as error:
        return False, False, f"call {name}: {error}"
    ways = [direction(found, reports, spans) for found in measured]
    pesq = min(w[1][0][0] for w in ways)
    stoi = min(w[1][0][1] for w in ways)
    worst = min(min(w[1][1]) for w in ways)
    delay = max(w[0]["milliseconds"] for w in ways)
    spread = max(w[0]["p95"] - w[0]["p50"] for w in ways)
    concealed, after = (reports[role]["peers"][0]["received"]["concealedMs"] for role in ("host", "guest"))
    memory = max(r["memoryAnonymousKiB"] for r in reports.values()) / 1024
    stalled = any(r["callback"]["xruns"] or r["callback"]["latenessMaxMicroseconds"] > 2000 for r in reports.values())
    # Concealment before the network is known is not a fault, nor at the end, until the guest has noticed that the host has left.
    good = (len(ways) == 2 and pesq >= least and worst >= 3.8 and delay <= longest and spread <= 3 and concealed <= 30
            and after <= 130 and memory < 60)
    text = (f"call {name}: PESQ-WB {pesq:.2f} (at least {least}), eSTOI {stoi:.3f}, worst clip {worst:.2f}, mouth to ear "
            f"{' and '.join('%.1f' % w[0]['milliseconds'] for w in ways)} ms (at most {longest}; p95 {spread:.1f} above), "
            f"{concealed:.0f} ms concealed ({after:.0f} by the guest, to the end), RssAnon {memory:.0f} MB")
    return good, stalled, text


def main():
    earshot, folder = sys.argv[1:3]
    sound, spans = speech.joined(48000, SECONDS)
    # In the first second of a call playout learns the network; the first clip begins later.
    sound = np.concatenate([np.zeros(48000, np.float32), sound])[:SECONDS * 48000]
    spans = [(a + 1, b + 1) for a, b in spans if b + 1 < SECONDS - 1.2]
    scipy.io.wavfile.write(f"{folder}/speech.wav", 48000, sound)
    slowed.library(folder)
    return 1 if slowed.judged(CASES, lambda case, factor: judge(earshot, folder, case, factor, spans)) else 0


if __name__ == "__main__":
    sys.exit(main())
