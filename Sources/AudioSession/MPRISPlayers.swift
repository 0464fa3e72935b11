// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Pauses and resumes the desktop's media players (MPRIS 2.2, `org.mpris.MediaPlayer2.Player`).
///
/// Without a session bus the methods do nothing. A method waits at most half a second for a player that hangs, and at most two
/// seconds for all players together. Safe on any thread except the render thread.
final class MPRISPlayers: Sendable {
    /// The players on this process's session bus.
    static let shared = MPRISPlayers()

    private struct State {
        var userCount = 0
        /// The unique bus names of the players that were asked to pause. A player that is restarted gets another name.
        var paused: [String] = []
    }
    private let state = Mutex(State())
    private let address: String?

    /// - Parameter address: the address of the session bus, as in ``SessionBus/init(address:)``.
    init(address: String? = nil) { self.address = address }

    /// Asks every player that is playing to pause. Players that start later are not asked.
    func pause() {
        state.withLock { state in
            state.userCount += 1
            guard let bus = SessionBus(address: address) else { return }
            for player in bus.players() where bus.status(of: player) == "Playing" {
                _ = bus.call(player, Self.path, Self.interface, "Pause")
                if !state.paused.contains(player) { state.paused.append(player) }
            }
        }
    }

    /// Asks the paused players to play again, except those whose state has changed meanwhile. Call this method once for each call
    /// of ``pause()``; only the last of these calls has an effect.
    func resume() {
        state.withLock { state in
            state.userCount -= 1
            guard state.userCount == 0, !state.paused.isEmpty else { return }
            defer { state.paused = [] }
            guard let bus = SessionBus(address: address) else { return }
            for player in state.paused where bus.status(of: player) == "Paused" {
                _ = bus.call(player, Self.path, Self.interface, "Play")
            }
        }
    }

    fileprivate static let path = "/org/mpris/MediaPlayer2"
    fileprivate static let interface = "org.mpris.MediaPlayer2.Player"
}

extension SessionBus {
    /// Returns the unique bus names of other programs' players. playerctld is left out, since it only forwards requests to
    /// another player.
    fileprivate func players() -> [String] {
        let prefix = "org.mpris.MediaPlayer2."
        let names = (callBus("ListNames", [])?.strings ?? []).filter {
            $0.hasPrefix(prefix) && $0 != "\(prefix)playerctld"
        }
        var owners: [String] = []
        for name in names {
            guard let owner = callBus("GetNameOwner", [name])?.string, !owners.contains(owner),
                callBus("GetConnectionUnixProcessID", [owner])?.number != UInt32(getpid())
            else { continue }
            owners.append(owner)
        }
        return owners
    }

    /// Returns "Playing", "Paused" or "Stopped"; nil if the player does not answer.
    fileprivate func status(of player: String) -> String? {
        call(
            player, MPRISPlayers.path, "org.freedesktop.DBus.Properties", "Get",
            [MPRISPlayers.interface, "PlaybackStatus"])?.string
    }
}
