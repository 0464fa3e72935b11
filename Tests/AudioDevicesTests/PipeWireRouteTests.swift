// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import Testing

@testable import EarshotAudioDevices

/// Tests the ports of a graph's devices with the events of real machines, which are not to be had here.
@Suite struct PipeWireRouteTests {
    private func form(_ list: [AudioDeviceDescription], _ id: String) -> AudioDeviceDescription.Form? {
        list.first { $0.id == id }?.form
    }

    @Test func `a laptop's form factor 'internal' does not hide headphones`() throws {
        var dump = try PipeWireDump(PipeWireDump.laptop, changes: PipeWireDump.plugging)
        var list = try dump.run(until: -1)
        #expect(form(list, "analog-out") == .speaker && form(list, "analog-in") == .microphone)
        #expect(list.first { $0.id == "analog-out" }?.port?.availability == .unknown)
        list = try dump.run(until: 1_000)
        let output = try #require(list.first { $0.id == "analog-out" })
        #expect(output.form == .headphones && output.isWorn && output.isDefaultOutput)
        #expect(output.port == .init(name: "analog-output-headphones", form: .headphones, availability: .available))
        #expect(output.ports.map(\.availability) == [.unavailable, .available])
        #expect(form(list, "analog-in") == .microphone)
    }

    @Test func `two updates for one plug are one change if the server sends them together`() throws {
        var dump = try PipeWireDump(PipeWireDump.laptop, changes: PipeWireDump.plugging)
        let before = dump.graph.descriptions()
        let after = try dump.run(until: 21)
        #expect(AudioDeviceRegistry.changes(from: before, to: after).count == 1)
    }

    @Test func `a changed volume in a route is no change of the devices`() throws {
        var dump = try PipeWireDump(PipeWireDump.laptop, changes: PipeWireDump.plugging)
        let before = try dump.run(until: 20)
        let after = try dump.run(until: 21)
        #expect(before == after && form(after, "analog-out") == .headphones)
    }

