# SPDX-License-Identifier: Apache-2.0
"""How good speech and music sound through a network that loses packets, and how late: calls on virtual time by
`earshot simulate`, from seeds, scored by PESQ-WB, eSTOI and ViSQOL.

    playout.py PROGRAM            prints the table
    playout.py PROGRAM --check    the rows that matter most, of few seeds; the status says whether all reach their limits
"""
import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import simulated
import rows
import sounds
from sounds import concealment

CHECK_MARGIN = 0.1  # of PESQ, for fewer seeds


def task(job):
    """One call of a row: its scores and what the report says of it, and those of others for what PCM lost."""
    program, folder, row, seed, x, spans, others = job
    heard = simulated.run(program, Path(folder), row.call, row.network, seed, x, row.warm)
    found = {"ours": simulated.scores(x, heard.sound, spans)}
    if others:
        rivals = dict(concealment.rivals(x[:len(x) // concealment.PACKET * concealment.PACKET],
                                         heard.lost[:len(x) // concealment.PACKET]))
        found |= {who: simulated.scores(x, y, spans) for who, y in rivals.items()}
    heard.sound = heard.lost = None
    return found, heard


def music_task(job):
    """A piece of music through one call: ViSQOL, beside what others make of the same losses."""
    import visqol
    program, folder, which, seed = job
    x = sounds.played(which)
    call = simulated.Call(2.5, rows.pcm().options)
    heard = simulated.run(program, Path(folder), call, rows.FIVE, seed, x, 3)
    whole = len(x) // concealment.PACKET * concealment.PACKET
    judge = visqol.VisqolApi()
    judge.create(mode="audio")
    sound = {"ours": heard.sound[:whole]} | dict(concealment.rivals(x[:whole], heard.lost[:whole // concealment.PACKET]))
    return which, {who: (judge.measure_from_arrays(x[:whole].mean(1), y.mean(1), sounds.RATE).moslqo,
                         10 * np.log10(np.sum((y - x[:whole]) ** 2) / np.sum(x[:whole] ** 2))) for who, y in sound.items()}


class Table:
    """Runs rows, and writes them one a line."""

    def __init__(self, program, pool, scratch, clips, seeds, is_check):
        self.program, self.pool, self.scratch, self.seeds, self.is_check = program, pool, scratch, seeds, is_check
        self.margin = CHECK_MARGIN if is_check else 0
        self.x, self.spans = sounds.said(clips)
        self.good = True
        self.count = 0

    def folder(self):
        self.count += 1
        return str(self.scratch / str(self.count))

    def start(self, row, seeds, others=False):
        return [self.pool.submit(task, (self.program, self.folder(), row, seed, self.x, self.spans, others and seed == 1))
                for seed in seeds]

    def part(self, title, calm, listed, others=False):
        if not self.is_check:
            print(f"\n## {title}\n")
            print("| Lost | Call | PESQ-WB | eSTOI | Mouth to ear | Added | Payload | Lost, recovered, concealed | Limit |")
            print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        runs = [(calm, self.start(calm, self.seeds[:1]))]
        runs += [(row, self.start(row, self.seeds, others and row.network.share > 0 and row is listed[0])) for row in listed]
        # Where a call without losses has another codec or dial, its delay is measured too.
        calms = {row.call.options: self.pool.submit(task, (
            self.program, self.folder(), rows.Row("", row.call, rows.CLEAN), 1, self.x, self.spans, False))
            for row in listed}
        for row, jobs in runs:
            results = [job.result() for job in jobs]
            still = (calms[row.call.options].result() if row is not calm else results[0])[1]
            self.line(row, results, still)
            theirs = results[0][0]
            for who in theirs:
                if who != "ours":
                    print(f"| {row.network.name} | PCM, {who}, the first seed (ours {theirs['ours'][0]:.2f}) | "
                          f"{theirs[who][0]:.2f} | {theirs[who][1]:.3f} | | | | | |", flush=True)

    def line(self, row, results, still):
        pesq, stoi = np.mean([found["ours"] for found, _ in results], 0)
        delay = np.mean([heard.delay for _, heard in results])
        added = delay - still.delay
        rate = np.mean([heard.rate for _, heard in results])
        shares = [np.mean([getattr(heard, name) for _, heard in results]) * 100 for name in ("loss", "recovered", "concealed")]
        limits, good = [], True
        for value, limit, words, least in [(pesq, row.pesq, "PESQ at least {}", True), (added, row.added, "at most {} ms", False),
                                           (rate, row.rate, "{} kb/s", False)]:
            if not limit:
                continue
            limits.append(words.format(limit))
            good &= value >= limit - (self.margin if least else 0) if least else round(value, 1) <= limit
        self.good &= good
        verdict = ", ".join(limits) + ("" if good else ": **missed**") if limits else ""
        if self.is_check:
            return print(f"scenario {'passed' if good else 'FAILED'}: playout: {row.network.name} lost, {row.name}: PESQ-WB {pesq:.2f}, "
                         f"eSTOI {stoi:.3f}, {added:+.1f} ms, {rate:.1f} kb/s, lost, recovered, concealed "
                         + ", ".join(f"{s:.2f} %" for s in shares) + (f" ({verdict}; PESQ {self.margin} less for few seeds)"
                                                                     if limits else ""), flush=True)
        lows = [found["ours"][0] for found, _ in results]
        print(f"| {row.network.name} | {row.name} | {pesq:.2f} ({min(lows):.2f} to {max(lows):.2f}) | {stoi:.3f} | "
              f"{delay:.1f} ms | {added:+.1f} ms | {rate:.1f} kb/s | " + ", ".join(f"{s:.2f} %" for s in shares) +
              f" | {verdict} |", flush=True)

    def music(self):
        print("\n## Music, PCM in packets of 2.5 ms without redundancy, 5 % lost: ViSQOL, and the error in dB\n")
        for which, found in self.pool.map(music_task, [(self.program, self.folder(), which, seed + 1)
                                                       for seed, which in enumerate(concealment.MUSIC)]):
            good = all(found["ours"][0] > value[0] for who, value in found.items() if who != "ours")
            self.good &= good
            print(f"- {which}: " + ", ".join(f"{who} {a:.3f} ({b:.1f} dB)" for who, (a, b) in found.items()) +
                  ("" if good else ": **missed**"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor() as pool:
        seeds = range(1, 3 if options.check else options.seeds + 1)
        table = Table(options.program, pool, Path(scratch), sounds.CLIPS, seeds, options.check)
        chosen = (lambda all: [row for row in all if row.check]) if options.check else (lambda all: all)
        table.part("Speech, Opus at 24 kb/s in packets of 20 ms", rows.CALM, chosen(rows.SPEECH))
        table.part("Speech, packets of 2.5 ms", rows.CALM_PCM, chosen(rows.PCM), others=not options.check)
        if not options.check:
            table.music()
    return 0 if table.good else 1


if __name__ == "__main__":
    sys.exit(main())
