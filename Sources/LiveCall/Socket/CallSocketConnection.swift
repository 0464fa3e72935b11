// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotRooms

/// The state of a client of a call's socket: bytes and time in, lines and bytes out. It uses no socket and no clock.
struct CallSocketConnection {
    /// An input of the client.
    enum Input: Equatable, Sendable {
        case line([UInt8])
        /// The client exceeded a limit. It gets no answer after this error.
        case refused(ErrorDocument)
    }

    private var lines = LineBuffer(limit: CallSocket.requestByteLimit)
    private var limiter = RateLimiter(CallSocket.requestLimit, inSeconds: 1)
    private var output: [UInt8] = []
    /// The bytes at the beginning of `output` that were sent.
    private var sentCount = 0
    private var isOverflowing = false
    /// True if nothing more is received.
    private(set) var isInputOver = false
    /// True if nothing more is sent than the pending output.
    private var isEnding = false
    /// True while the client gets events.
    private(set) var isWatching = false

    /// The bytes that wait to be sent.
    var pendingByteCount: Int { output.count - sentCount }

    /// True if the client should be disconnected now.
    var isOver: Bool {
        isOverflowing || (isEnding || (isInputOver && !isWatching)) && pendingByteCount == 0
    }

    /// Adds received bytes. Returns the lines that they complete.
    mutating func receive(_ bytes: ArraySlice<UInt8>, at now: HostTime) -> [Input] {
        guard !isInputOver else { return [] }
        var inputs: [Input] = []
        for line in lines.append(bytes) {
            guard limiter.acquire(at: now) else { return inputs + [refuse(.tooManyRequests)] }
            inputs.append(.line(line))
        }
        return lines.isTooLong ? inputs + [refuse(.lineTooLong)] : inputs
    }

    private mutating func refuse(_ error: ErrorDocument) -> Input {
        end()
        return .refused(error)
    }

    /// Notes that the client sends nothing more.
    mutating func endInput() { isInputOver = true }

    /// Ignores further input, and ends the connection when the output was sent.
    mutating func end() {
        isInputOver = true
        isEnding = true
    }

    /// Adds a line to the output. Returns false if the client reads too slowly; it is over then.
    mutating func enqueue(_ line: [UInt8]) -> Bool {
        guard !isOverflowing, pendingByteCount + line.count < CallSocket.outputByteLimit else {
            isOverflowing = true
            return false
        }
        output += line
        output.append(UInt8(ascii: "\n"))
        return true
    }

    /// Returns the next bytes to send, at most `limit`.
    func nextOutput(limit: Int) -> [UInt8] { Array(output[sentCount...].prefix(limit)) }

    /// Removes sent bytes from the output.
    mutating func removeOutput(_ count: Int) {
        sentCount += count
        guard sentCount == output.count || sentCount > CallSocket.lineByteLimit / 4 else { return }
        output.removeFirst(sentCount)
        sentCount = 0
    }

    /// Begins to send events. Returns false if the client gets them already.
    mutating func beginWatching() -> Bool {
        defer { isWatching = true }
        return !isWatching
    }

    /// Ends the connection after the last event.
    mutating func endWatching() {
        isWatching = false
        end()
    }
}
