import Foundation
import Testing

/// Marks a test that is right only while the machine keeps up with the clock: real sound servers, threads that must be on time.
///
/// The host of a virtual machine takes its processors away now and then, and a server with blocks of a millisecond loses sound
/// by it. A failure during a try in which a core stood still for at least ``leastStandstill`` is recorded as a known issue, and
/// the test runs again; any other failure counts at once. A test that meets a standstill in each of its tries, and for more than
/// a hundredth of the time, stays undecided, and its name is printed.
public struct RealTimeTrait: SuiteTrait, TestTrait, TestScoping {
    /// Seconds to wait before each further try.
    private static let pauses: [Double] = [1, 2, 4, 8]

    /// The shortest standstill of a core, in seconds, that can make the test fail.
    public let leastStandstill: Double

    /// True: the trait is for each test of a suite.
    public let isRecursive = true

    /// Runs the test until it is decided, five times at most.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try Self.note(test)
        for number in 0...Self.pauses.count {
            let isLast = number == Self.pauses.count
            let watch = StandstillWatch(least: leastStandstill)
            defer { watch.end() }
            try await withKnownIssue(
                "\(test.name), try \(number + 1): the machine stood still", isIntermittent: true,
                { try await function() },
                matching: { _ in watch.excuses(moreThan: isLast ? 0.01 : 0) })
            guard watch.hasExcusedAll else { return }
            print("real time: \(isLast ? "undecided" : "again"): \(test.name): \(watch)")
            if !isLast { usleep(UInt32(Self.pauses[number] * 1e6)) }
        }
    }

    /// Appends the test's ID to the file that EARSHOT_REAL_TIME_TESTS names, for scripts/failed-tests.
    private static func note(_ test: Test) throws {
        guard let path = ProcessInfo.processInfo.environment["EARSHOT_REAL_TIME_TESTS"] else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: path]) }
        defer { close(file) }
        let line = Array("\(test.id)\n".utf8)
        _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }  // one write: tests run side by side
    }
}

extension Trait where Self == RealTimeTrait {
    /// Judged only while the machine keeps up with the clock, as a test that a standstill of 4 ms can make fail.
    public static var realTime: Self { .realTime(leastStandstill: 0.004) }

    /// Judged only while the machine keeps up with the clock.
    /// - Parameter leastStandstill: the shortest standstill of a core, in seconds, that can make the test fail.
    public static func realTime(leastStandstill: Double) -> Self { Self(leastStandstill: leastStandstill) }
}
