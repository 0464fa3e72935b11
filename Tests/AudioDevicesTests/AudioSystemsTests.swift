// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct AudioSystemsTests {
    @Test func `PipeWire is chosen where it runs`() throws {
        try PipeWireServer.running { server in
            let system = try AudioSystems.make(server: server.remote)
            #expect(system.backend == .pipewire && system.failure == nil)
        }
    }

    @Test func `JACK is chosen where PipeWire does not run`() throws {
        try JACKServer.running { server in
            let system = try AudioSystems.make(server: server.name)
            #expect(system.backend == .jack && system.devices.map(\.id) == ["system"])
        }
    }

    @Test func `an explicitly requested backend is created even if its server is not running`() throws {
        try JACKServer.exclusively {
            for backend in AudioBackend.allCases {
                let system = try AudioSystems.make(backend, server: "/nonexistent/server")
                #expect(system.backend == backend)
                switch backend {
                case .pipewire, .jack: #expect(system.failure != nil && system.devices.isEmpty)
                case .simulated: #expect(system.failure == nil && system.devices.count == 1)
                case .alsa: break
                }
            }
        }
    }
}
