// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms
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

    @Test(
        arguments: [
            (1, "0 dB"), (0.5, "-6 dB"), (0.98, "0 dB"), (2, "+6 dB"), (8, "+18 dB"), (0.001, "-60 dB"), (0, "silent"),
        ] as [(Float, String)])
    func `a volume is shown in decibels`(volume: Float, shown: String) {
        #expect(VolumeSentences.text(volume) == shown)
    }

    @Test func `sentences tell the volume of a participant, and whether it is heard`() throws {
        let member = Member(
            id: try #require(MemberID(2)), name: try PeerName("Ben"), key: nil, addresses: [], port: 0)
        var ben = Participant(member, isHost: false)
        #expect(VolumeSentences.volume(of: ben) == "Ben: 0 dB" && VolumeSentences.playback(0.5) == "Playback: -6 dB")
        #expect(VolumeSentences.heard(ben) == "You hear Ben.")
        #expect(VolumeSentences.remembered(ben, hasKeys: true) == nil)
        ben.volume = 0.5
        #expect(VolumeSentences.remembered(ben, hasKeys: false) == "Ben: -6 dB, as before.")
        ben.isHeard = false
        #expect(VolumeSentences.volume(of: ben) == "Ben: not heard")
        #expect(VolumeSentences.heard(ben) == "You do not hear Ben. Press v to hear Ben again.")
        #expect(VolumeSentences.remembered(ben, hasKeys: false) == "You do not hear Ben, as before.")
        #expect(
            VolumeSentences.remembered(ben, hasKeys: true)
                == "You do not hear Ben, as before. To hear Ben: select with ↑ or ↓, then press v.")
    }
}
