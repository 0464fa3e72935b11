// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Testing

@Suite struct WakeupTests {
    private func isReadable(_ wakeup: Wakeup) -> Bool {
        var entry = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    @Test func aSleeperIsWokenOnce() {
        let wakeup = Wakeup()
        wakeup.prepareToSleep()
        #expect(!isReadable(wakeup))
        wakeup.handle.wake()
        #expect(isReadable(wakeup))
        wakeup.wokeUp()
        #expect(!isReadable(wakeup))
    }

    @Test func whoIsAwakeIsLeftAlone() {
        let wakeup = Wakeup()
        wakeup.handle.wake()
        #expect(!isReadable(wakeup))
        wakeup.prepareToSleep()
        wakeup.wokeUp()
        wakeup.handle.wake()
        #expect(!isReadable(wakeup))
    }
}
