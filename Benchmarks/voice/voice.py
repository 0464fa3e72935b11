# SPDX-License-Identifier: Apache-2.0
"""Voice processing by both generations of webrtc-audio-processing, each with our canceller before it and without.

    voice.py prepare FOLDER             writes the microphones, the loudspeakers and the list of jobs
    voice.py table FOLDER RELEASE…      scores what the jobs made in FOLDER/RELEASE and prints a table
    voice.py draw FOLDER PICTURE RELEASE…   draws spectrograms of one scene, one after the other

Rooms, coupling and talkers are those of Tests/Quality/echo.py.
"""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests" / "Quality"))
import echo  # noqa: E402
import speech  # noqa: E402

RATE = echo.RATE
# Partitions of our canceller, and whether the shim runs it or it takes all of the echo that it estimates.
CHAINS = {"ours": (25, "shim"), "alone": (0, "shim"), "whole": (25, "whole")}
TITLES = {"ours": "ours before it", "alone": "alone", "whole": "ours taking all"}


def columns_of(releases):
    """0.3 is given all that ours leaves anyway."""
    return [(release, chain) for release in releases for chain in CHAINS if (release, chain) != ("12", "whole")]


SETTLED = 2.0  # seconds
CONVERGED = 20  # dB
WINDOW = 0.5  # seconds that are judged at once


def pink(count, level):
    spectrum = np.fft.rfft(np.random.default_rng(5).standard_normal(count))
    spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(count, 1 / RATE), 50))
    x = np.fft.irfft(spectrum, count)
    return x * level / echo.level(x)


def scenes():
    """Name: microphone, loudspeaker, near talker."""
    long, words = echo.talkers()
    far = np.concatenate([long, long])
    silence = np.zeros(len(far))
    made = {}

    def alone(name, heard):
        made[name] = heard, far, silence

    for decay, delay in [(0.2, 20), (0.3, 60), (0.4, 20)]:
        alone(f"echo, RT60 {decay} s, {delay} ms", echo.echo(far, decay, delay))
    alone("coupling 0 dB", echo.echo(far, 0.3, 20, coupling=0))
    alone("coupling -20 dB", echo.echo(far, 0.3, 20, coupling=-20))
    alone("loudspeaker that distorts", echo.echo(np.tanh(4 * far) / 4, 0.3, 20))
    half = len(far) // 2
    moved = echo.echo(far, 0.3, 20)
    moved[half:] = echo.echo(far, 0.3, 45, seed=2)[half:]
    alone("room and delay change after half", moved)
    place = np.arange(len(far)) * (1 + 100e-6)
    alone("two cards, 100 ppm apart", echo.echo(np.interp(place, np.arange(len(far)), far), 0.3, 20))

    for name, one, other in [("words in talk", np.concatenate([long, long]), words), ("talk in words", np.tile(words, 3), long)]:
        count = min(len(other), len(one) - echo.LEAD * RATE)
        talks = one[:echo.LEAD * RATE + count]
        near = np.concatenate([np.zeros(echo.LEAD * RATE), other[:count] * echo.level(talks) / echo.level(other[:count])])
        for coupling in (-6, 0):
            made[f"{name}, echo {coupling} dB"] = near + echo.echo(talks, 0.3, 20, coupling), talks, near
    made["talker alone"] = long, np.zeros(len(long)), long
    pause = np.zeros(3 * RATE)
    near = np.concatenate([pause, long])
    made["talker in noise, 15 dB"] = near + pink(len(near), echo.level(long) * 10 ** (-15 / 20)), np.zeros(len(near)), near
    return made


def file_name(scene):
    return "".join(c if c.isalnum() else "-" for c in scene)


def prepare(folder):
    jobs = []
    for scene, (microphone, far, _) in scenes().items():
        name = file_name(scene)
        for kind, x in [("mic", microphone), ("far", far)]:
            x.astype("<f4").tofile(folder / f"{name}.{kind}")
        for chain, (partitions, who) in CHAINS.items():
            jobs.append(f"{RATE} 0 1 {partitions} {who} {name} {chain}")
    (folder / "jobs").write_text("\n".join(jobs) + "\n")


def read(folder, release, scene, chain, count):
    path = folder / release / f"{file_name(scene)}.{chain}"
    said = json.loads(path.with_name(path.name + ".json").read_text())
    x = np.fromfile(path, "<f4").astype(float)
    lag = round(said["delayMs"] * RATE / 1000)
    return np.concatenate([x[lag:], np.zeros(lag)])[:count], said


