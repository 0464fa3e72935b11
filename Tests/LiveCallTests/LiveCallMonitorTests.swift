// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotCall
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The monitor of a call, by which the local participant hears itself.
@Suite struct LiveCallMonitorTests {
    /// A guest's call whose device runs.
    private static func rig(
        _ device: CallDevice? = nil, _ configure: (inout LiveCall.Configuration) -> Void = { _ in }
    ) -> CoreRig {
        var rig = CoreRig(configure)
        rig.joinAsGuest()
        rig.startSound()
        rig.observation.device = device
        rig.wait(0.2)
        return rig
    }

    /// A device with headphones and the given round trip in seconds.
    private static func headphones(roundTrip: Double = 0.008) -> CallDevice {
        var device = CallDevice(.headphones)
        (device.inputLatency, device.outputLatency) = (roundTrip / 2, roundTrip / 2)
        return device
    }

    private static func changes(_ rig: CoreRig) -> [String] {
        rig.actions.media.filter { $0.hasPrefix("monitor") }.map { String($0.dropFirst(8)) }
    }

    private static func reasons(_ rig: CoreRig) -> [String] {
        rig.events.compactMap { if case .monitor(let choice) = $0.kind { choice.reason } else { nil } }
    }

    @Test func `the automatic monitor follows the route, and says each change once`() {
        var rig = Self.rig(CallDevice(.speaker))
        #expect(Self.changes(rig) == [] && Self.reasons(rig) == [] && rig.snapshot.monitor?.isOn == false)
        rig.observation.device = Self.headphones()
        rig.wait(1)
        #expect(Self.changes(rig) == ["on"] && Self.reasons(rig) == ["headphones, round trip 8.0 ms"])
        var changing = CallDevice(.headphones)
        changing.route = AudioRoute()
        rig.observation.device = changing
        rig.wait(0.2)
        #expect(rig.snapshot.monitor?.isOn == true && Self.changes(rig) == ["on", "off"], "it waits")
        rig.observation.device = CallDevice(.speaker)
        rig.wait(1)
        #expect(Self.changes(rig) == ["on", "off"])
        #expect(Self.reasons(rig) == ["headphones, round trip 8.0 ms", "a loudspeaker would feed back"])
    }

    @Test func `a latency that varies around the limit does not toggle the monitor`() {
        var rig = Self.rig(Self.headphones(roundTrip: 0.014_8))
        for step in 0..<20 {
            rig.observation.device = Self.headphones(roundTrip: step % 2 == 0 ? 0.015_2 : 0.014_8)
            rig.wait(0.1)
        }
        #expect(Self.changes(rig) == ["on"])
        rig.observation.device = Self.headphones(roundTrip: 0.018)
        rig.wait(0.1)
        rig.observation.device = Self.headphones(roundTrip: 0.016)
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on", "off"])
    }

    @Test func `other headphones need a round trip below the limit, although the monitor was on`() {
        var rig = Self.rig(Self.headphones())
        var other = Self.headphones(roundTrip: 0.016)
        other.route.output?.name = "Other headphones"
        rig.observation.device = other
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on", "off"] && rig.snapshot.monitor?.isOn == false)
    }

    @Test func `the delay of effects and voice processing counts`() {
        var rig = Self.rig(Self.headphones())
        rig.observation.voiceLatency = 0.03
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on", "off"] && rig.snapshot.monitor?.reason.contains("38.0 ms") == true)
        rig.observation.voiceLatency = 0
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on", "off", "on"])
    }

    @Test func `a mode that was set by hand survives changes of the device, and a return to the room`() throws {
        var rig = Self.rig(CallDevice(.speaker))
        try rig.perform(.setMonitor(.on))
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on"] && Self.reasons(rig) == ["as asked"])
        rig.observation.device = Self.headphones(roundTrip: 0.2)
        rig.wait(0.1)
        rig.handle(.room(.reconnecting))
        let roster = rig.makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 1)
        rig.handle(.room(.joined(roster, as: CoreRig.id(2))))
        rig.wait(0.1)
        #expect(rig.snapshot.monitor?.isOn == true && rig.snapshot.monitorMode == .on)
        try rig.perform(.setMonitor(.off))
        rig.observation.device = Self.headphones()
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on", "off"] && rig.snapshot.monitor?.isOn == false)
        try rig.perform(.setMonitor(.auto))
        rig.wait(0.1)
        #expect(Self.changes(rig) == ["on", "off", "on"])
        #expect(Self.reasons(rig) == ["as asked", "as asked", "headphones, round trip 8.0 ms"])
    }

    @Test func `a mode without a change of the sound is confirmed by an event`() throws {
        var rig = Self.rig(CallDevice(.speaker))
        try rig.perform(.setMonitor(.off))
        rig.wait(0.1)
        try rig.perform(.setMonitor(.off))
        rig.wait(0.1)
        #expect(Self.changes(rig) == [] && Self.reasons(rig) == ["as asked"])
    }

    @Test func `a mode of the configuration applies from the beginning of the sound`() {
        let on = Self.rig(CallDevice(.speaker)) { $0.monitor = .on }
        #expect(Self.changes(on) == ["on"] && Self.reasons(on) == ["as asked"])
        let off = Self.rig(Self.headphones()) { $0.monitor = .off }
        #expect(Self.changes(off) == [] && Self.reasons(off) == [] && off.snapshot.monitor?.reason == "as asked")
    }

    @Test func `an equal monitor is as late as the latest of the others, and follows a lasting change`() throws {
        var rig = Self.rig(Self.headphones())
        func hear(_ delays: Double?...) {
            for (index, delay) in delays.enumerated() {
                rig.observation.calls[CoreRig.id(UInt64(index + 1))] = .init(
                    format: CallConfiguration(
                        codec: .pcm, streamRate: 48_000, channelCount: 1, framesPerPacket: 128, bitRate: 768_000,
                        payloadType: 97, deviceRate: 48_000, deviceBlock: 128), mouthToEar: delay)
            }
            rig.wait(0.1)
        }
        try rig.perform(.setMonitor(.equal))
        hear(nil)
        #expect(Self.changes(rig) == ["on"])
        hear(0.028, 0.020)
        hear(0.027, 0.021)
        hear(0.030, 0.020)
        #expect(Self.changes(rig) == ["on", "on 20 ms"] && Self.reasons(rig).last == "as late as the others' voices")
        #expect(rig.snapshot.monitorDelay == 0.02)
        hear(0.048, 0.020)
        // The round trip alone is longer.
        hear(0.005, 0.006)
        #expect(Self.changes(rig) == ["on", "on 20 ms", "on 40 ms", "on"])
        hear(0.028)
        try rig.perform(.setMonitor(.on))
        rig.wait(0.1)
        #expect(Self.changes(rig).suffix(2) == ["on 20 ms", "on"] && rig.snapshot.monitorDelay == 0)
        try rig.perform(.setMonitor(.off))
        rig.wait(0.1)
        #expect(Self.changes(rig).last == "off")
    }

    @Test func `with a separate microphone the monitor is unavailable, for a reason`() {
        var device = Self.headphones()
        device.hasSeparateInput = true
        var rig = Self.rig(device) { $0.monitor = .on }
        #expect(Self.changes(rig) == [] && rig.snapshot.monitor?.isOn == false)
        #expect(Self.reasons(rig) == ["microphone and loudspeaker are separate devices"])
        #expect(rig.refusal(of: .setMonitor(.on)) == .noMonitor && rig.snapshot.monitorMode == .on)
    }
}
