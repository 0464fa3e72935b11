# SPDX-License-Identifier: Apache-2.0
"""Quality of speech through whole calls on virtual time.

    render.py prepare FOLDER     writes the speech that QualityRenderTests sends
    render.py score FOLDER       scores what they heard; prints `scenario` lines; the status says whether all passed
"""
import sys

import numpy as np

import speech

LIMITS = {"aac": 4.2, "opus-20": 4.4, "opus-2.5": 4.2, "pcm": 4.5}
DELAYS = {"aac": 100.0, "opus-2.5": 25.0}  # blocks of 256 frames
RATES = {"aac": 44100}


def main():
    what, folder = sys.argv[1:3]
    if what == "prepare":
        for rate in (44100, 48000):
            speech.joined(rate)[0].tofile(f"{folder}/speech-{rate}.f32")
        return 0
    failed = 0
    for name, limit in LIMITS.items():
        rate = RATES.get(name, 48000)
        sent, spans = speech.joined(rate)
        raw = np.fromfile(f"{folder}/heard-{name}.f32", np.float32).astype(float)
        offset, delay = map(float, open(f"{folder}/heard-{name}.txt").read().split())
        heard = speech.shifted(raw, offset, len(sent))
        (pesq, stoi), each = speech.judge(sent, heard, rate, spans)
        good = pesq >= limit and min(each) >= 3.8 and delay <= DELAYS.get(name, 1e9)
        failed += not good
        print(f"scenario {'passed' if good else 'FAILED'}: render {name}: {len(sent) / rate:.0f} s of speech joined: PESQ-WB "
              f"{pesq:.2f} (at least {limit}), eSTOI {stoi:.3f}, worst clip {min(each):.2f} (at least 3.8), "
              f"mouth to ear {delay:.1f} ms", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
