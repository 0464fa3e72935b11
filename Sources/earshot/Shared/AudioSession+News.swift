// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioSession
import Foundation

extension AudioSession {
    /// The seconds of an interruption after which a command ends.
    static let interruptionTimeout = 30.0

    /// Prints the session's events until the returned task is cancelled. The route that the activation opens is not printed.
    /// - Parameter warning: returns a warning to print after a change of the route; nil for none.
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

    /// Returns a failure if the present interruption has lasted longer than ``interruptionTimeout``; otherwise nil.
    func interruptionFailure(at now: HostTime) -> Failure? {
        guard let interruption else { return nil }
        let seconds = now.seconds(since: interruption.since)
        guard seconds > Self.interruptionTimeout else { return nil }
        return Failure("no sound for \(Int(seconds)) s: \(interruption.kind.text)", status: Failure.unavailable)
    }
}
