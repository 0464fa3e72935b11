// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import Foundation
import Glibc

/// The folder of a duet: a song and the stems of its singers, described as a recording is (docs/recording-format.md). A beat is not
/// in it. Each change is complete on the disk when it returns. An error leaves the description as it was. For one thread at a time;
/// it waits for the disk.
package struct DuetFolder: Sendable {
    /// The maximum number of stems.
    package static let maximumStemCount = 64
    static let songName = "song"

    /// The absolute path.
    package let path: String
    var manifest: RecordingManifest

    /// The song's rate in hertz.
    package var sampleRate: Double { Double(manifest.sampleRate) }
    /// The frames of the song, and of each stem.
    package var frameCount: Int { song?.frameCount ?? beatLength }
    /// The frames of the beat; 0 for a song.
    private var beatLength = 0
    /// The path of the song's copy, which a beat does not have.
    package var songPath: String { "\(path)/\(song?.file ?? Self.songName)" }
    /// The paths of the stems by their singers' names, in the order in which they were added.
    package var stems: [(singer: String, path: String)] {
        manifest.tracks.filter { $0.kind == .voice }.map { ($0.name, "\(path)/\($0.file)") }
    }

    var song: RecordingManifest.Track? { manifest.tracks.first { $0.kind == .song } }

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
        let length = try Self.length(song)
        do throws(CallRecordingError) { path = try RecordingFolder.create(folder, room: name) } catch {
            throw .folder(error)
        }
        manifest = RecordingManifest(
            earshot: program, room: name,
            started: Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), zero: 0,
            sampleRate: Int(length.rate), channelCount: 1, recordedBy: recordedBy, clock: "song")
        do throws(DuetFolderError) {
            switch song {
            case .file(let path): try setSong(path: path)
            case .beat:
                beatLength = length.frameCount
                do throws(AudioFileError) { try manifest.replacement(inFolder: path).commit() } catch {
                    throw .output(error)
                }
            }
        } catch {
            // Without a description another recording can use the folder.
            unlink(PathText.bytes("\(path)/\(RecordingManifest.fileName)"))
            throw error
        }
    }

    /// Opens a duet's folder.
    /// - Parameter song: tells the length of a beat.
    package init(path: String, song sound: DuetSound? = nil) throws(DuetFolderError) {
        self.path = RecordingFolder.path(of: path)
        do throws(MixError) { manifest = try RecordingManifest(inFolder: path) } catch { throw .description(error) }
        if case .beat? = sound, let sound { beatLength = try Self.length(sound).frameCount }
        if song == nil, beatLength == 0 { throw .noSong(folder: path) }
    }

    // MARK: Changes

    /// Copies a song to the folder, in place of an earlier one. Stems stay if they have the song's rate and length.
    package mutating func setSong(path songPath: String) throws(DuetFolderError) {
        let format = try Self.length(.file(songPath))
        let oldFile = song?.file
        if !stems.isEmpty, format.rate != sampleRate || format.frameCount != frameCount {
            throw .stemsOfAnotherSong(folder: path)
        }
        let file = Self.songName + Self.fileExtension(songPath)
        var new = manifest
        new.sampleRate = Int(format.rate)
        new.tracks.removeAll { $0.kind == .song }
        new.tracks.insert(
            .init(
                file: file, parts: 1, name: Self.title(songPath), names: [], isLocal: false, kind: .song,
                frameCount: format.frameCount, gaps: [], volumes: []), at: 0)
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

    /// Adds a stem to the mix, and moves its file to the folder. An earlier stem of the same singer is replaced. A stem may come from
    /// a stranger: it must be FLAC with the song's rate and length.
    /// - Parameters:
    ///   - singer: the participant's name. The file is named after it.
    ///   - key: the participant's key, by which an earlier stem is found; nil for a browser, which is found by its name.
    ///   - gaps: the frames without a voice.
    /// - Returns: the path of the stem in the folder.
    @discardableResult
    package mutating func addStem(
        path stemPath: String, singer: String, key: KeyFingerprint?, isLocal: Bool, gaps: [StemGap] = []
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
            frameCount: frameCount, gaps: Self.described(gaps, frameCount), volumes: [.init(frame: 0, gain: 1)])
        if let old { new.tracks[old] = track } else { new.tracks.append(track) }
        new.channelCount = max(new.channelCount, channelCount)
        do throws(AudioFileError) {
            let description = try new.replacement(inFolder: path)
            try Self.move(stemPath, to: "\(path)/\(file)")
            try description.commit()
        } catch { throw .output(error) }
        manifest = new
        return "\(path)/\(file)"
    }
}
