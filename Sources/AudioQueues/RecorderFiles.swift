// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Glibc

/// A file that an ``AudioRecorder`` writes to.
public struct AudioRecorderFile: Sendable {
    /// Creates the writer of a file with a path and a format.
    public typealias MakeWriter = @Sendable (String, AudioFormat) throws(AudioFileError) -> any SoundFileWriter
    /// The file's path; for a divided recording the base of the numbered names.
    public let path: String
    let makeWriter: MakeWriter
    /// Throws the error that the creation of the file would throw, without touching the disk.
    private(set) var check: @Sendable (String, AudioFormat) throws(AudioFileError) -> Void

    /// Creates a destination of any format that has a writer.
    public init(path: String, makeWriter: @escaping MakeWriter) {
        self.path = path
        self.makeWriter = makeWriter
        check = { _, _ in }
    }

    /// Creates a destination of a format of ``SoundFiles``.
    /// - Parameters:
    ///   - type: the format; nil selects it by the path's extension.
    ///   - settings: the encoding of the sound.
    public init(path: String, type: AudioFileType? = nil, settings: SoundFiles.Settings = SoundFiles.Settings()) {
        self.init(path: path) { path, format throws(AudioFileError) in
            try SoundFiles.create(path, type: type, format: format, settings: settings)
        }
        check = { path, format throws(AudioFileError) in
            try SoundFiles.check(path, type: type, format: format, settings: settings)
        }
    }

    /// Creates a destination that appends to an existing file (``SoundFiles/append(to:)``). The recording must have the file's
    /// rate and channel count.
    public init(appendingTo path: String) {
        self.init(path: path) { path, format throws(AudioFileError) in
            let writer = try SoundFiles.append(to: path)
            guard writer.format == format else {
                throw .unsupportedFormat(
                    path: path,
                    detail:
                        "has \(Int(writer.format.sampleRate)) Hz and \(writer.format.channelCount) channels, and what is recorded \(Int(format.sampleRate)) Hz and \(format.channelCount)"
                )
            }
            return writer
        }
    }

    /// Creates a destination for a pipe, or another descriptor that is not seekable
    /// (``SoundFiles/create(stream:name:type:format:settings:)``).
    public init(
        stream descriptor: Int32, name: String, type: AudioFileType,
        settings: SoundFiles.Settings = SoundFiles.Settings()
    ) {
        self.init(path: name) { name, format throws(AudioFileError) in
            try SoundFiles.create(stream: descriptor, name: name, type: type, format: format, settings: settings)
        }
    }

    /// Returns the path of one part of a divided recording: `take.wav` becomes `take-001.wav`.
    /// - Parameter part: nil if the recording is not divided.
    public func path(ofPart part: Int?) -> String {
        guard let part else { return path }
        let digits = String(part)
        let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "\(path)-\(number)" }
        return path[..<dot] + "-\(number)" + path[dot...]
    }
}

/// A recorded file: whole, or in parts of equal length. For one thread at a time.
package final class RecordedFile {
    let file: AudioRecorderFile
    private let format: AudioFormat
    private let partFrames: Int?
    private var writer: (any SoundFileWriter)?
    private var part: Int
    /// True if a file existed at the first part's path before.
    private var existedBefore = false
    /// The number of frames in the current part, at the recorder's rate.
    private var partFrameCount = 0
    /// The paths of all parts.
    package private(set) var paths: [String] = []
    /// The error after which nothing was written; nil if there is none.
    package private(set) var error: AudioFileError?
    private var writtenFrameCount = 0

    var progress: AudioRecorder.FileProgress {
        AudioRecorder.FileProgress(paths: paths, frameCount: writtenFrameCount, error: error)
    }

    /// Creates the first part, so that an unusable path is known at once.
    /// - Parameter firstPart: the number of the first file of a divided recording.
    package init(
        _ file: AudioRecorderFile, format: AudioFormat, partFrames: Int?, firstPart: Int
    ) throws(AudioFileError) {
        self.file = file
        self.format = format
        self.partFrames = partFrames
        part = firstPart - 1
        existedBefore =
            PathText.status(file.path(ofPart: partFrames == nil ? nil : firstPart), followsLinks: false) != nil
        try open()
    }

    /// Removes the file that was created, because the recording cannot begin; keeps a file that existed before.
    func discard() {
        writer = nil
        if !existedBefore, let path = paths.first { OutputPath.remove(path) }
    }

    private func open() throws(AudioFileError) {
        part += 1
        partFrameCount = 0
        let path = file.path(ofPart: partFrames == nil ? nil : part)
        writer = try file.makeWriter(path, format)
        paths.append(path)
    }

    /// Appends frames, in several parts if necessary. After an error frames are ignored.
    package func write(_ samples: Channels, frameCount: Int, offset: Int) {
        guard error == nil else { return }
        do throws(AudioFileError) {
            var writtenCount = 0
            while writtenCount < frameCount {
                var count = frameCount - writtenCount
                if let partFrames {
                    if partFrameCount == partFrames {
                        try writer?.close()
                        try open()
                    }
                    count = min(count, partFrames - partFrameCount)
                }
                try writer?.write(samples, frameCount: count, offset: offset + writtenCount)
                writtenCount += count
                partFrameCount += count
                writtenFrameCount += count
            }
        } catch { self.error = error }
    }

    /// Closes the last part.
    package func close() {
        do throws(AudioFileError) {
            if error == nil { try writer?.close() }
        } catch { self.error = error }
        writer = nil
    }
}

/// A ring buffer of the newest frames.
struct RecentFrames: ~Copyable {
    let capacity: Int
    private(set) var held = 0
    private let buffer: AudioBuffer
    private var writeIndex = 0

    init(channelCount: Int, capacity: Int) {
        self.capacity = capacity
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: max(1, capacity))
    }

    /// Stores frames. Returns the number of older frames that they replaced.
    mutating func append(_ samples: Channels, offset: Int, frameCount: Int) -> Int {
        let replacedCount = max(0, held + frameCount - capacity)
        let skipped = max(0, frameCount - capacity)
        var copiedCount = skipped
        while copiedCount < frameCount {
            let count = min(frameCount - copiedCount, capacity - writeIndex)
            for c in 0..<buffer.channels.count {
                copySamples(buffer.channels[c] + writeIndex, samples[c] + offset + copiedCount, count)
            }
            writeIndex = (writeIndex + count) % capacity
            copiedCount += count
        }
        held = min(capacity, held + frameCount)
        return replacedCount
    }

    /// Passes on the stored frames, the oldest first, in at most two pieces, and removes them.
    mutating func drain(_ give: (Channels, _ offset: Int, _ count: Int) -> Void) {
        guard held > 0 else { return }
        let start = (writeIndex - held + capacity) % capacity
        let firstCount = min(held, capacity - start)
        give(buffer.channels, start, firstCount)
        if firstCount < held { give(buffer.channels, 0, held - firstCount) }
        held = 0
        writeIndex = 0
    }
}
