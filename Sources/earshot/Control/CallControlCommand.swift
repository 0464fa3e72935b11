// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall

/// A command that gives one command to a running call, and confirms it.
protocol CallControlCommand: ParsableCommand {
    var call: RunningCallOptions { get }

    /// Returns the command for a call with this status.
    func command(_ status: StatusDocument) throws -> LiveCallCommand

    /// Returns the sentence that is printed after the command was executed.
    /// - Parameter status: the status before the command.
    func confirmation(_ status: StatusDocument) throws -> String
}

extension CallControlCommand {
    func run() throws {
        try Failure.reporting {
            let client = try call.connect()
            let status = try client.status()
            try client.perform(try command(status))
            Terminal.say(try confirmation(status))
        }
    }
}

extension CallSocketClient {
    /// Returns the next event with one of these names; nil if there is none within the time limit.
    func event(_ names: Set<EventDocument.Name>, within seconds: Double) throws(CallSocketError) -> EventDocument? {
        let end = ContinuousClock.now + .seconds(seconds)
        while case let rest = (end - ContinuousClock.now) / .seconds(1), rest > 0,
            let line = try nextEvent(within: rest)
        {
            guard let event = CallJSON.decoded(EventDocument.self, from: line),
                let name = EventDocument.Name(rawValue: event.event), names.contains(name)
            else { continue }
            return event
        }
        return nil
    }
}
