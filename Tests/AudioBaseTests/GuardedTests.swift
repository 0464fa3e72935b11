import Foundation
import TestTraits
import Testing

@testable import AudioBase

/// Alone in its process, whose memory it looks at.
@Suite(
    .separate,
    .disabled(if: dlsym(nil, "__asan_init") != nil, "the address sanitizer keeps freed memory back"))
struct GuardedTests {
    @Test func `a lock that is gone leaves no memory behind`() throws {
        let before = try residentPages()
        var sum = 0
        for number in 0..<1_000_000 {
            let lock = Guarded(number)
            sum &+= lock.withLock { $0 }
        }
        let growth = try residentPages() - before
        // The smallest piece of memory that malloc gives takes 32 bytes, so a leak is 8,000 pages.
        #expect(sum == 999_999 * 500_000 && growth < 2_000, "\(growth) pages more")
    }

    private func residentPages() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[1]))
    }
}
