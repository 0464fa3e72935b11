// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import TestSupport
import Testing

@testable import EarshotAudioDevices

/// Tests the graph made of a server's data, whatever that is.
@Suite("PipeWireGraph") struct PipeWireGraphTests {
    /// A graph with one node, and the settings of a server.
    private func graph(
        _ kind: String = "Audio/Sink", name: String = "speakers", _ properties: [String: String] = [:]
    ) -> PipeWireGraph {
        var graph = PipeWireGraph()
        graph.nodes[7] = [PW_KEY_NODE_NAME: name, PW_KEY_MEDIA_CLASS: kind].merging(properties) { _, own in own }
        return graph
    }

    private func port(_ index: String, _ direction: String, node: String = "7") -> [String: String] {
        [
            PW_KEY_NODE_ID: node, PW_KEY_PORT_ID: index, PW_KEY_PORT_DIRECTION: direction,
            PW_KEY_PORT_NAME: "\(direction)_\(index)",
        ]
    }

    private func latency(quanta: Float = 0, frames: UInt32 = 0, nanoseconds: UInt64 = 0) -> spa_latency_info {
        var latency = spa_latency_info()
        latency.max_quantum = quanta
        latency.max_rate = .init(truncatingIfNeeded: frames)  // PipeWire 1.4 has signed numbers
        latency.max_ns = .init(truncatingIfNeeded: nanoseconds)
        return latency
    }

    @Test("a latency is the sum of the port's quanta, frames and nanoseconds")
    func delay() {
        let delay = PipeWireGraph.Delay(latency(quanta: 1, frames: 480, nanoseconds: 5_000_000))
        #expect(abs(delay.seconds(quantum: 0.005, sampleRate: 48_000) - 0.02) < 1e-12)
    }

    @Test("a negative offset reduces the latency, but not below zero")
    func negativeDelay() {
        let delay = PipeWireGraph.Delay(latency(quanta: 1, nanoseconds: UInt64(bitPattern: -2_000_000)))
        #expect(delay.nanoseconds == -2_000_000)
        #expect(abs(delay.seconds(quantum: 0.005, sampleRate: 48_000) - 0.003) < 1e-12)
        #expect(delay.seconds(quantum: 0.001, sampleRate: 48_000) == 0)
        #expect(PipeWireGraph.Delay(latency(frames: UInt32(bitPattern: -48))).frames == -48)
    }

    @Test(
        "invalid latencies are clamped",
        arguments: [.nan, .infinity, -.infinity, .greatestFiniteMagnitude, 0] as [Float],
        [.max, .max / 2, .max / 2 + 1, 0] as [UInt64])
    func wildDelay(_ quanta: Float, _ nanoseconds: UInt64) {
        for frames: UInt32 in [0, .max, .max / 2, .max / 2 + 1] {
            let delay = PipeWireGraph.Delay(latency(quanta: quanta, frames: frames, nanoseconds: nanoseconds))
            #expect((0...10).contains(delay.seconds(quantum: 0.005, sampleRate: 48_000)))
            let state = PipeWireMemory(inputCount: 0, outputCount: 0)
            defer { state.deallocate() }
            state.state.pointee.outputLatency.store(delay)
            let seconds = state.state.pointee.outputLatency.seconds(frameCount: 256, sampleRate: 48_000)
            #expect(seconds > 0 && seconds <= 10)
        }
    }

    @Test("a device's latency is that of its first port")
    func describedDelay() {
        var graph = graph()
        graph.addPort(9, port("1", "in"))
        graph.addPort(8, port("0", "in"))
        graph.delays[8] = PipeWireGraph.Delay(latency(nanoseconds: 7_000_000))
        graph.delays[9] = PipeWireGraph.Delay(latency(nanoseconds: 9_000_000))
        #expect(graph.descriptions().first?.outputLatency == 0.007)
        #expect(graph.isFirstOfDevice(8) && !graph.isFirstOfDevice(9) && !graph.isFirstOfDevice(10))
    }

