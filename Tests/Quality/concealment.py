# SPDX-License-Identifier: Apache-2.0
"""Concealment of lost packets of PCM, 2.5 ms each, beside silence, repetition and what JackTrip does.

    concealment.py prepare FOLDER    writes the sounds and the losses that ConcealmentQualityTests reads
    concealment.py score FOLDER      scores what came of it; prints `scenario` lines; the status says whether all passed
"""
import subprocess
import sys

import numpy as np
import visqol

import speech

RATE, PACKET = 48000, 120
SEEDS = range(1, 5)
SONGS = "/usr/share/games/fretsonfire/data/songs/sectoid/"
MUSIC = {"song": ("Feelings/song.ogg", 30), "guitar": ("Escape from chaosland/guitar.ogg", 40)}  # seconds from the start
SECONDS = 5
# The share of lost packets, the mean length of a burst in packets, and the least PESQ-WB.
LOSSES = {"5 %": (0.05, 1, 3.5), "10 %": (0.1, 1, 3.0), "5 % in bursts of 10 ms": (0.05, 4, 2.9)}


def losses(count, share, burst, seed):
    """Packets that are lost: each by itself, or in bursts of Gilbert's model."""
    draws, lost, bad = np.random.default_rng(seed).random(count), np.zeros(count, bool), False
    for i, draw in enumerate(draws):
        begins = share if burst == 1 else share / (1 - share) / burst
        bad = draw < (1 - 1 / burst if bad and burst > 1 else begins)
        lost[i] = bad
    return lost


