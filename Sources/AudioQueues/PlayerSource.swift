// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioStreams

/// The source of an item in a player's playlist. Under the player's lock.
protocol PlayerSource: AnyObject {
    /// The path, or the address without user name and password.
    var name: String { get }
    /// The total frames at the player's rate; 0 if unknown.
    var frameCount: Int { get }
    /// True if the source can only be played at its own speed, as it arrives.
    var isLive: Bool { get }
    /// True if the source is seekable, as far as known.
    var isSeekable: Bool { get }
    /// True if the next frame does not follow the last frame read.
    var isOutdated: Bool { get }
    /// Returns true if fewer than `frames` frames follow `frame`, as far as known.
    func isEnding(at frame: Int, within frames: Int) -> Bool
    /// Begins slow preparations, such as a connection.
    func prepare()
    /// Seeks to a frame, or near it; the next read tells the actual position.
    /// - Throws: an ``AudioPlayerError``; the position is then unchanged.
    func seek(to frame: Int) throws(AudioPlayerError)
    func read(into channels: Channels, frameCount: Int, offset: Int) -> PlayerReading
    /// Releases files and connections. A later ``seek(to:)`` or ``read(into:frameCount:offset:)`` opens them again; a read then
    /// begins at the first frame.
    func releaseResources()
}

/// The result of ``PlayerSource/read(into:frameCount:offset:)``.
enum PlayerReading {
    /// The number of frames read; `from` is the position of the first frame, if it may differ from the end of the previous read.
    case frames(Int, isLast: Bool, from: Int? = nil)
    /// No sound is available now; play silence.
    case nothing
    case failed(AudioPlayerError)
}

/// A file, or any reader. A file that can be reopened is open only while it is needed.
final class FileSource: PlayerSource {
    let name: String
    let frameCount: Int
    let isLive = false
    let isSeekable = true
    let isOutdated = false
    private var reader: ConvertedFileReader?
    private let format: AudioFormat
    private let isNamed: Bool

    /// - Parameter isNamed: true if the file can be reopened by its path.
    init(_ reader: any SoundFileReader, as format: AudioFormat, isNamed: Bool) {
        let converted = ConvertedFileReader(reader, as: format)
        (name, self.format, self.isNamed) = (reader.path, format, isNamed)
        self.reader = converted
        frameCount = converted.frameCount
    }

    func isEnding(at frame: Int, within frames: Int) -> Bool { frameCount - frame < frames }

    func prepare() { _ = try? opened() }

    private func opened() throws(AudioPlayerError) -> ConvertedFileReader {
        if let reader { return reader }
        do throws(AudioFileError) {
            let new = ConvertedFileReader(try SoundFiles.open(name), as: format)
            reader = new
            return new
        } catch { throw .file(error) }
    }

    func seek(to frame: Int) throws(AudioPlayerError) {
        let reader = try opened()
        guard frame != 0 || reader.framePosition != 0 else { return }
        do throws(AudioFileError) { try reader.seek(to: frame) } catch { throw .file(error) }
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) -> PlayerReading {
        do throws(AudioPlayerError) {
            let reader = try opened()
            do throws(AudioFileError) {
                let readCount = try reader.read(into: channels, frameCount: frameCount, offset: offset)
                // A damaged file plays as far as it can be read; then the reader throws the error.
                return .frames(readCount, isLast: readCount == 0)
            } catch { throw .file(error) }
        } catch { return .failed(error) }
    }

    func releaseResources() { if isNamed { reader = nil } }
}

/// A stream that is connected only while it is needed.
final class StreamSource: PlayerSource {
    private let make: @Sendable () throws(AudioStreamError) -> AudioStream
    private let playsOnce: Bool
    private var stream: AudioStream?
    private var hasStarted = false
    private var hasBeenRead = false  // true also after a seek
    private var pendingSeekFrame = 0  // the frame at which the stream begins, once it is connected
    private var earlierStatistics = AudioStreamStatistics()
    private var last: (state: AudioStreamState, source: AudioStreamSource?) = (.stopped, nil)
    let name: String
    /// The last state that was reported.
    var reportedState = AudioStreamState.stopped
    var reportedTitle: String?
    var reportedDropped = 0

