# SPDX-License-Identifier: Apache-2.0
"""The equalizer's response against scipy.signal.sosfreqz of the Audio EQ Cookbook's coefficients, computed here.

    equalizer.py prepare FOLDER          writes which settings EqualizerQualityTests renders
    equalizer.py score FOLDER [PLOT]     compares; prints `scenario` lines; the status says whether all passed; draws where asked
"""
import json
import sys

import numpy as np
from scipy import signal

TYPES = ["peak", "low-shelf", "high-shelf", "low-pass", "high-pass", "band-pass", "notch", "all-pass"]
PRESETS = ["flat", "voice", "warmth", "presence", "de-mud", "telephone", "bass-boost", "treble-boost", "loudness"]
RATES = [44100, 48000, 96000]
SETTINGS = [(20, 24, 1), (50, 12, 18), (100, -6, 0.7), (1000, 12, 2), (1000, -24, 18), (5000, 3, 0.3), (12000, 18, 4),
            (20000, 24, 0.7), (20000, -24, 18), (20000, 9, 0.1)]
LIMIT = 0.1  # dB, from 20 Hz to 20 kHz, where the response is above -90 dB


def section(kind, frequency, gain, q, rate):
    """Coefficients as the cookbook prints them."""
    w0 = 2 * np.pi * frequency / rate
    A = 10 ** (gain / 40)
    alpha, cs = np.sin(w0) / (2 * q), np.cos(w0)
    s = 2 * np.sqrt(A) * alpha
    b, a = {
        "low-pass": ([(1 - cs) / 2, 1 - cs, (1 - cs) / 2], [1 + alpha, -2 * cs, 1 - alpha]),
        "high-pass": ([(1 + cs) / 2, -(1 + cs), (1 + cs) / 2], [1 + alpha, -2 * cs, 1 - alpha]),
        "band-pass": ([alpha, 0, -alpha], [1 + alpha, -2 * cs, 1 - alpha]),
        "notch": ([1, -2 * cs, 1], [1 + alpha, -2 * cs, 1 - alpha]),
        "all-pass": ([1 - alpha, -2 * cs, 1 + alpha], [1 + alpha, -2 * cs, 1 - alpha]),
        "peak": ([1 + alpha * A, -2 * cs, 1 - alpha * A], [1 + alpha / A, -2 * cs, 1 - alpha / A]),
        "low-shelf": ([A * (A + 1 - (A - 1) * cs + s), 2 * A * (A - 1 - (A + 1) * cs), A * (A + 1 - (A - 1) * cs - s)],
                      [A + 1 + (A - 1) * cs + s, -2 * (A - 1 + (A + 1) * cs), A + 1 + (A - 1) * cs - s]),
        "high-shelf": ([A * (A + 1 + (A - 1) * cs + s), -2 * A * (A - 1 + (A + 1) * cs), A * (A + 1 + (A - 1) * cs - s)],
                       [A + 1 - (A - 1) * cs + s, 2 * (A - 1 - (A + 1) * cs), A + 1 - (A - 1) * cs - s]),
    }[kind]
    return np.concatenate([b, a]) / a[0]


def prepare(folder):
    cases = []
    for rate in RATES:
        for kind in TYPES:
            for n, (frequency, gain, q) in enumerate(SETTINGS):
                changes = {"band4.type": TYPES.index(kind), "band4.frequency": frequency, "band4.gain": gain, "band4.q": q}
                cases.append({"name": f"{kind}-{n}-{rate}", "group": "shapes", "rate": rate, "frames": 1 << 18, "preset": "flat",
                              "changes": changes})
        for preset in PRESETS:
            cases.append({"name": f"{preset}-{rate}", "group": "presets", "rate": rate, "frames": 1 << 18, "preset": preset, "changes": {}})
    json.dump(cases, open(f"{folder}/asked.json", "w"))
    return 0


def curves(folder, case):
    """Frequencies, and the level in dB that was heard and that scipy finds."""
    rate, values = case["rate"], case["values"]
    heard = np.fromfile(f"{folder}/{case['name']}.f32", np.float32).astype(float)
    f = np.fft.rfftfreq(len(heard), 1 / rate)
    inside = (f >= 20) & (f <= 20000)
    sos = [section(TYPES[int(values[f"band{n}.type"])], *(values[f"band{n}.{p}"] for p in ("frequency", "gain", "q")), rate)
           for n in range(1, 9) if values[f"band{n}.on"]]
    _, expected = signal.sosfreqz(np.array(sos), worN=f[inside], fs=rate)
    tiny = 1e-30
    return (f[inside], 20 * np.log10(np.abs(np.fft.rfft(heard)[inside]) + tiny),
            20 * np.log10(np.abs(expected) + tiny) + values["gain"])


def score(folder, plot):
    cases = json.load(open(f"{folder}/heard.json"))
    failed = 0
    for rate in RATES:
        for what, count in (("shapes", len(TYPES) * len(SETTINGS)), ("presets", len(PRESETS))):
            chosen = [c for c in cases if c["rate"] == rate and c["group"] == what]
            worst, where = 0.0, "nowhere"
            for case in chosen:
                f, heard, expected = curves(folder, case)
                error = np.where(expected > -90, np.abs(heard - expected), np.maximum(0, heard + 80))
                if error.max() > worst:
                    worst, where = error.max(), f"{case['name']} at {f[error.argmax()]:.0f} Hz"
            good = worst <= LIMIT and len(chosen) == count
            failed += not good
            print(f"scenario {'passed' if good else 'FAILED'}: equalizer at {rate} Hz, {len(chosen)} {what}: within {worst:.4f} dB "
                  f"of scipy.signal.sosfreqz (at most {LIMIT}; worst {where})", flush=True)
    if plot:
        draw(folder, [c for c in cases if c["rate"] == 48000], plot)
    return 1 if failed else 0


def draw(folder, cases, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(11, 10))
    for case in cases:
        f, heard, expected = curves(folder, case)
        axes = bottom if case["group"] == "presets" else top
        axes.semilogx(f, heard, lw=0.8, label=case["name"])
        axes.semilogx(f, expected, "k:", lw=0.5)
    top.set_ylim(-60, 30)
    bottom.set_ylim(-30, 10)
    bottom.legend(fontsize=7)
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    what, folder = sys.argv[1:3]
    sys.exit(prepare(folder) if what == "prepare" else score(folder, sys.argv[3] if len(sys.argv) > 3 else None))
