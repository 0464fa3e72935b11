// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The desktop's players, asked to pause and to go on (MPRIS 2.2, `org.mpris.MediaPlayer2.Player`).
///
/// Without a session bus it does nothing. A player that hangs takes half a second, all together two at the most. Any thread but the
/// render thread.
final class MPRISPlayers: Sendable {
    /// Those of this process's session bus.
    static let shared = MPRISPlayers()

    private struct State {
        var userCount = 0
        /// The bus's own names of who was asked to pause: a player that is started again is another one.
        var paused: [String] = []
    }
    private let state = Mutex(State())
    private let address: String?

    /// - Parameter address: see ``SessionBus/init(address:)``.
    init(address: String? = nil) { self.address = address }

    /// Asks every player that plays to pause. What begins to play later is not asked.
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

    /// Asks those that were asked to pause, and still do, to go on; where ``pause()`` was called several times, with the
    /// last call.
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
    /// The bus's own names of other programs' players. playerctld only passes on what it is told to another player.
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

    /// "Playing", "Paused", "Stopped", or nil if it does not say.
    fileprivate func status(of player: String) -> String? {
        call(
            player, MPRISPlayers.path, "org.freedesktop.DBus.Properties", "Get",
            [MPRISPlayers.interface, "PlaybackStatus"])?.string
    }
}
