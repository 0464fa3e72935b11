import AudioBase
import Foundation
import TestSupport
import Testing

@testable import AudioDevices

/// What a real server's list says, and when.
@Suite("PipeWireSystem", .serialized) struct PipeWireSystemTests {
    static let headset = PipeWireServer.Device.sink(
        "headset", [
            "node.description": "My Headset", "device.bus": "bluetooth", "device.form-factor": "headset",
            "device.api": "bluez5", "priority.session": "1500",
        ])

    @Test("devices are listed with name, kind, channels, rates and defaults")
    func list() throws {
        let wide = PipeWireServer.Device.sink("wide", channelCount: 8, sampleRate: 96_000, ["priority.session": "500"])
        try PipeWireServer.running(devices: [Self.headset, .source("microphone"), wide]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(system.failure == nil)
            #expect(eventually { system.devices.count == 3 && system.devices.contains(where: \.isDefaultInput) })
            let headset = try #require(system.devices.first { $0.id == "headset" })
            #expect(headset.backend == .pipewire && headset.name == "My Headset")
            #expect(headset.transport == .bluetooth && headset.form == .headset && headset.isWorn)
            #expect(headset.inputChannelCount == 0 && headset.outputChannelCount == 2)
            #expect(headset.blockFrameCounts == 16...8_192)
            #expect(headset.isDefaultOutput && !headset.isDefaultInput)
            let microphone = try #require(system.devices.first { $0.id == "microphone" })
            #expect(microphone.inputChannelCount == 1 && microphone.outputChannelCount == 0)
            #expect(microphone.transport == .virtual && microphone.isDefaultInput)
            let wide = try #require(system.devices.first { $0.id == "wide" })
            #expect(wide.outputChannelCount == 8 && wide.sampleRates == [96_000] && !wide.isDefaultOutput)
        }
    }

    @Test("open and run")
    func run() throws {
        try PipeWireServer.running(devices: [Self.headset, .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.devices.contains(where: \.isDefaultInput) })
            var request = AudioDeviceRequest()
            request.blockFrameCount = 64
            var t = Date()
            let device = try system.open(request)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 100 })
            t = Date()
            device.stop()
            t = Date()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 200 })
        }
    }
}
