// SPDX-License-Identifier: Apache-2.0

/// A change of the accompaniment: ``LiveCallCommand/controlAccompaniment(_:)``. Each fades over 5 ms.
public enum AccompanimentControl: Hashable, Sendable {
    /// Plays from the present position; after the last file's end, from the first file.
    case play
    /// Pauses.
    case pause
    /// Seeks in the present file to a number of seconds, clamped to its length.
    case seek(to: Double)
    /// Goes to the next file; after the last one, playing ends.
    case next
    /// Goes to the previous file, or after 3 s to the beginning of the present one.
    case previous
    /// Sets the gain of the accompaniment, clamped to 0…8.
    case setGain(Float)
    /// Plays the accompaniment to all participants, or only to the local one. For all, it is a part of the local voice, also
    /// while that is muted.
    case setForAll(Bool)
}
