// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs a test apart from the others.
///
/// `scripts/run-tests` gives the test its own process, with its own network and shared memory. `swift test` runs one such test at
/// a time.
public struct SeparateTrait: SuiteTrait, TestTrait, TestScoping {
    /// The speed of time in the test's process under `scripts/run-tests`.
    public enum Time: String, Sendable {
        /// Real time, for a test with a program whose clock cannot be slowed.
        case real
        /// Slowed time, so that a pause of the machine counts for a fraction.
        case slowed
    }

    /// The speed of time in the test's process.
    public let time: Time
    /// The shortest pause of a core, in seconds, that can make the test fail; nil if none can.
    public let leastStandstill: Double?

    /// True, so that the trait applies to each test of a suite.
    public let isRecursive = true

    /// Skips the test and notes its ID if `scripts/run-tests` runs the tests that need no separate process.
    ///
    /// A debug build, whose code is some 190 times slower, skips real-time tests. A process that runs tests in parallel skips
    /// tests of the whole process.
    public func prepare(for test: Test) async throws {
        if leastStandstill != nil, isDebugBuild {
            try await ConditionTrait.disabled("keeps real time: run it by \(releaseCommand)").prepare(for: test)
        }
        if let path = ProcessInfo.processInfo.environment["EARSHOT_SEPARATE_TESTS"] {
            let kind = leastStandstill == nil ? "untimed" : time.rawValue
            if !test.isSuite { try append("\(kind)\t\(test.id)", to: path) }
            try await ConditionTrait.disabled("runs in a process of its own").prepare(for: test)
        }
        if leastStandstill == nil, !CommandLine.arguments.contains("--no-parallel") {
            try await ConditionTrait.disabled("watches the whole process: run it with --no-parallel").prepare(for: test)
        }
    }

    /// Applies the trait to a test with all its arguments, outside its time limit.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    /// Runs the test while no other test with this trait runs. An issue during a pause of the machine is recorded as a known
    /// one.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Turn.take {
            guard let leastStandstill else { return try await function() }
            let watch = StandstillWatch(least: leastStandstill)
            defer { watch.end() }
            try await withKnownIssue(
                "\(test.name): the machine stood still", isIntermittent: true, { try await function() },
                matching: { _ in watch.excuses() })
            guard watch.hasExcusedAll else { return }
            print("real time: undecided: \(test.name): \(watch)")
            if let path = ProcessInfo.processInfo.environment["EARSHOT_UNDECIDED_TESTS"] {
                try append("\(test.id)\t\(watch)", to: path)
            }
        }
    }
}

extension Trait where Self == SeparateTrait {
    /// Separates a test of resources of the whole process, such as its memory and its descriptors.
    public static var separate: Self { Self(time: .real, leastStandstill: nil) }

    /// Separates a test that requires the machine to keep up with the clock: sound servers, threads that must be on time.
    public static var realTime: Self { .realTime() }

    /// Separates a test that requires the machine to keep up with the clock.
    /// - Parameters:
    ///   - leastStandstill: the shortest pause of a core, in seconds, that can make the test fail.
    ///   - time: `.real` for a test with a program whose clock cannot be slowed.
    public static func realTime(leastStandstill: Double = 0.004, time: SeparateTrait.Time = .slowed) -> Self {
        Self(time: time, leastStandstill: leastStandstill)
    }
}

/// Runs one test of this process at a time, after those that need no turn.
private actor Turn {
    private static let shared = Turn()
    @TaskLocal private static var isHeld = false
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Calls `body` while no other call is running. A nested call does not wait.
    static func take(_ body: () async throws -> Void) async throws {
        if isHeld { return try await body() }
        await shared.begin()
        let result: Result<Void, any Error>
        do {
            result = .success(try await $isHeld.withValue(true) { try await body() })
        } catch { result = .failure(error) }
        await shared.end()
        try result.get()
    }

    private func begin() async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
        // scripts/run-tests runs nothing else in this process.
        if ProcessInfo.processInfo.environment["EARSHOT_UNDECIDED_TESTS"] == nil { await Self.waitForOthers() }
    }

    /// Waits until the threads of Swift's tasks have been free for a quarter of a second.
    ///
    /// `swift test` starts all tests at once, and those that compute occupy the threads that timeouts need.
    private static func waitForOthers() async {
        var free = 0
        while free < 5 {
            let begin = ContinuousClock.now
            try? await Task.sleep(for: .milliseconds(50))
            free = ContinuousClock.now - begin < .milliseconds(70) ? free + 1 : 0
        }
    }

    private func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

/// Appends a line to a file that several processes write.
private func append(_ line: String, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: path]) }
    defer { close(file) }
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }  // one write: tests run side by side
}
