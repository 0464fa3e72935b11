// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct NodeTapTests {
    @Test func `a tap installed late uses the engine's frame count`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(1_000)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        _ = try rig.render(10_000, blocks: [500])
        let heard = LockedValue<[(Int64, Float)]>([])
        try rig.engine.installTap(on: source, bufferSize: 100) { samples, _, time in
            let first = samples[0][3]
            heard.withLock { $0.append((time, first)) }
        }
        _ = try rig.render(4_000, blocks: [64])
        let blocks = heard.withLock { $0 }
        #expect(blocks.count > 30 && blocks[0].0 >= 10_000)
        for (time, first) in blocks { #expect(abs(first - sine(Int(time) + 3, frequency: 1_000, rate: 48_000)) < 1e-6) }
    }
}
