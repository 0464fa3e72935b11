// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioStreams
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioQueues

/// A stream in a graph, followed by effects: as a node's source, and in a player.
@Suite(.realTime) struct EngineStreamTests {
    private static let frameCount = 96_000
    private static func tone(_ frame: Int) -> Float { sine(frame, frequency: 440, rate: 48_000) }

    private func server() throws -> LoopbackServer {
        let file = try TemporaryFile((0..<Self.frameCount).map(Self.tone))
        let bytes = try file.bytes
        return try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(bytes)
        }
    }

    /// Returns a graph's output for a stream that its own node reads on the render thread, with this much echo.
    private func play(mix: Float) throws -> [Float] {
        let server = try server()
        let rig = QueueRig()
        let stream = try AudioStream(server.address(), format: rig.format)
        let source = AudioSourceNode(format: stream.format, name: "radio", block: stream.render)
        let echo = AudioUnitEffect(.delay, name: "echo")
        try rig.engine.attach(source)
        try rig.engine.attach(echo)
        try rig.engine.connect(source, to: echo)
        try rig.engine.connect(echo, to: rig.engine.mainMixerNode)
        try echo.parameter("mix").value = mix
        try rig.start()
        try stream.start()
        for _ in 0..<4_000 where stream.statistics.framesDecoded < Self.frameCount { usleep(5_000) }
        for _ in 0..<4_000 where stream.state != .playing { usleep(5_000) }
        let heard = try rig.render(Self.frameCount, blocks: [1_024])
        #expect(stream.framesPlayed == Self.frameCount && source.faults.missingFrames == 0)
        rig.engine.stop()
        stream.stop()
        return heard
    }

    @Test func `a stream plays in an engine graph with effects`() throws {
        let dry = try play(mix: 0)
        // The graph fades its first frames in.
        #expect(dry[4_096...].indices.allSatisfy { dry[$0] == Self.tone($0) })
        let wet = try play(mix: 50)
        #expect(errorDecibels(Array(dry[50_000...]), Array(wet[50_000...])) > -20)
    }

    @Test func `a player with a URL plays through an effect in the engine graph`() throws {
        let server = try server()
        let rig = QueueRig()
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        let gain = AudioUnitEffect(.gain, name: "gain")
        try rig.engine.edit { edit throws(AudioEngineError) in
            try edit.attach(gain)
            try edit.disconnectNodeOutput(player.queue.mixer)
            try edit.connect(player.queue.mixer, to: gain)
            try edit.connect(gain, to: rig.engine.mainMixerNode)
        }
        try gain.parameter("gain").value = -6
        try player.append(url: server.address())
        try rig.start()
        player.prepareToPlay()
        try expectReady(player, frames: Self.frameCount)
        try player.play()
        let heard = try rig.render(Self.frameCount + 48_000, blocks: [1_024])
        let first = try #require(heard.indices.first { abs(heard[$0]) > 1e-3 }) - 1
        let factor = Float(pow(10, -6 / 20.0))
        for k in stride(from: 5_000, to: 90_000, by: 997) {
            #expect(abs(heard[first + k] - factor * Self.tone(k)) < 1e-4, "frame \(k)")
        }
    }
}

/// Waits until a player's stream has decoded this many frames.
func expectReady(_ player: AudioPlayer, item: Int = 0, frames: Int) throws {
    for _ in 0..<4_000 {
        guard let stream = player.stream(ofItem: item) else { break }
        if stream.statistics.framesDecoded >= frames, stream.state != .buffering || frames == 0 { return }
        usleep(5_000)
    }
    Issue.record("\(String(describing: player.stream(ofItem: item)))")
}
