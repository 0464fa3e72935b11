// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

extension RecordingManifest {
    /// The maximum size of a description: 66 tracks with 10,000 gaps each need about 70 MB.
    static let maximumByteCount = 128 << 20
    /// The maximum number of tracks: those of 64 participants, the local microphone and the mix, with room for later programs.
    static let maximumTrackCount = 256
    /// The maximum number of parts of all tracks: eight voices for a week in parts of ten minutes.
    static let maximumPartCount = 10_000
    /// The version that this program reads and writes.
    static let currentVersion = 1

    /// Reads and checks the description in a folder. Names of files that would leave the folder are refused.
    init(inFolder folder: String) throws(MixError) {
        let path = "\(folder)/\(Self.fileName)"
        let file: ReadableFile
        do throws(AudioFileError) { file = try ReadableFile(path) } catch {
            if case .missing = error {
                throw PathText.status(folder) == nil ? .noFolder(folder) : .noDescription(folder: folder)
            }
            throw .unreadable(error)
        }
        guard file.byteCount <= Self.maximumByteCount else {
            throw .badDescription(path: path, reason: "it is larger than \(Self.maximumByteCount >> 20) MiB")
        }
        let data = Data(file.bytes(at: 0, count: file.byteCount))
        guard let version = (try? JSONDecoder().decode(Version.self, from: data))?.version else {
            throw .badDescription(path: path, reason: "it is not the JSON of a recording")
        }
        guard version <= Self.currentVersion else { throw .laterVersion(path: path, version: version) }
        do { self = try JSONDecoder().decode(RecordingManifest.self, from: data) } catch {
            throw .badDescription(path: path, reason: Self.reason(error))
        }
        if let reason = fault { throw .badDescription(path: path, reason: reason) }
    }

    /// Returns true if a path is a file of the recording in a folder.
    func owns(_ path: String, inFolder folder: String) -> Bool {
        let output = AtomicFileReplacement.destination(of: path)
        let names = tracks.flatMap { TrackReader.fileNames(of: $0) + ($0.takes ?? []) } + [Self.fileName]
        return names.map { "\(folder)/\($0)" }.contains { own in
            AtomicFileReplacement.destination(of: own) == output || PathText.isSameFile(own, path)
        }
    }

    private struct Version: Decodable { var version: Int }

    /// The first value that no recording has; nil if there is none.
    private var fault: String? {
        if version < 1 { return "its version is \(version)" }
        if !AudioFormat.sampleRates.contains(Double(sampleRate)) { return "its sample rate is \(sampleRate) Hz" }
        if tracks.count > Self.maximumTrackCount { return "it has \(tracks.count) tracks" }
        if Set(tracks.map(\.file)).count < tracks.count { return "two tracks have one file" }
        var partCount = 0
        for track in tracks {
            if !Self.isFileName(track.file) { return "'\(track.file)' is not the name of a file in the folder" }
            let isPossible = (1...Self.maximumPartCount).contains(track.parts)
            partCount += isPossible ? track.parts : 0
            if !isPossible || partCount > Self.maximumPartCount { return "\(track.file) has \(track.parts) parts" }
        }
        return nil
    }

    /// Returns true for the name of a file that stays in the folder.
    static func isFileName(_ name: String) -> Bool {
        !["", ".", ".."].contains(name) && !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0)
            && name.utf8.count <= 255
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        func name(_ context: DecodingError.Context) -> String {
            context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, let context):
            "'\(key.stringValue)' is missing\(context.codingPath.isEmpty ? "" : " in '\(name(context))'")"
        case .typeMismatch(_, let context), .valueNotFound(_, let context): "'\(name(context))' has the wrong type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is not valid JSON" : "'\(name(context))' has an impossible value"
        @unknown default: "it cannot be decoded"
        }
    }
}
