// SPDX-License-Identifier: Apache-2.0

/// The balance of the voices of a take's mix, and of its song.
package struct MixBalance: Hashable, Sendable {
    /// A voice, or the song.
    package struct Voice: Hashable, Sendable {
        /// The name that no other voice has.
        package var name: String
        package var isSong = false
        package var decibels: Float = 0
    }

    /// The decibels of a voice at least and at most.
    package static let range: ClosedRange<Float> = -24...12

    /// The voices in the order of the folder; empty before the first mix.
    package var voices: [Voice] = []

    /// Returns true if a voice has other decibels in the later balance. A new voice counts with 0 dB before.
    package func isChanged(in later: MixBalance) -> Bool {
        later.voices.contains { voice in
            voice.decibels != voices.first { $0.name == voice.name }?.decibels ?? 0
        }
    }

    /// Sets a voice's decibels, clamped to ``range``. Ignores the case of the name.
    /// - Returns: false if there is no such voice.
    mutating func setDecibels(_ decibels: Float, of name: String) -> Bool {
        let wanted = name.lowercased()
        guard let index = voices.firstIndex(where: { $0.name.lowercased() == wanted }) else { return false }
        voices[index].decibels = max(Self.range.lowerBound, min(Self.range.upperBound, decibels))
        return true
    }

    /// Takes over the voices of a folder. Those with a known name keep their decibels.
    mutating func setVoices(of source: MixSource) {
        voices = source.voices.map { voice in
            let old = voices.first { $0.name == voice.uniqueName }
            return Voice(name: voice.uniqueName, isSong: voice.isSong, decibels: old?.decibels ?? 0)
        }
    }

    /// Sets the balance in the settings of a mix of these voices.
    func apply(to settings: inout MixSettings) {
        for (index, voice) in voices.enumerated() { settings.voices[index].balance = voice.decibels }
    }
}
