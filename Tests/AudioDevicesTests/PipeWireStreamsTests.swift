// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// With real programs that play a constant, captured at a sink's monitor.
@Suite("PipeWireSystem.duckOthers", .serialized, .realTime, .needs("pipewire")) struct PipeWireStreamsTests {
    final class Scene {
        let server: PipeWireServer
        private let path = "\(NSTemporaryDirectory())earshot-half-\(getpid()).wav"
        private let probe = CycleProbe()
        private let ears: PipeWireSystem
        private var hearer: (any AudioDevice)?

        init(_ server: PipeWireServer) throws {
            self.server = server
            ears = try PipeWireSystem(remote: server.remote)
            try writeConstant(to: path)
            try listen()
        }

        deinit {
            hearer?.stop()
            unlink(path)
        }

        func listen() throws {
            var request = AudioDeviceRequest()
            request.input = .device(id: "speakers.monitor")
            request.output = .none
            hearer = nil
            hearer = try ears.open(request)
            try hearer?.start(probe.callback)
        }

        func play() throws -> ChildProcess {
            try ChildProcess(["pw-play", path], environment: server.environment.mapValues(Optional.some))
        }

        /// - Parameter share: the share of one player's level.
        func hears(_ share: Float) -> Bool {
            eventually {
                let latest = probe.notes.suffix(5)
                return latest.count == 5 && latest.allSatisfy { abs($0.firstInput - share * playedLevel) < 0.001 }
            }
        }

        /// Returns the numbers by which PulseAudio programs know the streams.
        func streams() throws -> [String] {
            try server.run(["pactl", "list", "short", "sink-inputs"]).split(separator: "\n").compactMap {
                $0.split(separator: "\t").first.map(String.init)
            }
        }

        func setVolume(_ volume: String) throws {
            try server.run(["pactl", "set-sink-input-volume", try #require(try streams().first), volume])
        }
    }

    private func running(_ body: (Scene) throws -> Void) throws {
        try PipeWireServer.running(devices: [.sink("speakers")]) { try body(Scene($0)) }
    }

    @Test("other programs are ducked, including those that start later, and restored at the end")
    func lowerAndRestore() throws {
        try running { scene in
            var system: PipeWireSystem? = try PipeWireSystem(remote: scene.server.remote)
            let first = try scene.play()
            #expect(scene.hears(1))
            var ducking = system?.duckOthers(to: 0.25)
            #expect(scene.hears(0.25))
            let second = try scene.play()
            #expect(scene.hears(0.5))
            #expect(try scene.server.run(["pactl", "list", "sink-inputs"]).contains("100%"), "as its user sees it")
            ducking?.end()
            #expect(scene.hears(2))
            ducking = system?.duckOthers(to: -1)
            #expect(scene.hears(0))
            // A change by the user meanwhile is kept.
            try scene.server.run(["pactl", "set-sink-input-mute", try #require(try scene.streams().first), "1"])
            #expect(scene.hears(0))
            system = nil
            ducking = nil
            #expect(scene.hears(1))
            first.stop()
            second.stop()
            #expect(scene.hears(0))
        }
    }

    @Test("a volume that the user sets during ducking is ducked too, and kept afterwards")
    func userVolume() throws {
        try running { scene in
            let system = try PipeWireSystem(remote: scene.server.remote)
            let player = try scene.play()
            #expect(scene.hears(1))
            let ducking = system.duckOthers(to: 0.5)
            #expect(scene.hears(0.5))
            usleep(200_000)  // nobody is as quick
            try scene.setVolume("100%")
            usleep(200_000)
            #expect(scene.hears(0.5), "the same volume, set once more")
            try scene.setVolume("50%")  // cubed
            #expect(scene.hears(0.0625))
            ducking.end()
            #expect(scene.hears(0.125))
            try scene.setVolume("100%")
            #expect(scene.hears(1))
            player.stop()
            // The session manager restores the remembered volume of the next stream shortly after it appears.
            let again = system.duckOthers(to: 0.5)
            let next = try scene.play()
            #expect(scene.hears(0.5))
            usleep(500_000)
            #expect(scene.hears(0.5))
            again.end()
            next.stop()
        }
    }

    @Test("the lowest of several ducking levels applies, within one program or across two")
    func several() throws {
        try running { scene in
            let (a, b) = (
                try PipeWireSystem(remote: scene.server.remote), try PipeWireSystem(remote: scene.server.remote)
            )
            let player = try scene.play()
            #expect(scene.hears(1))
            let half = a.duckOthers(to: 0.5)
            let most = a.duckOthers(to: .nan)
            #expect(scene.hears(0.5))
            let quarter = b.duckOthers(to: 0.25)
            #expect(scene.hears(0.25))
            let fifth = a.duckOthers(to: 0.2)
            #expect(scene.hears(0.2))
            fifth.end()
            #expect(scene.hears(0.25))
            quarter.end()
            #expect(scene.hears(0.5))
            half.end()
            half.end()
            #expect(scene.hears(1))
            most.end()
            player.stop()
        }
    }

    @Test("this program's own output is not ducked")
    func ownSound() throws {
        try running { scene in
            let system = try PipeWireSystem(remote: scene.server.remote)
            var request = AudioDeviceRequest()
            request.input = .none
            let device = try system.open(request)
            try device.start(
                RenderCallback(context: nil) { _, cycle in
                    guard let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee else { return }
                    for c in 0..<cycle.output.count {
                        for i in 0..<cycle.frameCount { cycle.output[c][i] = playedLevel / 2 }
                    }
                })
            let player = try scene.play()
            #expect(scene.hears(1.5))
            let ducking = system.duckOthers(to: 0)
            #expect(scene.hears(0.5))
            ducking.end()
            #expect(scene.hears(1.5))
            device.stop()
            player.stop()
        }
    }

    @Test("other programs are ducked again after the server restarts")
    func restart() throws {
        try running { scene in
            let system = try PipeWireSystem(remote: scene.server.remote)
            let ducking = system.duckOthers(to: 0.25)
            scene.server.stop()
            #expect(eventually { system.failure != nil })
            try scene.server.start()
            #expect(eventually { system.devices.contains { $0.id == "speakers" } })
            #expect(eventually { (try? scene.listen()) != nil })
            let player = try scene.play()
            #expect(scene.hears(0.25))
            ducking.end()
            #expect(scene.hears(1))
            player.stop()
            scene.server.stop()
            system.duckOthers(to: 0.5).end()
        }
    }

    @Test("a stream is attributed to another program by its client's process ID")
    func processes() {
        var graph = PipeWireGraph()
        graph.processes = [1: getpid(), 2: 1]
        graph.nodes[10] = ["media.class": "Stream/Output/Audio", "client.id": "1"]
        graph.nodes[11] = ["media.class": "Stream/Output/Audio", "client.id": "2"]
        graph.nodes[12] = ["media.class": "Stream/Output/Audio"]
        graph.nodes[13] = ["media.class": "Stream/Input/Audio", "client.id": "2"]
        graph.nodes[14] = ["client.id": "2"]
        #expect(graph.nodes.keys.filter(graph.isForeignStream).sorted() == [11, 12])
        graph.remove(1)
        #expect(graph.isForeignStream(10))
    }
}

private let playedLevel = Float(0x4040) / 32_768

/// Writes half a minute of one value, mono, 16 bit.
private func writeConstant(to path: String) throws {
    func bytes(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * UInt32($0)) & 255) }
    }
    let size = UInt32(30 * 48_000 * 2)
    var file = Data("RIFF".utf8) + bytes(36 + size, 4) + Data("WAVEfmt ".utf8)
    file += bytes(16, 4) + bytes(1, 2) + bytes(1, 2) + bytes(48_000, 4) + bytes(96_000, 4) + bytes(2, 2) + bytes(16, 2)
    file += Data("data".utf8) + bytes(size, 4) + Data(repeating: 0x40, count: Int(size))
    try file.write(to: URL(fileURLWithPath: path))
}
