# SPDX-License-Identifier: Apache-2.0
"""The places of a source that can be changed, and what each can be changed into."""
import bisect
import collections
import random
import re

from bodies import DECLARATIONS, Code

Site = collections.namedtuple("Site", "file start end kind replacements")

SWAPS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&+": ["&-"], "&-": ["&+"], "&*": ["&+"],
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "===": ["!=="], "!==": ["==="], "&&": ["||"], "||": ["&&"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "&+=": ["&-="], "&-=": ["&+="],
    "..<": ["..."], "...": ["..<"], ".<": [".<="], ".>": [".>="], ".<=": [".<"], ".>=": [".>"], ".==": [".!="],
    ".!=": [".=="],
}  # fmt: skip
COMPARISONS = {"<", "<=", ">", ">=", "==", "!=", "===", "!=="}
NUMBERS = {"Int", "UInt", "Float", "Double", "CInt"} | {f"{u}Int{n}" for u in ("", "U") for n in (8, 16, 32, 64)}
NOT_STATEMENTS = DECLARATIONS | set(
    "let var if guard while for switch return throw break continue fallthrough do repeat defer func typealias import case"
    " default init deinit subscript get set willSet didSet public private internal fileprivate static mutating"
    " nonisolated indirect final override lazy weak unowned where else catch associatedtype consuming borrowing yield"
    .split()
)
CONTRACTS = {"precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError"}


def is_binary(token):
    return token.kind == "operator" and token.spaced_before and token.spaced_after


def other_numbers(text):
    digits = text.replace("_", "")
    if re.fullmatch(r"\d+|0x[0-9A-Fa-f]+|0b[01]+|0o[0-7]+", digits):
        value = int(digits, 0 if digits[:1] == "0" and len(digits) > 1 and digits[1].isalpha() else 10)
        form = hex if digits.startswith("0x") else str
        return [form(other) for other in dict.fromkeys((value + 1, value * 2, 0)) if other != value]
    if "x" in digits or "p" in digits:
        return []
    value = float(digits)
    return [repr(other) for other in dict.fromkeys((value + 1, value * 2, 0.0)) if other != value]


def neutral_values(returned):
    returned = (returned or "").removeprefix("sending ").strip()
    if returned == "Bool":
        return ["true", "false"]
    if returned in NUMBERS:
        return ["0"]
    if returned.endswith("?"):
        return ["nil"]
    if returned == "String":
        return ['""']
    return ["[]"] if re.fullmatch(r"\[[^:]*\]", returned) else []


def token_sites(code, file):
    for token in code.tokens:
        before, after = code.at(token.index - 1), code.at(token.index + 1)
        if is_binary(token) and token.text in SWAPS:
            yield Site(file, token.start, token.end, "operator", SWAPS[token.text])
        elif token.text in ("..<", "..."):
            if before.text not in ("(", "[", ",") and after.text not in (")", "]", ",") and not token.spaced_before:
                yield Site(file, token.start, token.end, "operator", SWAPS[token.text])
        elif token.text == "!" and token.kind == "operator" and not token.spaced_after:
            yield Site(file, token.start, token.end, "operator", [""])
        elif token.kind == "number" and not (before.text == "." and not token.spaced_before):
            if others := other_numbers(token.text):
                yield Site(file, token.start, token.end, "number", others)
        elif token.text in ("true", "false") and before.text != ".":
            yield Site(file, token.start, token.end, "boolean", ["false" if token.text == "true" else "true"])


def condition_sites(code, file):
    for token in code.tokens:
        if token.text not in ("if", "guard", "while") or code.at(token.index - 1).text in (".", "#"):
            continue
        clause, index = [], token.index + 1
        while index < len(code.tokens):
            part = code.tokens[index]
            if part.text in (",", "{", "else"):
                yield from negated(code, file, clause)
                clause = []
                if part.text != ",":
                    break
            elif part.text in ("}", ")", ";"):
                break
            else:
                clause.append(part)
                if part.text in "([" and part.partner:
                    clause.append(part.partner)
                    part = part.partner
            index = part.index + 1


def negated(code, file, clause):
    if not clause or clause[0].text in ("let", "var", "case", "#available", "#unavailable"):
        return
    operators = [token.text for token in clause if is_binary(token)]
    if clause[0].text in ("!", "true", "false") and not operators:
        return  # other places are the same change
    if len(operators) == 1 and operators[0] in COMPARISONS:
        return
    start, end = clause[0].start, clause[-1].end
    yield Site(file, start, end, "condition", [f"!({code.text[start:end]})"])


def statement_sites(code, file):
    for index, (kind, returned) in code.bodies.items():
        statements = code.statements(code.tokens[index])
        for first, last in statements:
            start, end = first.start, last.end
            values = [value for value in neutral_values(returned)]
            if first.text == "return" and last is not first:
                expression = code.text[code.at(first.index + 1).start : end]
                values = [value for value in values if value != expression]
                if values and code.at(first.index + 1).text not in ("if", "switch"):
                    yield Site(file, start, end, "return", [f"return {value}" for value in values])
                continue
            is_value = kind == "values" or kind == "function" and len(statements) == 1
            is_returned = is_value and returned not in (None, "Void", "()")
            if is_returned:
                is_plain = first is last and first.kind in ("number", "string") or first.text in NOT_STATEMENTS
                values = [value for value in values if value != code.text[start:end]]
                if values and not is_plain:
                    yield Site(file, start, end, "return", values)
            elif is_deletable(code, first, last):
                yield Site(file, start, end, "statement", ["_ = ()"])


def is_deletable(code, first, last):
    if first.text in NOT_STATEMENTS or first.text in CONTRACTS or first.kind not in ("word", "bracket"):
        return False
    level = code.level(first, last)
    operators = [token for token in level if token.kind == "operator" and token.text not in (".",)]
    assignments = [
        token
        for token in operators
        if token.spaced_before and token.text.endswith("=") and token.text not in COMPARISONS and token.text != ".=="
    ]
    if assignments:
        return assignments[0] is operators[0]
    is_call = last.text == ")" or last.text == "}" and last.partner is not first
    return is_call and not [token for token in operators if token.spaced_before] and first.text != "{"


def sites_of(text, file):
    code = Code(text)
    found = {}
    for site in [*token_sites(code, file), *condition_sites(code, file), *statement_sites(code, file)]:
        found.setdefault((site.start, site.end, site.kind), site)
    return sorted(found.values(), key=lambda site: (site.start, site.end))


class Mutant:
    def __init__(self, site, after, text):
        self.file, self.start, self.end, self.kind = site.file, site.start, site.end, site.kind
        self.before, self.after = text[site.start : site.end], after
        lines = [match.end() for match in re.finditer("\n", text)]
        self.line = bisect.bisect_right(lines, site.start) + 1
        self.source = text.splitlines()[self.line - 1].strip()

    @property
    def key(self):
        return f"{self.file}:{self.start}:{self.end}:{self.after}"

    def applied(self, text):
        return text[: self.start] + self.after + text[self.end :]


def draws(sources, seed):
    """Every place once, in an order that the seed alone gives, each with one of its changes."""
    sites = [site for file, text in sorted(sources.items()) for site in sites_of(text, file)]
    generator = random.Random(seed)
    generator.shuffle(sites)
    return [Mutant(site, generator.choice(site.replacements), sources[site.file]) for site in sites]
