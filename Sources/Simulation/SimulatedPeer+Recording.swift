// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport

extension SimulatedPeer {
    /// Starts a recording of all remote voices, which is read between two steps of the simulation.
    /// - Parameter depth: the seconds by which the recording lags behind the earliest packet.
    package func record(depth: Double = CallRecording.depth) throws -> CallRecording {
        let recording = CallRecording(
            of: processor, sampleRate: preferences.deviceRate, channelCount: heard.count, depth: depth)
        recording.begin(includesRawVoice: true)
        for (peer, agreement) in agreements where agreement.heard != nil {
            let listener = try recording.listener(to: agreement.configuration)
            recording.replace(peer, by: listener)
            core.listen(listener, to: peer)
        }
        return recording
    }
}
