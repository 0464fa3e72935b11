#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example, mostly offline, and measures what came out: levels of tones, sides, times.

usage: Examples/check.py FOLDER-OF-PROGRAMS [EXAMPLE…]      (called by scripts/examples)
"""
import array
import cmath
import math
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import wave

RATE = 48_000
programs = sys.argv[1]
folder = tempfile.mkdtemp(prefix="earshot-examples-")
wrong = []


def path(name):
    return os.path.join(folder, name)


def write(name, channels, rate=RATE):
    """16-bit samples; one function of the time a channel."""
    with wave.open(path(name), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(rate)
        count = 4 * rate
        samples = array.array("h", (round(32_767 * f(i / rate)) for i in range(count) for f in channels))
        file.writeframes(samples.tobytes())
    return path(name)


def read(name):
    """One list a channel, full scale is 1."""
    with wave.open(path(name), "rb") as file:
        assert file.getsampwidth() == 2
        count = file.getnchannels()
        samples = array.array("h", file.readframes(file.getnframes()))
        return [[x / 32_768 for x in samples[c::count]] for c in range(count)], file.getframerate()


def tone(samples, frequency, start, end, rate=RATE):
    """A sine's amplitude, in dB of full scale, between two times."""
    piece = samples[round(start * rate):round(end * rate)]
    n = len(piece)
    total = 0
    step = cmath.exp(-2j * math.pi * frequency / rate)
    turn = 1
    for i, x in enumerate(piece):
        total += x * (1 - math.cos(2 * math.pi * (i + 0.5) / n)) * turn  # Hann's window: neighbours do not leak
        turn *= step
    return decibels(2 * abs(total) / n)


def level(samples, start, end, rate=RATE):
    """Root of the mean square, in dB of full scale."""
    piece = samples[round(start * rate):round(end * rate)]
    return decibels(math.sqrt(sum(x * x for x in piece) / max(1, len(piece))))


def decibels(factor):
    return 20 * math.log10(max(factor, 1e-9))


