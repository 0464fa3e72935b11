// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The progress of a file.
public struct FileProgress: Hashable, Sendable {
    /// The phase of a transfer.
    public enum Phase: Hashable, Sendable {
        /// The sender reads it for its hash.
        case hashing
        /// The receiver's application has not said yes yet.
        case offered
        /// Its bytes are on the way.
        case moving
        /// The connection was cut, and is tried again.
        case reconnecting
        /// The file was received and verified.
        case done
        /// It will not arrive.
        case failed
    }

    /// The other side.
    public let member: MemberID
    /// The present phase.
    public internal(set) var phase: Phase
    /// Bytes of the file that are through with this phase.
    public internal(set) var bytes: Int64 = 0
    /// Bytes of the file.
    public let size: Int64
    /// Bytes a second over the last five seconds.
    public internal(set) var rate: Double = 0
    /// The remaining time at this rate; nil while nothing moves.
    public internal(set) var remaining: Duration?

    init(_ member: MemberID, size: Int64, phase: Phase) {
        self.member = member
        self.size = size
        self.phase = phase
    }
}

/// Reckons the rate and what remains.
struct ProgressMeter {
    private static let window = Duration.seconds(5)
    private(set) var progress: FileProgress
    private var samples: [(time: ContinuousClock.Instant, bytes: Int64)] = []

    init(_ progress: FileProgress) { self.progress = progress }

    /// A phase begins at so many bytes.
    mutating func begin(_ phase: FileProgress.Phase, at bytes: Int64, _ time: ContinuousClock.Instant) {
        progress.phase = phase
        progress.bytes = bytes
        progress.rate = 0
        progress.remaining = nil
        samples = [(time, bytes)]
    }

    mutating func set(_ bytes: Int64) { progress.bytes = bytes }

    /// Returns the values to show at this time; ask ten times a second.
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
