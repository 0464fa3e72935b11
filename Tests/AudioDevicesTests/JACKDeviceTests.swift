// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// With a real server and the dummy driver.
@Suite("JACKDevice", .serialized, .realTime, .needs("jackd")) struct JACKDeviceTests {
    @Test("a missing server is named in the error")
    func noServer() {
        let name = "earshot-test-none-\(getpid())"
        JACKServer.exclusively {
            do throws(AudioDeviceError) {
                _ = try JACKDevice(name: "probe", serverName: name, inputChannelCount: 1, outputChannelCount: 1)
                Issue.record("a client of a server that does not exist")
            } catch {
                #expect(error == .noServer(.jack, server: name, onPipeWire: JACKProcess.isPipeWirePresent))
                #expect(error.description.contains(name))
            }
        }
    }

    @Test("a device fails when its server stops")
    func serverGone() throws {
        try JACKServer.running { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            server.stop()
            #expect(eventually { device.failure != nil })
            guard case .serverGone? = device.failure else {
                Issue.record("failure is \(String(describing: device.failure))")
                return
            }
            device.stop()
            #expect(throws: AudioDeviceError.self) { try device.start(probe.callback) }
            #expect(throws: AudioDeviceError.self) { try device.connect(Self.system) }
        }
    }

    private static let system = JACKWiring(input: "system", output: "system", inputMap: nil, outputMap: nil)

    @Test("system ports are connected by number, and latencies are the server's", arguments: [16, 64, 1_024])
    func systemPorts(_ block: Int) throws {
        try JACKServer.running(blockFrameCount: block) { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 2, outputChannelCount: 2)
            let other = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            #expect(device.name == "probe")
            #expect(other.name != device.name)
            let (probe, second) = (CycleProbe(), CycleProbe())
            try device.start(probe.callback)
            try other.start(second.callback)
            try device.connect(Self.system)
            try other.connect(Self.system)
            try device.connect(Self.system)  // again: connected is connected
            #expect(eventually { probe.count >= 20 && second.count >= 20 })
            #expect(eventually { device.outputLatency >= 2 * Double(block) / 48_000 })
            #expect(device.inputLatency == Double(block) / 48_000)
            device.stop()
            other.stop()
        }
    }

    /// Returns the share of another client's sound that a client captures in the cycle with the same host time.
    private func hear(_ server: JACKServer, _ block: Int) throws -> (matches: Int, count: Int) {
        let talker = try JACKDevice(
            name: "talker", serverName: server.name, inputChannelCount: 0, outputChannelCount: 1)
        let hearer = try JACKDevice(
            name: "hearer", serverName: server.name, inputChannelCount: 1, outputChannelCount: 0)
        let (said, heard) = (CycleProbe(), CycleProbe())
        try talker.start(said.callback)
        try hearer.start(heard.callback)
        var status = JackStatus(rawValue: 0)
        let patch = try #require(earshot_jack_open("patch", server.name, &status))
        defer { jack_client_close(patch) }
        #expect(jack_connect(patch, "talker:output_1", "hearer:input_1") == 0)
        let connected = heard.count
        #expect(eventually { heard.count >= connected + 50 })
        talker.stop()
        hearer.stop()
        // Each client times the cycles with its own loop; they agree except for the jitter of wake-ups.
        let (cycles, hearings) = (said.notes, heard.notes.filter { $0.firstInput != 0 })
        let half = Double(block) / 48_000 / 2
        let matches = hearings.filter { hearing in
            let same = cycles.filter { abs($0.hostTime.seconds(since: hearing.hostTime)) < half }
            return same.count == 1 && hearing.firstInput == CycleProbe.ramp(same[0].sampleTime)
        }
        return (matches.count, hearings.count)
    }

    /// If the machine paused one of them, a cycle may find no partner or a wrong one. So most must match, not all, and in one of
    /// five attempts.
    @Test("one client captures another's output in the cycle with the same host time", arguments: [16, 64, 1_024])
    func twoClients(_ block: Int) throws {
        try JACKServer.running(blockFrameCount: block) { server in
            var tries: [(matches: Int, count: Int)] = []
            var isHeard: Bool { tries.contains { $0.matches >= 20 && $0.matches * 2 > $0.count } }
            while !isHeard, tries.count < 5 { tries.append(try hear(server, block)) }
            #expect(isHeard, "\(tries)")
        }
    }

    @Test("a second server is rejected while the first has clients, and accepted afterwards")
    func otherServer() throws {
        try JACKServer.running { first in
            let second = try JACKServer()
            func open(_ server: JACKServer) throws(AudioDeviceError) -> JACKDevice {
                try JACKDevice(name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            }
            var device: JACKDevice? = try open(first)
            #expect(device?.failure == nil)
            #expect(throws: AudioDeviceError.otherServer(open: first.name, asked: second.name)) { try open(second) }
            device = nil
            #expect(try open(second).sampleRate == 48_000)
            second.stop()
        }
    }

    @Test("the render thread's priority is reported")
    func priority() throws {
        try JACKServer.running { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            let probe = PriorityProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.priority != nil })
            #expect(device.realTimePriority ?? 0 == probe.priority)
            device.stop()
        }
    }

    @Test("a client without ports receives callbacks")
    func noPorts() throws {
        try JACKServer.running { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 0, outputChannelCount: 0)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            device.stop()
        }
    }

    @Test("a callback that overruns is an xrun of the server, and the lost frames are skipped")
    func overrun() throws {
        try JACKServer.running(blockFrameCount: 256) { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            try device.start(
                RenderCallback(context: nil) { _, cycle in
                    guard let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee else { return }
                    // Every hundredth block, five blocks long.
                    if cycle.sampleTime / 256 % 100 == 50 { usleep(26_000) }
                })
            #expect(eventually { device.monitor.overBudgetCount >= 2 && device.monitor.xrunCount >= 2 })
            #expect(eventually { device.monitor.skippedFrameCount >= 2 * 256 })
            device.stop()
            #expect(device.failure == nil)
        }
    }

    @Test("frames lost while the server is suspended are counted, and host time stays in step")
    func serverStandsStill() throws {
        try JACKServer.running(blockFrameCount: 256) { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 20 })
            server.signal(SIGSTOP)
            usleep(400_000)
            server.signal(SIGCONT)
            let count = probe.count
            #expect(eventually { probe.count >= count + 100 })
            device.stop()
            let notes = probe.notes
            let lost = Int64(notes.count * 256) - (notes[notes.count - 1].sampleTime - notes[0].sampleTime + 256)
            #expect(-lost == Int64(device.monitor.skippedFrameCount))
            #expect(-lost > 9_600, "of 19,200 frames that the server slept through")
            #expect(device.monitor.xrunCount >= 1)
            let (first, last) = (notes[10], notes[notes.count - 1])
            let frames = Double(last.sampleTime - first.sampleTime)
            #expect(abs(last.hostTime.seconds(since: first.hostTime) - frames / 48_000) < 0.05)
            #expect(device.failure == nil)
        }
    }

    @Test("an unsupported channel count is rejected", arguments: [(-1, 1), (1, 33)])
    func channelCounts(_ inputs: Int, _ outputs: Int) {
        #expect(throws: AudioDeviceError.self) {
            try JACKDevice(name: "probe", inputChannelCount: inputs, outputChannelCount: outputs)
        }
    }
}