    @Test("ports are listed in the node's order, not the server's")
    func portOrder() {
        var graph = graph()
        for (id, index) in [(30, "2"), (20, "10"), (40, "0"), (10, "1")] {
            graph.addPort(UInt32(id), port(index, "in"))
        }
        #expect(graph.destinations(of: 7).map(\.index) == [0, 1, 2, 10])
        #expect(graph.sources(of: 7).isEmpty && graph.destinations(of: 8).isEmpty)
        #expect(graph.port(of: 7, named: "in_10")?.id == 20)
        graph.remove(40)
        #expect(graph.destinations(of: 7).map(\.id) == [10, 30, 20])
    }

    @Test("a sink's monitor is listed as an input after the devices, and never as a default")
    func monitors() throws {
        var graph = graph(name: "speakers", [PW_KEY_NODE_DESCRIPTION: "Good Speakers"])
        graph.nodes[9] = [PW_KEY_NODE_NAME: "microphone", PW_KEY_MEDIA_CLASS: "Audio/Source"]
        (graph.defaultSink, graph.defaultSource) = ("speakers", "speakers")
        graph.addPort(20, port("0", "in"))
        #expect(graph.descriptions().map(\.id) == ["speakers"])
        for id: UInt32 in [21, 22] {
            graph.addPort(id, port("\(id)", "out").merging([PW_KEY_PORT_MONITOR: "true"]) { $1 })
        }
        graph.addPort(23, port("0", "out", node: "9"))
        let devices = graph.descriptions()
        #expect(devices.map(\.id) == ["speakers", "microphone", "speakers.monitor"])
        let monitor = try #require(devices.last)
        #expect(monitor.name == "Monitor of Good Speakers" && monitor.form == .monitor)
        #expect(monitor.inputChannelCount == 2 && monitor.outputChannelCount == 0)
        #expect(!monitor.isDefaultInput && !monitor.isDefaultOutput)
        #expect(monitor.kindDescription == "virtual monitor")
    }

    @Test("MIDI ports and ports without a node are ignored")
    func otherPorts() {
        var graph = graph()
        graph.addPort(1, [PW_KEY_PORT_ID: "0"])
        graph.addPort(2, port("0", "in", node: "-1"))
        graph.addPort(3, port("0", "in").merging([PW_KEY_FORMAT_DSP: "8 bit raw midi"]) { $1 })
        #expect(graph.ports.isEmpty)
    }

    @Test(
        "a node without ports has its declared channel count, up to a limit",
        arguments: [
            ("2", 2), ("0", nil), ("-1", nil), ("", nil), ("two", nil), ("9223372036854775807", 1_024),
            ("99999999999999999999", nil), ("2.5", nil),
        ] as [(String, Int?)])
    func channels(_ text: String, _ count: Int?) {
        let graph = graph("Audio/Duplex", [PW_KEY_AUDIO_CHANNELS: text])
        let device = graph.descriptions().first
        #expect(device?.outputChannelCount == count && device?.inputChannelCount == count)
    }

    @Test("clock settings are applied, and invalid ones are ignored")
    func clock() {
        var graph = PipeWireGraph()
        graph.set(.settings, "clock.min-quantum", "4096")
        #expect(graph.clock.quanta == 4_096...4_096)
        graph.set(.settings, "clock.max-quantum", "64")
        #expect(graph.clock.quanta == 64...64)
        graph.set(.settings, "clock.max-quantum", "8192")
        #expect(graph.clock.quanta == 64...8_192)
        graph.set(.settings, "clock.rate", "96000")
        graph.set(.settings, "clock.allowed-rates", "[ 48000, 44100 ]")
        #expect(graph.sampleRate == 96_000 && graph.clock.sampleRates == [44_100, 48_000])
        graph.set(.settings, "clock.force-rate", "44100")
        #expect(graph.sampleRate == 44_100)
        graph.set(.settings, "clock.force-rate", nil)
        let before = graph.clock
        for wrong in ["-1", "0", "", "abc", "9223372036854775807", "99999999999999999999"] {
            for key in ["clock.min-quantum", "clock.max-quantum", "clock.rate", "clock.allowed-rates"] {
                graph.set(.settings, key, wrong)
            }
        }
        #expect(graph.clock.quanta == before.quanta && graph.sampleRate == 96_000)
        #expect(graph.clock.sampleRates == before.sampleRates)
    }

