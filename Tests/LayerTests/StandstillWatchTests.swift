// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

struct StandstillWatchTests {
    @Test func `a standstill of at least the minimum length excuses a failure`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        watch.note(late: 0.004)
        #expect(watch.excuses())
        #expect(watch.hasExcusedAll)
        #expect(watch.description.contains("1 times"))
    }

    @Test func `a shorter standstill does not excuse a failure`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        watch.note(late: 0.0039)
        #expect(!watch.excuses())
        #expect(!watch.hasExcusedAll)
    }

    @Test func `a failure before the standstill is not excused`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        #expect(!watch.excuses())
        watch.note(late: 1)
        #expect(watch.excuses())
        #expect(!watch.hasExcusedAll)
    }

    @Test func `a standstill without any failure does not count as excused`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        watch.note(late: 1)
        #expect(!watch.hasExcusedAll)
    }

    @Test(.separate) func `a stopped core is detected`() throws {
        let watch = StandstillWatch(least: 0.05)
        defer { watch.end() }
        // Every thread of a stopped process wakes up late. The watch's threads may start after the first stop.
        for _ in 0..<10 where !watch.excuses() {
            let stop = "kill -STOP \(getpid()); sleep 0.3; kill -CONT \(getpid())"
            #expect(try ChildProcess.run(["sh", "-c", stop]).status == 0)
            usleep(20_000)
        }
        #expect(watch.excuses())
    }
}
