// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The progress of a file's transfer with one member.
public struct FileProgress: Hashable, Sendable {
    /// The phase of a transfer.
    public enum Phase: Hashable, Sendable {
        /// The sender hashes the file.
        case hashing
        /// The receiver has not decided yet.
        case offered
        /// The bytes are being sent.
        case moving
        /// No bytes are being sent: the receiver has just accepted, or the connection was interrupted and is tried again.
        case reconnecting
        /// The file was received and verified.
        case done
        /// The file will not arrive.
        case failed
    }

    /// The member that sends or receives the file.
    public let member: MemberID
    /// The current phase.
    public internal(set) var phase: Phase
    /// The bytes of the file hashed or transferred so far.
    public internal(set) var bytes: Int64 = 0
    /// The size of the file in bytes.
    public let size: Int64
    /// The bytes per second over the last five seconds, hashed or transferred; 0 in other phases.
    public internal(set) var rate: Double = 0
    /// The remaining time at ``rate``; nil while the rate is 0.
    public internal(set) var remaining: Duration?

    init(_ member: MemberID, size: Int64, phase: Phase) {
        self.member = member
        self.size = size
        self.phase = phase
    }
}

/// Estimates the rate and the remaining time.
struct ProgressMeter {
    private static let window = Duration.seconds(5)
    private(set) var progress: FileProgress
    private var samples: [(time: ContinuousClock.Instant, bytes: Int64)] = []

    init(_ progress: FileProgress) { self.progress = progress }

    /// Starts a phase with `bytes` of the file already done.
    mutating func begin(_ phase: FileProgress.Phase, at bytes: Int64, _ time: ContinuousClock.Instant) {
        progress.phase = phase
        progress.bytes = bytes
        progress.rate = 0
        progress.remaining = nil
        samples = [(time, bytes)]
    }

    mutating func set(_ bytes: Int64) { progress.bytes = bytes }

    /// Returns the values to show at this time; call it ten times a second.
    mutating func reading(at time: ContinuousClock.Instant) -> FileProgress {
        samples.append((time, progress.bytes))
        while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
        let elapsed = (time - samples[0].time) / .seconds(1)
        guard elapsed > 0, [.hashing, .moving].contains(progress.phase) else { return progress }
        progress.rate = max(0, Double(progress.bytes - samples[0].bytes) / elapsed)
        let seconds = Double(progress.size - progress.bytes) / progress.rate
        progress.remaining = progress.rate > 0 && seconds < 1e9 ? .seconds(seconds) : nil
        return progress
    }
}
