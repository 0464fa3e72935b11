# SPDX-License-Identifier: Apache-2.0
"""Tokens of Swift: enough of the language to tell operators, numbers and statements from strings and comments."""
import platform
import re


class Token:
    """A word, number, string, operator or bracket of a source; comments are none."""

    __slots__ = ("kind", "text", "start", "end", "spaced_before", "spaced_after", "starts_line", "partner", "index")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.spaced_before = self.spaced_after = self.starts_line = False
        self.partner = None

    def __repr__(self):
        return f"{self.kind}:{self.text}"


NUMBER = re.compile(
    r"0x[0-9A-Fa-f_]+(?:\.[0-9A-Fa-f_]+)?(?:[pP][+-]?\d+)?|0b[01_]+|0o[0-7_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?"
)
WORD = re.compile(r"[@#$]?[A-Za-z_]\w*|\$\d+|`[^`\n]*`", re.UNICODE)
OPERATOR = re.compile(r"\.[.<>=&|^!*/+-]+<?|[-/=+!*%<>&|^~?]+|\.")


def end_of_string(text, at):
    """The index behind the string literal that begins at `at` with quotes or number signs."""
    marks = len(re.match("#*", text[at:]).group())
    quote = '"""' if text.startswith('"""', at + marks) else '"'
    escape, closing = "\\" + "#" * marks, quote + "#" * marks
    at += marks + len(quote)
    while at < len(text):
        if text.startswith(closing, at):
            return at + len(closing)
        if text.startswith(escape, at):
            at += len(escape)
            if text.startswith("(", at):
                at = end_of_interpolation(text, at)
            else:
                at += 1
        else:
            at += 1
    return at


def end_of_interpolation(text, at):
    depth = 0
    while at < len(text):
        if text[at] == '"' or re.match(r'#+"', text[at : at + 4]):
            at = end_of_string(text, at)
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return at


def end_of_comment(text, at):
    """The index behind the nested comment that begins at `at`."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


def is_compiled(condition):
    """True if the lines under this `#if` condition are built here, in release, on Linux."""
    facts = {
        "os(Linux)": True, "canImport(Glibc)": True, "true": True, f"arch({platform.machine()})": True, "arch(arm64)":
        platform.machine() == "aarch64",
    }
    terms = re.split(r"(&&|\|\||!|\s+|\((?=[^()]*[&|])|(?<=\))\))", condition)
    words = []
    for term in filter(None, (term.strip() for term in terms)):
        if term in ("&&", "||", "!", "(", ")"):
            words.append({"&&": "and", "||": "or", "!": "not"}.get(term, term))
        else:
            is_version = re.match(r"(swift|compiler|hasFeature|hasAttribute)\(", term)
            words.append(str(bool(facts.get(term, is_version))))
    try:
        return bool(eval(" ".join(words), {"__builtins__": {}}))  # only True, False, and, or, not and brackets
    except SyntaxError:
        return False


def tokens(text):
    found, at, starts_line, spaced = [], 0, True, True
    branches = []  # of #if: whether this one is built, whether one before it was
    while at < len(text):
        if text[at].isspace():
            starts_line = starts_line or text[at] == "\n"
            spaced = True
            at += 1
            continue
        if text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            continue
        if text.startswith("/*", at):
            at, spaced = end_of_comment(text, at), True
            continue
        directive = re.compile(r"#(if|elseif|else|endif)\b([^\n]*)").match(text, at) if starts_line else None
        if directive:
            name, condition = directive.groups()
            if name == "if":
                built = is_compiled(condition)
                branches.append([built, built])
            elif name == "endif":
                branches.pop()
            else:
                built = not branches[-1][1] and (name == "else" or is_compiled(condition))
                branches[-1] = [built, branches[-1][1] or built]
            at = directive.end()
            continue
        is_string = text[at] == '"' or re.match(r'#+"', text[at : at + 4])
        previous = text[at - 1] if at else " "
        is_postfix = text[at] in "?!" and (previous.isalnum() or previous in ")]}>_`?!\"")
        if is_string:
            token = Token("string", text[at : end_of_string(text, at)], at)
        elif is_postfix:
            token = Token("postfix", text[at], at)
        elif match := NUMBER.match(text, at):
            token = Token("number", match.group(), at)
        elif match := WORD.match(text, at):
            token = Token("word", match.group(), at)
        elif match := OPERATOR.match(text, at):
            token = Token("operator", match.group(), at)
        else:
            token = Token("bracket" if text[at] in "(){}[]" else "mark", text[at], at)
        token.spaced_before, token.starts_line = spaced, starts_line
        token.spaced_after = token.end >= len(text) or text[token.end].isspace()
        if all(built for built, _ in branches):
            found.append(token)
        at, spaced, starts_line = token.end, False, False
    return without_attributes(matched(found))


def matched(found):
    """Tells each bracket its partner."""
    open_brackets = []
    for token in found:
        if token.kind != "bracket":
            continue
        if token.text in "([{":
            open_brackets.append(token)
        elif open_brackets:
            token.partner = open_brackets.pop()
            token.partner.partner = token
    return found


def without_attributes(found):
    kept, skipped_to = [], -1
    for at, token in enumerate(found):
        if token.start < skipped_to:
            continue
        if token.kind == "word" and token.text[0] in "@#":
            following = found[at + 1] if at + 1 < len(found) else None
            if following and following.text == "(" and not following.spaced_before and following.partner:
                skipped_to = following.partner.end
            if token.text[0] == "@":
                if at + 1 < len(found) and skipped_to < token.end:
                    found[at + 1].starts_line |= token.starts_line
                continue
        kept.append(token)
    for index, token in enumerate(kept):
        token.index = index
    return kept
