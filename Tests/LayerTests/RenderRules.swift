// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Finds the functions by which the render thread enters Swift, and checks that the compiler proves their code.
///
/// The engine, units and decoders give the render thread C function pointers, which a `@_noLocks` function may call without
/// proof. So each pointer must be a one-line thunk that calls one function of a state, and that function must be `@_noLocks`. The
/// compiler then proves everything it calls.
struct RenderRules {
    /// The functions that call a client's own block, which cannot be proven. RealtimeSanitizer checks it.
    static let exceptions: Set<String> = ["CallbackState.process", "SinkState.process"]

    /// The functions that the render thread enters, as `Type.function`.
    private(set) var entries: Set<String> = []
    /// The violations, each a sentence.
    private(set) var violations: [String] = []
    private let files: [(name: String, code: String)]

    /// - Parameter files: the name and source of every file of one module.
    init(_ files: [(name: String, source: String)]) {
        self.files = files.map { ($0.name, ImportScanner.code($0.source)) }
        for file in self.files {
            readEngineThunks(file.code, file.name)
            readUnitThunks(file.code, file.name)
            readDecoderThunks(file.code, file.name)
        }
        for entry in entries.sorted() where !Self.exceptions.contains(entry) { check(entry) }
    }

    private mutating func readEngineThunks(_ code: String, _ file: String) {
        for match in code.matches(of: /static (?:var|let) (\w+)\s*:\s*RenderFunction\b/) {
            let body = Self.words(Self.braces(code[match.range.upperBound...]))
            let thunk =
                /\{ \{ (\w+), (\w+) in (\w+)\.assumingMemoryBound\(to: (\w+)\.self\)\.pointee\.(\w+)\( ?(\w+)\.assumingMemoryBound\(to: RenderCall\.self\)(?:\.pointee)?\) \} \}/
            if let found = body.wholeMatch(of: thunk), found.1 == found.3, found.2 == found.6 {
                entries.insert("\(found.4).\(found.5)")
            } else {
                violations.append("\(file): \(match.1) is not a thunk of one line")
            }
        }
        for match in code.matches(of: /\{ _, _ in/) where code.contains("RenderMemory(") {
            if Self.words(Self.braces(code[match.range.lowerBound...])) != "{ _, _ in }" {
                violations.append("\(file): a render function is written in the place where it is used")
            }
        }
    }

    private mutating func readUnitThunks(_ code: String, _ file: String) {
        for match in code.matches(of: /UnitFunctions\(\s*set:/) {
            let owner = Self.owner(code[..<match.range.lowerBound])
            let body = Self.words(Self.parentheses(code[match.range.lowerBound...]))
            let thunk =
                /UnitFunctions\( ?set: \{ \$0\.assumingMemoryBound\(to: (\w+)\.self\)\.pointee\.set\(\$1, over: \$2\) \}, process: \{ state, block in state\.assumingMemoryBound\(to: (\w+)\.self\)\.pointee\.process\( ?block\.assumingMemoryBound\(to: UnitBlock\.self\)\.pointee\) \}, reset: \{ \$0\.assumingMemoryBound\(to: (\w+)\.self\)\.pointee\.reset\(\) \}\)/
            guard let found = body.wholeMatch(of: thunk) else {
                violations.append("\(file): the functions of \(owner) are not thunks of one line")
                continue
            }
            for (type, name) in [(found.1, "set"), (found.2, "process"), (found.3, "reset")] {
                entries.insert("\(type == "Self" ? owner : String(type)).\(name)")
            }
        }
    }

    private mutating func readDecoderThunks(_ code: String, _ file: String) {
        for match in code.matches(of: /RenderDecoderFunctions\(\s*decode:/) {
            let body = Self.words(Self.parentheses(code[match.range.lowerBound...]))
            let thunk =
                /(\w+): \{ \$0\.assumingMemoryBound\(to: (\w+)\.self\)\.pointee\.(\w+)\((?: ?\$1\.assumingMemoryBound\(to: DecoderCall\.self\)\.pointee)?\) \}/
            let found = body.matches(of: thunk)
            let rest = found.reduce(body) { $0.replacing($1.0, with: "") }
            guard found.allSatisfy({ $0.1 == $0.3 }), rest.allSatisfy({ "RenderDecoderFunctions(), ".contains($0) })
            else {
                violations.append("\(file): the functions of a decoder are not thunks of one line")
                continue
            }
            for thunk in found { entries.insert("\(thunk.2).\(thunk.3)") }
        }
    }

    /// Checks that the function exists and that every function of its name in the type is proven.
    private mutating func check(_ entry: String) {
        let parts = entry.split(separator: ".").map(String.init)
        var found = false
        for file in files {
            for type in file.code.matches(of: /\b(?:struct|class|extension) ([\w.]+)/)
            where type.1.split(separator: ".").last.map(String.init) == parts[0] {
                let body = Self.braces(file.code[type.range.upperBound...])
                for function in body.matches(of: /\bfunc (\w+)\b/) where function.1 == parts[1] {
                    found = true
                    if !Self.attributes(body[..<function.range.lowerBound]).contains("@_noLocks") {
                        violations.append("\(file.name): \(entry) runs on the render thread without @_noLocks")
                    }
                }
            }
        }
        if !found { violations.append("\(entry) runs on the render thread and was not found") }
    }

    /// Returns the attributes of a declaration, which are at the end of the text before it.
    private static func attributes(_ before: Substring) -> Substring {
        var lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        var result: [Substring] = [lines.popLast() ?? ""]
        while let line = lines.popLast(), line.trimmingPrefix(while: \.isWhitespace).hasPrefix("@") {
            result.append(line)
        }
        return Substring(result.joined(separator: " "))
    }

    /// Returns the type in whose declaration or extension the text ends.
    private static func owner(_ before: Substring) -> String {
        let types = before.matches(of: /\b(?:struct|class|extension) ([\w.]+)/)
        return types.last.flatMap { $0.1.split(separator: ".").last.map(String.init) } ?? ""
    }

    private static func braces(_ text: Substring) -> Substring { enclosed(text, "{", "}") }
    private static func parentheses(_ text: Substring) -> Substring { enclosed(text, "(", ")") }

    /// Returns the text up to the bracket that closes the first one.
    private static func enclosed(_ text: Substring, _ open: Character, _ close: Character) -> Substring {
        var depth = 0
        var start = text.startIndex
        if open == "{", let first = text.firstIndex(of: open) { start = first }
        for index in text[start...].indices {
            if text[index] == open { depth += 1 }
            if text[index] == close {
                depth -= 1
                if depth == 0 { return text[start...index] }
            }
        }
        return text[start...]
    }

    /// Returns the text with single spaces, and none before a dot.
    private static func words(_ text: Substring) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing(" .", with: ".")
    }
}
