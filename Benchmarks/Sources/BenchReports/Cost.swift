// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import PairedTimes

/// The cost of work in processor time and in elapsed time.
public struct Cost: Sendable {
    /// Seconds.
    public var wall: Double
    /// Seconds.
    public var processor: Double

    /// Creates a cost from these parts.
    public init(wall: Double, processor: Double) {
        self.wall = wall
        self.processor = processor
    }

    /// The median of each part. - Precondition: there is at least one cost.
    public init(median costs: [Cost]) {
        self.init(wall: PairedTimes.median(costs.map(\.wall)), processor: PairedTimes.median(costs.map(\.processor)))
    }

    /// Measures this process's work.
    public init(of work: () throws -> Void) rethrows {
        let (start, before) = (HostTime.now(), Self.seconds(RUSAGE_SELF))
        try work()
        self.init(wall: HostTime.now().seconds(since: start), processor: Self.seconds(RUSAGE_SELF) - before)
    }

    /// Measures a program that is run to its end.
    public init(running arguments: [String]) throws {
        let (start, before) = (HostTime.now(), Self.seconds(RUSAGE_CHILDREN))
        try Self.finish([try Self.start(arguments)])
        self.init(wall: HostTime.now().seconds(since: start), processor: Self.seconds(RUSAGE_CHILDREN) - before)
    }

    /// A program could not be run, or failed.
    public struct Failure: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// Starts a program found along PATH. Its output is ignored.
    public static func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Waits for programs, which must all succeed.
    public static func finish(_ processes: [Process]) throws {
        for process in processes { process.waitUntilExit() }
        for process in processes where process.terminationStatus != 0 {
            throw Failure(
                description: "status \(process.terminationStatus): \((process.arguments ?? []).joined(separator: " "))")
        }
    }

    /// Returns a program's output.
    public static func output(_ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        try finish([process])
        return String(decoding: data, as: UTF8.self)
    }

    /// The processor time so far, of this process or of its children that have ended.
    public static func seconds(_ who: __rusage_who) -> Double {
        var usage = rusage()
        getrusage(who.rawValue, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6
    }

    /// Returns the difference of two costs.
    public static func - (a: Cost, b: Cost) -> Cost {
        Cost(wall: a.wall - b.wall, processor: a.processor - b.processor)
    }

    /// Both times as text.
    public var summary: String { "\(decimal(wall, 2)) s (\(decimal(processor, 2)) s of processor)" }
}
