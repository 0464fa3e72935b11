// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@testable import EarshotAudioDevices

/// A thread of libpipewire, without a server.
@Suite("PipeWireLoop") struct PipeWireLoopTests {
    @Test("a wait times out by the clock, however long each check takes")
    func deadline() throws {
        let loop = try PipeWireLoop()
        var looks = 0
        let begin = HostTime.now()
        let isSo = loop.locked {
            loop.wait(seconds: 0.1) {
                looks += 1
                usleep(20_000)
                return false
            }
        }
        #expect(!isSo && looks <= 6)
        #expect(HostTime.now().seconds(since: begin) >= 0.1)
    }

    @Test("a true condition ends a wait, even with a timeout of zero", arguments: [0, 1])
    func success(_ seconds: Double) throws {
        let loop = try PipeWireLoop()
        #expect(loop.locked { loop.wait(seconds: seconds) { true } })
    }
}
