import Foundation
import Glibc
import Synchronization
import Testing

/// For tests that are right only where the machine keeps up with the clock: real sound servers, threads that must be on time.
///
/// A virtual machine stands still now and then, and a server with blocks of a millisecond loses sound by it. What fails while
/// the machine was seen to stand still is set aside, as a known issue, and the test runs again; what fails while it ran
/// counts at once. A test that came upon such a machine in each of its tries, and for more than a hundredth of the time, is
/// left undecided.
public struct RealTimeTrait: SuiteTrait, TestTrait, TestScoping {
    /// Seconds to wait before each further try.
    private static let pauses: [Double] = [1, 2, 4, 8]

    /// It is for each test of a suite, not for the suite.
    public let isRecursive = true

    /// Runs the test until it is decided, five times at most.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for number in 0...Self.pauses.count {
            let isLast = number == Self.pauses.count
            let watch = StandstillWatch()
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
}

extension Trait where Self == RealTimeTrait {
    /// Judged only where the machine keeps up with the clock; see ``RealTimeTrait``.
    public static var realTime: Self { Self() }
}

/// A thread that sleeps a millisecond at a time, and notes when it is woken far too late.
private final class StandstillWatch: Sendable, CustomStringConvertible {
    /// What is late enough to lose a block of sound, in seconds.
    private static let least = 0.004

    private struct State {
        var count = 0
        var total = 0.0
        var longest = 0.0
        var excused = 0
        var counted = 0
        var isEnded = false
    }
    private let state = Mutex(State())
    private let begin = DispatchTime.now().uptimeNanoseconds

    init() {
        Thread.detachNewThread { [self] in
            var last = DispatchTime.now().uptimeNanoseconds
            while !state.withLock({ $0.isEnded }) {
                usleep(1_000)
                let now = DispatchTime.now().uptimeNanoseconds
                let late = Double(now - last) * 1e-9 - 0.001
                last = now
                guard late >= Self.least else { continue }
                state.withLock {
                    $0.count += 1
                    $0.total += late
                    $0.longest = max($0.longest, late)
                }
            }
        }
    }

    private var elapsed: Double { Double(DispatchTime.now().uptimeNanoseconds - begin) * 1e-9 }

    /// Whether what just failed is set aside: the machine stood still, for more than this part of the time.
    func excuses(moreThan part: Double) -> Bool {
        let seconds = elapsed
        return state.withLock {
            let isExcused = $0.count > 0 && $0.total > part * seconds
            if isExcused { $0.excused += 1 } else { $0.counted += 1 }
            return isExcused
        }
    }

    /// Whether something failed, and nothing of it counts.
    var hasExcusedAll: Bool { state.withLock { $0.excused > 0 && $0.counted == 0 } }

    /// Ends the thread.
    func end() { state.withLock { $0.isEnded = true } }

    /// What was seen.
    var description: String {
        let seconds = elapsed
        return state.withLock {
            String(
                format: "stood still %d times in %.1f s, for %.0f ms in all and %.0f ms at most", $0.count, seconds,
                $0.total * 1e3, $0.longest * 1e3)
        }
    }
}
