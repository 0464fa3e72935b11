// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport
import Testing

@testable import EarshotAudioSession

@Suite("SessionState") struct SessionStateTests {
    static let speakers = SessionRig.device("speakers")
    static let defaultSpeakers = SessionRig.device("speakers", isDefault: true)
    static let headset = SessionRig.device("headset", form: .headset)
    static let defaultHeadset = SessionRig.device("headset", form: .headset, isDefault: true)
    static func route(_ id: String) -> RouteChoice { RouteChoice(input: id, output: id) }

    @Test("activation opens the default devices once")
    func activation() {
        var rig = SessionRig([SessionRig.device("hdmi"), Self.defaultSpeakers])
        rig.run(10)
        #expect(rig.opened == [Self.route("speakers")])
        #expect(rig.reasons == [.activated])
        #expect(rig.interruptions.isEmpty)
    }

    @Test("a settled session is checked ten times a second, and a changing one fifty times")
    func looks() {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.run(10)
        let settled = rig.inspectionCount
        rig.run(10)
        #expect(rig.inspectionCount - settled <= 101)
        rig.snapshot.devices = [Self.speakers, Self.defaultHeadset]
        let before = rig.inspectionCount
        rig.run(SessionState.Limit.settlingTime)
        #expect(rig.inspectionCount - before >= 50)
        #expect(rig.opened.last == Self.route("headset"))
        // A device that another program uses is tried again at the usual intervals.
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.taken = "speakers"
        rig.run(2)
        let taken = rig.inspectionCount
        rig.run(4)
        #expect(rig.inspectionCount - taken >= 180, "\(rig.inspectionCount - taken)")
        // It only waits.
        rig.snapshot.devices = []
        rig.run(3)
        #expect(!rig.state.isChanging(at: rig.now))
    }

