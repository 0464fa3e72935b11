# SPDX-License-Identifier: Apache-2.0
"""Quality of speech between Chromium and a call, each way, in both DTLS roles.

    browser.py prepare FOLDER SECONDS    writes the speech that both say
    browser.py score FOLDER              scores what was heard; prints `scenario` lines; the status says whether all passed
"""
import json
import os
import sys

import numpy as np
import pesq
import scipy.signal

import speech

LIMIT = 3.8  # PESQ-WB
RATE = 48000
WAYS = [("from", "Chromium to Earshot"), ("to", "Earshot to Chromium")]


def place(piece, x):
    """Where a piece lies in x, to a fraction of a sample, and how like it is there."""
    c = scipy.signal.correlate(x, piece, "valid", "fft")
    energy = np.cumsum(np.concatenate([[0.0], x * x]))
    c = c / np.sqrt(np.maximum((energy[len(piece):] - energy[:-len(piece)]) * np.sum(piece * piece), 1e-9))
    k = int(np.argmax(c))
    fraction = 0.0
    if 0 < k < len(c) - 1:
        bend = c[k - 1] - 2 * c[k] + c[k + 1]
        fraction = 0.5 * (c[k - 1] - c[k + 1]) / bend if bend else 0.0
    return k + fraction, c[k]


def clips(sent, spans, heard):
    """PESQ-WB and eSTOI of each clip that was heard whole, aligned by itself, and how far the alignments differ."""
    length = len(sent)
    # The speech is repeated, and recording may begin anywhere: the first clip that is found gives the positions of all.
    found, at = None, 0.0
    for start, end in spans:
        i, j = int(start * RATE), int(end * RATE)
        if len(heard) < j - i:
            continue  # a longer one than the whole call
        where, alike = place(sent[i:j], heard[:2 * length])
        if found is None or alike > found:
            found, at = alike, where - i
    if found is None or found < 0.5:
        return [], []
    scores, offsets = [], []
    turn = -int(at // length) - 1
    while at + turn * length < len(heard):
        for start, end in spans:
            i, j = int((start - speech.GAP / 2) * RATE), int((end + speech.GAP / 2) * RATE)
            guess = int(at + turn * length) + i
            first, last = guess - 9600, guess + (j - i) + 9600
            if first < 0 or last > len(heard):
                continue
            # A playout that follows a clock moves a clip slightly.
            middle = sent[int(start * RATE):int(end * RATE)]
            where, _ = place(middle, heard[first:last])
            offset = first + where - (int(start * RATE) - i)
            try:
                score = speech.scores(sent[i:j], speech.shifted(heard, offset, j - i), RATE)
            except (ValueError, pesq.PesqError):  # nothing is heard there
                score = (1.0, 0.0)
            scores.append(score)
            offsets.append(offset - guess)
        turn += 1
    return scores, offsets


def main():
    what, folder = sys.argv[1:3]
    sent, spans = speech.joined(RATE)
    if what == "prepare":
        seconds = int(sys.argv[3])
        np.tile(sent, seconds * RATE // len(sent) + 1).tofile(f"{folder}/speech.f32")
        return 0
    failed = 0
    for role in ("server", "client"):
        for way, words in WAYS:
            path = f"{folder}/{way}-{role}.f32"
            if not os.path.exists(path):
                failed += 1
                print(f"scenario FAILED: browser: no recording of {words}, Chromium as DTLS {role}", flush=True)
                continue
            heard = np.fromfile(path, np.float32).astype(float)
            told = json.load(open(f"{folder}/{way}-{role}.json"))
            scores, offsets = clips(sent.astype(float), spans, heard)
            if not scores:
                failed += 1
                print(f"scenario FAILED: browser: {words}: no speech was found", flush=True)
                continue
            pesqs, stois = (np.array([s[n] for s in scores]) for n in (0, 1))
            good = np.mean(pesqs) >= LIMIT
            failed += not good
            print(f"scenario {'passed' if good else 'FAILED'}: browser: {words}, Chromium as DTLS {role}, {told['cipher']}: "
                  f"{len(heard) / RATE:.0f} s, {len(scores)} clips: PESQ-WB {np.mean(pesqs):.2f} (at least {LIMIT}; lowest "
                  f"{np.min(pesqs):.2f}), eSTOI {np.mean(stois):.3f} (lowest {np.min(stois):.3f}), {told['delay']:.0f} ms by the "
                  f"page's graph, {told['lost']} of {told['packets']} packets lost", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
