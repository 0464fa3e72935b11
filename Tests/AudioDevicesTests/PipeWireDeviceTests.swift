// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Filters in a real server's graph.
@Suite("PipeWireDevice", .serialized, .realTime, .needs("pipewire")) struct PipeWireDeviceTests {
    /// Runs a test on a server with a sink and a source, whose quanta may be odd.
    private func with(
        _ more: [PipeWireServer.Device] = [], _ body: (PipeWireServer, PipeWireSystem) throws -> Void
    ) throws {
        let devices: [PipeWireServer.Device] = [.sink("speakers"), .source("microphone")]
        try PipeWireServer.running(hasOddQuanta: true, devices: devices + more) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.hardware.count == 2 + more.count })
            try body(server, system)
        }
    }

    private func request(
        _ name: String = "probe", input: String? = "microphone", output: String? = "speakers", block: Int? = nil
    ) -> AudioDeviceRequest {
        var request = AudioDeviceRequest()
        request.clientName = name
        request.input = input.map { .device(id: $0) } ?? .none
        request.output = output.map { .device(id: $0) } ?? .none
        request.blockFrameCount = block
        return request
    }

    /// Runs devices while `body` examines the notes of their callbacks.
    private func running(_ devices: any AudioDevice..., body: ([CycleProbe]) throws -> Void) throws {
        let probes = devices.map { _ in CycleProbe() }
        defer { withExtendedLifetime(probes) { for device in devices { device.stop() } } }
        for (device, probe) in zip(devices, probes) { try device.start(probe.callback) }
        try body(probes)
    }

    @Test("callbacks have the requested block size, even an odd one", arguments: [16, 64, 470, 480, 4_096])
    func blocks(_ block: Int) throws {
        try with { _, system in
            let device = try system.open(request(block: block))
            #expect(device.sampleRate == 48_000 && device.blockFrameCount == block)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            device.stop()
            #expect(probe.notes.allSatisfy { $0.frameCount == block && $0.outputWasSilent })
            #expect(probe.notes.allSatisfy { $0.inputCount == 1 && $0.outputCount == 2 })
            #expect(device.monitor.callCount == probe.count && device.failure == nil)
        }
    }

    @Test("the default block lasts 5 ms")
    func ioDuration() throws {
        try with { _, system in
            let device = try system.open(request())
            #expect(device.blockFrameCount == 240)
        }
    }

    @Test("no frame is counted twice or missed when the quantum changes while a device runs")
    func quantumChanges() throws {
        try with { server, system in
            let device = try system.open(request(block: 128))
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 5 })
            for quantum in [64, 470, 1_024, 100] {
                try server.forceQuantum(quantum)
                #expect(eventually { device.blockFrameCount == quantum })
                let count = probe.count
                #expect(eventually { probe.count >= count + 5 })
            }
            device.stop()
            let notes = probe.notes
            #expect(Set(notes.map(\.frameCount)).isSuperset(of: [128, 64, 470, 1_024, 100]))
            let jumps = zip(notes, notes.dropFirst()).map { $1.sampleTime - $0.sampleTime - Int64($0.frameCount) }
            #expect(jumps.allSatisfy { $0 >= 0 })
            #expect(jumps.reduce(0, +) == Int64(device.monitor.skippedFrameCount))
            #expect(jumps.filter { $0 > 0 }.count == device.monitor.xrunCount)
        }
    }

    /// Returns the number of cycles that continue the ramp of the cycle before.
    private func continuous(_ notes: [CycleProbe.Note]) -> Int {
        zip(notes, notes.dropFirst()).filter {
            $0.firstInput > 0 && $1.firstInput == CycleProbe.ramp(Int64($0.firstInput) - 1 + Int64($0.frameCount))
        }.count
    }

    @Test("a sink's monitor captures the sink's output")
    func monitor() throws {
        try with { _, system in
            let talker = try system.open(request("talker", input: nil, block: 256))
            let hearer = try system.open(request("hearer", input: "speakers.monitor", output: nil, block: 256))
            try running(talker, hearer) { probes in
                #expect(eventually { continuous(probes[1].notes) >= 30 })
            }
            #expect(hearer.name == "Monitor of speakers" && talker.name == "speakers")
        }
    }

    @Test("a virtual source captures the client linked to it, even across drivers")
    func virtualSource() throws {
        try with { server, system in
            let talker = try system.open(request("talker", input: nil, block: 256))
            let hearer = try system.open(request("hearer", block: 256))
            try running(talker, hearer) { probes in
                try server.link("talker:output_1", "microphone:input_MONO")
                #expect(eventually { continuous(probes[1].notes) >= 30 })
            }
        }
    }

    @Test("channels are routed by the map, and a single output is linked to left and right")
    func channelMaps() throws {
        let wide: [PipeWireServer.Device] = [
            .sink("wide", channelCount: 8), .source("many", channelCount: 4, ["priority.session": "10"]),
        ]
        try with(wide) { server, system in
            var request = request(input: "many", output: "wide")
            request.inputChannelCount = 2
            request.inputChannelMap = [3, 9]
            request.outputChannelMap = [5, 0]
            let device = try system.open(request)
            let links = try server.links()
            #expect(links.contains("many:capture_AUX3\n  |-> probe:input_1"))
            #expect(!links.contains("probe:input_2"))
            #expect(links.contains("probe:output_1\n  |-> wide:playback_AUX5"))
            #expect(links.contains("probe:output_2\n  |-> wide:playback_AUX0"))
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 5 })
            #expect(probe.notes.allSatisfy { $0.inputCount == 2 && $0.outputCount == 2 })
            device.stop()
            #expect(try !server.links().contains("probe:"))

            var mono = self.request("mono", input: nil)
            mono.outputChannelCount = 1
            let lone = try system.open(mono)
            let both = "mono:output_1\n  |-> speakers:playback_FL\n  |-> speakers:playback_FR"
            #expect(try server.links().contains(both))
            #expect(lone.outputChannelCount == 1)
        }
    }

    @Test("a running device fails when it is removed")
    func deviceRemoved() throws {
        try with([PipeWireSystemTests.headset]) { server, system in
            let device = try system.open(request(output: "headset"))
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            try server.remove("headset")
            #expect(eventually { device.failure == .deviceGone(name: "My Headset") })
            let count = probe.count
            #expect(!(0..<20).contains { _ in usleepAndCompare(probe, count) })
            device.stop()
            #expect(throws: AudioDeviceError.deviceGone(name: "My Headset")) { try device.start(probe.callback) }
            let next = try system.open(request())
            #expect(next.failure == nil)
        }
    }

    @Test("a removed device fails even if a new device reuses its node id")
    func reusedNumber() throws {
        try with([PipeWireSystemTests.headset]) { server, system in
            var count = 0
            for _ in 0..<20 where count == 0 {
                let device = try #require(try system.open(request(output: "headset")) as? PipeWireDevice)
                let hub = device.client.hub
                let number = try hub.loop.locked {
                    let number = hub.graph.deviceNode(named: "headset")
                    try server.remove("headset")
                    try server.add(PipeWireSystemTests.headset)
                    return number
                }
                #expect(eventually { device.failure == .deviceGone(name: "My Headset") })
                #expect(eventually { hub.loop.locked { hub.graph.deviceNode(named: "headset") } != nil })
                if hub.loop.locked({ hub.graph.deviceNode(named: "headset") }) == number { count += 1 }
                #expect(eventually { system.devices.contains { $0.id == "headset" } })
            }
            #expect(count > 0)
        }
    }

    @Test("opening a device that does not respond is an error")
    func silentDevice() throws {
        try with { server, system in
            let far = try ChildProcess(
                [
                    "pw-loopback", "--capture-props",
                    "{ media.class = Audio/Sink node.name = far node.description = far audio.position = [ FL FR ] }",
                ], environment: server.environment.mapValues(Optional.some))
            defer { far.stop() }
            #expect(eventually { system.devices.contains { $0.id == "far" && $0.outputChannelCount == 2 } })
            try running(try system.open(request(output: "far"))) { probes in
                #expect(eventually { probes[0].count >= 10 })
            }
            far.signal(SIGSTOP)
            #expect(throws: AudioDeviceError.stalled(device: "microphone, far", seconds: 3)) {
                try system.open(request(output: "far"))
            }
            far.signal(SIGCONT)
        }
    }

    @Test("a failed link is the device's failure until the link works again")
    func linkError() throws {
        try with { _, system in
            let device = try #require(try system.open(request()) as? PipeWireDevice)
            let client = device.client
            func set(_ state: pw_link_state) {
                client.hub.loop.locked {
                    for pair in client.links.keys where pair.from.name == "output_1" {
                        client.links[pair]?.state = state
                    }
                    client.noteRefusal()
                }
            }
            #expect(device.failure == nil)
            set(PW_LINK_STATE_ERROR)
            #expect(eventually { device.failure == .portFailed(name: "speakers:playback_FL") })
            set(PW_LINK_STATE_ACTIVE)
            #expect(device.failure == nil)
            #expect(client.hub.loop.locked { client.isLinked })
        }
    }

    @Test("opening a device fails when the server refuses its link")
    func refusedLink() throws {
        try with { server, system in
            // Without an adapter its one port takes interleaved stereo.
            let properties = "{ factory.name = support.null-audio-sink node.name = raw media.class = Audio/Sink "
            try server.run([
                "pw-cli", "create-node", "spa-node-factory", properties + "audio.channels = 2 object.linger = true }",
            ])
            #expect(eventually { system.devices.contains { $0.id == "raw" } })
            #expect(throws: AudioDeviceError.self) { try system.open(request(output: "raw")) }
        }
    }

    private func usleepAndCompare(_ probe: CycleProbe, _ count: Int) -> Bool {
        usleep(2_000)
        return probe.count > count + 1
    }

    @Test("a stopped server is reported as the device's failure, and a device opened after a restart runs")
    func serverKilled() throws {
        try with { server, system in
            let device = try system.open(request())
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            server.stop()
            #expect(eventually { device.failure != nil })
            guard case .serverGone(.pipewire, _)? = device.failure else {
                Issue.record("failure is \(String(describing: device.failure))")
                return
            }
            try server.start()
            #expect(eventually { system.hardware.count == 2 })
            let next = try system.open(request())  // while the old one still is
            device.stop()
            #expect(throws: AudioDeviceError.self) { try device.start(probe.callback) }
            try running(next) { probes in #expect(eventually { probes[0].count >= 10 }) }
        }
    }

    @Test("a paused server causes a gap whose frames are counted as skipped")
    func stoppedServer() throws {
        try with { server, system in
            let device = try system.open(request(block: 256))
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 20 })
            let other = try system.open(request("other", block: 256))
            server.signal(SIGSTOP)
            other.stop()  // needs no answer
            #expect(throws: AudioDeviceError.stalled(device: "microphone, speakers", seconds: 1)) {
                try other.start(probe.callback)
            }
            server.signal(SIGCONT)
            let count = probe.count
            #expect(eventually { probe.count >= count + 100 })
            device.stop()
            let notes = probe.notes
            let jumps = zip(notes, notes.dropFirst()).map { $1.sampleTime - $0.sampleTime - Int64($0.frameCount) }
            #expect(jumps.allSatisfy { $0 >= 0 })
            #expect(jumps.reduce(0, +) == Int64(device.monitor.skippedFrameCount))
            #expect(device.failure == nil)
        }
    }

    @Test("the requested sample rate is granted, and a later rate change is reported as a failure")
    func sampleRates() throws {
        try with { server, system in
            var wanted = request(block: 256)
            wanted.sampleRate = 44_100
            let device = try system.open(wanted)
            #expect(device.sampleRate == 44_100 && device.blockFrameCount == 256)
            try running(device) { probes in
                #expect(eventually { probes[0].count >= 10 })
                try server.forceSampleRate(96_000)
                #expect(eventually { device.failure == .sampleRateChanged(from: 44_100, to: 96_000) })
            }
        }
    }

    @Test("the reported thread priority matches the scheduler's, and latencies are at least one quantum")
    func priorityAndLatency() throws {
        try with { _, system in
            let device = try system.open(request(block: 64))
            let probe = PriorityProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.priority != nil })
            #expect(device.realTimePriority ?? 0 == probe.priority)
            device.stop()
            #expect(device.inputLatency >= 64.0 / 48_000 && device.outputLatency >= 64.0 / 48_000)
        }
    }

    @Test("the latencies of an ALSA sink are one quantum plus the configured offset")
    func latency() throws {
        let slow = PipeWireServer.Device.sink(
            "slow", ["factory.name": "api.alsa.pcm.sink", "api.alsa.path": "plug:null", "audio.channels": "2"])
        try with([slow]) { server, system in
            try server.run(["pw-cli", "set-param", "slow", "Props", "{ latencyOffsetNsec: 50000000 }"])
            func listed() -> Double { system.devices.first { $0.id == "slow" }?.outputLatency ?? 0 }
            #expect(eventually { abs(listed() - 0.055) < 1e-6 })  // a quantum as asked for by default
            let device = try system.open(request(output: "slow", block: 256))
            #expect(eventually { abs(device.outputLatency - (256.0 / 48_000 + 0.05)) < 1e-6 })
            #expect(device.inputLatency == 256.0 / 48_000)
        }
    }

    @Test("exclusive access is not enforced: two programs can play to one sink")
    func exclusive() throws {
        try with { _, system in
            var wanted = request("first", input: nil)
            wanted.isExclusive = true
            let first = try system.open(wanted)
            let second = try system.open(request("second", input: nil))
            try running(first, second) { probes in
                #expect(eventually { probes.allSatisfy { $0.count >= 10 } })
            }
        }
    }

    @Test("callback records go to the requested monitor, and a device outlives its system")
    func monitorAndLife() throws {
        try with { server, system in
            let monitor = CallbackMonitor(sampleRate: 48_000)
            var wanted = request()
            wanted.monitor = monitor
            var other: PipeWireSystem? = try PipeWireSystem(remote: server.remote)
            let device = try #require(try other?.open(wanted))
            other = nil
            try running(device) { _ in #expect(eventually { monitor.callCount >= 10 }) }
            #expect(system.failure == nil)
        }
    }

    @Test("opening, starting and stopping a device leaks no threads or file descriptors")
    func leaks() throws {
        func count(_ folder: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)"))?.count ?? 0
        }
        try with { server, system in
            func cycle() throws {
                let own = try PipeWireSystem(remote: server.remote)
                for system in [own, system] {
                    let device = try system.open(request(block: 64))
                    for _ in 0..<2 {
                        try running(device) { probes in #expect(eventually { probes[0].count >= 1 }) }
                    }
                }
            }
            try cycle()
            let (threads, files) = (count("task"), count("fd"))
            for _ in 0..<20 { try cycle() }
            // Threads of other suites may start and end meanwhile; twenty of ours would show.
            #expect(count("task") < threads + 10 && count("fd") < files + 10)
        }
    }
}