    @Test("a headset that becomes the default is used, left when it is removed, and used again")
    func headset() {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.snapshot.devices = [Self.speakers, Self.defaultHeadset]
        rig.run(1)
        #expect(rig.opened.last == Self.route("headset"))
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(1)
        #expect(rig.opened.last == Self.route("speakers"))
        rig.snapshot.devices = [Self.speakers, Self.defaultHeadset]
        rig.run(1)
        #expect(rig.opened.last == Self.route("headset"))
        #expect(rig.reasons == [.activated, .newDeviceAvailable, .oldDeviceUnavailable, .newDeviceAvailable])
        #expect(rig.interruptions.isEmpty)
        guard case .routeChanged(let change)? = rig.events.last else { return #expect(Bool(false)) }
        #expect(change.previous.description == "the speakers")
        #expect(change.current.description == "the headset")
    }

    @Test("a removed device is replaced within 150 ms, even before the system names a new default")
    func promptness() {
        var rig = SessionRig([SessionRig.device("hdmi"), Self.defaultHeadset])
        let gone = rig.now
        rig.snapshot.devices = [SessionRig.device("hdmi")]
        rig.run(1)
        #expect(rig.opened.last == Self.route("hdmi"))
        #expect(rig.openTimes.last.map { $0.seconds(since: gone) < 0.15 } == true)
        // A default that is named in time is the only device that is opened.
        rig = SessionRig([SessionRig.device("hdmi"), Self.defaultHeadset, Self.speakers])
        rig.snapshot.devices = [SessionRig.device("hdmi"), Self.speakers]
        rig.run(0.04)
        rig.snapshot.devices = [SessionRig.device("hdmi"), Self.defaultSpeakers]
        rig.run(1)
        #expect(rig.opened == [Self.route("headset"), Self.route("speakers")])
    }

    @Test("a headset that appears in several steps causes only one route change")
    func pieces() {
        var rig = SessionRig([Self.defaultSpeakers])
        var ear = SessionRig.device("headset-out", form: .headset, inputs: 0, isDefault: true)
        var half = Self.defaultSpeakers
        half.isDefaultOutput = false
        rig.snapshot.devices = [half, ear]
        rig.run(0.06)
        ear.isDefaultOutput = true
        let mouth = SessionRig.device("headset-in", form: .headset, outputs: 0, isDefault: true)
        rig.snapshot.devices = [Self.speakers, ear, mouth]
        rig.run(1)
        #expect(rig.opened == [Self.route("speakers"), RouteChoice(input: "headset-in", output: "headset-out")])
    }

    @Test("a preferred device is used while it is available, and otherwise the default")
    func preferred() {
        var configuration = AudioSession.Configuration()
        configuration.preferredInput = "headset"
        configuration.preferredOutput = "headset"
        var rig = SessionRig(configuration, [Self.defaultSpeakers, Self.headset])
        #expect(rig.opened == [Self.route("headset")])
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(1)
        rig.snapshot.devices = [Self.defaultSpeakers, Self.headset]
        rig.run(1)
        #expect(rig.opened == ["headset", "speakers", "headset"].map(Self.route))
        #expect(rig.reasons == [.activated, .oldDeviceUnavailable, .newDeviceAvailable])
    }

    @Test("a sink's monitor is an input only if requested, even when there is no other input")
    func monitors() {
        let monitor = SessionRig.device("speakers.monitor", form: .monitor, outputs: 0)
        let sink = SessionRig.device("speakers", inputs: 0, isDefault: true)
        var rig = SessionRig([sink, monitor])
        rig.run(1)
        #expect(rig.opened == [RouteChoice(input: nil, output: "speakers")])
        var configuration = AudioSession.Configuration()
        configuration.preferredInput = "speakers.monitor"
        rig = SessionRig(configuration, [sink, SessionRig.device("microphone", outputs: 0, isDefault: true), monitor])
        rig.run(1)
        #expect(rig.opened == [RouteChoice(input: "speakers.monitor", output: "speakers")])
    }

    @Test("an override changes the route at once, and removing it restores the route")
    func override() {
        var rig = SessionRig([Self.defaultSpeakers, Self.headset])
        var configuration = AudioSession.Configuration()
        configuration.preferredOutput = "headset"
        rig.state.configure(configuration)
        rig.run(0.04)
        #expect(rig.opened.last == RouteChoice(input: "speakers", output: "headset"))
        rig.state.configure(AudioSession.Configuration())
        rig.run(0.04)
        #expect(rig.opened.last == Self.route("speakers"))
        #expect(rig.reasons == [.activated, .override, .override])
    }

    @Test("a changed default device is followed and reported as the reason")
    func defaultChanged() {
        var rig = SessionRig([Self.defaultSpeakers, Self.headset])
        rig.run(5)
        rig.snapshot.devices = [Self.speakers, Self.defaultHeadset]
        rig.run(1)
        #expect(rig.reasons == [.activated, .defaultChanged])
    }

    @Test("removed headphones move a call to another device, but pause a player until it is resumed")
    func pulled() {
        let devices = [Self.speakers, Self.defaultHeadset]
        var rig = SessionRig(devices)
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(1)
        #expect(rig.opened.count == 2)
        var configuration = AudioSession.Configuration()
        configuration.category = .playback
        rig = SessionRig(configuration, devices)
        #expect(rig.opened == [RouteChoice(input: nil, output: "headset")])
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(5)
        #expect(rig.opened.count == 1)
        #expect(!rig.isOpen)
        guard case .paused(let route)? = rig.events.last else { return #expect(Bool(false)) }
        #expect(route.output?.id == "headset")
        rig.snapshot.devices = devices
        rig.run(5)
        #expect(rig.opened.count == 1, "headphones that come back do not start the music")
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(1)
        rig.state.resume()
        rig.run(1)
        #expect(rig.opened.last == RouteChoice(input: nil, output: "speakers"))
        #expect(rig.reasons == [.activated, .oldDeviceUnavailable])
    }

    @Test("a player that loses its loudspeakers continues on another device")
    func speakersPulled() {
        var configuration = AudioSession.Configuration()
        configuration.category = .playback
        var rig = SessionRig(configuration, [Self.defaultSpeakers, Self.headset])
        rig.snapshot.devices = [Self.defaultHeadset]
        rig.run(1)
        #expect(rig.opened.last == RouteChoice(input: nil, output: "headset"))
    }

    @Test("a lost server interrupts the session until it is back", arguments: [false, true])
    func server(isDeviceFirst: Bool) {
        var rig = SessionRig([Self.defaultSpeakers])
        if isDeviceFirst {
            rig.snapshot.failure = .serverGone(.pipewire, reason: "")
            rig.openError = .noServer(.pipewire, server: nil, onPipeWire: true)
            rig.run(0.1)
        }
        rig.snapshot.devices = []
        rig.snapshot.isServerGone = true
        rig.run(3)
        #expect(rig.interruptions == [.serverGone])
        #expect(!rig.isOpen)
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.snapshot.isServerGone = false
        rig.openError = nil
        rig.run(1)
        #expect(rig.isOpen)
        #expect(rig.reasons == [.activated, .serverRestarted])
        #expect(rig.endings.count == 1 && rig.endings[0] > 2.9 && rig.endings[0] < 3.7)
    }

    @Test("a session without any device waits for one")
    func noDevice() {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.snapshot.devices = []
        rig.run(10)
        #expect(rig.interruptions == [.noDevice])
        rig.snapshot.devices = [Self.defaultHeadset]
        rig.run(1)
        #expect(rig.opened.last == Self.route("headset"))
        #expect(rig.endings.count == 1)
    }

    @Test("a device that disappears between listing and opening is skipped without an interruption")
    func goneAtOpening() {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.openError = .deviceGone(name: "the headset")
        rig.snapshot.devices = [Self.speakers, Self.defaultHeadset]
        rig.run(0.5)
        #expect(rig.isOpen, "the old one stays while it works")
        rig.openError = nil
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(1)
        #expect(rig.isOpen)
        #expect(rig.state.current == Self.route("speakers"))
        #expect(rig.interruptions.isEmpty)
    }

    @Test("a device taken by another program is retried until it opens")
    func taken() {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.openError = .busy(device: "the speakers")
        rig.snapshot.failure = .sampleRateChanged(from: 48_000, to: 44_100)
        rig.run(5)
        #expect(rig.interruptions == [.deviceTaken(.busy(device: "the speakers"))])
        rig.openError = nil
        rig.run(3)
        #expect(rig.isOpen)
        #expect(rig.reasons == [.activated, .deviceRestarted])
    }

    @Test(
        "a better device that is busy is skipped, and used when it becomes free", arguments: [false, true])
    func betterIsTaken(isPreferred: Bool) {
        var configuration = AudioSession.Configuration()
        if isPreferred { configuration.preferredOutput = "headset" }
        var rig = SessionRig(configuration, backend: .alsa, [Self.defaultSpeakers])
        rig.taken = "headset"
        rig.snapshot.devices = [Self.defaultSpeakers, Self.headset]
        rig.run(30)
        #expect(rig.opened == [Self.route("speakers")], "what works is kept")
        #expect(rig.isOpen && rig.interruptions.isEmpty)
        rig.taken = nil
        rig.run(5)
        #expect(rig.opened.last?.output == "headset")
        rig.taken = "headset"
        rig.snapshot.failure = .sampleRateChanged(from: 48_000, to: 44_100)
        rig.run(5)
        #expect(rig.opened.last == Self.route("speakers"), "another is better than none")
        #expect(rig.endings.count == rig.interruptions.count)
    }

    @Test("a chosen device that is busy is reported once, the sound stays, and it moves when the device is free")
    func chosenIsTaken() {
        var rig = SessionRig(backend: .alsa, [Self.defaultSpeakers, Self.headset])
        var configuration = AudioSession.Configuration()
        (configuration.preferredInput, configuration.preferredOutput) = ("headset", "headset")
        rig.taken = "headset"
        rig.state.configure(configuration)
        rig.run(30)
        let refusals = rig.events.filter { if case .deviceUnavailable = $0 { true } else { false } }
        #expect(refusals == [.deviceUnavailable(.busy(device: "the headset"))])
        #expect(rig.opened == [Self.route("speakers")] && rig.isOpen && rig.interruptions.isEmpty)
        rig.taken = nil
        rig.run(5)
        #expect(rig.opened.last == Self.route("headset") && rig.reasons.last == .override)
    }

    @Test func `a chosen device that is busy leaves the sound on the device that was chosen before`() {
        var rig = SessionRig([Self.defaultSpeakers, Self.headset, SessionRig.device("interface")])
        var configuration = AudioSession.Configuration()
        (configuration.preferredInput, configuration.preferredOutput) = ("interface", "interface")
        rig.state.configure(configuration)
        rig.run(1)
        (configuration.preferredInput, configuration.preferredOutput) = ("headset", "headset")
        rig.taken = "headset"
        rig.state.configure(configuration)
        rig.run(30)
        #expect(rig.opened == [Self.route("speakers"), Self.route("interface")] && rig.isOpen)
        rig.taken = nil
        rig.run(5)
        #expect(rig.opened.last == Self.route("headset") && rig.reasons.last == .override)
    }

    @Test func `a busy device that is chosen while another one opens is reported, and the sound stays`() {
        var rig = SessionRig([Self.defaultSpeakers, Self.headset, SessionRig.device("interface")])
        var configuration = AudioSession.Configuration()
        (configuration.preferredInput, configuration.preferredOutput) = ("interface", "interface")
        rig.state.configure(configuration)
        (configuration.preferredInput, configuration.preferredOutput) = ("headset", "headset")
        (rig.taken, rig.settingsWhileOpening) = ("headset", configuration)
        rig.run(30)
        let refusals = rig.events.filter { if case .deviceUnavailable = $0 { true } else { false } }
        #expect(refusals == [.deviceUnavailable(.busy(device: "the headset"))])
        #expect(rig.opened == [Self.route("speakers"), Self.route("interface")] && rig.isOpen)
    }

    @Test("a returning device is used only in its previous direction, and a settings change keeps the route")
    func comebackOfOneSide() {
        var configuration = AudioSession.Configuration()
        configuration.preferredInput = "mic"
        let mic = SessionRig.device("mic", form: .microphone)  // with a jack for headphones
        var rig = SessionRig(configuration, backend: .alsa, [Self.defaultSpeakers, mic])
        let both = RouteChoice(input: "mic", output: "speakers")
        #expect(rig.opened == [both])
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(1)
        rig.snapshot.devices = [Self.defaultSpeakers, mic]
        rig.run(1)
        #expect(rig.opened == [both, Self.route("speakers"), both])
        rig = SessionRig(backend: .alsa, [Self.defaultSpeakers])
        rig.snapshot.devices.append(Self.headset)
        rig.run(1)
        configuration = AudioSession.Configuration()
        configuration.otherAudio = .duck
        rig.state.configure(configuration)
        rig.run(1)
        #expect(rig.opened == [Self.route("speakers"), Self.route("headset")])
    }

    @Test("on JACK, other programs are not used as microphones or loudspeakers")
    func programs() {
        var player = SessionRig.device("player")
        player.backend = .jack
        player.transport = .virtual
        #expect(RoutePolicy(configuration: AudioSession.Configuration()).choice(among: [player]) == nil)
    }

    @Test("a microphone that disappears during opening does not move the output to the loudspeaker")
    func microphoneGoneAtOpening() {
        let ear = SessionRig.device("ear", form: .headphones, inputs: 0, isDefault: true)
        let mouth = SessionRig.device("mouth", outputs: 0, isDefault: true)
        var rig = SessionRig([Self.defaultSpeakers])
        rig.openError = .deviceGone(name: "the mouth")
        rig.snapshot.devices = [Self.speakers, ear, mouth]
        rig.run(0.2)
        rig.openError = nil
        rig.snapshot.devices = [Self.speakers, ear]
        rig.run(1)
        #expect(rig.opened == [Self.route("speakers"), RouteChoice(input: "speakers", output: "ear")])
    }

    @Test("a failed device is replaced at once, even if the system still lists it")
    func failedButListed() {
        var rig = SessionRig([Self.defaultHeadset, Self.speakers])
        rig.snapshot.failure = .deviceGone(name: "the headset")
        rig.run(0.12)
        #expect(rig.opened.last == Self.route("speakers"))
        #expect(rig.reasons.last == .oldDeviceUnavailable)
    }

    @Test("a stall is an interruption that ends by itself or after the device is reopened", arguments: [2.0, 20])
    func stall(_ seconds: Double) {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.isCalling = false
        rig.run(seconds)
        rig.isCalling = true
        rig.run(1)
        #expect(rig.interruptions == [.stalled])
        #expect(rig.endings.count == 1)
        #expect(rig.opened.count == (seconds < 3 ? 1 : 6), "every 3 s from 3.5 s on")
        #expect(rig.isOpen)
    }

    @Test("a client that has not started is not treated as stalled")
    func notStarted() {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.snapshot.isStarted = false
        rig.isCalling = false
        rig.run(10)
        #expect(rig.interruptions.isEmpty)
    }

    @Test("sleep is reported as one interruption, whether the process or the machine slept", arguments: [5.0, 90])
    func sleep(_ seconds: Double) {
        var rig = SessionRig([Self.defaultSpeakers])
        rig.now = rig.now.advanced(bySeconds: seconds)
        rig.run(1)
        #expect(rig.interruptions == [.suspended])
        rig.snapshot.slept += Int64(seconds * 1e9)
        rig.run(1)
        #expect(rig.interruptions == [.suspended, .suspended])
        #expect(rig.endings.allSatisfy { abs($0 - seconds) < 0.1 })
        #expect(rig.opened.count == 1)
    }

    @Test("on ALSA, a headset is used whenever it is connected, but a new HDMI device is not")
    func comeback() {
        var rig = SessionRig(backend: .alsa, [SessionRig.device("builtin", isDefault: true)])
        rig.snapshot.devices.append(Self.headset)
        rig.run(1)
        #expect(rig.opened.last == Self.route("headset"))
        rig.snapshot.devices.removeLast()
        rig.run(1)
        #expect(rig.opened.last == Self.route("builtin"))
        rig.snapshot.devices.append(Self.headset)
        rig.run(1)
        #expect(rig.opened.last == Self.route("headset"))
        #expect(rig.reasons == [.activated, .newDeviceAvailable, .oldDeviceUnavailable, .newDeviceAvailable])
        rig.snapshot.devices.append(SessionRig.device("hdmi"))
        rig.run(1)
        #expect(rig.opened.last == Self.route("headset"))
    }

    @Test("recording needs an input, playback an output, and a call either of them")
    func categories() {
        let ear = SessionRig.device("ear", inputs: 0, isDefault: true)
        let mouth = SessionRig.device("mouth", outputs: 0, isDefault: true)
        var configuration = AudioSession.Configuration()
        for (category, devices, choice) in [
            (AudioSession.Category.record, [ear, mouth], RouteChoice(input: "mouth")), (.record, [ear], nil),
            (.playback, [ear, mouth], RouteChoice(output: "ear")), (.playback, [mouth], nil),
            (.playAndRecord, [ear, mouth], RouteChoice(input: "mouth", output: "ear")),
            (.playAndRecord, [ear], RouteChoice(output: "ear")), (.playAndRecord, [], nil),
        ] {
            configuration.category = category
            #expect(RoutePolicy(configuration: configuration).choice(among: devices) == choice)
        }
    }

    @Test("random device changes leave the session either open on a route or interrupted", arguments: 0..<50)
    func randomWorlds(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let all = ["a", "b", "c"]
        var rig = SessionRig(backend: seed % 2 == 0 ? .pipewire : .alsa, [Self.defaultSpeakers])
        for _ in 0..<200 {
            switch Int(random.unit() * 8) {
            case 0, 1, 2:
                let there = all.filter { _ in random.unit() < 0.6 }
                rig.snapshot.devices = there.map {
                    SessionRig.device($0, form: $0 == "a" ? .headset : .speaker, isDefault: $0 == there.last)
                }
            case 3: rig.snapshot.isServerGone.toggle()
            case 4: rig.snapshot.failure = rig.isOpen ? .deviceGone(name: "the a") : nil
            case 5: rig.openError = rig.openError == nil ? .busy(device: "x") : nil
            case 6: rig.isCalling.toggle()
            default: rig.now = rig.now.advanced(bySeconds: random.unit() * 3)
            }
            if rig.snapshot.isServerGone { rig.snapshot.devices = [] }
            rig.run(random.unit())
            #expect(rig.isOpen == (rig.state.current != nil))
        }
        rig.snapshot.isServerGone = false
        rig.snapshot.failure = nil
        rig.openError = nil
        rig.isCalling = true
        rig.snapshot.devices = [Self.defaultSpeakers]
        rig.run(4)
        #expect(rig.state.current == Self.route("speakers"))
        #expect(rig.state.interruption == nil)
        #expect(rig.interruptions.count == rig.endings.count)
    }
}
