// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioDevices
@testable import TestSupport

/// A sound system with its own server, and the device to open: an input and two outputs, 64 frames at 48 kHz.
struct Bench {
    enum Kind: CaseIterable {
        case simulated, jack, pipewire, alsa

        var name: String {
            switch self {
            case .simulated: "simulated"
            case .jack: "JACK"
            case .pipewire: "PipeWire"
            case .alsa: "ALSA on PipeWire"
            }
        }
    }

    let system: any AudioSystem
    let request: AudioDeviceRequest

    private init(_ system: any AudioSystem, input: String, output: String) {
        self.system = system
        var request = AudioDeviceRequest()
        request.clientName = "device-bench"
        request.input = .device(id: input)
        request.output = .device(id: output)
        request.sampleRate = 48_000
        request.blockFrameCount = 64
        self.request = request
    }

    static func with<R>(_ kind: Kind, _ body: (Bench) throws -> R) throws -> R {
        switch kind {
        case .simulated:
            return try body(Bench(SimulatedSystem.standard(), input: "simulated", output: "simulated"))
        case .jack:
            return try JACKServer.running { server in
                try body(Bench(JACKSystem(serverName: server.name), input: "system", output: "system"))
            }
        case .pipewire:
            return try withPipeWire { server in
                let system = try PipeWireSystem(remote: server.remote)
                for _ in 0..<500 where system.devices.count < 2 { usleep(10_000) }
                return try body(Bench(system, input: "microphone", output: "speaker"))
            }
        case .alsa:
            return try withPipeWire { server in
                setenv("PIPEWIRE_REMOTE", server.remote, 1)
                defer { unsetenv("PIPEWIRE_REMOTE") }
                return try body(Bench(ALSASystem(extraNames: ["pipewire"]), input: "pipewire", output: "pipewire"))
            }
        }
    }

    private static func withPipeWire<R>(_ body: (PipeWireServer) throws -> R) throws -> R {
        try PipeWireServer.running(devices: [.sink("speaker"), .source("microphone")], body)
    }
}