def run(name, *arguments):
    """Runs an example and returns what it printed."""
    started = time.monotonic()
    done = subprocess.run(
        [os.path.join(programs, name), *arguments], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {(done.stdout + done.stderr).strip()[-500:]}")
    run.seconds = time.monotonic() - started
    return done.stdout


def expect(what, value, least, most):
    unit_value = f"{what}: {value:.1f} ({least} to {most})"
    if not least <= value <= most:
        raise AssertionError(unit_value)
    measured.append(unit_value)


def sine(frequency, amplitude):
    return lambda t: amplitude * math.sin(2 * math.pi * frequency * t)


def pan_and_volume():
    run("pan-and-volume", "--offline", path("out.wav"), "--microphone", microphone)
    (left, right), _ = read("out.wav")
    # 0.25 at the microphone, times 0.5.
    expect("left first, dB", tone(left, 440, 0.2, 0.9), -18.2, -17.9)
    expect("right first, dB", tone(right, 440, 0.2, 0.9), -200, -80)
    expect("left in the middle, dB", tone(left, 440, 1.98, 2.02), -18.6, -17.9)
    expect("right in the middle, dB", tone(right, 440, 1.98, 2.02), -18.6, -17.9)
    expect("left at the end, dB", tone(left, 440, 3.1, 3.9), -200, -80)
    expect("right at the end, dB", tone(right, 440, 3.1, 3.9), -18.2, -17.9)


def input_callback():
    printed = run("input-callback", "--offline", path("out.wav"), "--microphone", microphone)
    (left, right), _ = read("out.wav")
    for side, samples in (("left", left), ("right", right)):
        expect(f"440 Hz {side}, dB", tone(samples, 440, 0.5, 3.5), -200, -80)
        expect(f"340 Hz {side}, dB", tone(samples, 340, 0.5, 3.5), -18.2, -17.9)
        expect(f"540 Hz {side}, dB", tone(samples, 540, 0.5, 3.5), -18.2, -17.9)
    assert "missingFrames: 0, invalidSamples: 0" in printed, printed


def synthesizer():
    run("synthesizer", "--offline", path("out.wav"))
    (left, right), _ = read("out.wav")
    # Each channel has its own dither, of at most a step and a half.
    expect("left less right, steps", max(abs(a - b) for a, b in zip(left, right)) * 32_768, 0, 3)
    for note, frequency in enumerate((440, 554.37, 659.26, 880)):
        for start in (note / 2, note / 2 + 2):
            expect(f"{frequency} Hz at {start} s, dB", tone(left, frequency, start, start + 0.5), -22, -15)
            others = [f for f in (440, 554.37, 659.26, 880) if f != frequency]
            expect("other notes, dB", max(tone(left, f, start, start + 0.5) for f in others), -200, -50)


def two_callbacks():
    run("two-callbacks", "--offline", path("out.wav"))
    (left, _), _ = read("out.wav")
    expect("200 Hz, dB", tone(left, 200, 0.5, 2.5), -20.2, -19.8)
    # A low-pass of the second order at 1 kHz: 31.1 dB less at 6 kHz, by the bilinear transform somewhat more.
    expect("6 kHz, dB", tone(left, 6_000, 0.5, 2.5), -54, -50.5)
    # Twice the same tone of 0.1, times 0.5.
    expect("660 Hz, dB", tone(left, 660, 0.5, 2.5), -20.2, -19.8)


def two_players():
    song = write("song.wav", [sine(60, 0.1), sine(1_000, 0.1)])
    voice = write("voice.wav", [lambda t: sine(100, 0.1)(t) + sine(1_500, 0.1)(t)], rate=32_000)
    run("two-players", song, voice, "--offline", path("out.wav"))
    (left, right), _ = read("out.wav")
    # The song's sides stay apart; its bass is raised by 7 dB, all of it lowered by 3.
    expect("60 Hz left, dB", tone(left, 60, 1, 3.5), -18, -15.5)
    expect("1 kHz left, dB", tone(left, 1_000, 1, 3.5), -200, -75)
    expect("1 kHz right, dB", tone(right, 1_000, 1, 3.5), -23.5, -22.5)
    # The voice is on both sides, its bass gone, and it begins half a second late.
    for samples in (left, right):
        expect("1.5 kHz, dB", tone(samples, 1_500, 1, 3.5), -17, -15)
        expect("100 Hz, dB", tone(samples, 100, 1, 3.5), -90, -40)
        expect("1.5 kHz before 0.48 s, dB", tone(samples, 1_500, 0, 0.48), -200, -75)
        expect("1.5 kHz from 0.51 s on, dB", tone(samples, 1_500, 0.51, 0.8), -18, -14)


def offline_render():
    random.seed(1)
    loud = write("loud.wav", [lambda t: (0.9 if t < 3 else 0) * math.sin(2 * math.pi * 330 * t)] * 2)
    run("offline-render", loud, path("out.wav"))
    (left, _), _ = read("out.wav")
    expect("seconds", len(left) / RATE, 6, 6)
    expect("times real time", 6 / run.seconds, 3, 1e9)
    expect("peak, dB", decibels(max(map(abs, left))), -12, -0.95)
    # The hall: gone on after the sound's end, and over at last (1.9 s for 60 dB).
    expect("0.3 s after the end, dB", level(left, 3.3, 3.4), -60, -20)
    expect("2.8 s after the end, dB", level(left, 5.8, 5.95), -200, -75)


def record_mp3():
    def check(name, seconds, loudest):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-i", path(name), "-c:a", "pcm_s16le", path("decoded.wav")], check=True)
        (left, right), rate = read("decoded.wav")
        expect(f"seconds of {name}", len(left) / rate, *seconds)
        for samples in (left, right):
            expect("440 Hz in the MP3, dB", tone(samples, 440, 0.5, 1.5, rate), -12.4, loudest)

    run("record-mp3", path("take.mp3"), "--offline", path("out.wav"), "--microphone", microphone)
    (left, _), _ = read("out.wav")
    expect("440 Hz meanwhile, dB", tone(left, 440, 0.5, 2.5), -12.2, -11.9)
    check("take.mp3", (3, 3), -11.8)
    # On a card that keeps real time, with threads: as long as it ran, but for the periods of starting and stopping.
    printed = run(
        "record-mp3", path("live.mp3"), "--device", "simulated", "--microphone", microphone, "--seconds", "2")
    check("live.mp3", (1.5, 2.5), -11.8)
    print(f"    {printed.strip().splitlines()[-2]}")


def around_the_head():
    run("around-the-head", "--offline", path("out.wav"))
    # Treble alone: a head casts no shadow on bass.
    left, right = [[b - a for a, b in zip(side, side[1:])] for side in read("out.wav")[0]]
    expect("right over left at first, dB", level(right, 0.2, 0.9) - level(left, 0.2, 0.9), 4, 25)
    expect("right over left at the end, dB", level(right, 2.2, 2.9) - level(left, 2.2, 2.9), -25, -4)
    middle = level(right, 1.45, 1.58) - level(left, 1.45, 1.58)
    expect("right over left on the way, dB", middle, -3, 3)


def plug_in():
    amplifier = "http://plugin.org.uk/swh-plugins/amp"
    printed = run("plug-in", amplifier, "gain=6", "--offline", path("out.wav"), "--microphone", microphone)
    (left, right), _ = read("out.wav")
    assert "gain = 6.0" in printed, printed
    for samples in (left, right):
        expect("440 Hz, dB", tone(samples, 440, 0.5, 2.5), -6.2, -5.9)


def duplex_voice():
    song = write("song.wav", [sine(997, 0.7), sine(997, 0.7)])
    printed = run("duplex-voice", song, "--offline", path("out.wav"), "--microphone", microphone)
    (left, right), _ = read("out.wav")
    for samples in (left, right):
        expect("997 Hz, dB", tone(samples, 997, 1, 3), -9, -2.5)
        expect("440 Hz, dB", tone(samples, 440, 1, 3), -20, -6)
        expect("peak, dB", decibels(max(map(abs, samples))), -6, -0.95)
    assert "input → Gate → Parametric equalizer → Compressor → Reverb → main mixer → Limiter → output" in printed, printed
    # With an echo canceller before it the accompaniment goes on as before. (A steady tone is no voice: it may take it away.)
    printed = run("duplex-voice", song, "loudspeaker", "--offline", path("out.wav"), "--microphone", microphone)
    assert "input [" in printed, printed
    expect("997 Hz with the canceller, dB", tone(read("out.wav")[0][0], 997, 1, 3), -9, -2.5)


def call():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    # The host's time is longer than the guest's start takes; the guest ends the call.
    with subprocess.Popen(
            [os.path.join(programs, "call"), "host", port, "20", "simulated"], stdout=subprocess.PIPE, text=True) as host:
        try:
            for _ in range(100):
                with socket.socket() as door:
                    if door.connect_ex(("127.0.0.1", int(port))) == 0:
                        break
                time.sleep(0.1)
            heard = run("call", "join", "127.0.0.1", port, "2", "simulated")
            told, _ = host.communicate(timeout=30)
        finally:
            host.kill()
    assert "in a call with Hanna: " in heard and "ended: " in heard, heard
    assert "Gustav asks to join, and is admitted" in told and "in a call with Gustav: " in told, told
    expect("packets from Hanna", int(re.search(r"Hanna: .*, (\d+) packets", heard).group(1)), 50, 400)
    expect("delay, ms", int(re.search(r"Hanna: (\d+) ms mouth to ear", heard).group(1)), 5, 300)


def list_units():
    printed = run("list-units")
    with open(os.path.join(os.path.dirname(__file__), "../docs/units.md"), encoding="utf-8") as page:
        assert page.read() == printed, "docs/units.md is not what the units say; scripts/examples --write"
    expect("units", printed.count("\n## "), 9, 99)


microphone = write("microphone.wav", [sine(440, 0.25)])
checks = [
    pan_and_volume, input_callback, synthesizer, two_callbacks, two_players, offline_render, record_mp3, around_the_head,
    plug_in, duplex_voice, call, list_units,
]
for check in checks:
    name = check.__name__.replace("_", "-")
    if sys.argv[2:] and name not in sys.argv[2:]:
        continue
    measured = []
    started = time.monotonic()
    try:
        check()
        print(f"example {name}: {len(measured)} measures, {time.monotonic() - started:.1f} s")
    except (AssertionError, OSError, subprocess.SubprocessError, wave.Error) as error:
        wrong.append(name)
        print(f"error: example {name}: {error}")
    if os.environ.get("EARSHOT_VERBOSE"):
        print("\n".join("    " + line for line in measured))
for name in os.listdir(folder):
    os.remove(path(name))
os.rmdir(folder)
sys.exit(1 if wrong else 0)
