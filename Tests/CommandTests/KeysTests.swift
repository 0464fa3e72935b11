// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import earshot

@Suite struct KeyParserTests {
    private func keys(_ text: String, pieces: Int) -> [Key] {
        var parser = KeyParser()
        var found: [Key] = []
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            parser.take(bytes.prefix(pieces))
            bytes = bytes.dropFirst(pieces)
            while let key = parser.next() { found.append(key) }
        }
        while let key = parser.next(isComplete: true) { found.append(key) }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 100]) func `keys are recognised in input of any chunk size`(pieces: Int) {
        let text = "p \u{1B}[A\u{1B}[1;2D\u{1B}OCé\u{1B}[5~\n\u{7F}\u{1B}[3~𝄞\u{1B}"
        #expect(
            keys(text, pieces: pieces) == [
                .character("p"), .character(" "), .up, .left, .right, .character("é"), .pageUp, .enter, .backspace,
                .delete, .character("𝄞"), .escape,
            ])
    }

    @Test func `input that is not a key is skipped`() {
        #expect(keys("\u{1}\u{1B}[99~\u{1B}[?1;2cq", pieces: 100) == [.character("q")])
        var parser = KeyParser()
        parser.take([0xFF, 0xC3, 0x28, 0x71])
        #expect(parser.next() == .character("(") && parser.next() == .character("q") && parser.next() == nil)
        parser.take([0x1B, UInt8(ascii: "[")] + [UInt8](repeating: 0x31, count: 100))
        #expect(parser.next() == nil && !parser.isWaiting)
    }
}

@Suite(.serialized, .realTime) struct KeysTests {
    @Test func `a terminal delivers each key and is restored afterwards`() throws {
        let terminal = try PseudoTerminal()
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(descriptor) }
        var keys = KeyboardInput(descriptor)
        #expect(keys != nil && !terminal.isInLineMode)
        terminal.type("p\u{1B}[C")
        #expect(keys?.next(within: 1) == .character("p"))
        #expect(keys?.next(within: 1) == .right && keys?.next() == nil)
        terminal.type("\u{1B}")
        #expect(keys?.next(within: 1) == nil && keys?.next(within: 1) == .escape)
        keys = nil
        #expect(terminal.isInLineMode)
        #expect(!terminal.text.contains("p"))  // no echo
    }

    @Test func `a file is not accepted as a terminal`() throws {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        #expect(KeyboardInput(descriptor) == nil)
    }
}
