// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotLiveCall

/// Converts keys to commands for the accompaniment.
enum RoomAccompanimentKeys {
    /// The seconds of a step, as in `earshot play`.
    private static let seekStep = 5.0
    /// The decibels of a step.
    private static let gainStep = 2.0

    static let help = """
        a  play or pause the accompaniment
        l  for all, or only for you       [ ]  previous or next file
        ← →  5 s back or on               < >  its volume by 2 dB
        """

    /// Handles a key. Returns nil for a key that is not about the accompaniment, and in a room without sound.
    static func take(_ key: Key, _ snapshot: LiveCallSnapshot, at now: HostTime) -> RoomKeyBindings.Action? {
        guard snapshot.sound != .none else { return nil }
        guard let song = snapshot.accompaniment else {
            return key == .character("a") || key == .character("A") ? .say(AccompanimentSentences.none) : nil
        }
        return control(key, song, at: now).map { .perform(.controlAccompaniment($0)) }
    }

    private static func control(
        _ key: Key, _ song: AccompanimentStatus, at now: HostTime
    ) -> AccompanimentControl? {
        switch key {
        case .character("a"), .character("A"): song.isPlaying ? .pause : .play
        case .character("l"), .character("L"): .setForAll(!song.isForAll)
        case .left: .seek(to: max(0, song.position(at: now) - seekStep))
        case .right: .seek(to: song.position(at: now) + seekStep)
        case .character("["): .previous
        case .character("]"): .next
        case .character("<"): .setGain(RoomVolumeKeys.volume(song.gain, changedBy: -gainStep))
        case .character(">"): .setGain(RoomVolumeKeys.volume(song.gain, changedBy: gainStep))
        default: nil
        }
    }
}
