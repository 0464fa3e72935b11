// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation
import TestSupport

extension DeviceBench {
    /// Uses libasound's PCM `pipewire`, since a machine without sound cards has no other that keeps time.
    static func withALSA(_ setup: Setup, _ body: (DeviceBench) throws -> Void) throws {
        try withPipeWireServer(setup) { server in
            setenv("PIPEWIRE_REMOTE", server.remote, 1)
            defer { unsetenv("PIPEWIRE_REMOTE") }
            var request = AudioDeviceRequest()
            request.input = .device(id: "pipewire")
            request.output = .device(id: "pipewire")
            request.blockFrameCount = setup.block
            try body(
                DeviceBench(
                    kind: .alsa, setup: setup, system: ALSASystem(extraNames: ["pipewire"]), request: request,
                    closeLoop: { _ in try closeLoop(on: server, setup) }, kill: server.stop, revive: server.start))
        }
    }

    /// Runs a test with a loudspeaker and a microphone that have the setup's channels.
    static func withPipeWireServer(_ setup: Setup, _ body: (PipeWireServer) throws -> Void) throws {
        let devices: [PipeWireServer.Device] = [
            .sink("speaker", channelCount: setup.channelCount), .source("microphone", channelCount: setup.channelCount),
        ]
        try PipeWireServer.running(devices: devices, body)
    }

    /// Connects the loudspeaker's output to the microphone.
    static func closeLoop(on server: PipeWireServer, _ setup: Setup) throws {
        let channels = setup.channelCount == 2 ? ["FL", "FR"] : (0..<setup.channelCount).map { "AUX\($0)" }
        for channel in channels { try server.link("speaker:monitor_\(channel)", "microphone:input_\(channel)") }
    }
}