    @Test(
        "a default device's name is read from its JSON, and is nil if missing or invalid",
        arguments: [
            (#"{ "name": "alsa" }"#, "alsa"), (#"{"other":1,"name":"a\"b"}"#, #"a"b"#), (#"{ name = bare }"#, "bare"),
            ("{ }", nil), ("", nil), ("[ \"name\" ]", nil), ("name", nil),
            ("{ \"name\": \"\(String(repeating: "x", count: 600))\" }", nil),
        ] as [(String, String?)])
    func defaultName(_ text: String, _ name: String?) {
        var graph = PipeWireGraph()
        graph.set(.defaults, "default.audio.sink", text)
        graph.set(.defaults, "default.configured.audio.sink", #"{ "name": "other" }"#)
        #expect(graph.defaultSink == name && graph.defaultSource == nil)
    }

    @Test(
        "defaults and settings are reset when their metadata or all of its entries are removed",
        arguments: [true, false])
    func metadataGone(_ isRemoved: Bool) {
        var graph = graph()
        graph.metadata = [3: .settings, 4: .defaults]
        graph.set(.settings, "clock.rate", "96000")
        graph.set(.defaults, "default.audio.sink", #"{ "name": "a" }"#)
        graph.set(.defaults, "default.audio.source", #"{ "name": "b" }"#)
        if isRemoved { graph.remove(4) } else { graph.set(.defaults, nil, nil) }
        #expect(graph.defaultSink == nil && graph.defaultSource == nil && graph.sampleRate == 96_000)
        if isRemoved { graph.remove(3) } else { graph.set(.settings, nil, nil) }
        #expect(graph.sampleRate == 48_000)
    }

    @Test("random property values never cause a trap")
    func randomBytes() {
        var random = SeededRandom(seed: 11)
        let pieces = ["{", "}", "[", "\"", ":", "name", "\\u", "d800", "-", "18446744073709551616", "e9", " ", "\n"]
        let keys = [
            PW_KEY_NODE_ID, PW_KEY_PORT_ID, PW_KEY_PORT_DIRECTION, PW_KEY_AUDIO_CHANNELS, PW_KEY_AUDIO_RATE,
            PW_KEY_NODE_NAME, PW_KEY_DEVICE_ID, PW_KEY_NODE_DESCRIPTION, "clock.rate", "clock.min-quantum",
            "clock.max-quantum", "clock.force-rate", "clock.allowed-rates", "default.audio.sink",
            "default.audio.source",
        ]
        let classes = ["Audio/Sink", "Audio/Source", "Audio/Duplex", "Stream/Output/Audio", ""]
        var devices = 0
        for _ in 0..<300 {
            var graph = PipeWireGraph()
            for _ in 0..<20 {
                func text() -> String {
                    if Bool.random(using: &random) {
                        return (0..<Int.random(in: 0...8, using: &random)).map { _ in
                            pieces.randomElement(using: &random) ?? ""
                        }.joined()
                    }
                    let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                        UInt8.random(in: 1...255, using: &random)
                    }
                    return String(decoding: bytes, as: UTF8.self)
                }
                let id = UInt32.random(in: 0...9, using: &random)
                let properties = Dictionary(keys.map { ($0, text()) }) { $1 }
                graph.nodes[id] = properties.merging([PW_KEY_MEDIA_CLASS: classes.randomElement(using: &random) ?? ""])
                {
                    $1
                }
                graph.addPort(id + 10, properties.merging([PW_KEY_NODE_ID: "\(id)"]) { $1 })
                for key in keys {
                    graph.set(.settings, key, text())
                    graph.set(.defaults, key, text())
                }
                graph.delays[id + 10] = PipeWireGraph.Delay(
                    latency(
                        quanta: Float(bitPattern: UInt32.random(in: 0...(.max), using: &random)),
                        frames: .random(in: 0...(.max), using: &random),
                        nanoseconds: .random(in: 0...(.max), using: &random)))
            }
            for device in graph.descriptions() {
                #expect((0...1_024).contains(device.inputChannelCount) && device.sampleRate > 0)
                #expect(((device.inputLatency ?? 0) + (device.outputLatency ?? 0)).isFinite)
                _ = device.kindDescription
                devices += 1
            }
        }
        #expect(devices > 100)
    }
}