def sixteen_bits(x):
    x = x[:len(x) // PACKET * PACKET]
    return np.clip(np.round(x * 32767), -32768, 32767) / 32768


def music(name, start):
    """A part of a song, an array of frames of two channels."""
    command = ["ffmpeg", "-v", "error", "-ss", str(start), "-t", str(SECONDS), "-i", SONGS + name, "-f", "f32le", "-ac", "2",
               "-ar", str(RATE), "-"]
    raw = subprocess.run(command, check=True, capture_output=True).stdout
    return sixteen_bits(np.frombuffer(raw, np.float32).reshape(-1, 2).astype(float))


def cases():
    """Name, sound as frames of channels, and losses."""
    said = sixteen_bits(speech.joined(RATE)[0].astype(float))[:, None]
    for k, (share, burst, _) in enumerate(LOSSES.values()):
        for seed in SEEDS:
            yield f"speech-{k}-{seed}", said, losses(len(said) // PACKET, share, burst, seed)
    for seed, (name, (path, start)) in enumerate(MUSIC.items()):
        sound = music(path, start)
        yield f"music-{name}", sound, losses(len(sound) // PACKET, 0.05, 1, seed)


def gaps(lost):
    """First packet and the one behind the last of each gap that ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lost])))
    return zip(edges[::2] * PACKET, edges[1::2] * PACKET)


def bridged(x, lost, history, continuation, blend):
    """One channel with its gaps bridged: `continuation` of so many frames before, blended into what follows."""
    y = np.where(np.repeat(lost, PACKET), 0, x)
    fade = (np.arange(blend) + 0.5) / blend
    for start, end in gaps(lost):
        past = y[max(0, start - history):start]
        more = continuation(np.concatenate([np.zeros(history - len(past)), past]), end - start + blend)
        y[start:end] = more[:end - start]
        y[end:end + blend] += (more[end - start:] - y[end:end + blend]) * (1 - fade)
    return y


def held(count):
    """Full for 20 ms, gone after 60."""
    return np.clip(1 - (np.arange(count) - 960) / 1920, 0, 1)


def repetition(past, count):
    """The last period, again and again: the lag of 2.5 to 30 ms at which the last 10 ms are most like what was before."""
    last = past[-480:]
    likeness = [np.dot(before, last) / np.sqrt(np.dot(before, before) + 1e-9)
                for before in (past[-480 - lag:-lag] for lag in range(120, 1440))]
    return np.resize(past[-120 - int(np.argmax(likeness)):], count) * held(count)


def regulator(past, count):
    """Burg's method as JackTrip's Regulator applies it: as many coefficients as there are frames, but for two; no fade."""
    f, b, a = past[1:].copy(), past[:-1].copy(), np.array([1.0])
    power = 2.00001 * np.dot(past, past) - past[0] ** 2 - past[-1] ** 2
    for _ in range(len(past) - 2):
        k = 2 * np.dot(f, b) / power if power > 0 else 0
        a = np.append(a, 0) - k * np.append(0, a[::-1])
        f, b = f - k * b, b - k * f
        power = (1 - k * k) * power - f[0] ** 2 - b[-1] ** 2
        f, b = f[1:], b[:-1]
    order = len(a) - 1
    y = np.append(past[-order:], np.zeros(count))
    for i in range(count):
        y[order + i] = -np.dot(a[:0:-1], y[i:i + order])
    return y[order:]


def rivals(sound, lost):
    """The same by others."""
    channels = sound.T
    packets = 4 if len(channels) == 1 else 3  # that the Regulator looks at
    yield "silence", np.where(np.repeat(lost, PACKET)[:, None], 0, sound)
    yield "repetition", np.stack([bridged(x, lost, 1920, repetition, PACKET) for x in channels], 1)
    yield "JackTrip's way", np.stack([bridged(x, lost, packets * PACKET, regulator, PACKET) for x in channels], 1)


def passed(good, words):
    print(f"scenario {'passed' if good else 'FAILED'}: concealment of {words}", flush=True)
    return good


def main():
    what, folder = sys.argv[1:3]
    if what == "prepare":
        for name, sound, lost in cases():
            sound.T.astype(np.float32).tofile(f"{folder}/{name}.sound")
            lost.astype(np.uint8).tofile(f"{folder}/{name}.lost")
        return 0
    good = True
    judge = visqol.VisqolApi()
    judge.create(mode="audio")
    said = {}
    for name, sound, lost in cases():
        heard = np.fromfile(f"{folder}/{name}.heard", np.float32).reshape(sound.shape[::-1]).T.astype(float)
        kind, which, *seed = name.split("-")
        # The other measures take long, so they are computed for one run of each kind.
        others = dict(rivals(sound, lost)) if kind == "music" or seed == ["1"] else {}
        for who, y in [("ours", heard), *others.items()]:
            if kind == "speech":
                said.setdefault(int(which), {}).setdefault(who, []).append(speech.scores(sound[:, 0], y[:, 0], RATE))
        if kind == "music":
            score = {who: judge.measure_from_arrays(sound.mean(1), y.mean(1), RATE).moslqo
                     for who, y in [("ours", heard), *others.items()]}
            error = {who: 10 * np.log10(np.sum((y - sound) ** 2) / np.sum(sound ** 2))
                     for who, y in [("ours", heard), *others.items()]}
            figures = ", ".join(f"{who} {score[who]:.3f} ({error[who]:.1f} dB)" for who in score)
            good &= passed(all(score["ours"] > score[who] for who in others),
                           f"5 % in a {which}: ViSQOL and error: {figures} (ours best)")
    for k, (loss, (_, _, limit)) in enumerate(LOSSES.items()):
        ours = np.array(said[k].pop("ours"))
        words = ", ".join(f"{who} {scores[0][0]:.2f}/{scores[0][1]:.3f}" for who, scores in said[k].items())
        good &= passed(ours[:, 0].mean() >= limit,
                       f"{loss} in speech, {len(ours)} seeds: PESQ-WB {ours[:, 0].mean():.2f} (at least {limit}; "
                       f"{ours[:, 0].min():.2f} to {ours[:, 0].max():.2f}), eSTOI {ours[:, 1].mean():.3f}; "
                       f"by others, the first seed, where ours has {ours[0, 0]:.2f}: {words}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
