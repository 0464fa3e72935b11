// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// The tests' own server, so that tests that need it report what is wrong with it.
@Suite("PipeWireServer", .serialized, .realTime, .needs("pipewire")) struct PipeWireServerTests {
    @Test("devices can be added and removed, and the initial ones return after a restart")
    func devices() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("microphone")]) { server in
            try server.add(.sink("headset", ["device.bus": "bluetooth", "node.description": "My Headset"]))
            #expect(try server.run(["pactl", "list", "short", "sinks"]).contains("headset"))
            try server.forceQuantum(64)
            try server.remove("headset")
            #expect(try !server.run(["pw-cli", "ls", "Node"]).contains("headset"))
            server.stop()
            #expect(throws: PipeWireServer.ServerError.self) { try server.links() }
            try server.start()
            let nodes = try server.run(["pw-cli", "ls", "Node"])
            #expect(nodes.contains("speakers") && nodes.contains("microphone"))
        }
    }

    @Test("WirePlumber applies a newly set default output")
    func defaults() throws {
        try PipeWireServer.running(devices: [.sink("left"), .sink("right"), .source("microphone")]) { server in
            for name in ["left", "right", "left"] {
                try server.setDefaultOutput(name)
                #expect(
                    eventually {
                        let said = try? server.run(["pw-metadata", "-n", "default", "0", "default.audio.sink"])
                        return said?.contains("\"\(name)\"") ?? false
                    })
            }
        }
    }
}
