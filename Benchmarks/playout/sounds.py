# SPDX-License-Identifier: Apache-2.0
"""What is said and played in the calls: speech of codec2-examples, music of fretsonfire-songs-sectoid; and which packets are lost."""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests" / "Quality"))
import concealment  # noqa: E402
import speech  # noqa: E402

RATE = 48000
GAP = 0.4  # seconds of silence before each clip
# The recordings of codec2-examples that are clean: a woman's and a man's sentences, and three shorter ones; raw ones are 8 kHz.
CLIPS = ["speech_orig_16k.wav", "hts1.raw", "morig.raw", "forig.raw", "cross.raw"]
FOLDER = Path("/usr/share/codec2/raw")


def clip(name):
    if name.endswith(".wav"):
        x, rate = speech.read(FOLDER / name)
    else:
        x, rate = np.fromfile(FOLDER / name, "<i2") / 32768, 8000
    x = speech.resample(x, rate, RATE)
    return 0.5 * x / np.max(np.abs(x))


def said(clips):
    """Clips with silence between, and where each lies, in seconds."""
    parts, spans, at = [], [], 0
    for name in clips:
        x = clip(name)
        parts += [np.zeros(int(GAP * RATE)), x]
        at += len(parts[-2])
        spans.append((at / RATE, (at + len(x)) / RATE))
        at += len(x)
    return np.concatenate(parts + [np.zeros(int(GAP * RATE))])[:, None], spans


def played(which):
    """Five seconds of a song of concealment.py's, in two channels."""
    return concealment.music(*concealment.MUSIC[which])


def trace(path, lost, delay):
    """A network as `earshot simulate --trace` reads it: each packet takes `delay` milliseconds, or is lost."""
    Path(path).write_text("".join("lost\n" if each else f"{delay}\n" for each in lost))
