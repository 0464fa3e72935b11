import AudioBase
import AudioEngine
import Foundation
import TestSupport
import Testing

@testable import AudioStreams

/// A stream as a source in a graph.
@Suite struct EngineStreamTests {
    /// What a graph makes of a stream over http, with an echo on the way of so much.
    private func play(mix: Float) throws -> [Float] {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(bytes)
        }
        let stream = try AudioStream(server.address(), format: .cd)
        let engine = AudioEngine()
        let source = AudioSourceNode(format: stream.format, name: "radio", block: stream.render)
        let echo = AudioUnitEffect(.delay, name: "echo")
        try engine.attach(source)
        try engine.attach(echo)
        try engine.connect(source, to: echo)
        try engine.connect(echo, to: engine.mainMixerNode)
        try echo.parameter("mix").value = mix
        try engine.enableManualRendering(format: .cd)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 1_024)
        try stream.start()
        for _ in 0..<2_000 where stream.bufferedSeconds < 2.9 { usleep(5_000) }
        while stream.state == .buffering { usleep(1_000) }
        var heard: [Float] = []
        for _ in 0..<100 {
            try engine.renderOffline(block.channels, frameCount: 1_024)
            heard += (0..<1_024).map { block.channels[0][$0] }
        }
        #expect(stream.framesPlayed == 102_400)
        #expect(source.faults.missingFrames == 0)
        engine.stop()
        stream.stop()
        return heard
    }

    @Test func `a stream plays in a graph, with effects on the way`() throws {
        let expected = try reference(.mp3)
        let dry = try play(mix: 0)
        // The graph fades its first frames in.
        #expect(errorDecibels(Array(expected[4_096..<100_000]), Array(dry[4_096..<100_000])) < -60)
        let wet = try play(mix: 50)
        #expect(errorDecibels(Array(dry[50_000..<100_000]), Array(wet[50_000..<100_000])) > -20)
    }
}