def convergence(mic, out, start=0.0):
    """Seconds from `start` until every later window is CONVERGED below the echo, but for one in ten; None if it never is."""
    n = int(WINDOW * RATE)
    begins = [k for k in range(int(start * RATE), len(mic) - n, n // 2) if echo.level(mic[k:k + n]) > 10 ** (-40 / 20)]
    good = np.array([echo.decibels(mic[k:k + n], out[k:k + n]) >= CONVERGED for k in begins])
    for i, k in enumerate(begins):
        if good[i] and good[i:].mean() >= 0.9:
            return k / RATE - start
    return None


def lag_of(near, out):
    spectrum = np.fft.rfft(out, 2 * len(out)) * np.conj(np.fft.rfft(near, 2 * len(near)))
    return int(np.argmax(np.fft.irfft(spectrum)[:RATE // 10])) / RATE * 1000


def figures(scene, microphone, near, out, raw):
    """Figures of one result: name to number."""
    if not near.any():
        after = int(SETTLED * RATE)
        found = {"ERLE, dB": echo.decibels(microphone[after:], out[after:])}
        if "change" in scene:
            half = len(out) / RATE / 2
            found["ERLE before the change, dB"] = echo.decibels(microphone[after:len(out) // 2], out[after:len(out) // 2])
            found["s until 20 dB again"] = convergence(microphone, out, half)
        elif "-20" not in scene:
            found["s until 20 dB"] = convergence(microphone, out)
        return found
    start = int(np.argmax(np.abs(near) > 0.01))
    scores = speech.scores(near[start:], out[start:], RATE)
    found = {"PESQ-WB": scores[0], "eSTOI": scores[1]}
    if "noise" in scene:
        quiet = slice(2 * RATE, start)
        found["noise lowered, dB"] = echo.decibels(microphone[quiet], out[quiet])
    if scene == "talker alone":
        found["delay found, ms"] = lag_of(near, raw)
    return found


def table(folder, releases):
    columns, rows, costs, stated = columns_of(releases), {}, {}, {}
    everything = scenes()
    for column in columns:
        release, chain = column
        for scene, (microphone, far, near) in everything.items():
            out, said = read(folder, release, scene, chain, len(microphone))
            raw = np.fromfile(folder / release / f"{file_name(scene)}.{chain}", "<f4").astype(float)
            stated[column] = said["delayMs"]
            costs.setdefault(column, []).append(said["medianUs"])
            for name, value in figures(scene, microphone, near, out, raw).items():
                rows.setdefault((scene, name), {})[column] = value
    for (scene, name), cells in rows.items():
        if name in ("PESQ-WB", "eSTOI"):
            microphone, _, near = everything[scene]
            start = int(np.argmax(np.abs(near) > 0.01))
            score = speech.scores(near[start:], microphone[start:], RATE)
            cells["before"] = score[0] if name == "PESQ-WB" else score[1]
    print("| | | microphone | " + " | ".join(
        f"{release}, {TITLES[chain]}" for release, chain in columns) + " |")
    print("| --- | --- |" + " --- |" * (len(columns) + 1))
    last = None
    for (scene, name), cells in rows.items():
        digits = 2 if name in ("PESQ-WB", "eSTOI") else 1
        text = ["never" if v is None else "" if v == "" else f"{v:.{digits}f}"
                for v in [cells.get("before", "")] + [cells[c] for c in columns]]
        print(f"| {scene if scene != last else ''} | {name} | " + " | ".join(text) + " |")
        last = scene
    print("| all | stated delay, ms | | " + " | ".join(f"{stated[c]:.1f}" for c in columns) + " |")
    print("| | median of 10 ms, µs | | " + " | ".join(f"{np.median(costs[c]):.0f}" for c in columns) + " |")


def draw(folder, picture, releases):
    scene = "words in talk, echo -6 dB"
    microphone, _, near = scenes()[scene]
    panels = [near, microphone] + [read(folder, r, scene, c, len(near))[0] for r, c in columns_of(releases)]
    path = folder / "panels.f32"
    np.concatenate(panels).astype("<f4").tofile(path)
    subprocess.run(["sox", "-t", "f32", "-r", str(RATE), "-c", "1", path, "-n", "rate", "24k", "spectrogram", "-x", "3000",
                    "-o", picture], check=True)
    print(f"{picture}: {scene}, {len(near) / RATE:.1f} s each: talker, microphone, "
          + ", ".join(f"{r} {TITLES[c]}" for r, c in columns_of(releases)))


if __name__ == "__main__":
    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "prepare":
        prepare(folder)
    elif command == "table":
        table(folder, sys.argv[3:])
    else:
        draw(folder, sys.argv[3], sys.argv[4:])
