// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall

/// A command that gives one command to a running call, and confirms it.
protocol CallControlCommand: ExampledCommand {
    var call: RunningCallOptions { get }

    /// Returns the command for a call with this status.
    func command(_ status: StatusDocument) throws -> LiveCallCommand

    /// Returns the sentence that is printed after the command was executed.
    /// - Parameters:
    ///   - status: the status before the command.
    ///   - client: gets the events after `status`.
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String
}

extension CallControlCommand {
    func run() throws { try control() }

    /// Gives the command to the call, and prints the confirmation.
    func control() throws {
        try Failure.reporting {
            let client = try call.connect()
            let status = try client.status()
            try client.watch(after: status.lastEvent)
            let command = try command(status)
            do throws(CallSocketError) {
                try client.perform(command)
            } catch {
                guard error == .lineTooLong else { throw error }
                let advice = CallSocketError.advice(forLongCommand: command)
                throw Failure(ErrorText.join("\(error)", advice), status: error.exitStatus)
            }
            Terminal.say(try confirmation(status, client))
        }
    }
}

extension CallSocketClient {
    /// Returns the next event for which `isWanted` returns true; nil if there is none within the time limit.
    func event(
        within seconds: Double, where isWanted: (EventDocument.Name, EventDocument) -> Bool
    ) throws(CallSocketError) -> EventDocument? {
        let end = ContinuousClock.now + .seconds(seconds)
        while case let rest = (end - ContinuousClock.now) / .seconds(1), rest > 0,
            let line = try nextEvent(within: rest)
        {
            guard let event = CallJSON.decoded(EventDocument.self, from: line),
                let name = EventDocument.Name(rawValue: event.event), isWanted(name, event)
            else { continue }
            return event
        }
        return nil
    }
}
