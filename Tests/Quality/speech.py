# SPDX-License-Identifier: Apache-2.0
"""Speech to send, and how good what came of it is: PESQ-WB (ITU-T P.862.2) and eSTOI, aligned to a fraction of a sample."""
import warnings

import numpy as np
import pesq
import pystoi
import scipy.io.wavfile
import scipy.signal

# Read by one speaker, 7 and 5 s; from the package pocketsphinx-testdata.
SENTENCES = [f"/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-{number}.wav"
             for number in ("0870", "0890")]
CLIPS = [
    f"/usr/share/sounds/alsa/{place}_{side}.wav"
    for place, side in [("Front", "Center"), ("Front", "Left"), ("Front", "Right"), ("Rear", "Center"),
                        ("Rear", "Left"), ("Rear", "Right"), ("Side", "Left"), ("Side", "Right")]
] + SENTENCES[:1]
GAP = 0.4  # seconds of silence around each clip


def read(path):
    """A WAV file as mono floats and its rate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rate, x = scipy.io.wavfile.read(path)
    if x.dtype.kind == "i":
        x = x / float(np.iinfo(x.dtype).max + 1)
    x = np.asarray(x, float)
    return (x.mean(axis=1) if x.ndim > 1 else x), rate


def resample(x, rate, to):
    g = np.gcd(int(rate), int(to))
    return scipy.signal.resample_poly(x, int(to) // g, int(rate) // g)


def joined(rate, seconds=None):
    """All clips with silence between, and where each lies, in seconds."""
    parts, spans, at = [], [], 0.0
    for path in CLIPS:
        x, own = read(path)
        x = resample(x, own, rate)
        x = 0.5 * x / np.max(np.abs(x))
        parts += [np.zeros(int(GAP * rate)), x]
        spans.append((at + GAP, at + GAP + len(x) / rate))
        at += (int(GAP * rate) + len(x)) / rate
    x = np.concatenate(parts + [np.zeros(rate)])
    if seconds:
        x = x[:int(seconds * rate)]
        spans = [s for s in spans if s[1] < seconds - 1]
    return x.astype(np.float32), spans


def shifted(x, offset, count):
    """`count` samples of x from a fractional place on: a phase ramp in the spectrum, zeros where there is nothing."""
    whole = int(np.floor(offset))
    pad = 256
    y = np.zeros(count + 2 * pad)
    first, last = max(0, whole - pad), min(len(x), whole - pad + len(y))
    if last > first:
        y[first - (whole - pad):last - (whole - pad)] = x[first:last]
    f = np.fft.rfftfreq(len(y))
    return np.fft.irfft(np.fft.rfft(y) * np.exp(2j * np.pi * f * (offset - whole)), len(y))[pad:pad + count]


def scores(sent, heard, rate):
    """PESQ-WB and eSTOI of aligned sound."""
    a, b = resample(sent, rate, 16000), resample(heard, rate, 16000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pesq.pesq(16000, a, b, "wb"), pystoi.stoi(a, b, 16000, extended=True)


def judge(sent, heard, rate, spans):
    """All clips joined, and each: (PESQ, eSTOI) and a list of PESQ."""
    each = []
    for start, end in spans:
        i, j = int((start - GAP / 2) * rate), int((end + GAP / 2) * rate)
        each.append(scores(sent[i:j], heard[i:j], rate)[0])
    i, j = int((spans[0][0] - GAP / 2) * rate), int((spans[-1][1] + GAP / 2) * rate)
    return scores(sent[i:j], heard[i:j], rate), each
