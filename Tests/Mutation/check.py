# SPDX-License-Identifier: Apache-2.0
"""The mutation check of a layer: draws, builds, runs, records."""
import collections
import os
import platform
import sys
import time

from layer import Failure, Layer
from places import draws
from results import Results, place, report, shown_change
from runs import become_reaper


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def run(options):
    layer = Layer(options.layer, options.parallel, options.skip)
    results = Results(layer, options.seed)
    mutants = draws(layer.sources, options.seed)
    if options.list:
        show_draws(mutants, options.count)
        return
    if options.report or options.survivors:
        if not results.header:
            raise Failure(f"Nothing is recorded in {results.path}.")
    if options.report:
        print(report(results))
        return
    if options.resume or options.survivors:
        if results.header and results.header["sources"] != layer.digest:
            raise Failure(f"The layer's sources are not those of {results.path}. Start again without --resume.")
    elif results.path.exists():
        results.path.replace(f"{results.path}.old")
        results = Results(layer, options.seed)
    become_reaper()
    layer.prepare()
    say(f"==> {layer.name} unchanged")
    seconds = layer.try_unchanged()
    say(f"==> its tests pass in {seconds:.0f} s")
    if not results.header:
        machine = f"{platform.machine()}, {os.cpu_count()} cores"
        results.header = {"layer": layer.name, "seed": options.seed, "sources": layer.digest, "machine": machine,
                          "skipped": options.skip, "date": time.strftime("%Y-%m-%d"), "test": round(seconds, 1)}  # fmt: skip
        results.write(results.header)
    survivors = {entry["key"] for entry in results.of("survived") if not results.noticed_since(entry)}
    for mutant in mutants:
        if options.survivors:
            if mutant.key not in survivors:
                continue
        elif mutant.key in results.records:
            continue
        elif len(results.counted) >= options.count:
            break
        entry = try_mutant(layer, mutant) | ({"again": True} if options.survivors else {})
        results.write(entry)
        shown = {"noticed": f"{entry.get('how')}: {entry.get('by')}", "survived": "SURVIVED"}.get(entry["result"], entry["result"])
        number = f"{len(results.counted)}/{options.count}"
        say(f"{number:>6} {place(entry)}  {shown_change(entry)}  {shown}  {entry['build']} + {entry.get('test', 0)} s")
    print(report(results))


def show_draws(mutants, count):
    for mutant in mutants[:count]:
        print(f"{place(vars(mutant)):44} {shown_change(vars(mutant))}")
    kinds = collections.Counter(mutant.kind for mutant in mutants)
    print(f"{len(mutants)} places: {', '.join(f'{number} {kind}s' for kind, number in kinds.most_common())}")


def try_mutant(layer, mutant):
    """Tries a change, with the layer alone compiled anew; a survivor once more with all else, where that may keep code of it."""
    entry = {
        "key": mutant.key, "file": mutant.file, "line": mutant.line, "kind": mutant.kind, "before": mutant.before,
        "after": mutant.after, "source": mutant.source, "build": 0, "test": 0,
    }  # fmt: skip
    copy, text = layer.tree / mutant.file, layer.sources[mutant.file]
    suites = layer.first_suites(mutant.file)
    try:
        copy.write_text(mutant.applied(text), encoding="utf-8")
        for build in (layer.build_layer, layer.build) if layer.is_inlined_elsewhere else (layer.build_layer,):
            begin = time.monotonic()
            compiles, _ = build()
            entry["build"] = round(entry["build"] + time.monotonic() - begin, 1)
            if not compiles:
                return entry | {"result": "does not compile"}
            how, by, seconds, _ = layer.run_tests(suites)
            entry["test"] = round(entry["test"] + seconds, 1)
            if how:
                return entry | {"result": "noticed", "how": how, "by": by}
        return entry | {"result": "survived"}
    finally:
        copy.write_text(text, encoding="utf-8")
        if build == layer.build:
            layer.build()
