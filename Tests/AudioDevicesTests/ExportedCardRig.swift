// SPDX-License-Identifier: Apache-2.0

import ExportedCard
import TestSupport

@testable import EarshotAudioDevices

extension ExportedCard {
    /// Runs a test with a server that has this card.
    func running(_ body: (PipeWireServer, PipeWireSystem) throws -> Void) throws {
        try PipeWireServer.running { server in
            let system = try PipeWireSystem(remote: server.remote)
            try export(to: server)
            defer { remove() }
            try body(server, system)
        }
    }
}

extension PipeWireSystem {
    /// The listed device with this id; nil if there is none.
    subscript(_ id: String) -> AudioDeviceDescription? { devices.first { $0.id == id } }

    /// The routes and profiles of a card; nil if the server has none with its number.
    subscript(_ card: ExportedCard) -> PipeWireGraph.Card? { hub.loop.locked { hub.graph.cards[card.number] } }
}
