// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Synchronization

/// Ducks, pauses or mutes other programs' sound. Safe on any thread except the render thread.
final class OtherSound: Sendable {
    private struct State {
        var current = AudioSession.OtherAudio.mix
        var ducking: Ducking?
    }
    private let state = Mutex(State())
    private let system: any AudioSystem
    private let players: MPRISPlayers

    /// The linear gain of ducked programs: −14 dB.
    static let duckedGain: Float = 0.2

    init(_ system: any AudioSystem, _ players: MPRISPlayers) {
        self.system = system
        self.players = players
    }

    /// Ends the current treatment and begins the wanted one.
    /// - Parameter wantedAudio: returns the wanted treatment. One thread at a time calls it, so the last caller's value counts.
    func update(to wantedAudio: () -> AudioSession.OtherAudio) {
        state.withLock { state in
            let (old, new) = (state.current, wantedAudio())
            guard new != old else { return }
            state.current = new
            let ducking: Ducking? =
                switch new {
                case .duck: (system as? any AudioDucking)?.duckOthers(to: Self.duckedGain)
                case .exclude: (system as? any AudioDucking)?.duckOthers(to: 0)
                case .mix, .pause: nil
                }
            // Begin the new treatment first, so that no program returns to full level in between.
            state.ducking?.end()
            state.ducking = ducking
            if new == .pause { players.pause() }
            if old == .pause { players.resume() }
        }
    }
}
