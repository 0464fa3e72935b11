// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation
import Testing

@testable import EarshotLiveCall

/// Files of a recording that cannot be created.
@Suite struct RecordingFailureTests {
    @Test func `a person whose file cannot be created is reported once`() throws {
        let folder = NSTemporaryDirectory() + "earshot-failure-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var party = RecordingParty(name: "Ann")
        let writer = try CallRecordingWriter(
            CallRecording(MessageQueue(capacity: 64), sampleRate: 48_000, channelCount: 1), folder: folder,
            CallRecordingSettings(), party: party, room: "Blue Room")
        // The disk is gone when Bob joins.
        try FileManager.default.removeItem(atPath: folder)
        party.participants = [
            RecordedParticipant(
                peer: PeerID(2), key: CoreRig.key(2), name: "Bob", allowsRecording: true, isPresent: true)
        ]
        var errors: [AudioFileError] = []
        for _ in 0..<20 {
            writer.update(party)
            writer.work(at: .now())
            errors += writer.takeErrors()
        }
        #expect(errors.count == 1, "\(errors.prefix(3))")
        _ = writer.finish(at: .now())
    }
}
