// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Testing

@testable import EarshotAudioSession

/// `scripts/test rtsan` runs it with RealtimeSanitizer, which ends the process if a callback allocates, locks or waits.
@Suite struct AudioSessionRealtimeTests {
    @Test(
        "a callback neither blocks nor allocates, on any route and during a route change",
        arguments: [48_000.0, 44_100])
    func routes(rate: Double) throws {
        let system = SimulatedSystem([AudioSessionTests.card("speakers", isDefault: true)])
        let session = AudioSession(system)
        let device = try session.activate()
        let client = AudioSessionTests.Client()
        try device.start(client.callback)
        system.add(AudioSessionTests.card("headset", form: .headset, rate: rate, isDefault: true))
        for _ in 0..<400 where session.currentRoute.output?.id != "headset" || client.calls < 50 { usleep(10_000) }
        #expect(session.currentRoute.output?.id == "headset")
        system.remove("headset")
        let calls = client.calls
        for _ in 0..<400 where session.currentRoute.output?.id != "speakers" || client.calls < calls + 50 {
            usleep(10_000)
        }
        #expect(session.currentRoute.output?.id == "speakers")
        device.stop()
        session.deactivate()
    }
}
