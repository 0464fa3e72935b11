// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Testing

@testable import earshot

/// Tests the printed lines of others, and the user's answers.
@Suite struct RoomPresenterTests {
    @Test(arguments: [
        ("hello", "Bob: hello"), ("a\nAnn: yes", "Bob: a\nBob: Ann: yes"),
        ("a\r\n\n\nb\u{2028}c\u{85}d\r", "Bob: a\nBob: b\nBob: c\nBob: d"),
        ("\n\n", "Bob: "), ("", "Bob: "),
    ]) func `no line of a message can be mistaken for another participant's`(text: String, shown: String) {
        #expect(EventSentences.lines(text, of: "Bob") == shown)
    }

    @Test func `a number selects one of two requesting guests with the same name`() {
        #expect(RoomInput.index(nil, in: ["Bob"]) == 0 && RoomInput.index(nil, in: ["Bob", "Cleo"]) == nil)
        #expect(RoomInput.index("Cleo", in: ["Bob", "Cleo"]) == 1 && RoomInput.index("Dora", in: ["Bob"]) == nil)
        #expect(
            RoomInput.index("Bob", in: ["Bob", "Bob"]) == nil && RoomInput.index("2", in: ["Bob", "Bob"]) == 1)
        // Nobody is admitted by a name that is another guest's number.
        #expect(RoomInput.index("1", in: ["Bob", "1"]) == 0 && RoomInput.index("2", in: ["Bob", "1"]) == 1)
        #expect(RoomInput.index("7", in: ["7"]) == 0 && RoomInput.index("0", in: ["Bob"]) == nil)
        #expect(RoomInput.index(nil, in: []) == nil && RoomInput.index("1", in: []) == nil)
    }
}
