# SPDX-License-Identifier: Apache-2.0
"""The bodies of code in a source of Swift, what they return, and their statements."""
import re

from tokens import Token, tokens

DECLARATIONS = {"struct", "class", "enum", "extension", "protocol", "actor"}

class Code:
    """A source file's braces: which are bodies of code, what they return, and their statements."""

    def __init__(self, text):
        self.text, self.tokens = text, tokens(text)
        self.bodies = {}  # index of `{` -> (type, function, branch, switch, values or closure; return type or None)
        self.classify()

    def at(self, index):
        return self.tokens[index] if 0 <= index < len(self.tokens) else Token("mark", "", len(self.text))

    def body(self, index, stop=None, end=None):
        """The first `{` behind `index` that is in no bracket; None where `stop` or `end` comes first."""
        while index < len(self.tokens) and (end is None or index < end):
            token = self.tokens[index]
            if token.text == "{":
                return token
            if token.text in ("}", ")", "]") or (stop and stop(token)):
                return None
            index = token.partner.index + 1 if token.text in "([" and token.partner else index + 1
        return None

    def classify(self):
        claimed, stack = {}, []
        for token in self.tokens:
            if token.text == "{":
                kind, returned = claimed.get(token.index, ("closure", None))
                if returned == "inherited":
                    returned = stack[-1][1] if stack and stack[-1][0] != "type" else None
                stack.append((kind, returned))
                self.bodies[token.index] = (kind, returned)
            elif token.text == "}" and stack:
                stack.pop()
            elif token.kind == "word" and self.at(token.index - 1).text != ".":
                self.claim(token, claimed)

        for index, (kind, returned) in list(self.bodies.items()):
            if kind == "function" and returned not in (None, "Void", "()"):
                self.note_values(index, returned)

    def note_values(self, index, returned):
        """The branches of a `switch` that is all a function has are values and no statements."""
        statements = self.statements(self.tokens[index])
        if len(statements) == 1 and statements[0][0].text == "switch":
            brace = self.body(statements[0][0].index + 1)
            if brace:
                self.bodies[brace.index] = ("values", returned)

    def claim(self, token, claimed):
        word, after = token.text, token.index + 1
        kind, returned, brace = "function", None, None
        if word in DECLARATIONS and self.at(after).kind == "word" and self.at(after).text not in ("func", "var", "let"):
            kind, brace = "type", self.body(after)
        elif word in ("func", "subscript", "init", "deinit"):
            brace = self.body(after, stop=lambda t: t.text in ("func", "var", "let", "init", "case") and t.starts_line)
            returned = self.returned(after, brace) if brace and word in ("func", "subscript") else None
        elif word == "var" and self.at(after + 1).text == ":":
            brace = self.body(after + 2, stop=lambda t: t.text in ("=", ",") or t.starts_line and t.text != "{")
            returned = self.text[self.at(after + 2).start : brace.start].strip() if brace else None
        elif word == "get" and self.at(after).text == "{":
            brace, returned = self.at(after), "inherited"
        elif word in ("if", "while", "for", "else", "do", "repeat", "defer", "catch", "switch"):
            brace, returned = self.body(after, stop=lambda t: t.text == "if" and word == "else"), "inherited"
            kind = "switch" if word == "switch" else "branch"
        if brace:
            claimed.setdefault(brace.index, (kind, returned))

    def returned(self, index, brace):
        while index < brace.index:
            token = self.tokens[index]
            if token.text == "->":
                return re.split(r"\bwhere\b", self.text[token.end : brace.start])[0].strip()
            index = token.partner.index + 1 if token.text in "([" and token.partner else index + 1
        return None

    def statements(self, brace):
        """(first, last) token of each statement directly in a body of code."""
        kind, _ = self.bodies[brace.index]
        if kind == "type" or not brace.partner:
            return []
        found, first, index = [], None, brace.index + 1
        end = brace.partner.index
        index = self.behind_signature(index, end)
        last = None
        in_label = False
        while index < end:
            token = self.tokens[index]
            if kind in ("switch", "values") and token.text in ("case", "default") and (first is None or token.starts_line):
                if first:
                    found.append((first, last))
                first, in_label = None, True
            elif in_label:
                in_label = token.text != ":"
            elif token.text == ";" or first and token.starts_line and not self.continues(last, token):
                found.append((first, last))
                first = None if token.text == ";" else token
            elif first is None:
                first = token
            last = token.partner if token.text in "([{" and token.partner else token
            index = last.index + 1
        if first:
            found.append((first, last))
        return found

    def behind_signature(self, index, end):
        """A closure's first statement comes after its `in`, which is on the brace's line."""
        at = index
        while at < end and (at == index or not self.tokens[at].starts_line):
            token = self.tokens[at]
            if token.text == "in":
                return at + 1
            if token.text in ("if", "for", "while", "{", "=", "return", "guard", "let", "var"):
                break
            at = token.partner.index + 1 if token.text in "([" and token.partner else at + 1
        return index

    @staticmethod
    def continues(last, token):
        if token.text in ("else", "catch", "{", ":", "?", "??", ")") or token.text.startswith("."):
            return True
        if token.kind == "operator" and token.spaced_after or token.text in ("as", "is", "where"):
            return True
        return last.kind == "operator" and last.spaced_before or last.text in (",", ":", "?", "(", "->", "return", "in")

    def level(self, first, last):
        """The tokens of a range that are in none of its brackets, and their brackets."""
        index, found = first.index, []
        while index <= last.index:
            token = self.tokens[index]
            found.append(token)
            index = token.partner.index + 1 if token.text in "([{" and token.partner else index + 1
        return found
