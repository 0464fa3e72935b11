// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Carries the record of a song's player to the thread that maps a take.
package final class SongLog: Sendable {
    /// An entry, in the order in which it became known. A piece of the ring comes before the blocks that play it.
    package enum Entry: Sendable {
        case ring(SongMap.Piece)
        case played(PlayedBlock)
    }

    /// The maximum number of entries that wait for the reader: 80 s of blocks of 64 frames at 48 kHz.
    private static let limit = 65_536

    /// The rate of the song's positions in hertz.
    package let songSampleRate: Double
    /// The SHA-256 of the song's file in 64 hexadecimal digits; nil if unknown.
    package let songHash: String?
    private let entries = LockedValue<[Entry]?>([])  // nil once ended

    init(songSampleRate: Double, songHash: String? = nil) {
        (self.songSampleRate, self.songHash) = (songSampleRate, songHash)
    }

    /// Appends an entry. Played blocks are dropped while too many entries wait.
    func append(_ entry: Entry) {
        entries.withLock { entries in
            guard let count = entries?.count else { return }
            if count >= Self.limit, case .played = entry { return }
            if count < 2 * Self.limit { entries?.append(entry) }
        }
    }

    /// Returns the entries since the last call.
    package func takeEntries() -> [Entry] {
        entries.withLock { entries in
            guard let taken = entries else { return [] }
            entries = []
            return taken
        }
    }

    /// Ends the record, and returns its last entries. Later ones are dropped.
    package func end() -> [Entry] {
        entries.withLock { entries in
            defer { entries = nil }
            return entries ?? []
        }
    }
}
