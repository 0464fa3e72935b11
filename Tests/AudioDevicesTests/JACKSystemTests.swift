// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// With a real server and the dummy driver.
@Suite("JACKSystem", .serialized, .realTime, .needs("jackd")) struct JACKSystemTests {
    /// Another program's client, as seen by this process.
    private final class Stranger {
        let client: OpaquePointer

        init(_ name: String, on server: JACKServer, sources: Int = 0, sinks: Int = 0) throws {
            var status = JackStatus(rawValue: 0)
            client = try #require(earshot_jack_open(name, server.name, &status))
            for i in 0..<sources { port("out_\(i)", JackPortIsOutput) }
            for i in 0..<sinks { port("in_\(i)", JackPortIsInput) }
            // Without a callback it would have no part in the cycle, and its listeners would wait for it forever.
            jack_set_process_callback(client, doNothing, nil)
            #expect(jack_activate(client) == 0)
        }
        deinit { jack_client_close(client) }

        private func port(_ name: String, _ flags: JackPortFlags) {
            #expect(jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue), 0) != nil)
        }
        func connections(of port: String) -> [String] {
            guard let list = jack_port_get_all_connections(client, jack_port_by_name(client, port)) else { return [] }
            defer { jack_free(list) }
            var names: [String] = []
            while let name = list[names.count] { names.append(String(cString: name)) }
            return names.sorted()
        }
    }

    @Test("the hardware is listed with the server's sample rate, block size and latencies")
    func hardware() throws {
        try JACKServer.running(blockFrameCount: 256, channelCount: 4) { server in
            let system = JACKSystem(serverName: server.name)
            #expect(system.failure == nil)
            #expect(system.devices.map(\.id) == ["system"])
            let device = try #require(system.devices.first)
            #expect(device.inputChannelCount == 4 && device.outputChannelCount == 4)
            #expect(device.sampleRate == 48_000 && device.sampleRates == [48_000])
            #expect(device.blockFrameCounts == 256...256)
            #expect(device.inputLatency == 256.0 / 48_000)
            #expect(try #require(device.outputLatency) >= 256.0 / 48_000)
            #expect(device.isDefaultInput && device.isDefaultOutput)
            #expect(device.backend == .jack)
        }
    }

    @Test("clients that appear or disappear and changed block sizes are reported")
    func news() async throws {
        // Only one server for clients in this process at a time: the body of `exclusively` may not suspend, so it only collects.
        let stream = try JACKServer.running { server in
            let system = JACKSystem(serverName: server.name)
            let changes = system.changes()
            var stranger: Stranger? = try Stranger("stranger", on: server, sources: 2, sinks: 1)
            #expect(eventually { system.devices.first { $0.id == "stranger" }?.outputChannelCount == 1 })
            let found = try #require(system.devices.first { $0.id == "stranger" })
            #expect(found.inputChannelCount == 2 && found.transport == .virtual && !found.isDefaultInput)
            _ = stranger
            stranger = nil
            #expect(eventually { system.devices.map(\.id) == ["system"] })
            try server.setBlock(512)
            #expect(eventually { system.devices.first?.blockFrameCounts == 512...512 })
            return changes
        }
        var seen: [String] = []
        for await change in stream {
            switch change {
            case .added(let device): seen.append("+\(device.id)")
            case .removed(let device): seen.append("-\(device.id)")
            case .changed(let device):
                if device.id == "system", device.blockFrameCounts == 512...512 { seen.append("512") }
            default: break
            }
        }
        #expect(seen.first == "+stranger" && seen.contains("-stranger") && seen.contains("512"))
    }

    @Test("a device is connected to the chosen ports each time it starts")
    func connections() throws {
        try JACKServer.running(channelCount: 4) { server in
            let system = JACKSystem(serverName: server.name)
            let stranger = try Stranger("stranger", on: server, sources: 2)
            #expect(eventually { system.devices.count == 2 })
            var request = AudioDeviceRequest()
            request.clientName = "probe"
            request.input = .device(id: "stranger")
            request.inputChannelCount = 2
            request.outputChannelCount = 1
            let device = try system.open(request)
            for _ in 0..<2 {
                let probe = CycleProbe()
                try device.start(probe.callback)
                #expect(stranger.connections(of: "probe:input_1") == ["stranger:out_0"])
                #expect(stranger.connections(of: "probe:input_2") == ["stranger:out_1"])
                #expect(stranger.connections(of: "probe:output_1") == ["system:playback_1", "system:playback_2"])
                device.stop()
                #expect(stranger.connections(of: "probe:output_1") == [])
            }
            request.clientName = "mapped"
            request.input = .systemDefault
            request.inputChannelMap = [3, 9]
            request.outputChannelCount = 2
            request.outputChannelMap = [2, 2]
            let mapped = try system.open(request)
            let probe = CycleProbe()
            try mapped.start(probe.callback)
            #expect(stranger.connections(of: "mapped:input_1") == ["system:capture_4"])
            #expect(stranger.connections(of: "mapped:input_2") == [])
            #expect(stranger.connections(of: "mapped:output_1") == ["system:playback_3"])
            #expect(stranger.connections(of: "mapped:output_2") == ["system:playback_3"])
            mapped.stop()
        }
    }

    @Test("ports stay unconnected on request, and this process's own clients are not listed")
    func unconnected() throws {
        try JACKServer.running(channelCount: 0) { server in
            let system = JACKSystem(serverName: server.name, connects: false)
            let observer = try Stranger("observer", on: server)
            let device = try system.open(AudioDeviceRequest())
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(device.inputChannelCount == 1 && device.outputChannelCount == 2)
            #expect(observer.connections(of: "\(device.name):output_1") == [])
            #expect(system.devices.isEmpty)
            device.stop()
            let connecting = JACKSystem(serverName: server.name)
            #expect(throws: AudioDeviceError.noDefaultDevice(.input)) { try connecting.open(AudioDeviceRequest()) }
        }
    }

    @Test("an unsupported sample rate or block size is rejected with the server's own value")
    func refusals() throws {
        try JACKServer.running { server in
            let system = JACKSystem(serverName: server.name)
            func detail(_ change: (inout AudioDeviceRequest) -> Void) -> String {
                var request = AudioDeviceRequest()
                change(&request)
                do throws(AudioDeviceError) {
                    _ = try system.open(request)
                    return "opened"
                } catch {
                    return error.description
                }
            }
            let rate = detail { $0.sampleRate = 44_100 }
            #expect(rate.contains("48000") && rate.contains("44100"))
            let block = detail { $0.blockFrameCount = 128 }
            #expect(block.contains("64") && block.contains("128"))
            #expect(detail { $0.input = .device(id: "systen") }.contains("\"systen\""))
            #expect(detail { $0.output = .device(id: "sys") }.contains("\"sys\""))
            #expect(
                detail {
                    $0.sampleRate = 48_000
                    $0.blockFrameCount = 64
                } == "opened")
        }
    }

    @Test("a device fails when the client it is connected to disappears")
    func clientGone() throws {
        try JACKServer.running { server in
            let system = JACKSystem(serverName: server.name)
            var stranger: Stranger? = try Stranger("stranger", on: server, sources: 1)
            #expect(eventually { system.devices.count == 2 })
            var request = AudioDeviceRequest()
            request.input = .device(id: "stranger")
            let device = try system.open(request)
            let idle = try system.open(request)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            #expect(device.failure == nil)
            _ = stranger
            stranger = nil
            #expect(eventually { device.failure == .deviceGone(name: "stranger") })
            device.stop()
            #expect(throws: AudioDeviceError.deviceGone(name: "stranger")) { try device.start(probe.callback) }
            #expect(throws: AudioDeviceError.deviceGone(name: "stranger")) { try idle.start(probe.callback) }
            #expect(throws: AudioDeviceError.noDevice(name: "stranger", near: [])) { try system.open(request) }
            stranger = try Stranger("stranger", on: server, sources: 1)
            try device.start(probe.callback)
            #expect(device.failure == nil && stranger?.connections(of: "stranger:out_0").count == 1)
            device.stop()
        }
    }

    @Test(
        "the list recovers after a server restart, even if failed devices are still held",
        arguments: [false, true], ["held", "stopped", "released"])
    func serverReturns(isKilled: Bool, _ owner: String) throws {
        try JACKServer.running { server in
            let system = JACKSystem(serverName: server.name)
            var old: (any AudioDevice)? = try system.open(AudioDeviceRequest())
            var idle: (any AudioDevice)? = try system.open(AudioDeviceRequest())
            let probe = CycleProbe()
            try old?.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            if isKilled { server.kill() } else { server.stop() }
            #expect(eventually { system.devices.isEmpty && system.failure != nil && old?.failure != nil })
            if owner == "stopped" { old?.stop() }
            if owner == "released" { (old, idle) = (nil, nil) }
            #expect(throws: AudioDeviceError.self) { try system.open(AudioDeviceRequest()) }
            usleep(600_000)  // two attempts in vain
            guard case .noServer(.jack, _, _)? = system.failure else {
                Issue.record("failure is \(String(describing: system.failure))")
                return
            }
            try server.start(sampleRate: 44_100)
            #expect(eventually { system.failure == nil && system.devices.map(\.id) == ["system"] })
            #expect(system.devices.first?.sampleRate == 44_100)
            let new = try system.open(AudioDeviceRequest())
            let again = CycleProbe()
            try new.start(again.callback)
            #expect(eventually { again.count >= 10 })
            // The old one is dead and harmless, since the library's state is another server's.
            if let old, let idle {
                for dead in [old, idle] {
                    guard case .serverGone(.jack, _)? = dead.failure else {
                        Issue.record("failure is \(String(describing: dead.failure))")
                        return
                    }
                    #expect(throws: AudioDeviceError.self) { try dead.start(again.callback) }
                    #expect(dead.realTimePriority == nil)
                    dead.stop()
                }
            }
            (old, idle) = (nil, nil)
            let count = again.count
            #expect(eventually { again.count >= count + 10 })
            new.stop()
        }
    }

    @Test("the system recovers after each of many server restarts")
    func manyRestarts() throws {
        try JACKServer.running { server in
            let system = JACKSystem(serverName: server.name)
            var held: [any AudioDevice] = []
            for round in 0..<6 {
                let device = try system.open(AudioDeviceRequest())
                held.append(device)
                let probe = CycleProbe()
                try device.start(probe.callback)
                #expect(eventually { probe.count >= 5 })
                if round % 2 == 0 { server.kill() } else { server.stop() }
                // At once, before all clients have noticed.
                try server.start()
                #expect(eventually { device.failure != nil && system.failure == nil && !system.devices.isEmpty })
            }
            #expect(held.allSatisfy { $0.failure != nil })
        }
    }

    @Test("a system without a server reports the failure and can be released while it waits")
    func noServer() throws {
        let server = try JACKServer()
        server.stop()
        JACKServer.exclusively {
            let system = JACKSystem(serverName: server.name)
            #expect(system.devices.isEmpty)
            #expect(
                system.failure == .noServer(.jack, server: server.name, onPipeWire: JACKProcess.isPipeWirePresent))
            #expect(throws: AudioDeviceError.self) { try system.open(AudioDeviceRequest()) }
        }
    }

    @Test("ports are grouped by client into devices, without this process's own")
    func describing() {
        let ports = [
            JACKPort(name: "system:capture_1", isSource: true, isPhysical: true, latencyFrames: 64),
            JACKPort(name: "player:left", isSource: true, isPhysical: false, latencyFrames: 0),
            JACKPort(name: "own:input_1", isSource: false, isPhysical: false, latencyFrames: 0),
            JACKPort(name: "system:playback_1", isSource: false, isPhysical: true, latencyFrames: 128),
            JACKPort(name: "system:playback_2", isSource: false, isPhysical: true, latencyFrames: 130),
        ]
        let devices = JACKSystem.devices(ports, sampleRate: 48_000, blockFrameCount: 64, without: ["own"])
        #expect(devices.map(\.id) == ["system", "player"])
        #expect(devices[0].inputChannelCount == 1 && devices[0].outputChannelCount == 2)
        #expect(devices[0].outputLatency == 130.0 / 48_000)
        #expect(devices[0].isDefaultInput && devices[0].isDefaultOutput)
        #expect(devices[1].outputChannelCount == 0 && !devices[1].isDefaultInput && devices[1].outputLatency == nil)
        #expect(JACKSystem.devices([], sampleRate: 48_000, blockFrameCount: 64, without: []) == [])
    }

    @Test("channels are paired with ports by the map or in order")
    func pairs() {
        func pairs(_ count: Int, _ ports: Int, _ map: [Int]?) -> [[Int]] {
            JACKWiring.pairs(count: count, ports: ports, map: map, doublesLone: true).map { [$0.own, $0.port] }
        }
        #expect(pairs(1, 2, nil) == [[0, 0], [0, 1]])
        #expect(pairs(1, 1, nil) == [[0, 0]])
        #expect(pairs(1, 2, [1]) == [[0, 1]])
        #expect(pairs(3, 2, nil) == [[0, 0], [1, 1]])
        #expect(pairs(2, 4, [3, 0]) == [[0, 3], [1, 0]])
        #expect(pairs(0, 2, nil) == [])
    }
}

private func doNothing(_: jack_nframes_t, _: UnsafeMutableRawPointer?) -> CInt { 0 }
