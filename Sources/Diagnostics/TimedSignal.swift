// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// One channel of sound with the time of its first sample.
public struct TimedSignal: Sendable {
    /// The samples; full scale is −1 to 1.
    public var samples: [Float]
    /// The sample rate in hertz.
    public var sampleRate: Double
    /// The time of the first sample at the converter.
    public var firstFrameTime: HostTime

    /// - Precondition: `sampleRate` is 8,000 to 384,000 Hz.
    public init(samples: [Float], sampleRate: Double, firstFrameTime: HostTime) {
        precondition(AudioFormat.sampleRates.contains(sampleRate))
        self.samples = samples
        self.sampleRate = sampleRate
        self.firstFrameTime = firstFrameTime
    }

    /// Reads a file to its end; several channels are averaged. An hour at 48 kHz takes 700 MB of memory.
    public init(_ file: any SoundFileReader, firstFrameTime: HostTime) throws(AudioFileError) {
        let rate = file.processingFormat.sampleRate
        let reader = ConvertedFileReader(file, as: AudioFormat(sampleRate: rate, channelCount: 1))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 8192)
        var samples: [Float] = []
        while true {
            let frames = try reader.read(into: block.channels, frameCount: block.frameCapacity)
            samples.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: frames))
            if frames < block.frameCapacity { break }
        }
        self.init(samples: samples, sampleRate: rate, firstFrameTime: firstFrameTime)
    }

    /// The duration in seconds.
    public var duration: Double { Double(samples.count) / sampleRate }

    /// A copy without samples that no converter produces: NaN and infinity become 0, and samples are clamped to 16 times full
    /// scale.
    var cleaned: TimedSignal {
        var copy = self
        copy.samples = samples.map { $0.isFinite ? max(-16, min(16, $0)) : 0 }
        return copy
    }

    /// Returns the samples at another sample rate.
    package func resampled(to rate: Double) -> [Float] {
        if rate == sampleRate || samples.isEmpty { return samples }
        let total = Int((Double(samples.count) * rate / sampleRate).rounded())
        let converter = RateConverter(from: sampleRate, to: rate, channelCount: 1)
        let input = AudioBuffer(channelCount: 1, frameCapacity: 4096)
        let output = AudioBuffer(channelCount: 1, frameCapacity: 4096)
        var result: [Float] = []
        result.reserveCapacity(total)
        var inputPosition = 0
        while result.count < total {
            let frames = min(4096, max(0, samples.count - inputPosition))
            for i in 0..<4096 { input.channels[0][i] = i < frames ? samples[inputPosition + i] : 0 }
            inputPosition += frames
            // After the end, silence pushes out the frames still in the converter.
            let blockLength = frames > 0 ? frames : 4096
            var usedCount = 0
            repeat {
                let (consumed, produced) = converter.convert(
                    input.channels, frameCount: blockLength - usedCount, inputOffset: usedCount, into: output.channels,
                    frameCapacity: min(4096, total - result.count))
                usedCount += consumed
                result.append(contentsOf: UnsafeBufferPointer(start: output.channels[0], count: produced))
            } while usedCount < blockLength && result.count < total
        }
        return result
    }
}
