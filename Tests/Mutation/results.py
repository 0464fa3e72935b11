# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a run, and how docs/figures/mutations.md shows it."""
import collections
import json
import re

from layer import ROOT

PAGE = ROOT / "docs/figures/mutations.md"


class Results:
    """The mutants of a layer and seed that were tried, in a file of one a line."""

    def __init__(self, layer, seed):
        self.path = ROOT / ".build" / "mutate" / f"{layer.name}-{seed}.jsonl"
        self.header, self.records, self.again = None, {}, {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                if "layer" in entry:
                    self.header = entry
                else:
                    self.keep(entry)

    def keep(self, entry):
        (self.again if entry.get("again") else self.records)[entry["key"]] = entry

    def write(self, entry):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        if "key" in entry:
            self.keep(entry)

    def noticed_since(self, entry):
        """What noticed a survivor when it was tried again, if anything did."""
        again = self.again.get(entry["key"], {})
        return f"{again['how']}: {again['by']}" if again.get("result") == "noticed" else None

    @property
    def counted(self):
        return [entry for entry in self.records.values() if entry["result"] != "does not compile"]

    def of(self, result):
        return [entry for entry in self.records.values() if entry["result"] == result]


def clipped(text, length):
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= length else text[: length - 1] + "…"


def shown_change(entry, length=44):
    after = "deleted" if entry["kind"] == "statement" else entry["after"] or "nothing"
    return f"{clipped(entry['before'], length)} → {clipped(after, length)}"


def place(entry):
    return f"{entry['file'].removeprefix('Sources/')}:{entry['line']}"


def row(entry):
    """The cells of a survivor's row on the page but for its judgement."""
    cells = [place(entry), f"`{clipped(entry['source'], 100)}`", f"`{shown_change(entry)}`"]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " | "


def judgements():
    """The judgements on the page, by the start of their rows."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and (match := re.match(r"(.*` \| )(.*) \|$", line)):
            found[match[1]] = match[2]
    return found


def report(results):
    """The line of a run on the page, and the rows of its survivors with the judgements that the page has."""
    header, noticed, counted = results.header, results.of("noticed"), results.counted
    known = judgements()
    rows = {entry["key"]: row(entry) for entry in results.of("survived")}
    judged = {key: known.get(start, "") for key, start in rows.items()}
    equivalent = sum(text.startswith("equivalent") for text in judged.values())
    share = f"{len(noticed)} of {len(counted) - equivalent} that are not equivalent noticed"
    share += f" ({100 * len(noticed) / max(1, len(counted) - equivalent):.0f} %)"
    ways = collections.Counter(entry["how"] for entry in noticed)
    ways_shown = ", ".join(f"{ways[way]} by a {way}" for way in ("test", "crash", "hang") if ways[way]) or "none"
    skipped = f", without `{header['skipped']}`" if header.get("skipped") else ""
    lines = [
        f"- {header['layer']}, seed {header['seed']}, {header['date']}, sources {header['sources']}, {header['machine']}{skipped}:"
        f" {share}: {ways_shown}; {equivalent} equivalent; {len(results.of('does not compile'))} more did not compile"
    ]
    for entry in results.of("survived"):
        since = results.noticed_since(entry)
        judgement = judged[entry["key"]] or (f"hole; noticed now by {since}" if since else "not judged")
        lines.append(f"{rows[entry['key']]}{judgement} |")
    return "\n".join(lines)