    @Test func `an empty list of routes removes the port, and the only possible route is a node's port`() throws {
        var dump = try PipeWireDump(
            PipeWireDump.laptop, changes: #"[{"t": 0, "id": 40, "params": {"Route": []}}]"#)
        let list = try dump.run(until: 0)
        #expect(list.allSatisfy { $0.port == nil && !$0.ports.isEmpty && $0.isAvailable })
        #expect(form(list, "analog-out") == .speaker, "the form factor")
        var other = try PipeWireDump(
            PipeWireDump.allSinks, changes: #"[{"t": 0, "id": 80, "params": {"Route": []}}]"#)
        let sinks = try other.run(until: 0)
        #expect(form(sinks, "HiFi__Headphones__sink") == .headphones)
    }

    @Test func `a number used again by a node of another class has no old port`() throws {
        var dump = try PipeWireDump(PipeWireDump.exclusiveProfiles, changes: PipeWireDump.exchangingProfiles)
        for list in try dump.lists() {
            for device in list {
                let isSink = device.id.hasSuffix("sink")
                #expect((device.outputChannelCount > 0) == isSink, "\(device)")
                #expect(device.ports.allSatisfy { $0.name.hasPrefix(isSink ? "[Out]" : "[In]") }, "\(device)")
                #expect(device.form == .headphones || !device.id.contains("Headphones"), "\(device)")
                #expect(device.form != .headphones || device.id.contains("Headphones"), "\(device)")
            }
        }
        #expect(form(dump.graph.descriptions(), "HiFi__Headphones__sink") == .headphones)
    }

    @Test func `the sink of pulled headphones stays listed and is not available`() throws {
        var dump = try PipeWireDump(PipeWireDump.allSinks, changes: PipeWireDump.losingAvailability)
        var list = try dump.run(until: -1)
        #expect(list.filter(\.isAvailable).map(\.id) == ["HiFi__Speaker__sink", "HiFi__Headphones__sink"])
        let screen = try #require(list.first { $0.id == "HiFi__HDMI1__sink" })
        #expect(screen.form == .speaker && screen.transport == .hdmi)
        #expect(form(list, "HiFi__Speaker__sink") == .speaker, "without a form factor")
        list = try dump.run(until: 0)
        let headphones = try #require(list.first { $0.id == "HiFi__Headphones__sink" })
        #expect(headphones.form == .headphones && !headphones.isAvailable && headphones.isDefaultOutput)
    }

    @Test func `a device without routes is available`() {
        var graph = PipeWireGraph()
        graph.nodes[7] = [
            PW_KEY_NODE_NAME: "pro-output-0", PW_KEY_MEDIA_CLASS: "Audio/Sink", PW_KEY_AUDIO_CHANNELS: "8",
            PW_KEY_DEVICE_ID: "3", "card.profile.device": "0",
        ]
        graph.devices[3] = [PW_KEY_DEVICE_API: "alsa"]
        graph.add(.list(.possibleRoutes), to: 3)
        graph.applyCardUpdates()
        let device = graph.descriptions().first
        #expect(device?.isAvailable == true && device?.port == nil && device?.form == .unknown)
    }

    @Test func `a list takes effect only when it is complete`() throws {
        var dump = try PipeWireDump(PipeWireDump.laptop)
        try dump.run(until: 0)
        var graph = dump.graph
        graph.add(.list(.routes), to: 40)
        #expect(graph.descriptions() == dump.graph.descriptions())
        graph.applyCardUpdates()
        #expect(graph.descriptions().allSatisfy { $0.port == nil })
        graph.remove(40)
        #expect(graph.cards.isEmpty && graph.descriptions().allSatisfy { $0.ports.isEmpty })
    }

    @Test(
        arguments: [
            ("headphones", "x", nil, .headphones), ("headset", "x", "internal", .headset),
            ("phone", "x", nil, .headset),
            ("line", "x", "internal", .speaker), ("hdmi", "x", nil, .speaker), ("analog", "x", nil, .unknown),
            ("analog", "analog-output", "internal", .speaker),
            ("speaker", "analog-output-speaker", "headset", .headset),
            ("headphones", "x", "speaker", .headphones), (nil, "[Out] Headphones", nil, .headphones),
            (nil, "headset-hf-output", nil, .headset), (nil, "analog-output-lineout", "internal", .speaker),
            (nil, "x", "headphone", .headphones), (nil, "x", nil, .unknown),
        ] as [(String?, String, String?, AudioDeviceDescription.Form)])
    func `an output's form is that of its port, of the port's name, or its form factor`(
        type: String?, name: String, factor: String?, form: AudioDeviceDescription.Form
    ) {
        let route = PipeWireGraph.Route(name: name, isOutput: true, device: 1, devices: [1], portType: type)
        var graph = PipeWireGraph()
        graph.nodes[7] = [
            PW_KEY_NODE_NAME: "sink", PW_KEY_MEDIA_CLASS: "Audio/Sink", PW_KEY_AUDIO_CHANNELS: "2",
            PW_KEY_DEVICE_ID: "3", "card.profile.device": "1",
        ]
        graph.devices[3] = factor.map { [PW_KEY_DEVICE_FORM_FACTOR: $0] } ?? [:]
        graph.add(.route(route, .routes), to: 3)
        graph.applyCardUpdates()
        #expect(graph.descriptions().first?.form == form)
    }

    @Test func `a headset's profiles, codec and sample rate are known before a microphone is opened`() throws {
        var dump = try PipeWireDump(PipeWireDump.bluetoothHeadset, changes: PipeWireDump.callProfile)
        var list = try dump.run(until: -1)
        let music = try #require(list.first)
        #expect(music.transport == .bluetooth && music.form == .headset)
        #expect(music.headsetProfile == .music(hasCallProfile: true))
        #expect(dump.graph.cards[70]?.callProfile?.name == "headset-head-unit")
        list = try dump.run(until: 900)
        #expect(list.map(\.id) == ["bluez_input.0", "bluez_output.1"])
        #expect(
            list.allSatisfy { $0.form == .headset && $0.headsetProfile == .call(codec: "msbc", sampleRate: 16_000) })
    }

    @Test func `a headset's nodes count as reconfigured while its profile changes, until it is removed`() throws {
        var dump = try PipeWireDump(PipeWireDump.bluetoothHeadset, changes: PipeWireDump.callProfile)
        #expect(dump.graph.reconfiguredNodes.isEmpty)
        try dump.run(until: 700)
        #expect(dump.graph.reconfiguredNodes == ["bluez_output.1"])
        var removed = dump.graph
        removed.remove(70)
        #expect(removed.reconfiguredNodes.isEmpty)
        try dump.run(until: 900)
        #expect(dump.graph.reconfiguredNodes.isEmpty)
        let off = #"""
            [{"t": 0, "id": 81, "info": null},
             {"t": 1, "id": 70, "params": {"Profile": [{"index": 0, "name": "off"}]}}]
            """#
        var ended = try PipeWireDump(PipeWireDump.bluetoothHeadset, changes: off)
        try ended.run(until: 1)
        #expect(ended.graph.reconfiguredNodes.isEmpty, "the user has turned it off")
    }

    @Test func `a headset's new node counts as reconfigured until its channels are known`() throws {
        var dump = try PipeWireDump(PipeWireDump.bluetoothHeadset, changes: PipeWireDump.callProfile)
        try dump.run(until: 700)
        var graph = dump.graph
        var node = [
            PW_KEY_NODE_NAME: "bluez_output.1", PW_KEY_MEDIA_CLASS: "Audio/Sink", PW_KEY_DEVICE_ID: "70",
        ]
        graph.nodes[99] = node
        #expect(!graph.descriptions().contains { $0.id == "bluez_output.1" })
        #expect(graph.reconfiguredNodes == ["bluez_output.1"])
        node[PW_KEY_AUDIO_CHANNELS] = "1"
        graph.nodes[99] = node
        #expect(graph.descriptions().contains { $0.id == "bluez_output.1" } && graph.reconfiguredNodes.isEmpty)
    }

    @Test func `a headset's source is that of its device, or has its address in its name`() throws {
        var dump = try PipeWireDump(PipeWireDump.bluetoothHeadset, changes: PipeWireDump.callProfile)
        #expect(dump.graph.headsetSource(of: "bluez_output.1") == nil && dump.graph.headsetSource(of: "x") == nil)
        try dump.run(until: 900)
        #expect(dump.graph.headsetSource(of: "bluez_output.1") == "bluez_input.0")
        var graph = PipeWireGraph()
        graph.nodes[1] = [PW_KEY_NODE_NAME: "bluez_output.74_D7.1", PW_KEY_MEDIA_CLASS: "Audio/Sink"]
        graph.nodes[2] = [PW_KEY_NODE_NAME: "bluez_input.99:00", PW_KEY_MEDIA_CLASS: "Audio/Source"]
        #expect(graph.headsetSource(of: "bluez_output.74_D7.1") == nil)
        graph.nodes[3] = [PW_KEY_NODE_NAME: "bluez_input.74:D7", PW_KEY_MEDIA_CLASS: "Audio/Source"]
        #expect(graph.headsetSource(of: "bluez_output.74_D7.1") == "bluez_input.74:D7")
    }
}