    /// - Throws: ``AudioStreamError/badAddress(_:)``.
    convenience init(_ address: String, as format: AudioFormat, options: AudioStreamOptions) throws(AudioStreamError) {
        self.init(
            try AudioStream(address, format: format, options: options), playsOnce: false
        ) { () throws(AudioStreamError) in
            try AudioStream(address, format: format, options: options)
        }
    }

    /// Creates the source of a stream that can be played only once.
    convenience init(_ stream: AudioStream) {
        let name = stream.address
        self.init(stream, playsOnce: true) { () throws(AudioStreamError) in
            throw .unreachable(address: name, reason: "it can be heard once")
        }
    }

    private init(
        _ stream: AudioStream, playsOnce: Bool,
        _ make: @escaping @Sendable () throws(AudioStreamError) -> AudioStream
    ) {
        name = stream.address
        self.playsOnce = playsOnce
        self.stream = stream
        self.make = make
    }

    var frameCount: Int { (stream?.source ?? last.source)?.frameCount ?? 0 }
    var isLive: Bool { source?.isLive ?? false }
    var isSeekable: Bool { source?.isSeekable ?? false }
    var isOutdated: Bool { stream?.state == .suspended }
    func takeRefusal() -> AudioStreamError? { stream?.takeRefusal() }
    var state: AudioStreamState { stream?.state ?? last.state }
    var source: AudioStreamSource? { stream?.source ?? last.source }
    /// Returns the title at a frame, or the station's name if the frame has none.
    func title(at frame: Int) -> String? {
        guard let title = stream?.title(at: frame)?.text, !title.isEmpty else { return source?.station }
        return title
    }

    /// The sum of the statistics of all connections.
    var statistics: AudioStreamStatistics {
        guard let now = stream?.statistics else { return earlierStatistics }
        return earlierStatistics + now
    }

    func isEnding(at frame: Int, within frames: Int) -> Bool {
        stream?.hasAll == true || (frameCount > 0 && frameCount - frame < frames)
    }

    func prepare() { _ = try? started() }

    private func started() throws(AudioStreamError) -> AudioStream {
        let stream: AudioStream
        if let existing = self.stream { stream = existing } else { stream = try make() }
        self.stream = stream
        if pendingSeekFrame > 0 {
            try? stream.seek(to: pendingSeekFrame)  // an impossible seek is reported later
            (hasBeenRead, pendingSeekFrame) = (true, 0)
        }
        if !hasStarted { try stream.start() }
        hasStarted = true
        return stream
    }

    func seek(to frame: Int) throws(AudioPlayerError) {
        // A failed stream connects again.
        if case .failed? = stream?.state { releaseResources() }
        guard let stream else { return pendingSeekFrame = frame }
        if frame == 0 {
            guard hasBeenRead else { return }
            guard isSeekable else { return releaseResources() }
        }
        do throws(AudioStreamError) { try stream.seek(to: frame) } catch { throw .stream(error) }
        hasBeenRead = true
        // Discards buffered frames, to make room for new ones.
        let none = AudioBuffer(channelCount: stream.format.channelCount, frameCapacity: 1)
        _ = stream.read(into: none.channels, frameCount: 0)
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) -> PlayerReading {
        let stream: AudioStream
        do throws(AudioStreamError) { stream = try started() } catch { return .failed(.stream(error)) }
        hasBeenRead = true
        // The state is read before the frames, so that frames received before a failure are still played.
        let state = stream.state
        guard let readCount = stream.read(into: channels, frameCount: frameCount, offset: offset) else {
            return .frames(0, isLast: true)
        }
        if readCount > 0 { return .frames(readCount, isLast: false, from: stream.readPosition - readCount) }
        switch state {
        case .failed(let error): return .failed(.stream(error))
        // At the stream's end, a seek may not have begun yet.
        default: return .nothing
        }
    }

    func releaseResources() {
        guard hasBeenRead || !playsOnce else { return }
        pendingSeekFrame = 0
        guard let stream, hasStarted else { return }
        earlierStatistics = statistics
        last = (stream.state, stream.source)
        self.stream = nil
        reportedTitle = nil
        (hasStarted, hasBeenRead) = (false, false)
        // The stream stops on another task, because its thread may be waiting for DNS.
        Task.detached { stream.stop() }
    }
}
