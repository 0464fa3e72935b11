# SPDX-License-Identifier: Apache-2.0
"""Calls on virtual time by `earshot simulate`, and how good what was heard is."""
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io.wavfile

import sounds
from sounds import RATE, concealment, speech

NETWORK = 20.0  # milliseconds each way, as the simulator's profiles iid-2 to iid-10 have it


@dataclass(frozen=True)
class Network:
    """Packets lost: each by itself, or in bursts of Gilbert's model."""
    name: str
    share: float = 0.0
    burst: float = 1.0

    def losses(self, count, seed):
        return concealment.losses(count, self.share, self.burst, seed)


@dataclass(frozen=True)
class Call:
    """What a call is like: options of `earshot simulate` and milliseconds of a packet."""
    packet: float
    options: tuple


@dataclass
class Heard:
    """What came of one call: the sound, aligned with what was said, and the simulator's report of it."""
    sound: np.ndarray
    lost: np.ndarray
    delay: float  # milliseconds from mouth to ear, the median
    latest: float  # the same, which 5 % of the time exceed
    rate: float  # kilobits a second of payload, redundancy included
    loss: float  # shares of the packets
    recovered: float
    concealed: float


def wav(path, x):
    """16 bits, as what comes out is written."""
    scipy.io.wavfile.write(path, RATE, np.round(np.clip(x, -1, 1) * 32767).astype("<i2"))


def run(program, folder, call, network, seed, x, warm):
    """A call that says x over and over; what was heard of the first time that begins `warm` seconds or more after the start."""
    folder.mkdir()
    wav(folder / "said.wav", x)
    wav(folder / "silence.wav", np.zeros((RATE, x.shape[1])))
    rounds = int(np.ceil(warm * RATE / len(x)))
    first = rounds * len(x)
    seconds = (first + len(x)) / RATE
    lost = network.losses(int((seconds + 2) * 1000 / call.packet), seed)
    sounds.trace(folder / "trace", lost, NETWORK)
    command = [program, "simulate", *call.options, "--channels", str(x.shape[1]), "--trace", folder / "trace", "--input",
               folder / "said.wav", folder / "silence.wav", "--output", folder, "--duration", str(seconds + 1), "--from", str(first / RATE),
               "--seed", str(seed), "--json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    report = json.loads(done.stdout)
    stream = next(s for s in report["streams"] if s["from"] == 1)
    delay = stream["mouthToEarMs"]["p50"]
    speaker, listener = report["peers"]
    lag = speaker["microphoneStartSeconds"] + delay / 1e3 - listener["loudspeakerStartSeconds"]
    _, heard = scipy.io.wavfile.read(folder / "peer-2-heard.wav")
    heard = heard.reshape(len(heard), -1) / 32768
    sound = np.stack([speech.shifted(c, lag * RATE + first, len(x)) for c in heard.T], 1)
    begins = int(first / RATE * 1000 / call.packet)
    packets = (len(x) / RATE + 1) * 1000 / call.packet
    return Heard(sound, lost[begins:], delay, stream["mouthToEarMs"]["p95"], stream["payloadKilobitsPerSecond"],
                 float(lost[begins:begins + int(packets)].mean()), stream["packetsRecovered"] / packets,
                 stream["concealedShare"])


def scores(x, heard, spans):
    """PESQ-WB and eSTOI, the mean of the clips."""
    half = sounds.GAP / 2
    each = []
    for start, end in spans:
        part = slice(int((start - half) * RATE), int((end + half) * RATE))
        each.append(speech.scores(x[part, 0], heard[part, 0], RATE))
    return np.mean(each, 0)
