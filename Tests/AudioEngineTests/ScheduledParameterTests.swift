import AudioBase
import AudioDSP
import TestSupport
import Testing

@testable import AudioEngine

@Suite struct ScheduledParameterTests {
    private func rig() throws -> (EngineRig, AudioMixerInput) {
        let rig = EngineRig(channels: 1)
        let one = AudioSourceNode(format: rig.format) { _, count, output in
            for i in 0..<count { output[0][i] = 0.5 }
            return count
        }
        try rig.engine.attach(one)
        try rig.engine.connect(one, to: rig.engine.mainMixerNode)
        return (rig, rig.engine.mainMixerNode.input(0))
    }

    @Test func `what is scheduled before the start waits for its time`() throws {
        let (rig, input) = try rig()
        input.volume = 0.5
        try #require(input["volume"]).setValue(1, ramp: 0.01, at: 4_800)
        #expect(input["loudness"] == nil)
        try rig.start()
        let output = try rig.render(9_600)[0]
        #expect(output[..<4_800].allSatisfy { $0 == 0.25 })
        #expect(output[5_300...].allSatisfy { $0 == 0.5 })
    }

    @Test func `a value set for now counts after one that was scheduled`() throws {
        let (rig, input) = try rig()
        try rig.start()
        try #require(input["volume"]).setValue(0, ramp: 0, at: 1_000)
        var output = try rig.render(4_800)[0]
        #expect(output[999] == 0.5 && output[1_100...].allSatisfy { $0 == 0 })
        input.volume = 1  // as it was before the schedule
        output = try rig.render(4_800)[0]
        #expect(output[4_799] == 0.5)
    }

    @Test func `what was reached by schedule stays when the engine starts again`() throws {
        let (rig, input) = try rig()
        try rig.start()
        try #require(input["volume"]).setValue(0.25, ramp: 0, at: 1_000)
        _ = try rig.render(4_800)
        rig.engine.stop()
        try rig.start()
        #expect(try rig.render(100)[0].allSatisfy { $0 == 0.125 })
    }
}
