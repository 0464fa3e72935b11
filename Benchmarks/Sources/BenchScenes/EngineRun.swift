// SPDX-License-Identifier: Apache-2.0

@testable import EarshotAudioBase
@testable import EarshotAudioEngine

/// An engine whose callback is called directly, block after block, like on a device's thread.
public final class EngineRun {
    /// The engine.
    public let engine: AudioEngine
    /// Frames per block.
    public let frameCount: Int
    /// The captured sound: noise.
    public let input = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
    /// The last rendered block.
    public let output = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
    private let callback: RenderCallback
    private(set) var sampleTime: Int64 = 0
    private let origin = HostTime.now()

    /// 48 kHz, stereo.
    public init(_ engine: AudioEngine, frameCount: Int = 64) throws {
        self.engine = engine
        self.frameCount = frameCount
        var state: UInt32 = 1
        for i in 0..<4_096 {
            for c in 0..<2 {
                state = state &* 1_664_525 &+ 1_013_904_223
                input.channels[c][i] = Float(Int32(bitPattern: state)) * (0.1 / 2_147_483_648)
            }
        }
        callback = try engine.startRealtimeRendering(
            format: AudioFormat(sampleRate: 48_000, channelCount: 2), inputChannelCount: 2)
    }

    deinit { engine.stop() }

    /// Renders the next block.
    public func block() {
        for c in 0..<2 { clearSamples(output.channels[c], frameCount) }
        var cycle = IOCycle(
            frameCount: frameCount, sampleTime: sampleTime,
            hostTime: origin.advanced(bySeconds: Double(sampleTime) / 48_000), inputLatency: 0, outputLatency: 0,
            input: input.channels, output: output.channels)
        callback(&cycle)
        sampleTime += Int64(frameCount)
    }

    /// Renders this many blocks.
    public func blocks(_ count: Int) { for _ in 0..<count { block() } }
}
