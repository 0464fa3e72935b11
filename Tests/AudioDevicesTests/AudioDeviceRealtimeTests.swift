// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport
import Testing

/// Runs a real callback of every sound system. With EARSHOT_BUILD=rtsan, RealtimeSanitizer checks each call.
@Suite("AudioDevice: Realtime", .serialized) struct AudioDeviceRealtimeTests {
    @Test("a callback that copies input to output neither blocks nor allocates", arguments: DeviceBench.Kind.allCases)
    func callback(_ kind: DeviceBench.Kind) throws {
        try DeviceBench.with(kind) { bench in
            let device = try bench.open(inputs: 2, outputs: 2)
            let probe = LoopProbe()
            try device.start(probe.callback)
            #expect(eventually { device.monitor.callCount >= 100 })
            device.stop()
            #expect(device.failure == nil)
        }
    }
}
