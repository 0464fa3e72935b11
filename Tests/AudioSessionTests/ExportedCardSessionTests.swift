// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import ExportedCard
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioSession

/// Tests complete sessions on a real server whose card has routes and profiles.
@Suite(.serialized, .realTime, .needs("pipewire")) struct ExportedCardSessionTests {
    private typealias Client = AudioSessionTests.Client

    private func reasons(_ session: AudioSession) -> [RouteChange.Reason] {
        session.history.compactMap { if case .routeChanged(let change) = $0 { change.reason } else { nil } }
    }

    /// Runs a session on a server whose only sink belongs to a card.
    private func running(
        _ card: ExportedCard, _ category: AudioSession.Category, sink: String, _ properties: [String: String] = [:],
        _ body: (PipeWireServer, AudioSession, Client) throws -> Void
    ) throws {
        try PipeWireServer.running { server in
            let system = try PipeWireSystem(remote: server.remote)
            try card.export(to: server)
            defer { card.remove() }
            try server.add(.sink(sink, card.node(0, properties)))
            #expect(eventually { system.devices.contains { $0.isDefaultOutput && $0.port != nil } })
            var configuration = AudioSession.Configuration()
            configuration.category = category
            let session = AudioSession(system, configuration)
            let device = try session.activate()
            let client = Client()
            try device.start(client.callback)
            defer {
                device.stop()
                session.deactivate()
            }
            #expect(goesOn(client))
            try body(server, session, client)
        }
    }

    private func goesOn(_ client: Client) -> Bool {
        let calls = client.calls
        return eventually { client.calls > calls + 10 }
    }

    /// Announces headphones that were plugged in or pulled out. Wireplumber then requests the route, which the card changes.
    private func setPlug(_ isIn: Bool, of card: ExportedCard, until isDone: () -> Bool) -> Bool {
        card.possibleRoutes[1].availability = isIn ? .yes : .no
        card.announce(.possibleRoutes)
        return eventually {
            card.obey()
            return isDone()
        }
    }

    @Test func `a call follows headphones that are plugged in and pulled out, on the same device`() throws {
        let card = ExportedCard.laptop()
        try running(card, .playAndRecord, sink: "laptop") { _, session, client in
            let hardware = session.hardware
            #expect(setPlug(true, of: card) { session.currentRoute.output?.isWorn == true })
            #expect(setPlug(false, of: card) { session.currentRoute.output?.isWorn == false })
            #expect(setPlug(true, of: card) { session.currentRoute.output?.isWorn == true })
            let expected: [RouteChange.Reason] = [
                .activated, .newDeviceAvailable, .oldDeviceUnavailable, .newDeviceAvailable,
            ]
            #expect(eventually { reasons(session) == expected })
            #expect(goesOn(client) && session.hardware === hardware && session.lostFrameCount == 0)
        }
    }

    @Test func `a player pauses once when its headphones are pulled out, and not when they are plugged in`() throws {
        let card = ExportedCard.laptop()
        try running(card, .playback, sink: "laptop") { _, session, client in
            for _ in 0..<2 {
                #expect(setPlug(true, of: card) { session.currentRoute.output?.port?.availability == .available })
                #expect(goesOn(client) && !session.isPaused)
                #expect(setPlug(false, of: card) { session.isPaused && session.hardware == nil })
                // The card may still use the socket.
                session.resume()
                let isMoved = eventually {
                    card.obey()
                    return session.currentRoute.output?.isWorn == false
                }
                #expect(isMoved && goesOn(client) && !session.isPaused)
            }
        }
    }

    @Test func `a card that goes in a call takes its ports with it, and the call goes on`() throws {
        let card = ExportedCard.laptop()
        try running(card, .playAndRecord, sink: "laptop") { _, session, client in
            card.hold(true)
            card.announce(.routes)
            #expect(eventually { card.heldCount > 0 })
            card.remove()
            #expect(eventually { session.system.devices.first { $0.id == "laptop" }?.ports.isEmpty == true })
            #expect(goesOn(client) && session.hardware != nil)
        }
    }

    @Test func `a call on a headset in music mode gets its microphone in one change of the route`() throws {
        let card = ExportedCard.headset(hasMicrophoneRoute: true)
        let music = ["api.bluez5.profile": "a2dp-sink"]
        try running(card, .playAndRecord, sink: "bluez_output.1", music) { server, session, client in
            #expect(eventually { card.requests.contains(.profile(2)) }, "the session asks, and wireplumber sets")
            try server.remove("bluez_output.1")
            card.obey()
            let call = ["api.bluez5.profile": "headset-head-unit", "api.bluez5.codec": "msbc"]
            // The session waits for the output that it had. The other order may be two changes.
            try server.add(.source("bluez_input.0", card.node(1, call)))
            try server.add(.sink("bluez_output.1", card.node(0, call)))
            #expect(eventually { session.currentRoute.input?.id == "bluez_input.0" })
            #expect(session.currentRoute.output?.id == "bluez_output.1")
            #expect(eventually { reasons(session) == [.activated, .routeConfigurationChange] })
            #expect(goesOn(client))
        }
    }
}
