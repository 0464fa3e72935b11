// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// Tests the sentences about whose voices are in a recording, in any order of the events.
@Suite struct RecordingNoticesTests {
    private static func participant(_ number: UInt64, _ name: String, _ answer: Bool?) throws -> Participant {
        let member = Member(
            id: try #require(MemberID(number)), name: try PeerName(name), key: nil, addresses: [], port: 0)
        var participant = Participant(member, isHost: false)
        participant.allowsRecording = answer
        return participant
    }

    private let undecided = "Bob has not answered. Until then Bob is silent in the recording."
    private let declined = "Bob declined and is silent in the recording."

    @Test func `a participant is named once, though the arrival is printed after the beginning, or before it`() throws {
        let bob = try Self.participant(2, "Bob", nil)
        var notices = RecordingNotices()
        #expect(notices.noteArrival(of: bob).isEmpty)
        #expect(notices.begin(with: [bob]) == [undecided])
        #expect(notices.noteArrival(of: bob).isEmpty)
        #expect(
            notices.noteArrival(of: try Self.participant(3, "Cleo", false))
                == ["Cleo declined and is silent in the recording."])
    }

    @Test func `a singer who agreed to a take is not named, though the answer is still on the way`() throws {
        let bob = try Self.participant(2, "Bob", nil)
        var notices = RecordingNotices()
        #expect(notices.begin(with: [bob], agreed: [bob.id]).isEmpty)
        #expect(notices.noteAnswer(of: try Self.participant(2, "Bob", true)).isEmpty)
        #expect(notices.noteAnswer(of: try Self.participant(2, "Bob", false)) == [declined])
        #expect(notices.begin(with: [try Self.participant(2, "Bob", false)], agreed: [bob.id]) == [declined])
    }

    @Test func `each change of an answer is printed once`() throws {
        let answers = try ([nil, false, true] as [Bool?]).map { try Self.participant(2, "Bob", $0) }
        var notices = RecordingNotices()
        #expect(notices.begin(with: [answers[0]]) == [undecided])
        for _ in 0..<2 {
            #expect(notices.noteAnswer(of: answers[1]) == [declined] && notices.noteAnswer(of: answers[1]).isEmpty)
            #expect(notices.noteAnswer(of: answers[2]) == ["Bob allows recording."])
            #expect(notices.noteAnswer(of: answers[2]).isEmpty)
        }
        #expect(notices.noteAnswer(of: answers[0]) == [undecided])
    }

    @Test func `an answer that the beginning has named is not printed again, nor is one outside a recording`() throws {
        let bob = try Self.participant(2, "Bob", false)
        var notices = RecordingNotices()
        #expect(notices.noteAnswer(of: bob).isEmpty)
        #expect(notices.begin(with: [bob]) == [declined])
        #expect(notices.noteAnswer(of: bob).isEmpty)
        notices.end()
        #expect(notices.noteAnswer(of: try Self.participant(2, "Bob", true)).isEmpty)
        #expect(notices.noteArrival(of: try Self.participant(3, "Cleo", nil)).isEmpty)
        #expect(notices.begin(with: [bob, try Self.participant(3, "Cleo", true)]) == [declined])
    }
}
