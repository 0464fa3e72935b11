// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles
import Glibc

/// Converts a sound file to another kind, sample rate, channel count or loudness, with its tags and pictures.
///
/// A damaged input is converted as far as it can be decoded. The output has a temporary name until it is complete, so its own
/// name never leads to an incomplete file.
///
/// ```swift
/// var conversion = SoundFileConversion(from: "song.flac", to: "song.mp3")
/// conversion.loudness = -16
/// let result = try conversion.run()
/// ```
/// For one thread at a time; it waits for the disk.
public struct SoundFileConversion: Sendable {
    /// The file to read, of any kind.
    public var input: String
    /// The file to write. An existing file is replaced and its mode is kept; if the path is a link, the link's target is
    /// replaced. A folder, pipe or device is refused.
    public var output: String
    /// The kind of the output; nil for the kind of its extension.
    public var type: AudioFileType?
    /// Hertz, 8,000 to 384,000; nil for the input's sample rate.
    public var sampleRate: Double?
    /// 1 to 32; nil for the input's channel count.
    public var channelCount: Int?
    /// The settings of the output.
    public var settings = SoundFiles.Settings()
    /// The integrated loudness of the output in LUFS (EBU R 128), −70 to −5; nil to leave it unchanged. Otherwise the sound is
    /// read twice. Peaks that would exceed −1 dBTP are limited.
    public var loudness: Double?
    /// True if tags and pictures are copied.
    public var keepsTags = true

    /// Creates a conversion that keeps sample rate, channels and loudness.
    public init(from input: String, to output: String) {
        self.input = input
        self.output = output
    }

    /// Frames per write: 0.7 s at 48 kHz. Each write also updates the file's header, so there should be few.
    private static let blockFrames = 32_768

    /// The result.
    public struct Result: Sendable {
        /// The format of the input.
        public var inputFormat: AudioFormat
        /// The requested format.
        public var format: AudioFormat
        /// The sample rate of the output file in hertz. It differs from the rate of ``format`` if the file type does not support
        /// that rate.
        package var fileSampleRate: Double
        /// Frames written, at the format's sample rate.
        public var frameCount: Int
        /// The kind of the output.
        public var type: AudioFileType
        /// The output's loudness in LUFS; nil if no loudness was requested or nothing passed the gates.
        public var loudness: Double?
        /// The gain in dB that was applied for the loudness.
        public var gain: Double
        /// True if a limiter was used, since the gain would have raised peaks above −1 dBTP.
        public var isLimited: Bool
        /// The first damage of the input, ``AudioFileError/damaged(path:reason:)``; nil if all of it was read. Sound that could not
        /// be decoded is missing in the output, or is silence there.
        public var inputDamage: AudioFileError?
        /// The samples of the input that were NaN or infinite, and became 0.
        public var faultCount: Int
        /// The samples beyond full scale that a file of integers could not hold, and that were clipped.
        public var clippedSampleCount: Int
        /// The reason that tags were not copied, or the names of the tags that were not copied; nil if all were copied.
        public var tagsError: AudioFileError?
        /// The input's content besides sound, tags and pictures, which was not copied.
        package var lostExtras: [AudioFileExtra]
    }

    /// The reason that a conversion ended without an output.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// A file could not be read or written.
        case file(AudioFileError)
        /// The output could not be created.
        case output(AudioFileError)
        /// `progress` returned false.
        case cancelled
        /// The input and the output are the same file.
        case sameFile(path: String)
        /// The extension is not that of a supported kind.
        case unknownKind(path: String)

