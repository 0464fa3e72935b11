// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import Foundation
import Testing

@testable import EarshotLiveCall

/// Files of a recording that cannot be created.
@Suite struct RecordingFailureTests {
    @Test func `a participant whose file cannot be created is reported once`() throws {
        let folder = try RecordingFolder.create(
            NSTemporaryDirectory() + "earshot-failure-\(UUID().uuidString)", room: "Blue Room")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        var state = RecordedCallState(name: "Ann")
        let writer = try CallRecordingWriter(
            CallRecording(of: processor, sampleRate: 48_000, channelCount: 1), folder: folder,
            CallRecordingSettings(), state: state, room: "Blue Room")
        // Before Bob joins, the folder is deleted.
        try FileManager.default.removeItem(atPath: folder)
        state.participants = [
            RecordedParticipant(
                peer: PeerID(2), key: CoreRig.key(2), name: "Bob", allowsRecording: true, isPresent: true)
        ]
        var errors: [CallRecordingError] = []
        for turn in 0..<20 {
            let now = HostTime(nanoseconds: 5_000_000_000).advanced(bySeconds: 0.5 * Double(turn))
            writer.update(state, at: now)
            writer.writeArrivedSound(at: now)
            errors += writer.takeErrors()
        }
        #expect(errors.contains(.file(.missingFolder(path: "\(folder)/Bob.wav"))), "\(errors)")
        // The description cannot be written either.
        #expect(errors.count == 2, "\(errors.prefix(4))")
        _ = writer.finish(at: .now())
    }
}
