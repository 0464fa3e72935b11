// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall

/// The running call that a command shows or controls.
struct RunningCallOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Process ID of the call, if several calls run.", valueName: "pid"))
    var pid: Int32?

    func validate() throws {
        if let pid, pid < 1 { throw ValidationError("--pid must be 1 or more") }
    }

    /// The seconds that a call has for its first line.
    private static let timeout = 2.0

    /// A running call, with a connection or the reason that there is none.
    private struct Candidate {
        let pid: Int32
        let client: Result<CallSocketClient, CallSocketError>

        /// The process ID and the room's name.
        var text: String {
            guard case .success(let client) = client, let room = client.hello.room else { return "\(pid)" }
            return "\(pid) (\(room))"
        }
    }

    /// Connects to the call.
    func connect() throws -> CallSocketClient {
        guard let folder = CallSocketFolder() else {
            throw Failure(
                "Cannot find calls: no runtime folder of yours. Set XDG_RUNTIME_DIR, here and for the call.",
                status: Failure.unavailable)
        }
        // Only the wanted call is waited for.
        let calls = (pid.map { [$0] } ?? folder.pids).compactMap { Self.candidate($0, in: folder) }
        guard let call = calls.first else { throw Self.missing(pid, among: folder) }
        guard calls.count == 1 else {
            throw Failure(
                "\(calls.count) calls are running. Choose one with --pid: "
                    + calls.map(\.text).joined(separator: ", "), status: Failure.usage)
        }
        return try call.client.get()
    }

    /// Returns the call of a process; nil if the process has none.
    private static func candidate(_ pid: Int32, in folder: CallSocketFolder) -> Candidate? {
        do throws(CallSocketError) {
            let client = try CallSocketClient(path: folder.path(of: pid), within: timeout)
            return Candidate(pid: pid, client: .success(client))
        } catch {
            return error == .notRunning ? nil : Candidate(pid: pid, client: .failure(error))
        }
    }

    private static func missing(_ pid: Int32?, among folder: CallSocketFolder) -> Failure {
        guard let pid else { return Failure(CallSocketError.notRunning) }
        let others = folder.pids.compactMap { candidate($0, in: folder)?.text }
        let advice = others.isEmpty ? CallSocketError.start : "Running: \(others.joined(separator: ", "))"
        return Failure("No call has the process ID \(pid). \(advice)", status: Failure.unavailable)
    }
}
