// SPDX-License-Identifier: Apache-2.0

/// The beat of a song: a bar begins at the song's first frame.
package struct Beat: Codable, Hashable, Sendable {
    /// The tempos in beats a minute. A click is shorter than a beat.
    package static let tempos = 30.0...300.0
    /// The numbers of beats in a bar.
    package static let bars = 2...8
    /// The beat that counts in a song of unknown tempo.
    package static let unknown = Beat(tempo: 120)
    /// Seconds of silence before the first click of a count-in, in which the song's player fades in.
    private static let silence = 0.02

    /// Beats a minute.
    package var tempo: Double
    package var beatsPerBar: Int

    private enum CodingKeys: String, CodingKey { case tempo = "bpm", beatsPerBar = "bar" }

    package init(tempo: Double, beatsPerBar: Int = 4) { (self.tempo, self.beatsPerBar) = (tempo, beatsPerBar) }

    /// The seconds between two beats.
    package var period: Double { 60 / tempo }
    /// The seconds of a count-in: a bar, and the silence before it.
    package var countInTime: Double { Double(beatsPerBar) * period + Self.silence }

    /// False for a beat that nobody can sing to.
    package var isValid: Bool { Self.tempos.contains(tempo) && Self.bars.contains(beatsPerBar) }
}
