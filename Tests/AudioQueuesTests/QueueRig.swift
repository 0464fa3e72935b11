// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotAudioQueues
import Foundation
import TestSupport

/// An engine on virtual time, mono by default.
final class QueueRig {
    let engine = AudioEngine()
    let format: AudioFormat
    private let buffer: AudioBuffer
    private let input: AudioBuffer
    private(set) var rendered = 0

    init(rate: Double = 48_000, channels: Int = 1) {
        format = AudioFormat(sampleRate: rate, channelCount: channels)
        buffer = AudioBuffer(channelCount: channels, frameCapacity: 8_192)
        input = AudioBuffer(channelCount: 1, frameCapacity: 8_192)
    }

    func start(inputs: Int = 0) throws {
        try engine.enableManualRendering(format: format, inputChannelCount: inputs, maximumFrameCount: 8_192)
    }

    /// Renders the next frames and returns the first channel. Frame by frame `signal` is captured meanwhile.
    @discardableResult
    func render(_ frameCount: Int, blocks: [Int] = [256], input signal: ((Int) -> Float)? = nil) throws -> [Float] {
        var result: [Float] = []
        result.reserveCapacity(frameCount)
        var k = 0
        while result.count < frameCount {
            let count = min(blocks[k % blocks.count], frameCount - result.count)
            k += 1
            if let signal { for i in 0..<count { input.channels[0][i] = signal(rendered + i) } }
            try engine.renderOffline(buffer.channels, frameCount: count, input: signal == nil ? nil : input.channels)
            result += UnsafeBufferPointer(start: buffer.channels[0], count: count)
            rendered += count
        }
        return result
    }
}

/// A sample that encodes its frame's number, exactly up to 2^23 frames.
func numbered(_ frame: Int) -> Float { Float(frame + 1) * 0x1p-23 }

/// Fills a buffer with numbered frames.
func fill(_ buffer: AudioQueueBuffer, _ count: Int, from first: Int) {
    for c in 0..<buffer.samples.count { for i in 0..<count { buffer.samples[c][i] = numbered(first + i) } }
    buffer.frameCount = count
}

/// A log of events, from any thread.
final class Log<Element: Sendable>: Sendable {
    private let list = LockedValue<[Element]>([])
    func add(_ element: Element) { list.withLock { $0.append(element) } }
    var all: [Element] { list.withLock { $0 } }
}

extension Log where Element == AudioQueueEvent {
    var losses: [AudioQueueLoss] {
        all.compactMap { if case .lost(let loss) = $0 { loss } else { nil } }
    }
}

/// A file with these samples in every channel, deleted with this object.
final class TemporaryFile {
    let path = FileManager.default.temporaryDirectory.path + "/earshot-\(UUID().uuidString).wav"

    init(_ samples: [Float], rate: Double = 48_000, channels: Int = 1) throws {
        let format = AudioFormat(sampleRate: rate, channelCount: channels)
        let writer = try AudioFileWriter(path: path, format: format)
        let buffer = AudioBuffer(channelCount: channels, frameCapacity: max(1, samples.count))
        for c in 0..<channels { for (i, sample) in samples.enumerated() { buffer.channels[c][i] = sample } }
        try writer.write(buffer.channels, frameCount: samples.count)
        try writer.close()
    }

    var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) } }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
