// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet

/// A recording that can be mixed: its description was read and checked.
package struct MixSource: Sendable {
    /// A recorded voice, or the song of a duet.
    package struct Voice: Sendable {
        /// The name of the participant, or of the song.
        package var name: String
        /// The name that no other voice has: that of the file, without extension and number.
        package var uniqueName: String
        /// The name of the file, or of its first part.
        package var file: String
        /// The number of gaps, and their seconds.
        package var gapCount: Int
        package var gapSeconds: Double
        /// The part of the song that the singer had, 1 or 2; nil if unknown.
        package var part: Int? { track.voicePart.flatMap { DuetPart.all.contains($0) ? $0 : nil } }
        /// True for the song, which is mixed as it is.
        package var isSong: Bool { track.kind == .song }
        let track: RecordingManifest.Track
    }

    /// The path of the recording's folder.
    package let folder: String
    /// The name of the room.
    package let room: String
    /// The sample rate of the recording in hertz.
    package let sampleRate: Double
    package let voices: [Voice]
    let date: String
    /// The title of a take's song, or the name of its beat; nil for another recording.
    var songTitle: String? { voices.first(where: \.isSong)?.name ?? manifest.beat?.name }
    /// The number of a take; nil if unknown, and for another recording.
    var attempt: UInt32? { manifest.attempt?.number }
    private let manifest: RecordingManifest

    /// Reads `recording.json`. Opens no sound.
    package init(folder: String) throws(MixError) {
        let manifest = try RecordingManifest(inFolder: folder)
        (self.folder, room, sampleRate) = (folder, manifest.room, Double(manifest.sampleRate))
        date = String(manifest.started.prefix(10))
        self.manifest = manifest
        let rate = sampleRate
        voices = manifest.tracks.filter { [.voice, .song].contains($0.kind) }.map { track in
            Voice(
                name: track.name, uniqueName: Self.uniqueName(of: track), file: track.file,
                gapCount: track.gaps.count,
                gapSeconds: track.gaps.reduce(0) { $0 + Double(max(0, $1.frameCount)) } / rate, track: track)
        }
        if voices.allSatisfy(\.isSong) { throw .noVoices(folder: folder) }
    }

    private static func uniqueName(of track: RecordingManifest.Track) -> String {
        let dot = track.file.lastIndex(of: ".").flatMap { $0 > track.file.startIndex ? $0 : nil }
        let stem = track.file[..<(dot ?? track.file.endIndex)]
        return String(track.parts > 1 && stem.hasSuffix("-001") ? stem.dropLast(4) : stem)
    }

    /// Returns the indices of the voices with a name: that of the file, which is unique, or else of the participant. Case is ignored.
    package func voices(named name: String) throws(MixError) -> [Int] {
        let wanted = name.lowercased()
        func indices(_ matches: (Voice) -> Bool) -> [Int] { voices.indices.filter { matches(voices[$0]) } }
        for found in [
            indices { $0.uniqueName.lowercased() == wanted }, indices { $0.name.lowercased() == wanted },
            indices { $0.track.names.contains { $0.lowercased() == wanted } },
        ] where !found.isEmpty {
            return found
        }
        var all: [String] = []
        for name in voices.flatMap({ [$0.name, $0.uniqueName] }) where !all.contains(name) { all.append(name) }
        throw .unknownVoice(name: name, near: nearestNames(name, in: all), all: all)
    }

    /// Throws if a path is a file of the recording.
    package func checkOutput(_ path: String) throws(MixError) {
        if manifest.owns(path, inFolder: folder) { throw .ownFile(path: path) }
    }
}

/// The settings of a mix.
package struct MixSettings: Sendable {
    /// The settings of a voice.
    package struct Voice: Sendable {
        /// The gain in dB, besides the volumes of the recording.
        package var balance: Float = 0
        /// −1 for left, 1 for right; nil for the preset's place.
        package var pan: Float?
        /// The milliseconds by which the voice comes later; negative for earlier.
        package var nudge = 0.0
        /// True for a song, which has no effects and is not spread with the voices.
        let isSong: Bool

        /// Returns the frames of ``nudge``.
        func shift(sampleRate: Double) -> Int { Int((nudge * sampleRate / 1_000).rounded()) }
    }

    package var preset = MixPreset.standard
    /// The voices, in the order of ``MixSource/voices``.
    package var voices: [Voice]
    /// The loudness of the mix in LUFS; nil for the sum as it is.
    package var loudness: Double? = -14

    package init(for source: MixSource) {
        voices = source.voices.map { Voice(isSong: $0.isSong) }
    }

    /// Returns a voice's pan: its own, or its place among the others. A song is in the middle.
    package func pan(of index: Int) -> Float {
        if let pan = voices[index].pan { return max(-1, min(1, pan)) }
        let spread = voices.indices.filter { !voices[$0].isSong }
        guard spread.count > 1, let place = spread.firstIndex(of: index) else { return 0 }
        return preset.width * (2 * Float(place) / Float(spread.count - 1) - 1)
    }
}
