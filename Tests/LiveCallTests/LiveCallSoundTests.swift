// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import TestSupport
import Testing

@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotRooms

/// Sound from the first participant to the end.
@Suite struct LiveCallSoundTests {
    private static let format = CallConfiguration(
        codec: .opus, streamRate: 48_000, channelCount: 1, framesPerPacket: 480, bitRate: 48_000, payloadType: 97,
        deviceRate: 48_000, deviceBlock: 256)

    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private static func rate(_ index: Int, isTooSlow: Bool = false) -> RateState {
        var state = RateState(format.ladder[min(index, format.ladder.count - 1)])
        (state.index, state.isTooSlow) = (index, isTooSlow)
        return state
    }

    @Test func `sound starts once, with the first participant`() {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.wait(1)
        #expect(rig.actions.media.isEmpty && rig.snapshot.sound == .waiting)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        #expect(rig.actions.media == ["start"])
        rig.startSound()
        #expect(rig.snapshot.sound == .running(since: rig.now))
        rig.change(to: [CoreRig.member(1)])
        rig.change(to: [CoreRig.member(1), CoreRig.member(4)])
        #expect(rig.actions.media == ["start"] && rig.snapshot.ending == nil)
    }

    @Test(arguments: [false, true]) func `a room without sound starts no device, and a guest may stay in it alone`(
        stays: Bool
    ) {
        var rig = CoreRig(hasSound: false) { $0.staysAlone = stays }
        rig.joinAsGuest()
        #expect(rig.actions.media.isEmpty && rig.snapshot.sound == .none)
        rig.handle(.room(.becameHost(rig.makeRoster([CoreRig.member(2)], host: 2))))
        #expect(rig.snapshot.ending == (stays ? nil : .alone))
    }

    @Test(arguments: [false, true])
    func `a call that no guest has joined yet stays open, and ends when the last guest has left`(hasSound: Bool) {
        var rig = CoreRig(hasSound: hasSound)
        rig.host()
        rig.wait(2)
        #expect(rig.snapshot.isInRoom)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.change(to: [CoreRig.member(1)])
        #expect(rig.snapshot.ending == .alone)
    }

    @Test func `a guest with sound may stay alone`() {
        var rig = CoreRig { $0.staysAlone = true }
        rig.joinAsGuest()
        rig.startSound()
        rig.handle(.room(.becameHost(rig.makeRoster([CoreRig.member(2)], host: 2))))
        #expect(rig.snapshot.ending == nil && rig.actions.media == ["start"])
    }

