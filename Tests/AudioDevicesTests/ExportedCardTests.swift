// SPDX-License-Identifier: Apache-2.0

import ExportedCard
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Tests cards with routes and profiles in a real server, exported as wireplumber exports the cards of ALSA and BlueZ.
@Suite(.serialized, .realTime, .needs("pipewire")) struct ExportedCardTests {
    @Test func `a card's routes are the ports of its node`() throws {
        let card = ExportedCard.laptop()
        try card.running { server, system in
            try server.add(.sink("laptop", card.node(0)))
            #expect(eventually { system["laptop"]?.port != nil })
            let laptop = try #require(system["laptop"])
            #expect(laptop.transport == .builtIn && laptop.form == .speaker && laptop.portName == "speaker")
            #expect(
                laptop.ports == [
                    .init(name: "speaker", form: .speaker),
                    .init(name: "headphones", form: .headphones, availability: .unavailable),
                ])
            let known = try #require(system[card])
            #expect(known.possibleProfiles.map(\.name) == ["off", "analog"])
            #expect(known.possibleProfiles.map(\.availability) == [.available, .available])
        }
    }

    @Test func `plugging in and pulling out headphones change the port, and no list lacks it meanwhile`() throws {
        let card = ExportedCard.laptop()
        try card.running { server, system in
            try server.add(.sink("laptop", card.node(0)))
            #expect(eventually { system["laptop"]?.port != nil })
            let changes = DeviceChanges(of: "laptop", in: system)
            for _ in 0..<3 {
                // Wireplumber requests the route when the plug is announced.
                card.possibleRoutes[1].availability = .yes
                card.announce(.possibleRoutes)
                #expect(changes.wait(until: { $0.portName == "headphones" && $0.isWorn }, while: { card.obey() }))
                card.possibleRoutes[1].availability = .no
                card.announce(.possibleRoutes)
                #expect(changes.wait(until: { $0.portName == "speaker" && !$0.isWorn }, while: { card.obey() }))
            }
            #expect(changes.all.allSatisfy { $0.port != nil && $0.ports.count == 2 })
            #expect(card.requests.contains(.route(1)))
        }
    }

    @Test func `of two announcements in a row the answers to the first request are ignored`() throws {
        let card = ExportedCard.laptop()
        try card.running { _, system in
            #expect(eventually { system[card]?.possibleRoutes.count == 2 })
            for number in 0..<20 {
                card.possibleRoutes[0].name = "first \(number)"
                card.announce(.possibleRoutes)
                card.possibleRoutes[0].name = "second \(number)"
                card.announce(.possibleRoutes)
                // The answers come in order: with this profile, all have come.
                card.possibleProfiles[1].name = "analog \(number)"
                card.announce(.possibleProfiles)
                #expect(eventually { system[card]?.possibleProfiles.last?.name == "analog \(number)" })
                let names = system[card]?.possibleRoutes.map(\.name)
                #expect(names == ["second \(number)", "headphones"])
            }
        }
    }

    @Test func `a list that the card no longer names is empty`() throws {
        let card = ExportedCard.laptop()
        try card.running { server, system in
            try server.add(.sink("laptop", card.node(0)))
            #expect(eventually { system["laptop"]?.ports.count == 2 })
            card.drop(.possibleRoutes)
            #expect(eventually { system[card]?.possibleRoutes.isEmpty == true })
            #expect(eventually { system["laptop"]?.ports.map(\.name) == ["speaker"] }, "the one in use")
        }
    }

    @Test func `a late answer delays the list, which is complete afterwards`() throws {
        let card = ExportedCard.laptop()
        try card.running { server, system in
            try server.add(.sink("laptop", card.node(0)))
            #expect(eventually { system["laptop"]?.port != nil })
            card.hold(true)
            card.possibleRoutes[1].availability = .yes
            card.announce(.possibleRoutes)
            #expect(eventually { card.heldCount > 0 })
            card.possibleRoutes[1].availability = .no
            card.announce(.possibleRoutes)
            card.possibleRoutes[1].availability = .yes
            card.possibleRoutes[0].availability = .no
            card.announce(.possibleRoutes)
            card.hold(false)
            #expect(
                eventually { system["laptop"]?.ports.map(\.availability) == [.unavailable, .available] })
        }
    }

    @Test func `a card that goes before its answer leaves nothing behind, and its number may be used again`() throws {
        let card = ExportedCard.laptop()
        try card.running { server, system in
            try server.add(.sink("laptop", card.node(0)))
            #expect(eventually { system["laptop"]?.port != nil })
            let number = card.number
            card.hold(true)
            card.possibleRoutes[1].availability = .yes
            card.announce(.possibleRoutes)
            #expect(eventually { card.heldCount > 0 })
            card.remove()
            #expect(eventually { system["laptop"].map { $0.port == nil && $0.ports.isEmpty } ?? false })
            let other = ExportedCard(["device.name": "other", "device.api": "alsa", "device.bus": "usb"])
            other.possibleRoutes = [.init(0, "line", portType: "line")]
            try other.export(to: server)
            #expect(other.number == number, "the server gives a free number to the next object")
            #expect(eventually { system["laptop"]?.ports.map(\.name) == ["line"] })
            #expect(system[other]?.routes == [])
            other.remove()
            #expect(eventually { system["laptop"]?.ports.isEmpty == true })
        }
    }

    @Test func `a thousand routes are listed, and damaged values are ignored`() throws {
        let card = ExportedCard.laptop()
        card.possibleRoutes += (2..<1_000).map { ExportedCard.Route($0, "line \($0)", portType: "line") }
        card.damagedLists = Set(ExportedCard.List.allCases)
        try card.running { server, system in
            try server.add(.sink("laptop", card.node(0)))
            #expect(eventually { system["laptop"]?.ports.count == 1_000 })
            #expect(eventually { system["laptop"]?.portName == "speaker" })
            let known = try #require(system[card])
            // One of the damaged routes has a name, but no number, direction or kind.
            #expect(known.possibleRoutes.count == 1_001 && known.possibleProfiles.count == 2)
            let damaged = try #require(known.possibleRoutes.first)
            #expect(damaged == PipeWireGraph.Route(name: "damaged", isOutput: true, device: nil))
            card.possibleRoutes[1].availability = .yes
            card.routes = [card.possibleRoutes[1]]
            card.announce(.possibleRoutes, .routes)
            #expect(eventually { system["laptop"]?.port?.availability == .available })
            #expect(system["laptop"]?.isWorn == true)
        }
    }
}
