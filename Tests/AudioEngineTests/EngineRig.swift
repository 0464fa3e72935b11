// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import TestSupport

@testable import EarshotAudioEngine

/// A sine from a render block: its phase follows the frame counter, so that it does not depend on the blocks.
func sineSource(
    _ frequency: Double, rate: Double = 48_000, channels: Int = 1, amplitude: Double = 0.5, name: String = "sine"
) -> AudioSourceNode {
    AudioSourceNode(format: AudioFormat(sampleRate: rate, channelCount: channels), name: name) { time, count, output in
        for c in 0..<output.count {
            for i in 0..<count {
                output[c][i] = sine(Int(time) + i, frequency: frequency, rate: rate, amplitude: amplitude)
            }
        }
        return count
    }
}

/// An engine that renders into memory.
final class EngineRig {
    let engine = AudioEngine()
    let format: AudioFormat
    private let buffer: AudioBuffer
    private let input: AudioBuffer
    private var rendered = 0

    init(rate: Double = 48_000, channels: Int = 2) {
        format = AudioFormat(sampleRate: rate, channelCount: channels)
        buffer = AudioBuffer(channelCount: channels, frameCapacity: 8_192)
        input = AudioBuffer(channelCount: 2, frameCapacity: 8_192)
    }

    func start(inputs: Int = 0) throws {
        try engine.enableManualRendering(format: format, inputChannelCount: inputs, maximumFrameCount: 8_192)
    }

    /// Renders one array per channel, in blocks of these lengths, repeated.
    func render(
        _ frameCount: Int, blocks: [Int] = [256], input signal: ((Int) -> Float)? = nil
    ) throws -> [[Float]] {
        var result = [[Float]](repeating: [], count: format.channelCount)
        var done = 0
        var k = 0
        while done < frameCount {
            let count = min(blocks[k % blocks.count], frameCount - done)
            k += 1
            if let signal { for c in 0..<2 { for i in 0..<count { input.channels[c][i] = signal(rendered + i) } } }
            try engine.renderOffline(buffer.channels, frameCount: count, input: signal == nil ? nil : input.channels)
            for c in 0..<format.channelCount {
                result[c] += UnsafeBufferPointer(start: buffer.channels[c], count: count)
            }
            done += count
            rendered += count
        }
        return result
    }
}
