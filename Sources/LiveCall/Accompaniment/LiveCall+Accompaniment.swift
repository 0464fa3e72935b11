// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// The accompaniment of the call. Used on the call's thread, except ``finishAccompaniment()``.
extension LiveCall {
    func accompany(_ order: AccompanimentOrder, number: Int) {
        if let player = player.withLock({ $0 }) { return player.give(order, number: number) }
        guard let song = media?.startAccompaniment() else { return }
        let player = AccompanimentPlayer(song) { [weak self] in self?.handle($0) }
        player.give(order, number: number)
        let code = player.start()
        guard code == 0 else {
            handle(.accompanimentFailed(.system(path: "accompaniment", code: code)))
            return handle(.accompaniment(AccompanimentReport(order: number, time: .now())))
        }
        self.player.withLock { $0 = player }
    }

    /// Ends the accompaniment's thread, if there is one.
    func finishAccompaniment() {
        let player = player.withLock { player in
            defer { player = nil }
            return player
        }
        player?.stop()
    }
}
