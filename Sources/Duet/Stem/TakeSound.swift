// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles

/// The sound file of a take, or all parts of a divided one (`NAME-001.wav`, `NAME-002.wav` …) as one file. It ends before the first
/// part that is missing or has another format. Damaged sound is silent. One file is open at a time.
final class TakeSound: SoundFileReader {
    /// The maximum number of parts.
    private static let limit = 10_000

    let path: String
    let processingFormat: AudioFormat
    let frameCount: Int
    private(set) var framePosition = 0
    /// The first damage; nil if there was none.
    private(set) var damage: AudioFileError?

    private let parts: [(path: String, frames: Range<Int>)]
    private var part: Int
    private var reader: DamageTolerantReader

    /// - Parameter path: the file, or its first part.
    init(path: String) throws(AudioFileError) {
        self.path = path
        (part, reader) = (0, try DamageTolerantReader(path: path))
        processingFormat = reader.processingFormat
        var parts = [(path: path, frames: 0..<max(0, reader.frameCount))]
        while parts.count < Self.limit, let next = Self.path(ofPart: parts.count + 1, of: path),
            let file = try? DamageTolerantReader(path: next), file.processingFormat == processingFormat
        {
            let start = parts[parts.count - 1].frames.upperBound
            parts.append((next, start..<start + max(0, file.frameCount)))
        }
        self.parts = parts
        frameCount = parts[parts.count - 1].frames.upperBound
    }

    /// Returns the path of a part; nil if the first part's name has no number.
    private static func path(ofPart number: Int, of path: String) -> String? {
        let dot = path.lastIndex(of: ".") ?? path.endIndex
        guard path[..<dot].hasSuffix("-001") else { return nil }
        let digits = String(number)
        return path[..<dot].dropLast(3) + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
            + path[dot...]
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        var done = 0
        while done < frameCount, let index = parts.firstIndex(where: { $0.frames.contains(framePosition) }) {
            try open(index)
            let count = min(frameCount - done, parts[index].frames.upperBound - framePosition)
            for c in 0..<processingFormat.channelCount { clearSamples(channels[c] + offset + done, count) }
            // A part that ends early is silent to its end, so that later ones keep their place.
            _ = try reader.read(into: channels, frameCount: count, offset: offset + done)
            damage = damage ?? reader.damage
            framePosition += count
            done += count
        }
        return done
    }

    func seek(to frame: Int) throws(AudioFileError) {
        framePosition = min(max(0, frame), frameCount)
        guard let index = parts.firstIndex(where: { $0.frames.contains(framePosition) }) else { return }
        try open(index)
        try reader.seek(to: framePosition - parts[index].frames.lowerBound)
    }

    private func open(_ index: Int) throws(AudioFileError) {
        if part == index { return }
        reader = try DamageTolerantReader(path: parts[index].path)
        part = index
        let start = parts[index].frames.lowerBound
        if framePosition > start { try reader.seek(to: framePosition - start) }
    }
}
