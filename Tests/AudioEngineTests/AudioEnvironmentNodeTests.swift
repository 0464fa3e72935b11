// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct AudioEnvironmentNodeTests {
    private func rms(_ samples: ArraySlice<Float>) -> Double {
        (samples.reduce(0.0) { $0 + Double($1 * $1) } / Double(samples.count)).squareRoot()
    }

    @Test func `a source is heard from its position, also when the listener turns`() throws {
        let rig = EngineRig()
        let environment = AudioEnvironmentNode()
        let source = sineSource(3_000)
        try rig.engine.attach(environment)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: environment)
        try rig.engine.connect(environment, to: rig.engine.mainMixerNode)
        try rig.start()
        let latency = UnitType.spatializer.makeUnit(sampleRate: 48_000, channelCount: 1).latency
        #expect(latency > 0 && abs(rig.engine.paths[0].latency - Double(latency) / 48_000) < 1e-9)
        environment.input(0).position = SIMD3(2, 0, 0)
        var output = try rig.render(24_000)
        let right = decibels(rms(output[1][12_000...]) / rms(output[0][12_000...]))
        #expect(right > 3)
        environment.listener = ListenerGeometry(yaw: 180)
        output = try rig.render(24_000, blocks: [100])
        let turned = decibels(rms(output[1][12_000...]) / rms(output[0][12_000...]))
        #expect(abs(turned + right) < 0.1)
        environment.input(0).position = SIMD3(0, 0, -4)
        output = try rig.render(24_000)
        #expect(abs(decibels(rms(output[0][12_000...]) / rms(output[1][12_000...]))) < 0.05)
        // 4 m away, by the inverse law from 1 m.
        environment.listener = ListenerGeometry()
        output = try rig.render(24_000)
        let far = rms(output[0][12_000...])
        environment.input(0).position = SIMD3(0, 0, -1)
        output = try rig.render(24_000)
        #expect(abs(decibels(rms(output[0][12_000...]) / far) - 12.04) < 0.1)
    }
}
