// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Tests, with a real server but no headset, that a request for a headset's microphone is a stream that session managers heed.
@Suite(.serialized, .realTime, .needs("pipewire")) struct PipeWireHeadsetTests {
    @Test func `a request is a capturing stream for communication until it ends or is released`() throws {
        try PipeWireServer.running(devices: [.sink("bluez_output.1"), .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.devices.contains { $0.id == "bluez_output.1" } })
            func hasStream() -> Bool {
                let node = try? server.run(["pw-cli", "info", "earshot-headset"])
                return node.map { $0.contains("Stream/Input/Audio") && $0.contains("Communication") } ?? false
            }
            #expect(!hasStream())
            var request: HeadsetMicrophone? = system.requestMicrophone(ofHeadset: "bluez_output.1")
            #expect(eventually { hasStream() })
            request?.force()  // a sink without a card has no profile
            request?.end()
            request?.end()
            #expect(eventually { !hasStream() })
            request = system.requestMicrophone(ofHeadset: "bluez_output.1")
            #expect(eventually { hasStream() })
            request = nil
            #expect(eventually { !hasStream() })
            request = system.requestMicrophone(ofHeadset: "nothing")
            server.stop()
            request = nil
            #expect(eventually { system.failure != nil })
            request = system.requestMicrophone(ofHeadset: "nothing")
            request?.end()
            try server.start()
        }
    }
}
