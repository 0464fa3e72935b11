// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotDiagnostics

/// A loopback's render side, through ``RenderCallback``. With EARSHOT_BUILD=rtsan, RealtimeSanitizer checks every path of it.
@Suite struct LoopbackRealtimeTests {
    @Test(arguments: [16, 64, 470, 8192]) func `a loopback callback neither blocks nor allocates`(
        block: Int
    ) throws {
        let rig = try LoopRig(rate: 48_000, block: block, maximumRoundTrip: 0.5)
        rig.air = { sine($0, frequency: 440, rate: 48_000) }
        rig.run(9_600)
        rig.loopback.extraDelayFrameCount = 96_000
        rig.loopback.gain = 0.3
        rig.run(9_600)
        rig.path = Path.delay(100)
        rig.air = { $0 % 1_000 == 0 ? .nan : 0 }
        let found = try rig.measure()
        #expect(abs(found.frames - Double(2 * block + 100)) < 0.1)
        rig.loopback.startProbe()
        rig.run(9_600)
        rig.skip(cycles: 2)
        rig.loopback.extraDelayFrameCount = 480
        rig.loopback.gain = 16
        rig.air = { sine($0, frequency: 440, rate: 48_000) }
        rig.run(96_000)
        #expect(rig.loopback.howlCount > 0)
    }
}
