# SPDX-License-Identifier: Apache-2.0
"""Echo return loss enhancement, and speech in double talk, of `earshot process-voice` over made-up rooms.

    echo.py EARSHOT FOLDER     prints `scenario` lines; the status says whether all passed

A room is noise that decays by 60 dB in RT60, behind a direct path 18 dB above its first tap, and a delay of card and air;
coupling is the power of the echo over that of the far end. Both talkers are recordings of people.
"""
import json
import os
import subprocess
import sys

import numpy as np
import scipy.io.wavfile
import scipy.signal

import speech

RATE = 48000
COUPLING = -6
NOISE = -70  # of the microphone, dB
LEAD = 4  # seconds of far end before both talk
LEAST = 35
# The options of a call have limits; the others are only reported.
SETTINGS = [("default", []), ("moderate", ["--echo-suppression", "moderate"]), ("high", ["--echo-suppression", "high"])]
if "EARSHOT_ECHO_ALL" not in os.environ:  # the limits are the default's; the others are for whoever chooses between them
    SETTINGS = SETTINGS[:1]
ROOMS = [(0.2, 5), (0.2, 20), (0.2, 40), (0.2, 60), (0.3, 20), (0.3, 60), (0.4, 20), (0.4, 60)]  # RT60 in s, delay in ms
BEYOND = [(0.4, 60)]  # more than is promised: 31 to 34 dB, by the room


def level(x):
    return np.sqrt(np.mean(np.square(x)))


def talkers():
    """Sentences, and short words of another person, both at RATE."""
    return tuple(np.concatenate([trimmed(path) for path in paths]) for paths in (speech.SENTENCES, speech.CLIPS[:-1]))


def trimmed(path):
    """From the first word on, without the sentences' hum."""
    x, own = speech.read(path)
    x = scipy.signal.sosfilt(scipy.signal.butter(4, 100, "high", fs=RATE, output="sos"), speech.resample(x, own, RATE))
    return 0.5 * x[np.argmax(np.abs(x) > 0.01):] / np.max(np.abs(x))


def echo(far, decay, delay, coupling=COUPLING, seed=1):
    """What the microphone hears of the loudspeaker, with noise of its own."""
    random = np.random.default_rng(seed)
    n = int(1.2 * decay * RATE)
    h = random.standard_normal(n) * 10 ** (-3 * np.arange(n) / RATE / decay)
    direct = int(0.0015 * RATE)
    h[:direct] = 0
    h[direct] += 8
    e = scipy.signal.fftconvolve(far, h)[:len(far)]
    e *= 10 ** (coupling / 20) * level(far) / level(e)
    e = np.concatenate([np.zeros(int(delay * RATE / 1000)), e])[:len(far)]
    return e + 10 ** (NOISE / 20) * random.standard_normal(len(far))


def cleaned(earshot, folder, mic, far, options):
    scipy.io.wavfile.write(f"{folder}/mic.wav", RATE, mic.astype(np.float32))
    scipy.io.wavfile.write(f"{folder}/far.wav", RATE, far.astype(np.float32))
    said = subprocess.run([earshot, "process-voice", "--mic", f"{folder}/mic.wav", "--reference", f"{folder}/far.wav",
                           "--output", f"{folder}/out.wav", "--overwrite", "--json"] + options, capture_output=True, text=True,
                          check=True)
    return speech.read(f"{folder}/out.wav")[0], json.loads(said.stdout)


def decibels(a, b):
    return 20 * np.log10(level(a) / level(b))


def main(earshot, folder):
    long, words = talkers()
    passed = True
    for name, options in SETTINGS:
        for decay, delay in ROOMS:
            limited = name == "default" and (decay, delay) not in BEYOND
            far = np.concatenate([long, long])
            mic = echo(far, decay, delay)
            out, report = cleaned(earshot, folder, mic, far, options)
            erle = decibels(mic[2 * RATE:], out[2 * RATE:])
            ok = not limited or erle >= LEAST
            row = (f"scenario echo: {name}, RT60 {decay} s, {delay} ms, coupling {COUPLING} dB: ERLE {erle:.1f} dB after "
                   f"2 s (at least {LEAST})" if limited else
                   f"scenario echo: {name}, RT60 {decay} s, {delay} ms, coupling {COUPLING} dB: ERLE {erle:.1f} dB after 2 s")
            row += f"; delay found {report['echoDelayMs']} ms; {report['costMs']:.2f} ms for 10 ms"
            for which, one, other in [("words in talk", long, words), ("talk in words", np.tile(words, 2), long)]:
                n = min(len(other), len(one) - LEAD * RATE)
                far = one[:LEAD * RATE + n]
                near = np.concatenate([np.zeros(LEAD * RATE), other[:n] * level(far) / level(other[:n])])
                mic = near + echo(far, decay, delay)
                out, _ = cleaned(earshot, folder, mic, far, options)
                near, mic, out = near[LEAD * RATE:], mic[LEAD * RATE:], out[LEAD * RATE:]
                before, after = speech.scores(near, mic, RATE), speech.scores(near, out, RATE)
                ok = ok and (not limited or after[1] >= before[1])
                row += f"; {which}: eSTOI {before[1]:.2f} to {after[1]:.2f}, PESQ {before[0]:.2f} to {after[0]:.2f}"
            print(row + ("" if ok else "  FAILED"), flush=True)
            passed = passed and ok
    return passed


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
