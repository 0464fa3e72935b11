// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// The state of a singer, announced to all others several times a second. Each message is complete, so the next one makes up for a
/// lost one. docs/wire.md describes the JSON.
package struct DuetMessage: Codable, Hashable, Sendable {
    /// The greatest size in bytes: one datagram.
    package static let maximumSize = 1_100
    private static let currentVersion = 1

    /// The line from the sender's clock to the group's time.
    struct Clock: Codable, Hashable, Sendable {
        var term: UInt32
        var from: Int64
        var to: Int64
        var rate: Double
    }

    /// The sound of the sender's room.
    struct Room: Codable, Hashable, Sendable {
        /// The greatest ``captureDelay``.
        static let longestDelay = 0.5
        /// The singers of a room of eight, less one.
        private static let mostSingers = 7

        /// The seconds from the sender's microphone to its device's cycle, with the processing of the voice.
        var captureDelay = 0.0
        /// True if a loudspeaker plays the sender's sound.
        var hasLoudspeaker = false
        /// The random numbers of the singers whom the sender's microphone hears through the air.
        var heard: [UInt64] = []

        private enum CodingKeys: String, CodingKey { case captureDelay = "capture", hasLoudspeaker = "loud", heard }

        /// False for values that no sender has.
        var isValid: Bool {
            (0...Self.longestDelay).contains(captureDelay) && heard.count <= Self.mostSingers
                && heard.allSatisfy { (1...DuetTransport.largestID).contains($0) }
        }
    }

    private var duet = currentVersion
    /// The sender's random number, by which a transport names its leader; nil from an earlier program.
    var singer: UInt64?
    /// The group's time; nil unless the sender leads it.
    var clock: Clock?
    /// The host's song.
    var song: DuetSong?
    var transport: DuetTransport?
    /// The hash of the song whose file the sender has.
    var presentSong: String?
    /// True if the sender has the song's guide vocal; nil if the song has none, and from an earlier program.
    var hasGuide: Bool?
    /// The part that the sender sings, 1 or 2; nil before it is chosen, and from an earlier program.
    var part: Int?
    /// The number of the last change of parts that the sender knows; it wraps. nil for 0.
    var partChange: UInt8?
    /// The attempt to which the sender has agreed.
    var agreement: UInt32?
    /// The attempt that the sender cannot record.
    var unrecorded: UInt32?
    /// The last attempt that the sender has begun by singing again.
    var begun: UInt32?
    /// The sender's last stem.
    var stem: DuetStem?
    /// The sound of the sender's room; nil from an earlier program.
    var room: Room?

    private enum CodingKeys: String, CodingKey {
        case duet, singer, clock, song, transport, presentSong = "has", hasGuide, part, partChange = "swap",
            agreement = "agrees", unrecorded, begun, stem, room
    }

    init() {}

    /// Reads a message; nil if it is none, or of an unknown version.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumSize, let message = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
            message.duet == Self.currentVersion, message.song?.isValid ?? true, message.transport?.isValid ?? true,
            message.stem?.isValid ?? true, message.room?.isValid ?? true,
            message.part.map({ DuetPart.all.contains($0) }) ?? true,
            message.singer.map({ (1...DuetTransport.largestID).contains($0) }) ?? true
        else { return nil }
        self = message
    }

    /// The bytes of a datagram: without the room if that would make them too many; nil if they still are.
    var fittingBytes: [UInt8]? {
        let bytes = bytes
        if bytes.count <= Self.maximumSize { return bytes }
        guard room != nil else { return nil }
        var message = self
        message.room = nil
        return message.fittingBytes
    }

    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map(Array.init) ?? []  // every value can be encoded
    }
}
