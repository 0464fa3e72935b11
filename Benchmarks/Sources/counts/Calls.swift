// SPDX-License-Identifier: Apache-2.0

@testable import EarshotSimulation

/// Complete calls on virtual time, from a seed. A block is that of one peer's card.
enum Calls {
    private static let settling = 1.0

    static func count() throws {
        try call("a call of 2, PCM, 128 frames", seconds: 1) { $0.codec = .pcm }
        try call("a call of 2, PCM, 128 frames, encrypted", seconds: 1) {
            $0.codec = .pcm
            $0.isEncrypted = true
        }
        try call("a call of 2, Opus, 10 ms", seconds: 1) {
            $0.codec = .opus; $0.opusFrameMilliseconds = 10
        }
        try call("a call of 2, Opus, 10 ms, Wi-Fi that loses packets", seconds: 2) {
            $0.codec = .opus
            $0.opusFrameMilliseconds = 10
            $0.network = .wifiCongested
        }
        try call("a call of 8, Opus, 10 ms, 256 frames", seconds: 0.5) {
            $0.codec = .opus
            $0.opusFrameMilliseconds = 10
            $0.peers = Array(repeating: $0.peers[0], count: 8)
            for index in $0.peers.indices { $0.peers[index].blockFrameCount = 256 }
        }
    }

    private static func call(
        _ name: String, seconds: Double, _ change: (inout CallSimulation.Configuration) -> Void
    ) throws {
        var configuration = CallSimulation.Configuration()
        change(&configuration)
        var simulation = try CallSimulation(configuration)
        try simulation.run(until: settling)
        let peer = configuration.peers[0]
        let blocks = seconds * peer.sampleRate / Double(peer.blockFrameCount) * Double(configuration.peers.count)
        try counted(name, Int(blocks)) { try simulation.run(until: settling + seconds) }
        print("# \(name): digest \(simulation.report.digest)")
    }
}
