// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioSession
import Foundation

extension AudioSession {
    /// The seconds without a sound card after which a command ends.
    static let patience = 30.0

    /// Prints changes of the route, except the first one, until the task is cancelled.
    /// - Parameter warning: returns a warning for a new route.
    func presentEvents(warning: @escaping @Sendable (AudioRoute) -> String? = { _ in nil }) -> Task<Void, Never> {
        let events = events()
        return Task {
            for await event in events {
                if case .routeChanged(let change) = event, change.reason == .activated { continue }
                Terminal.say(TerminalText.sanitized(event.text))
                guard case .routeChanged(let change) = event else { continue }
                if let warning = warning(change.current) { Terminal.warn(warning) }
            }
        }
    }

    /// Returns the failure if a command has waited long enough for sound; nil before.
    func impatience(_ now: HostTime) -> Failure? {
        guard let interruption else { return nil }
        let seconds = now.seconds(since: interruption.since)
        guard seconds > Self.patience else { return nil }
        return Failure("no sound for \(Int(seconds)) s: \(interruption.kind.text)", status: Failure.unavailable)
    }
}