    @Test func `a guest's call ends when all others have left`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        rig.wait(2)
        rig.handle(.room(.becameHost(rig.makeRoster([CoreRig.member(2)], host: 2))))
        #expect(rig.snapshot.ending == .alone && rig.snapshot.sound == .stopped(after: 2))
        #expect(rig.actions.media.last == "stop" && rig.actions.room.last == "close")
        let count = rig.events.count
        rig.handle(.roomClosed)
        guard rig.events.count == count + 1, case .ended(.alone)? = rig.events.last?.kind else {
            Issue.record("no end")
            return
        }
    }

    @Test func `a lost last participant is named in the ending`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        rig.change(to: [CoreRig.member(1, isAway: true), CoreRig.member(2)])
        rig.handle(.room(.becameHost(rig.makeRoster([CoreRig.member(2)], host: 2))))
        #expect(rig.snapshot.ending == .lastParticipantLost(CoreRig.name(1)))
    }

    @Test func `the duration limit counts from the start of the sound`() {
        var rig = CoreRig { ($0.staysAlone, $0.duration) = (true, 3) }
        rig.host()
        rig.wait(5)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.startSound()
        rig.wait(2.9)
        #expect(rig.snapshot.ending == nil)
        rig.wait(0.2)
        #expect(rig.snapshot.ending == .duration)
    }

    @Test func `a call ends after 30 s without a device, but not before`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        rig.observation.device = .test
        rig.observation.interruption = (.noDevice, HostTime(nanoseconds: 0))
        rig.wait(29.9)
        #expect(rig.snapshot.ending == nil && rig.snapshot.interruption == .noDevice)
        rig.observation.interruption = nil
        rig.wait(0.1)
        #expect(rig.snapshot.interruption == nil)
        rig.observation.interruption = (.serverGone, rig.now)
        rig.wait(30.2)
        guard case .noSound(.serverGone, let seconds)? = rig.snapshot.ending else {
            Issue.record("\(String(describing: rig.snapshot.ending))")
            return
        }
        #expect(seconds > 30 && seconds < 30.2)
    }

    @Test func `a failed device or codec ends the call`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.handle(.soundFailed(.device(.noSystem)))
        #expect(rig.snapshot.ending == .device(.noSystem))
        var other = CoreRig()
        other.joinAsGuest()
        other.startSound()
        other.observation.failure = .codecMissing(codec: "x")
        other.wait(0.05)
        #expect(other.snapshot.ending == .codec(.codecMissing(codec: "x")))
    }

    @Test(arguments: [false, true])
    func `a call begins when transport and media are ready, in either order`(transportFirst: Bool) {
        var rig = CoreRig()
        rig.joinAsGuest()
        func begins() -> Int { rig.events.count { if case .callBegan = $0.kind { true } else { false } } }
        let open = LiveCallCore.Event.room(.transport(CoreRig.member(1), .open(since: rig.now)))
        if transportFirst {
            rig.handle(open)
        } else {
            rig.observation.calls[CoreRig.id(1)] = .init(format: Self.format)
        }
        rig.wait(0.1)
        #expect(begins() == 0)
        if transportFirst {
            rig.observation.calls[CoreRig.id(1)] = .init(format: Self.format)
        } else {
            rig.handle(open)
        }
        rig.wait(0.1)
        #expect(begins() == 1 && rig.snapshot[CoreRig.id(1)]?.format == Self.format)
        #expect(rig.snapshot[CoreRig.id(1)]?.isConnected == true)
    }

    @Test func `a failed negotiation is reported once for each reason`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        for reason in ["no codec", "no codec", "no key", "no key", "no codec"] {
            rig.handle(.room(.negotiationFailed(CoreRig.member(1), Fault(description: reason))))
        }
        let reasons = rig.events.compactMap {
            if case .negotiationFailed(_, let error) = $0.kind { "\(error)" } else { nil }
        }
        #expect(reasons == ["no codec", "no key", "no codec"])
        #expect(rig.snapshot[CoreRig.id(1)]?.negotiationFailure == "no codec")
        rig.observation.calls[CoreRig.id(1)] = .init(format: Self.format)
        rig.wait(0.05)
        #expect(rig.snapshot[CoreRig.id(1)]?.negotiationFailure == nil)
    }

    @Test(arguments: [false, true]) func `a guest's call ends if no participant has a common format with it`(
        stays: Bool
    ) {
        var rig = CoreRig { $0.staysAlone = stays }
        rig.joinAsGuest()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        let fault = NegotiationFault.nothingInCommon(offered: ["opus/48000/2"], taken: ["L16/48000/1"])
        rig.handle(.room(.negotiationFailed(CoreRig.member(1), fault)))
        #expect(rig.snapshot.ending == nil)
        rig.handle(
            .room(
                .negotiationFailed(
                    CoreRig.member(3),
                    NegotiationError.noCommonFormat(
                        offered: ["L16/48000/1"], supported: ["opus/48000/2"], required: nil))))
        #expect(rig.snapshot.ending == .noCommonFormat(local: ["opus/48000/2"], remote: ["L16/48000/1"]))
    }

    @Test func `a participant with sound or a temporary failure keeps the call open`() {
        let fault = NegotiationFault.nothingInCommon(offered: ["opus/48000/2"], taken: ["L16/48000/1"])
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        rig.observation.calls[CoreRig.id(3)] = .init(format: Self.format)
        rig.wait(0.05)
        rig.handle(.room(.negotiationFailed(CoreRig.member(1), fault)))
        #expect(rig.snapshot.ending == nil)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        #expect(rig.snapshot.ending != nil)
        rig = CoreRig()
        rig.joinAsGuest()
        rig.observation.calls[CoreRig.id(1)] = .init(format: Self.format)
        rig.wait(0.05)
        rig.handle(.room(.negotiationFailed(CoreRig.member(1), fault)))  // a renegotiation
        #expect(rig.snapshot.ending == nil)
        rig = CoreRig()
        rig.joinAsGuest()
        rig.handle(.room(.negotiationFailed(CoreRig.member(1), NegotiationFault.refused)))
        #expect(rig.snapshot.ending == nil)
        rig = CoreRig()
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)], host: 1)
        rig.handle(.room(.negotiationFailed(CoreRig.member(2), fault)))
        #expect(rig.snapshot.ending == nil)
    }

    @Test func `each rate step of a slow link is reported, and so is its recovery`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        for (index, isTooSlow) in [
            (0, false), (1, false), (1, false), (3, false), (3, true), (3, true), (0, false), (0, false),
        ] {
            rig.observation.calls[CoreRig.id(1)] = .init(
                format: Self.format, rate: Self.rate(index, isTooSlow: isTooSlow))
            rig.wait(0.05)
        }
        let steps = rig.events.compactMap { event -> Int? in
            guard case .linkRate(_, let rate) = event.kind else { return nil }
            return rate.map { $0.isTooSlow ? 100 : $0.index } ?? 0
        }
        #expect(steps == [1, 3, 100, 0], "\(steps)")
        #expect(rig.snapshot[CoreRig.id(1)]?.reducedRate == nil)
    }

    @Test func `the device in the snapshot follows device events and observations`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        var device = CallDevice(.speaker)
        device.name = "early"
        rig.handle(.device(.interruptionBegan(.stalled), device))
        #expect(rig.snapshot.device == nil)
        rig.startSound()
        device.name = "second"
        rig.handle(.device(.interruptionEnded(.stalled, seconds: 1), device))
        #expect(rig.snapshot.device?.name == "second")
        device.name = "third"
        rig.observation.device = device
        rig.wait(0.05)
        #expect(rig.snapshot.device?.name == "third")
        let told = rig.events.compactMap { event -> String? in
            if case .device(let what, let device) = event.kind { "\(device.name): \(what)" } else { nil }
        }
        #expect(
            told == [
                "early: sound interrupted: the audio device stopped calling back",
                "second: sound continues after 1.0 s",
            ])
    }

    @Test func `voice processing follows the audio route and the selected mode`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        rig.observation.voice = .init(processing: .off, channelCount: 1, maximumBlockFrameCount: 256, latency: 0.03)
        rig.observation.hardwareBlockFrameCount = 256
        func look(_ device: CallDevice) {
            rig.observation.device = device
            rig.wait(0.2)
        }
        look(CallDevice(.speaker))
        look(CallDevice(.headphones))
        try rig.perform(.setVoiceProcessing(.on))
        look(CallDevice(.headphones))
        var actions: [String] { rig.actions.media.filter { $0.hasPrefix("voice") } }
        #expect(actions == ["voice processing on", "voice processing off", "voice processing on"])
        guard case .chosen(let choice, latency: 0.03)? = rig.snapshot.voiceProcessing else {
            Issue.record("not chosen")
            return
        }
        #expect(choice.isOn)
        var device = CallDevice(.speaker)
        device.hasSeparateInput = true
        look(device)
        device = CallDevice(.speaker)
        device.route = AudioRoute()
        look(device)
        #expect(actions.count == 3)
    }

    @Test func `messages and files are reported until the room is closed`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        try rig.perform(.sendFile(path: "x"))
        var transfer = rig.snapshot.transfers[0]
        try rig.perform(.leave)
        let count = rig.events.count
        rig.handle(.message(ChatMessage(sender: CoreRig.id(1), senderName: nil, text: "bye", byteCount: 3)))
        transfer.state = .failed(.ended)
        rig.handle(.transfer(transfer))
        rig.handle(.messagesLost(to: CoreRig.name(1), count: 2, reason: "x"))
        rig.handle(.roomClosed)
        rig.handle(.message(ChatMessage(sender: CoreRig.id(1), senderName: nil, text: "late", byteCount: 4)))
        rig.handle(.roomClosed)
        #expect(rig.events.count == count + 4 && rig.snapshot.transfers.isEmpty)
        guard case .ended(.left)? = rig.events.last?.kind else {
            Issue.record("the last is another")
            return
        }
    }

    @Test func `a volume is set once, since the media keep it for a renegotiation`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        try rig.perform(.setVolume(0.5, of: CoreRig.id(1)))
        rig.observation.calls[CoreRig.id(1)] = .init(format: Self.format)
        rig.wait(0.2)
        rig.observation.calls = [:]
        rig.wait(0.1)
        rig.observation.calls[CoreRig.id(1)] = .init(format: Self.format)
        rig.wait(0.2)
        #expect(rig.actions.media.filter { $0.hasPrefix("volume") } == ["volume 0.5 of 1"])
        #expect(rig.snapshot[CoreRig.id(1)]?.volume == 0.5)
    }

    @Test func `no further event is reported after the end`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        try rig.perform(.leave)
        let count = rig.events.count
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        rig.handle(.soundFailed(.device(.noSystem)))
        rig.handle(.room(.ended(.closed)))
        rig.wait(1)
        #expect(rig.events.count == count && rig.snapshot.ending == .left)
        #expect(rig.actions.room.count { $0 == "close" } == 1)
    }
}
