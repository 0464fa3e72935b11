// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization
import Testing

/// Proves that the thread sanitizer works and observes ``copySamples(_:_:_:)``: it ignores the C library's copies unless it runs
/// with `TSAN_OPTIONS=ignore_interceptors_accesses=0`.
@Suite struct RaceControlConcurrentTests {
    private struct Samples: @unchecked Sendable {  // shared without care on purpose
        let pointer = UnsafeMutablePointer<Float>.allocate(capacity: 64)
        init() { pointer.initialize(repeating: 0, count: 64) }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_BUILD"] == "tsan"))
    func samplesThatARelaxedFlagHandsOverAreARace() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (shared, other) = (Samples(), Samples())
            let flag = Atomic(false)
            onTwoThreads {
                copySamples(shared.pointer, other.pointer, 64)
                flag.store(true, ordering: .relaxed)
            } _: {
                let mine = Samples()
                while !flag.load(ordering: .acquiring) {}
                copySamples(mine.pointer, shared.pointer, 64)
            }
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("ThreadSanitizer: data race"))
    }
}
