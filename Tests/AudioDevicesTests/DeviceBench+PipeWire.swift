// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import TestSupport

extension AudioSystem {
    /// The devices without sinks' monitors.
    var hardware: [AudioDeviceDescription] { devices.filter { $0.form != .monitor } }
}

extension DeviceBench {
    static func withPipeWire(_ setup: Setup, _ body: (DeviceBench) throws -> Void) throws {
        try withPipeWireServer(setup) { server in
            let system = try PipeWireSystem(remote: server.remote)
            _ = eventually { system.hardware.count == 2 }
            var request = AudioDeviceRequest()
            request.clientName = "probe"
            request.input = .device(id: "microphone")
            request.output = .device(id: "speaker")
            request.blockFrameCount = setup.block
            try body(
                DeviceBench(
                    kind: .pipewire, setup: setup, system: system, request: request,
                    closeLoop: { _ in try closeLoop(on: server, setup) }, changeBlock: server.forceQuantum,
                    kill: server.stop, revive: server.start, unplug: { try server.remove("microphone") }))
        }
    }
}
