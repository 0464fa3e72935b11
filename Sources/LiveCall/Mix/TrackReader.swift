// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioQueues

/// Reads a recorded track with all its parts, in order. Silence replaces parts that are missing or damaged. One file is open at a
/// time. For one thread at a time; it waits for the disk.
final class TrackReader {
    /// A file of the track.
    private struct Part {
        var path: String
        var start = 0
        var frameCount = 0
        /// True if the file could be opened.
        var isReadable = false
    }

    /// 1 or 2.
    let channelCount: Int
    /// The end of the last part.
    private(set) var frameCount = 0
    /// The reasons that parts are silent.
    private(set) var faults: Set<MixFault> = []

    private let voice: String
    private let file: String
    private let sampleRate: Double
    private var parts: [Part]
    /// The open file, and the frame that its reader returns next.
    private var openPart: (index: Int, position: Int, source: DamageTolerantReader, reader: ConvertedFileReader)?
    /// The maximum seconds that are believed of a file's header: a week.
    private static let maximumTime = 7 * 24 * 3_600.0

    /// Opens each part once. A sample rate other than the recording's is converted.
    init(_ track: RecordingManifest.Track, folder: String, voice: String, sampleRate: Double) {
        (self.voice, file) = (voice, track.file)
        self.sampleRate = sampleRate
        parts = Self.fileNames(of: track).map { Part(path: "\(folder)/\($0)") }
        let maximumFrameCount = Int(Self.maximumTime * sampleRate)
        var channelCount = 1
        for index in parts.indices {
            do throws(AudioFileError) {
                let source = try SoundFiles.open(parts[index].path)
                channelCount = max(channelCount, min(2, source.processingFormat.channelCount))
                parts[index].isReadable = true
                let rate = source.processingFormat.sampleRate
                parts[index].frameCount = RateConverter.frameCount(
                    min(source.frameCount, Int(Self.maximumTime * rate)), from: rate, to: sampleRate)
            } catch {
                faults.insert(MixFault(voice: voice, file: file, kind: .missing, description: error.description))
            }
        }
        self.channelCount = channelCount
        // All parts but the last have the same length, so each place is known although a part is missing.
        let total = max(0, min(track.frameCount, maximumFrameCount))
        var partLength = parts.dropLast().map(\.frameCount).max() ?? 0
        if partLength == 0, let last = parts.last?.frameCount, parts.count > 1 {
            partLength = max(0, total - last) / (parts.count - 1)
        }
        for index in parts.indices { parts[index].start = index * partLength }
        frameCount = parts.last { $0.frameCount > 0 }.map { $0.start + $0.frameCount } ?? 0
        let missing = parts.dropLast().filter { $0.isReadable }.reduce(max(0, total - frameCount)) {
            $0 + partLength - $1.frameCount
        }
        if missing > 0, parts.contains(where: { $0.isReadable }) {
            faults.insert(
                MixFault(
                    voice: voice, file: file, kind: .short(seconds: Double(missing) / sampleRate),
                    description: "\(folder)/\(track.file): ends early"))
        }
    }

    /// The frames of the parts that can be opened, in order, those that adjoin as one.
    var readableFrames: [Range<Int>] {
        var ranges: [Range<Int>] = []
        for part in parts where part.isReadable && part.frameCount > 0 {
            let end = part.start + part.frameCount
            if let last = ranges.last, last.upperBound >= part.start {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
            } else {
                ranges.append(part.start..<end)
            }
        }
        return ranges
    }

    /// Returns the names of all parts of a track; only the first if the name has no number.
    static func fileNames(of track: RecordingManifest.Track) -> [String] {
        let dot = track.file.lastIndex(of: ".") ?? track.file.endIndex
        let stem = track.file[..<dot]
        guard track.parts > 1, stem.hasSuffix("-001") else { return [track.file] }
        let whole = AudioRecorderFile(path: "\(stem.dropLast(4))\(track.file[dot...])")
        return (1...track.parts).map { whole.path(ofPart: $0) }
    }

    /// Fills a block. Frames before 0, after the end and in missing parts are silent. Sequential
    /// reads are faster: another frame needs a seek.
    func read(into channels: Channels, at frame: Int, frameCount count: Int) {
        for c in 0..<channels.count { clearSamples(channels[c], count) }
        for index in parts.indices {
            let part = parts[index]
            let start = max(frame, part.start)
            let end = min(frame + count, part.start + part.frameCount)
            if start < end { read(index, into: channels, at: start - part.start, end - start, offset: start - frame) }
        }
    }

    private func read(_ index: Int, into channels: Channels, at frame: Int, _ count: Int, offset: Int) {
        let path = parts[index].path
        do throws(AudioFileError) { try seek(index, to: frame) } catch {
            // A later frame may be readable.
            openPart = nil
            return note(.damaged, error.named(path, insteadOf: path).description)
        }
        guard let (_, _, source, reader) = openPart else { return }
        do throws(AudioFileError) {
            _ = try reader.read(into: channels, frameCount: count, offset: offset)
            openPart?.position = frame + count
            if let damage = source.damage { note(.damaged, damage.description) }
        } catch {
            note(.damaged, error.named(path, insteadOf: path).description)
            parts[index].frameCount = 0
        }
    }

    private func seek(_ index: Int, to frame: Int) throws(AudioFileError) {
        if let openPart, openPart.index == index {
            guard openPart.position != frame else { return }
            try openPart.reader.seek(to: frame)
        } else {
            openPart = nil
            let source = try DamageTolerantReader(path: parts[index].path)
            let reader = ConvertedFileReader(
                source, as: AudioFormat(sampleRate: sampleRate, channelCount: channelCount))
            if frame > 0 { try reader.seek(to: frame) }
            openPart = (index, frame, source, reader)
        }
        openPart?.position = frame
    }

    private func note(_ kind: MixFault.Kind, _ text: String) {
        faults.insert(MixFault(voice: voice, file: file, kind: kind, description: text))
    }
}
