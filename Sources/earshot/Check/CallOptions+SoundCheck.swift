// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotLiveCall

extension CallOptions {
    /// Opens the sound card of a call. The first call on a device begins with a sound check if the user has a terminal.
    /// - Parameters:
    ///   - keys: the terminal's keys; nil without a terminal.
    ///   - storesAnswer: false if the next call should check these devices again.
    /// - Throws: ``ExitCodes`` if the user leaves the check; errors of the card.
    func openCard(_ keys: KeyboardInput?, storesAnswer: Bool) throws -> SoundCard {
        let first = try SoundCard(self)
        guard let keys, needsCheck(first.description) else { return first }
        do {
            try checkSound(of: first, keys, storesAnswer: storesAnswer)
        } catch {
            first.close()
            throw error
        }
        // The call opens the devices again, so that its report counts no callbacks of the check.
        first.close()
        return try SoundCard(self)
    }

    /// Returns true if the user should check these devices before a call. A simulated card has nothing to check, and a JACK
    /// client that is connected by hand has no devices yet.
    private func needsCheck(_ device: CallDevice) -> Bool {
        !noCheck && device.backend != .simulated && card.system.card.connect
            && !SoundCheckStore.standard.contains(CheckedDevice(device))
    }

    private func checkSound(of card: SoundCard, _ keys: KeyboardInput, storesAnswer: Bool) throws {
        let runner = SoundCheckRunner(card.calls, keys: keys)
        let result = try runner.run()
        switch result.decision {
        case .accepted, .skipped: if storesAnswer { Terminal.say(runner.rememberDevice(result)) }
        case .cancelled:
            Terminal.say(SoundCheckSentences.cancelled)
            throw ExitCodes.cancelled
        case .interrupted: throw ExitCodes.interrupted
        case .undecided: break
        }
    }
}