        /// One sentence that says what happened.
        public var description: String {
            switch self {
            case .file(let error), .output(let error): error.description
            case .cancelled: "the conversion was cancelled; its output was deleted"
            case .sameFile(let path): "\(path): is both read and written"
            case .unknownKind(let path): "\(path): its ending is of no kind that is written"
            }
        }
    }

    /// Runs the conversion.
    /// - Parameter progress: is called for each block with the completed part, 0 to 1. Returning false cancels the conversion.
    public func run(progress: (Double) -> Bool = { _ in true }) throws(Failure) -> Result {
        guard let type = type ?? AudioFileType(fileName: output) else { throw .unknownKind(path: output) }
        guard !PathText.isSameFile(input, output) else { throw .sameFile(path: input) }
        let source = try openSource()
        let format = AudioFormat(
            sampleRate: sampleRate ?? source.processingFormat.sampleRate,
            channelCount: channelCount ?? source.processingFormat.channelCount)
        let inputFormat = source.processingFormat
        let replacement = try making { () throws(AudioFileError) in try AtomicFileReplacement(of: output) }
        let passes = loudness == nil ? 1.0 : 2.0
        let leveller = try measure(format) { progress($0 / passes) }
        let reader = ConvertedFileReader(source, as: format)
        let writer: any SoundFileWriter
        var (settings, extras) = (settings, source.file.extras)
        if format.channelCount == inputFormat.channelCount { settings.channelMap = source.file.channelMap }
        if type == .wav || type == .rf64, let info = source.file.broadcastInfo {
            settings.broadcastInfo = info.scaled(by: format.sampleRate / inputFormat.sampleRate)
            extras.removeAll { $0 == .broadcastInfo }
        }
        do {
            writer = try SoundFiles.create(replacement.path, type: type, format: format, settings: settings)
        } catch { throw .output(error.named(output, insteadOf: replacement.path)) }
        let clips = settings.hasIntegerSamples(type)
        var clipped = 0
        do throws(Failure) {
            try pass(reader, progress: { progress((passes - 1 + $0) / passes) }) {
                (channels, count) throws(AudioFileError) in
                let kept = leveller?.process(channels, count) ?? 0..<count
                if clips { clipped += Self.clippedSampleCount(channels, kept, format.channelCount) }
                try writer.write(channels, frameCount: kept.count, offset: kept.lowerBound)
            }
            try reading { () throws(AudioFileError) in
                try leveller?.finish { (channels, kept) throws(AudioFileError) in
                    if clips { clipped += Self.clippedSampleCount(channels, kept, format.channelCount) }
                    try writer.write(channels, frameCount: kept.count, offset: kept.lowerBound)
                }
                try writer.close()
            }
            if writer.frameCount == 0, let damage = source.damage { throw .file(damage) }
        } catch {
            try? writer.close()
            throw error.named(output, insteadOf: replacement.path)
        }
        var tagsError: AudioFileError?
        if keepsTags { tagsError = takeTags(from: source, to: replacement.path) }
        try making { () throws(AudioFileError) in try replacement.commit() }
        return Result(
            inputFormat: inputFormat, format: format, fileSampleRate: writer.fileSampleRate,
            frameCount: writer.frameCount, type: type, loudness: leveller?.measured, gain: leveller?.decibels ?? 0,
            isLimited: leveller?.isLimiting ?? false, inputDamage: source.damage, faultCount: source.faultCount,
            clippedSampleCount: clipped, tagsError: tagsError, lostExtras: extras)
    }

    /// Measures the loudness of the whole sound, if it is to change.
    private func measure(_ format: AudioFormat, progress: (Double) -> Bool) throws(Failure) -> LoudnessNormalizer? {
        guard let loudness else { return nil }
        let meter = LoudnessMeter(sampleRate: format.sampleRate, channelCount: format.channelCount)
        try pass(ConvertedFileReader(openSource(), as: format), progress: progress) {
            (channels, count) throws(AudioFileError) in meter.add(channels, frameCount: count)
        }
        return LoudnessNormalizer(meter.measurement, target: loudness, format: format)
    }

    private func openSource() throws(Failure) -> DamageTolerantReader {
        try reading { () throws(AudioFileError) in DamageTolerantReader(try SoundFiles.openDetailed(input)) }
    }

    private static func clippedSampleCount(_ channels: Channels, _ frames: Range<Int>, _ channelCount: Int) -> Int {
        (0..<channelCount).reduce(0) { $0 + countBeyondFullScale(channels[$1] + frames.lowerBound, frames.count) }
    }

    /// Reads the whole sound in blocks.
    private func pass(
        _ reader: ConvertedFileReader, progress: (Double) -> Bool,
        visit: (Channels, Int) throws(AudioFileError) -> Void
    ) throws(Failure) {
        let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: Self.blockFrames)
        let total = Double(max(1, reader.frameCount))
        while true {
            guard progress(min(1, Double(reader.framePosition) / total)) else { throw .cancelled }
            let count = try reading { () throws(AudioFileError) in
                let count = try reader.read(into: block.channels, frameCount: block.frameCapacity)
                if count > 0 { try visit(block.channels, count) }
                return count
            }
            if count < block.frameCapacity { break }
        }
        _ = progress(1)
    }

    private func takeTags(from source: DamageTolerantReader, to path: String) -> AudioFileError? {
        do {
            var tags = try source.file.readTags()
            let leftOut = tags.removeUnwritableFields()
            if !tags.isEmpty { try tags.write(to: path) }
            return leftOut.isEmpty ? nil : .tagsLeftOut(leftOut, path: output)
        } catch {
            return error.named(output, insteadOf: path)
        }
    }

    private func reading<Value>(_ work: () throws(AudioFileError) -> Value) throws(Failure) -> Value {
        do { return try work() } catch { throw .file(error) }
    }

    private func making<Value>(_ work: () throws(AudioFileError) -> Value) throws(Failure) -> Value {
        do { return try work() } catch { throw .output(error) }
    }
}

extension SoundFileConversion.Failure {
    fileprivate func named(_ path: String, insteadOf partial: String) -> Self {
        if case .file(let error) = self { return .file(error.named(path, insteadOf: partial)) }
        return self
    }
}
