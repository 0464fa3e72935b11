// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// An encrypted call between two machines: one hosts, the other joins by the address.
@main struct Example {
    static let usage = """
        usage: call host PORT SECONDS [simulated]
               call join ADDRESS PORT SECONDS [simulated]
        """

    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isSimulated = arguments.last == "simulated"
        if isSimulated { arguments.removeLast() }
        guard arguments.count >= 3, let seconds = Double(arguments.removeLast()),
            let port = UInt16(arguments.removeLast())
        else { return print(usage) }

        var configuration = LiveCall.Configuration()
        configuration.duration = seconds  // from the first sound; without it a call lasts until somebody leaves
        let isHost = arguments.first == "host"
        // A store in memory has a new key each time and remembers nobody. `.standard` keeps both.
        var room = NearbySession.Configuration(
            name: try PeerName(isHost ? "Hanna" : "Gustav"), store: .inMemory())
        if isHost { room.port = port } else { room.takesAnyPort = true }
        let system: any AudioSystem = isSimulated ? SimulatedSystem.standard() : try AudioSystems.make()
        let call = try await LiveCall.open(room, on: AudioSession(system), configuration)

        if isHost {
            var opening = RoomOpening(name: try PeerName("Studio"))
            opening.isAnnounced = false  // guests need the address; announced rooms are found by name
            try call.perform(.host(opening))
        } else {
            let addresses = try SocketAddress.resolve(arguments[1], port: port)
            // The host's key is in its join code, which an impostor cannot copy. An address accepts any key.
            try call.perform(.join(Endpoint(addresses: addresses, key: .any)))
        }
        for await event in call.events() { try await handle(event, call) }
        await call.close()
    }

    static func handle(_ event: LiveCallEvent, _ call: LiveCall) async throws {
        switch event.kind {
        case .joinRequested(let request):
            print("\(request.guest.name) asks to join, and is admitted")
            try call.perform(.admit(request.id))
        case .callBegan(let participant, let format):
            print("in a call with \(participant.name): \(format.codec)")
        case .ended(let ending):
            for (id, statistics) in call.levels.participants {
                let delay = statistics.mouthToEar.map { "\(Int(($0 * 1_000).rounded())) ms mouth to ear" }
                let name = call.snapshot[id]?.name.text ?? "a participant who left"
                print("\(name): \(delay ?? "delay unknown"), \(statistics.playout.packets) packets")
            }
            print("ended: \(ending)")
        default: break
        }
    }
}
