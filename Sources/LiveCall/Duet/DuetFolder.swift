// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import Foundation
import Glibc

/// The folder of a duet: a song and the stems of its singers, described as a recording is (docs/recording-format.md). A beat has no
/// file in it. Each change is complete on the disk when it returns. An error leaves the description as it was. For one thread at a time;
/// it waits for the disk.
package struct DuetFolder: Sendable {
    /// The maximum number of stems.
    package static let maximumStemCount = 64
    static let songName = "song"
    private static let dateFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The absolute path.
    package let path: String
    var manifest: RecordingManifest

    /// The song's rate in hertz.
    package var sampleRate: Double { Double(manifest.sampleRate) }
    /// The frames of the song, and of each stem.
    package var frameCount: Int { song?.frameCount ?? beatLength ?? 0 }
    /// The path of the song's copy, which a beat does not have.
    package var songPath: String { "\(path)/\(song?.file ?? Self.songName)" }
    /// The song's copy, or the beat.
    var sound: DuetSound { beat.map { .beat($0) } ?? .file(songPath) }
    /// The hash of the song, or that by which the beat was announced; nil if unknown.
    var songHash: String? { beat?.hash ?? song?.hash }
    /// The paths of the stems by their singers' names, in the order in which they were added.
    package var stems: [(singer: String, path: String)] {
        manifest.tracks.filter { $0.kind == .voice }.map { ($0.name, "\(path)/\($0.file)") }
    }

    var song: RecordingManifest.Track? { manifest.tracks.first { $0.kind == .song } }

    /// The beat in place of a song; nil without one, and if its description is damaged.
    private var beat: DuetSong? { manifest.beat.flatMap { $0.isBeat && $0.isValid ? $0 : nil } }
    private var beatLength: Int? { beat.flatMap { try? Self.length(.beat($0)).frameCount } }

    /// The attempt whose take the folder has; nil if unknown.
    var attempt: RecordingManifest.Attempt? { manifest.attempt }

    /// The time at which the folder was described; nil if unknown.
    var began: Date? { try? Self.dateFormat.parse(manifest.started) }

    /// Creates a folder and copies the song. In a folder with files, creates a subfolder named by date and `name`.
    /// - Parameters:
    ///   - folder: the user's folder; nil for `Earshot` in the user's music folder.
    ///   - name: the name of the duet, such as that of the room.
    ///   - recordedBy: the name of the local participant.
    ///   - program: the program's version.
    package init(
        creating folder: String?, name: String, recordedBy: String, song: DuetSound, program: String
    ) throws(DuetFolderError) {
        // A song that cannot be read leaves no folder behind.
        _ = try Self.length(song)
        let path: String
        do throws(CallRecordingError) { path = try RecordingFolder.create(folder, room: name) } catch {
            throw .folder(error)
        }
        try self.init(describing: path, name: name, recordedBy: recordedBy, song: song, program: program)
    }

    /// Describes a folder whose description is empty, and copies the song.
    private init(
        describing path: String, name: String, recordedBy: String, song: DuetSound, program: String,
        title: String? = nil, attempt: RecordingManifest.Attempt? = nil
    ) throws(DuetFolderError) {
        self.path = path
        manifest = RecordingManifest(
            earshot: program, room: name,
            started: Date().formatted(Self.dateFormat), zero: 0,
            sampleRate: 0, channelCount: 1, recordedBy: recordedBy, clock: "song", attempt: attempt)
        do throws(DuetFolderError) {
            switch song {
            case .file(let songPath): try setSong(path: songPath, title: title)
            case .beat(let beat): try setBeat(beat)
            }
        } catch {
            // Without a description another recording can use the folder.
            unlink(PathText.bytes("\(path)/\(RecordingManifest.fileName)"))
            throw error
        }
    }

    /// Opens the folder of a take, which exists. Describes it and copies the song if it has no description, or an empty one: the
    /// program was killed.
    /// - Parameter title: the song's title; nil for the name of its file.
    init(
        take path: String, name: String, recordedBy: String, song: DuetSound, title: String? = nil, program: String,
        attempt: RecordingManifest.Attempt?
    ) throws(DuetFolderError) {
        let file = "\(path)/\(RecordingManifest.fileName)"
        if let status = PathText.status(file), status.st_size > 0 {
            try self.init(path: path)
            return
        }
        let descriptor = open(PathText.bytes(file), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(.folder(path: path, code: errno)) }
        close(descriptor)
        try self.init(
            describing: path, name: name, recordedBy: recordedBy, song: song, program: program, title: title,
            attempt: attempt)
    }

    /// Opens a duet's folder.
    package init(path: String) throws(DuetFolderError) {
        self.path = RecordingFolder.path(of: path)
        do throws(MixError) { manifest = try RecordingManifest(inFolder: path) } catch { throw .description(error) }
        if song == nil, beat == nil { throw .noSong(folder: path) }
    }

    // MARK: Changes

    /// Copies a song to the folder, in place of an earlier one. Stems stay if they have the song's rate and length.
    /// - Parameter title: the song's title; nil for the name of its file.
    package mutating func setSong(path songPath: String, title: String? = nil) throws(DuetFolderError) {
        let format = try Self.length(.file(songPath))
        let oldFile = song?.file
        if !stems.isEmpty, format.rate != sampleRate || format.frameCount != frameCount {
            throw .stemsOfAnotherSong(folder: path)
        }
        let file = Self.songName + Self.fileExtension(songPath)
        let hash = try? SongFile.hash(songPath, limit: .max).hash
        var new = manifest
        (new.sampleRate, new.beat) = (Int(format.rate), nil)
        new.tracks.removeAll { $0.kind == .song }
        new.tracks.insert(
            .init(
                file: file, parts: 1, name: title ?? Self.title(songPath), names: [], isLocal: false, kind: .song,
                frameCount: format.frameCount, gaps: [], volumes: [], hash: hash), at: 0)
        do throws(AudioFileError) {
            let description = try new.replacement(inFolder: path)
            let target = "\(path)/\(file)"
            if !PathText.isSameFile(songPath, target) {
                try AtomicFileReplacement(of: target, copying: ReadableFile(songPath), isPrivate: true).commit()
            }
            try description.commit()
        } catch { throw .output(error) }
        manifest = new
        if let oldFile, oldFile != file { unlink(PathText.bytes("\(path)/\(oldFile)")) }
    }

    /// Describes a beat in place of a song, in a folder without stems.
    private mutating func setBeat(_ beat: DuetSong) throws(DuetFolderError) {
        var new = manifest
        (new.sampleRate, new.beat) = (Int(try Self.length(.beat(beat)).rate), beat)
        do throws(AudioFileError) { try new.write(inFolder: path) } catch { throw .output(error) }
        manifest = new
    }

    /// Adds a stem to the mix, and moves its file to the folder. An earlier stem of the same singer is replaced. A stem may come from
    /// a stranger: it must be FLAC with the song's rate and length.
    /// - Parameters:
    ///   - singer: the participant's name. The file is named after it.
    ///   - key: the participant's key, by which an earlier stem is found; nil for a browser, which is found by its name.
    ///   - gaps: the frames without a voice; nil for those that the file lists.
    ///   - recordingCount: the recordings that the local stem is made of.
    /// - Returns: the path of the stem in the folder.
    @discardableResult
    package mutating func addStem(
        path stemPath: String, singer: String, key: KeyFingerprint?, isLocal: Bool, part: Int? = nil,
        gaps: [StemGap]? = nil,
        recordingCount: Int = 0
    ) throws(DuetFolderError) -> String {
        let channelCount = try checkStem(stemPath)
        let old = manifest.tracks.firstIndex {
            guard $0.kind == .voice else { return false }
            return key == nil ? $0.key == nil && $0.name == singer : $0.key == key?.hex
        }
        guard old != nil || stems.count < Self.maximumStemCount else {
            throw .tooManyStems(limit: Self.maximumStemCount)
        }
        var new = manifest
        let file = old.map { manifest.tracks[$0].file } ?? newFileName(singer, of: stemPath)
        if manifest.owns(stemPath, inFolder: path), !PathText.isSameFile(stemPath, "\(path)/\(file)") {
            throw .ownFile(path: stemPath)
        }
        let names = (old.map { manifest.tracks[$0].names } ?? []).filter { $0 != singer } + [singer]
        let track = RecordingManifest.Track(
            file: file, parts: 1, name: singer, names: names.suffix(RecordedVoice.maximumNameCount), key: key?.hex,
            isLocal: isLocal, kind: .voice,
            frameCount: frameCount, gaps: Self.described(gaps ?? StemGaps.read(stemPath), frameCount),
            volumes: [.init(frame: 0, gain: 1)], voicePart: part ?? old.flatMap { manifest.tracks[$0].voicePart })
        if let old { new.tracks[old] = track } else { new.tracks.append(track) }
        new.channelCount = max(new.channelCount, channelCount)
        if isLocal { new.attempt?.recordingCount = recordingCount }
        do throws(AudioFileError) {
            let description = try new.replacement(inFolder: path)
            try Self.move(stemPath, to: "\(path)/\(file)")
            try description.commit()
        } catch { throw .output(error) }
        manifest = new
        return "\(path)/\(file)"
    }
}
