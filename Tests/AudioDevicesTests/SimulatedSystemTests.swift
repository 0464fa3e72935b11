// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport
import TestTraits
import Testing

/// Cards that come and go, and who may open them.
@Suite("SimulatedSystem", .serialized, .realTime) struct SimulatedSystemTests {
    static func card(
        _ id: String, inputs: Int = 1, outputs: Int = 2, rates: [Double] = [44_100, 48_000],
        script: [SimulatedCard.Event] = [], isExclusive: Bool = false
    ) -> SimulatedSystem.Card {
        var configuration = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 256)
        configuration.script = script
        return SimulatedSystem.Card(
            AudioDeviceDescription(
                id: id, backend: .simulated, name: "Card \(id)", inputChannelCount: inputs, outputChannelCount: outputs,
                sampleRates: rates, blockFrameCounts: 32...2_048), configuration: configuration,
            isExclusive: isExclusive)
    }

    static func request(
        input: AudioDeviceRequest.Side = .systemDefault, output: AudioDeviceRequest.Side = .systemDefault
    )
        -> AudioDeviceRequest
    {
        var request = AudioDeviceRequest()
        request.input = input
        request.output = output
        return request
    }

    @Test("the first capable card is the default, unless another one is chosen")
    func defaults() {
        let system = SimulatedSystem([
            Self.card("mic", outputs: 0), Self.card("speaker", inputs: 0), Self.card("headset"),
        ])
        func marks() -> [String?] {
            [system.devices.first(where: \.isDefaultInput)?.id, system.devices.first(where: \.isDefaultOutput)?.id]
        }
        #expect(marks() == ["mic", "speaker"])
        system.setDefault(input: "headset", output: "headset")
        #expect(marks() == ["headset", "headset"])
        system.remove("headset")
        #expect(marks() == ["mic", "speaker"])
        system.putBack("headset")
        #expect(marks() == ["headset", "headset"])
        system.setDefault(input: "speaker")
        #expect(marks() == ["mic", "headset"])
    }

    @Test("device changes are reported in order")
    func news() async {
        let system = SimulatedSystem([Self.card("a")])
        let changes = system.changes()
        system.add(Self.card("b"))
        system.remove("a")
        system.kill()
        system.restart()
        var told: [String] = []
        for await change in changes {
            switch change {
            case .added(let device): told.append("+\(device.id)")
            case .removed(let device): told.append("-\(device.id)")
            case .changed(let device): told.append("~\(device.id)")
            case .defaultInput(let device): told.append("in \(device?.id ?? "none")")
            case .defaultOutput(let device): told.append("out \(device?.id ?? "none")")
            }
            if told.count == 10 { break }
        }
        #expect(
            told == [
                "+b", "-a", "in b", "out b", "-b", "in none", "out none", "+b", "in b", "out b",
            ])
    }

    @Test("requested rates, block sizes and channel counts are granted")
    func granted() throws {
        let system = SimulatedSystem([Self.card("a", inputs: 3, outputs: 4)])
        var request = AudioDeviceRequest()
        var device = try system.open(request)
        #expect(device.name == "Card a")
        #expect(device.sampleRate == 48_000)
        #expect(device.blockFrameCount == 240)
        #expect(device.inputChannelCount == 1)
        #expect(device.outputChannelCount == 2)
        request.sampleRate = 44_100
        request.blockFrameCount = 470
        request.inputChannelCount = 5
        request.outputChannelCount = 3
        request.monitor = CallbackMonitor(sampleRate: 44_100)
        device = try system.open(request)
        #expect(device.sampleRate == 44_100)
        #expect(device.blockFrameCount == 470)
        #expect(device.inputChannelCount == 5)
        #expect(device.outputChannelCount == 3)
        #expect(device.monitor === request.monitor)
        request.input = .none
        #expect(try system.open(request).inputChannelCount == 0)
        request = AudioDeviceRequest()
        request.ioDuration = 0.0001
        #expect(try system.open(request).blockFrameCount == 32)
    }

    @Test("an unsupported request is rejected, and the error names the supported values")
    func refused() {
        let system = SimulatedSystem([Self.card("a"), Self.card("mic", outputs: 0)])
        func refusal(_ change: (inout AudioDeviceRequest) -> Void) -> String {
            var request = AudioDeviceRequest()
            change(&request)
            do {
                _ = try system.open(request)
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(refusal { $0.sampleRate = 96_000 }.contains("44100, 48000 Hz"))
        #expect(refusal { $0.blockFrameCount = 16 }.contains("32 to 2048"))
        #expect(refusal { $0.blockFrameCount = 3 }.contains("supported: 16 to 4096"))
        #expect(refusal { $0.output = .device(id: "mic") }.contains("no device is called \"mic\""))
        #expect(refusal { $0.output = .device(id: "aa") }.contains("no single device is called \"aa\""))
        #expect(
            refusal {
                $0.input = .none; $0.output = .none
            }.contains("no input and no output"))
        #expect(throws: AudioDeviceError.noDefaultDevice(.output)) { try SimulatedSystem().open(.init()) }
    }

    @Test("a card removed between listing and opening is reported as gone")
    func pulledBeforeOpening() throws {
        let system = SimulatedSystem([Self.card("a"), Self.card("b")])
        let id = try #require(system.devices.last?.id)
        system.remove(id)
        #expect(throws: AudioDeviceError.deviceGone(name: "Card b")) {
            try system.open(Self.request(output: .device(id: id)))
        }
    }

    @Test("a card with exclusive access cannot be opened twice", arguments: [(true, false), (false, true)])
    func exclusive(_ card: Bool, _ request: Bool) throws {
        let system = SimulatedSystem([Self.card("a", isExclusive: card)])
        var asked = AudioDeviceRequest()
        asked.isExclusive = request
        var first: (any AudioDevice)? = try system.open(asked)
        asked.isExclusive = false
        #expect(throws: AudioDeviceError.busy(device: "Card a")) { try system.open(asked) }
        #expect(first?.failure == nil)
        first = nil
        first = try system.open(asked)
        asked.isExclusive = true
        #expect(throws: AudioDeviceError.busy(device: "Card a")) { try system.open(asked) }
    }

    @Test("a card removed while running reports a failure, and can be opened again when it is back")
    func pulledWhileRunning() throws {
        let system = SimulatedSystem([Self.card("a")])
        for _ in 0..<2 {
            let device = try system.open(.init())
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 3 })
            system.remove("a")
            #expect(device.failure == .deviceGone(name: "Card a"))
            #expect(throws: AudioDeviceError.self) { try device.start(probe.callback) }
            device.stop()
            #expect(throws: AudioDeviceError.deviceGone(name: "Card a")) { try device.start(probe.callback) }
            system.putBack("a")
        }
    }

    @Test("a killed system fails together with its devices, and works again after a restart")
    func killed() throws {
        let system = SimulatedSystem([Self.card("a"), Self.card("b")])
        let device = try system.open(.init())
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(system.failure == nil)
        system.kill()
        #expect(system.devices.isEmpty)
        #expect(device.failure == .serverGone(.simulated, reason: "killed"))
        #expect(system.failure == device.failure)
        #expect(throws: AudioDeviceError.serverGone(.simulated, reason: "killed")) { try system.open(.init()) }
        device.stop()
        system.restart()
        #expect(system.devices.map(\.id) == ["a", "b"])
        #expect(system.failure == nil)
        #expect(try system.open(.init()).failure == nil)
    }

    @Test("a scripted card vanishes and comes back by itself only once")
    func scripted() throws {
        let system = SimulatedSystem([Self.card("a", script: [.vanish(at: 0.05, for: 0.1)])])
        let device = try system.open(.init())
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(eventually { device.failure != nil })
        #expect(device.failure == .deviceGone(name: "Card a"))
        #expect(eventually { system.devices.isEmpty })
        device.stop()
        #expect(eventually { !system.devices.isEmpty })
        let again = try system.open(.init())
        let after = CycleProbe()
        try again.start(after.callback)
        #expect(eventually { after.count >= 40 })
        #expect(again.failure == nil)
        again.stop()
    }

    @Test("a card that vanished permanently by its script can be put back and stays")
    func putBackAfterScript() throws {
        let system = SimulatedSystem([Self.card("a", script: [.vanish(at: 0.05)])])
        let device = try system.open(.init())
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(eventually { device.failure != nil && system.devices.isEmpty })
        device.stop()
        system.putBack("a")
        let again = try system.open(.init())
        let after = CycleProbe()
        try again.start(after.callback)
        #expect(eventually { after.count >= 40 })
        #expect(again.failure == nil)
        again.stop()
    }

    @Test("the script of a replaced card does not affect the new card")
    func replaced() throws {
        let system = SimulatedSystem([Self.card("a", script: [.vanish(at: 0.3)])])
        let old = try system.open(.init())
        let probe = CycleProbe()
        try old.start(probe.callback)
        system.add(Self.card("a"))
        old.stop()
        let new = try system.open(.init())
        let after = CycleProbe()
        try new.start(after.callback)
        #expect(eventually { after.count >= 100 })  // half a second
        #expect(new.failure == nil && system.devices.map(\.id) == ["a"])
        new.stop()
    }

    @Test("a returning card resumes its rings at the current position, so that frames keep their times")
    func ringsAfterVanishing() throws {
        let (source, sink) = (
            AudioRing(channelCount: 1, capacity: 1 << 19), AudioRing(channelCount: 2, capacity: 1 << 19)
        )
        let ramp = AudioBuffer(channelCount: 1, frameCapacity: 1 << 19)
        for i in 0..<(1 << 19) { ramp.channels[0][i] = Float(i) }
        source.writer.write(ramp.channels, frameCount: 1 << 19)
        var card = Self.card("a", script: [.vanish(at: 0.2, for: 0.2)])
        card.configuration.source = source
        card.configuration.sink = sink
        card.configuration.driftPPM = 100
        let system = SimulatedSystem([card])
        let rate = 48_000 * 1.0001
        let first = try #require(try system.open(.init()) as? SimulatedDevice)
        let probe = CycleProbe()
        try first.start(probe.callback)
        let start = try #require(first.card.firstInputFrameTime)
        #expect(eventually { first.failure != nil && system.devices.isEmpty })
        first.stop()
        #expect(eventually { !system.devices.isEmpty })
        let second = try #require(try system.open(.init()) as? SimulatedDevice)
        for _ in 0..<2 {
            let after = CycleProbe()
            try second.start(after.callback)
            #expect(eventually { after.count >= 20 })
            second.stop()
            let away = try #require(second.card.firstInputFrameTime).seconds(since: start) * rate
            let last = try #require(after.notes.last)
            #expect(away > 0)
            #expect(abs(Double(last.firstInput) - away - Double(last.sampleTime)) <= 1)
            let end = away + Double(last.sampleTime) + Double(last.frameCount)
            #expect(abs(Double(sink.reader.offeredFrames) - end) <= Double(last.frameCount))
        }
        withExtendedLifetime((source, sink)) {}
    }

    @Test("two devices on one card both run, but only the first one gets the card's input")
    func shared() throws {
        let source = AudioRing(channelCount: 1, capacity: 1 << 16)
        let ramp = AudioBuffer(channelCount: 1, frameCapacity: 1 << 16)
        for i in 0..<(1 << 16) { ramp.channels[0][i] = Float(i + 1) }
        source.writer.write(ramp.channels, frameCount: 1 << 16)
        var card = Self.card("a")
        card.configuration.source = source
        let system = SimulatedSystem([card])
        let devices = [try system.open(.init()), try system.open(.init())]
        let probes = [CycleProbe(), CycleProbe()]
        for (device, probe) in zip(devices, probes) { try device.start(probe.callback) }
        #expect(eventually { probes.allSatisfy { $0.count >= 5 } })
        for device in devices { device.stop() }
        #expect(probes[0].notes.prefix(5).allSatisfy { $0.firstInput > 0 })
        #expect(probes[1].notes.prefix(5).allSatisfy { $0.firstInput == 0 })
        try devices[1].start(probes[1].callback)
        #expect(eventually { probes[1].notes.last?.firstInput ?? 0 > 0 })
        devices[1].stop()
    }
}
