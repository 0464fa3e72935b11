import Foundation
import Testing
import TestTraits

struct StandstillWatchTests {
    @Test func `a standstill as long as the least excuses a failure`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        watch.note(late: 0.004)
        #expect(watch.excuses())
        #expect(watch.hasExcusedAll)
        #expect(watch.description.contains("1 times"))
    }

    @Test func `a shorter one excuses nothing`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        watch.note(late: 0.0039)
        #expect(!watch.excuses())
        #expect(!watch.hasExcusedAll)
    }

    @Test func `a failure before the standstill counts`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        #expect(!watch.excuses())
        watch.note(late: 1)
        #expect(watch.excuses())
        #expect(!watch.hasExcusedAll)
    }

    @Test func `what did not fail has nothing to excuse`() {
        let watch = StandstillWatch(least: 0.004, cores: [])
        watch.note(late: 1)
        #expect(!watch.hasExcusedAll)
    }

    @Test func `a core that stands still is seen`() throws {
        // Every thread of a stopped process wakes late, as on a machine that stands still.
        let watch = StandstillWatch(least: 0.05)
        defer { watch.end() }
        usleep(20_000)  // the threads have started
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/bin/sh")
        other.arguments = ["-c", "kill -STOP \(getpid()); sleep 0.3; kill -CONT \(getpid())"]
        try other.run()
        other.waitUntilExit()
        usleep(20_000)
        #expect(watch.excuses())
    }
}
