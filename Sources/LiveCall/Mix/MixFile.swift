// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDSP
import EarshotAudioFiles

/// Mixes a recording to a file. For one thread at a time; it waits for the disk.
package struct MixFile {
    /// The result.
    package struct Result: Sendable {
        /// Frames written, at the recording's sample rate.
        package var frameCount: Int
        package var sampleRate: Double
        /// The loudness in LUFS before encoding; nil if nothing passed the gates.
        package var loudness: Double?
        /// The true peak in dBTP before encoding.
        package var truePeak: Double
        /// The gain in dB that was applied for the loudness.
        package var gain: Double
        /// True if peaks were limited.
        package var isLimited: Bool
        /// The samples beyond full scale that a file of integers could not hold.
        package var clippedSampleCount: Int
        /// The times that the voices were rendered.
        package var passCount: Int
        /// The voices that are not complete.
        package var faults: [MixFault]
    }

    /// Frames per write: each write also updates the file's header.
    private static let blockLength = 8 * Mixdown.sliceLength
    /// The loudness difference in LU that is not corrected.
    static let tolerance = 0.3
    /// The maximum number of rendered passes. Sound that a limiter cannot bring to the loudness keeps what it has then.
    static let maximumPassCount = 5
    /// The largest gain in dB. Mere noise is not raised to the loudness of voices.
    static let maximumGain = 40.0

    package var source: MixSource
    package var settings: MixSettings
    package var encoding: SoundFiles.Settings

    package init(_ source: MixSource, _ settings: MixSettings, encoding: SoundFiles.Settings) {
        self.source = source
        self.settings = settings
        self.encoding = encoding
    }

    /// Returns the highest true peak in dBTP: −1 with a margin for rounding, −2 before a lossy encoder (EBU R 128 s1), whose output
    /// has higher peaks than its input.
    static func ceiling(for type: AudioFileType) -> Double {
        [.rf64, .wav, .aiff, .caf, .flac].contains(type) ? -1.05 : -2
    }

    /// Writes the mix. The file has its name when it is complete, and only the user can read a new one.
    /// - Parameter progress: is called for each block with the completed part, 0 to 1. Returning false cancels the mix.
    package func write(
        to path: String, type: AudioFileType, progress: (Double) -> Bool = { _ in true }
    ) throws(MixError) -> Result {
        try source.checkOutput(path)
        return try MixOutput.write(path) { (partial) throws(MixError) in
            try write(to: partial, named: path, type, progress)
        }
    }

    private func write(
        to partial: String, named path: String, _ type: AudioFileType, _ progress: (Double) -> Bool
    ) throws(MixError) -> Result {
        let ceiling = Self.ceiling(for: type)
        var gain = 0.0
        var passCount = 0
        var needsLimiter = false
        if let target = settings.loudness {
            let measured = try render(gain: 0, ceiling: nil, progress: { progress($0 / 2) }).measurement
            passCount += 1
            gain = measured.integrated.isFinite ? min(Self.maximumGain, target - measured.integrated) : 0
            needsLimiter = measured.truePeak + gain > ceiling
        }
        while true {
            let share = settings.loudness == nil ? 0 : 0.5
            let rendered = try render(
                gain: gain, ceiling: needsLimiter ? ceiling : nil, to: (partial, path, type),
                progress: { progress(share + $0 * (1 - share)) })
            passCount += 1
            let measured = rendered.measurement
            if let target = settings.loudness, measured.integrated.isFinite, passCount < Self.maximumPassCount,
                abs(target - measured.integrated) > Self.tolerance, gain < Self.maximumGain
            {
                gain = min(Self.maximumGain, gain + target - measured.integrated)
                needsLimiter = needsLimiter || measured.truePeak + target - measured.integrated > ceiling
                continue
            }
            tag(partial)
            return Result(
                frameCount: rendered.frameCount, sampleRate: source.sampleRate,
                loudness: measured.integrated.isFinite ? measured.integrated : nil, truePeak: measured.truePeak,
                gain: gain, isLimited: needsLimiter,
                clippedSampleCount: encoding.hasIntegerSamples(type) ? rendered.clippedSampleCount : 0,
                passCount: passCount, faults: rendered.faults)
        }
    }

    /// The result of a rendering.
    private struct Rendered {
        var frameCount: Int
        var measurement: LoudnessMeter.Measurement
        var clippedSampleCount = 0
        var faults: [MixFault]
    }

    /// Renders the whole mix, to a file or only to the meter.
    private func render(
        gain: Double, ceiling: Double?,
        to file: (path: String, name: String, type: AudioFileType)? = nil, progress: (Double) -> Bool
    ) throws(MixError) -> Rendered {
        let mixdown = try Mixdown(source, settings)
        if mixdown.frameCount == 0 { throw .empty }
        let normalizer = LoudnessNormalizer(
            decibels: gain, ceiling: ceiling, format: mixdown.format, measuresTruePeak: true)
        let block = AudioBuffer(channelCount: 2, frameCapacity: Self.blockLength)
        var writer: (any SoundFileWriter)?
        if let file {
            writer = try MixOutput.output(file.name, insteadOf: file.path) { () throws(AudioFileError) in
                try SoundFiles.create(file.path, type: file.type, format: mixdown.format, settings: encoding)
            }
        }
        defer { try? writer?.close() }
        var clippedSampleCount = 0
        func write(_ channels: Channels, _ kept: Range<Int>) throws(AudioFileError) {
            for c in 0..<2 { clippedSampleCount += countBeyondFullScale(channels[c] + kept.lowerBound, kept.count) }
            try writer?.write(channels, frameCount: kept.count, offset: kept.lowerBound)
        }
        var renderedCount = 0
        while renderedCount < mixdown.frameCount {
            guard progress(Double(renderedCount) / Double(mixdown.frameCount)) else { throw .cancelled }
            var count = 0
            while count < block.frameCapacity {
                let got = mixdown.render(
                    into: block.channels, offset: count, frameCount: block.frameCapacity - count)
                if got == 0 { break }
                count += got
            }
            renderedCount += count
            let kept = normalizer.process(block.channels, count)
            try MixOutput.output(file?.name ?? "", insteadOf: file?.path ?? "") { () throws(AudioFileError) in
                try write(block.channels, kept)
            }
        }
        try MixOutput.output(file?.name ?? "", insteadOf: file?.path ?? "") { () throws(AudioFileError) in
            try normalizer.finish(write)
            try writer?.close()
        }
        return Rendered(
            frameCount: mixdown.frameCount, measurement: normalizer.measurement,
            clippedSampleCount: clippedSampleCount, faults: mixdown.faults)
    }

    private func tag(_ path: String) {
        var tags = AudioFileTags()
        (tags.album, tags.date, tags.title) = (source.room, source.date, "\(source.room): mix")
        if let song = source.songTitle {
            let singers = source.voices.filter { !$0.isSong }.map(\.name)
            (tags.title, tags.artist) = (song, singers.joined(separator: ", "))
            if let attempt = source.attempt, attempt > 1 { tags.title = "\(song) (take \(attempt))" }
        }
        // Formats without tags are skipped.
        try? tags.write(to: path)
    }
}
