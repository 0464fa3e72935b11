// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Glibc

/// A file that an ``AudioRecorder`` writes to.
public struct AudioRecorderFile: Sendable {
    /// Creates a file of this path and format.
    public typealias MakeWriter = @Sendable (String, AudioFormat) throws(AudioFileError) -> any SoundFileWriter
    /// The path; the base of the numbered names of a split recording.
    public let path: String
    let makeWriter: MakeWriter
    /// Throws what making it would, of a path and format, and touches nothing.
    private(set) var check: @Sendable (String, AudioFormat) throws(AudioFileError) -> Void

    /// A file of any kind that has a writer.
    public init(path: String, makeWriter: @escaping MakeWriter) {
        self.path = path
        self.makeWriter = makeWriter
        check = { _, _ in }
    }

    /// The kind that the path's ending asks for, of all that are written (``SoundFiles``).
    /// - Parameters:
    ///   - type: nil is what the path's ending asks for.
    ///   - settings: how the file keeps its sound.
    public init(path: String, type: AudioFileType? = nil, settings: SoundFiles.Settings = SoundFiles.Settings()) {
        self.init(path: path) { path, format throws(AudioFileError) in
            try SoundFiles.create(path, type: type, format: format, settings: settings)
        }
        check = { path, format throws(AudioFileError) in
            try SoundFiles.check(path, type: type, format: format, settings: settings)
        }
    }

    /// Goes on with a file that is there (``SoundFiles/append(to:)``); the recording must have its rate and channels.
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

    /// A pipe, or another descriptor that cannot be gone back in (``SoundFiles/create(stream:name:type:format:settings:)``).
    public init(
        stream descriptor: Int32, name: String, type: AudioFileType,
        settings: SoundFiles.Settings = SoundFiles.Settings()
    ) {
        self.init(path: name) { name, format throws(AudioFileError) in
            try SoundFiles.create(stream: descriptor, name: name, type: type, format: format, settings: settings)
        }
    }

    /// The path of one part of a recording that is split: `take.wav` becomes `take-001.wav`.
    /// - Parameter part: nil if it is not split.
    public func path(ofPart part: Int?) -> String {
        guard let part else { return path }
        let digits = String(part)
        let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "\(path)-\(number)" }
        return path[..<dot] + "-\(number)" + path[dot...]
    }
}

/// One of a recorder's files: whole, or in parts of equal length. Under the recorder's lock.
final class RecordedFile {
    let file: AudioRecorderFile
    private let format: AudioFormat
    private let partFrames: Int?
    private var writer: (any SoundFileWriter)?
    private var part: Int
    /// True if the first part's file was there before.
    private var wasThere = false
    /// Frames in the present part, at the recorder's rate, whatever the writer makes of them.
    private var partDone = 0
    private(set) var paths: [String] = []
    private(set) var error: AudioFileError?
    private var written = 0

    var progress: AudioRecorder.FileProgress {
        AudioRecorder.FileProgress(paths: paths, frameCount: written, error: error)
    }

    /// Creates the first part, so that what is wrong with the path is known at once.
    /// - Parameter firstPart: the number of the first file of a divided recording.
    init(
        _ file: AudioRecorderFile, format: AudioFormat, partFrames: Int?, firstPart: Int
    ) throws(AudioFileError) {
        self.file = file
        self.format = format
        self.partFrames = partFrames
        part = firstPart - 1
        wasThere = access(file.path(ofPart: partFrames == nil ? nil : firstPart), F_OK) == 0
        try open()
    }

    /// Takes a file away that was made for nothing.
    func discard() {
        writer = nil
        if !wasThere, let path = paths.first { OutputPath.remove(path) }
    }

    private func open() throws(AudioFileError) {
        part += 1
        partDone = 0
        let path = file.path(ofPart: partFrames == nil ? nil : part)
        writer = try file.makeWriter(path, format)
        paths.append(path)
    }

    /// Appends frames, over as many parts as they need. After an error it takes no more.
    func write(_ samples: Channels, frameCount: Int, offset: Int) {
        guard error == nil else { return }
        do throws(AudioFileError) {
            var done = 0
            while done < frameCount {
                var count = frameCount - done
                if let partFrames {
                    if partDone == partFrames {
                        try writer?.close()
                        try open()
                    }
                    count = min(count, partFrames - partDone)
                }
                try writer?.write(samples, frameCount: count, offset: offset + done)
                done += count
                partDone += count
                written += count
            }
        } catch { self.error = error }
    }

    func close() {
        do throws(AudioFileError) {
            if error == nil { try writer?.close() }
        } catch { self.error = error }
        writer = nil
    }
}

/// The last frames of what went by, so many at most.
struct RecentFrames: ~Copyable {
    let capacity: Int
    private(set) var held = 0
    private let buffer: AudioBuffer
    private var end = 0

    init(channelCount: Int, capacity: Int) {
        self.capacity = capacity
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: max(1, capacity))
    }

    /// Keeps frames. Returns how many older ones went for them.
    mutating func append(_ samples: Channels, offset: Int, frameCount: Int) -> Int {
        let lost = max(0, held + frameCount - capacity)
        let skipped = max(0, frameCount - capacity)
        var done = skipped
        while done < frameCount {
            let count = min(frameCount - done, capacity - end)
            for c in 0..<buffer.channels.count {
                copySamples(buffer.channels[c] + end, samples[c] + offset + done, count)
            }
            end = (end + count) % capacity
            done += count
        }
        held = min(capacity, held + frameCount)
        return lost
    }

    /// Gives what is held, the oldest first, in at most two pieces, and forgets it.
    mutating func drain(_ give: (Channels, _ offset: Int, _ count: Int) -> Void) {
        guard held > 0 else { return }
        let start = (end - held + capacity) % capacity
        let first = min(held, capacity - start)
        give(buffer.channels, start, first)
        if first < held { give(buffer.channels, 0, held - first) }
        held = 0
        end = 0
    }
}
