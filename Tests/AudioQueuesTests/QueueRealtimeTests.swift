// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioQueues
import TestSupport
import Testing

/// Renders queues through the engine's callback. With EARSHOT_BUILD=rtsan, RealtimeSanitizer checks each call.
@Suite struct QueueRealtimeTests {
    @Test(arguments: [false, true])
    func everyWayOfAQueueRenders(isVarispeed: Bool) throws {
        let rig = QueueRig()
        let output = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine, isVarispeed: isVarispeed) { _, _ in }
        let input = try AudioInputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        try rig.start(inputs: 1)
        for first in [0, 500, 1_000] {
            let buffer = try output.allocateBuffer(frameCount: 500)
            fill(buffer, 500, from: first)
            try output.enqueue(buffer, at: first == 500 ? .sample(400) : .now)
            try input.enqueue(try input.allocateBuffer(frameCount: 300))
        }
        try output.start(at: .sample(100))
        try input.start()
        if isVarispeed { try output.setRate(1.5) }
        let blocks = [64, 1, 333]
        try rig.render(700, blocks: blocks, input: numbered)
        output.pause()
        input.pause()
        try rig.render(700, blocks: blocks, input: numbered)
        try output.start()
        try input.start()
        try rig.render(2_000, blocks: blocks, input: numbered)  // both run out of buffers
        output.reset()
        output.stop()
        input.stop()
        try rig.render(700, blocks: blocks, input: numbered)
        #expect(output.statistics.underrun > 0 && input.statistics.overrun > 0)
        #expect(!output.isRunning && !input.isRunning)
    }
}
