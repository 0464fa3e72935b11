// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles

/// Writes the voices of a mix to files that begin at one zero and have one length, with a session for a DAW. Their sum is the mix
/// before loudness normalization. For one thread at a time; it waits for the disk.
package struct MixStems {
    /// The kind of a session file.
    package enum Session: String, CaseIterable, Sendable {
        case reaper, dawproject

        fileprivate var fileName: String {
            switch self {
            case .reaper: "session.rpp"
            case .dawproject: "session.dawproject"
            }
        }
    }

    /// A track of the session.
    struct Track {
        var name: String
        var fileName: String
    }

    /// The name of the reverb's track.
    static let reverbName = "Reverb"

    private let source: MixSource
    private let settings: MixSettings
    private let folder: String
    private let session: Session?
    let tracks: [Track]

    /// Creates the folder.
    package init(_ source: MixSource, _ settings: MixSettings, folder: String, session: Session?) throws(MixError) {
        self.source = source
        self.settings = settings
        self.folder = folder
        self.session = session
        var tracks = source.voices.map { Track(name: $0.name, fileName: "\($0.uniqueName).wav") }
        if settings.preset.reverb != nil {
            var name = Self.reverbName
            // A participant can have this name too.
            while tracks.contains(where: { $0.fileName.lowercased() == "\(name).wav".lowercased() }) {
                name += " return"
            }
            tracks.append(Track(name: Self.reverbName, fileName: "\(name).wav"))
        }
        self.tracks = tracks
        // The paths of a missing folder could not be compared.
        if let code = PathText.makeFolder(folder, mode: 0o700) {
            throw .output(.from(errno: code, path: folder, creating: true))
        }
        for path in paths { try source.checkOutput(path) }
    }

    /// The paths of all files.
    package var paths: [String] {
        tracks.map { "\(folder)/\($0.fileName)" } + (session.map { ["\(folder)/\($0.fileName)"] } ?? [])
    }

    /// Writes all files; existing ones are replaced once all sound is complete. New ones have mode 0600.
    /// - Parameter progress: is called for each block with the completed part, 0 to 1. Returning false cancels.
    package func write(progress: (Double) -> Bool = { _ in true }) throws(MixError) {
        let frameCount = try writeSound(progress)
        guard let session, let path = paths.last else { return }
        let seconds = Double(frameCount) / source.sampleRate
        let bytes =
            switch session {
            case .reaper: Array(ReaperProject.text(tracks, seconds: seconds, sampleRate: source.sampleRate).utf8)
            case .dawproject:
                DAWProject.archive(
                    tracks, seconds: seconds, sampleRate: source.sampleRate, room: source.room)
            }
        try MixOutput.write(path) { (partial) throws(MixError) in
            try MixOutput.output(path, insteadOf: partial) { () throws(AudioFileError) in
                let file = try AppendingFile(path: partial)
                try file.append(bytes)
                try file.close()
            }
        }
    }

    /// Writes the sound. Returns the frames of each file.
    private func writeSound(_ progress: (Double) -> Bool) throws(MixError) -> Int {
        let mixdown = try Mixdown(source, settings)
        let buffers = mixdown.voices.map(\.output) + (mixdown.reverbOutput.map { [$0] } ?? [])
        let sum = AudioBuffer(channelCount: 2, frameCapacity: Mixdown.sliceLength)
        var files: [AtomicFileReplacement] = []
        var writers: [any SoundFileWriter] = []
        defer { for writer in writers { try? writer.close() } }
        do throws(AudioFileError) {
            // 32-bit float: no stem is clipped, and the sum of the stems is the sum of the voices.
            for path in paths.prefix(tracks.count) {
                let file = try AtomicFileReplacement(of: path, isPrivate: true)
                files.append(file)
                writers.append(try SoundFiles.create(file.path, type: .rf64, format: mixdown.format))
            }
        } catch { throw .output(error) }
        var rendered = 0
        while case let count = mixdown.render(into: sum.channels, frameCount: Mixdown.sliceLength), count > 0 {
            do throws(AudioFileError) {
                for (writer, buffer) in zip(writers, buffers) {
                    try writer.write(buffer.channels, frameCount: count, offset: 0)
                }
            } catch { throw .output(error) }
            rendered += count
            guard progress(Double(rendered) / Double(mixdown.frameCount)) else { throw .cancelled }
        }
        do throws(AudioFileError) {
            for writer in writers { try writer.close() }
            for file in files { try file.commit() }
        } catch { throw .output(error) }
        return rendered
    }
}
