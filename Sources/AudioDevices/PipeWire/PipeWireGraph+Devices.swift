// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    private static let classes: Set<String> = ["Audio/Sink", "Audio/Source", "Audio/Source/Virtual", "Audio/Duplex"]

    /// Returns true if a node with these properties is a device: not a program's stream, and not wireplumber's stand-in for a
    /// missing loudspeaker.
    static func isDevice(_ properties: [String: String]) -> Bool {
        classes.contains(properties[PW_KEY_MEDIA_CLASS] ?? "") && properties[PW_KEY_NODE_NAME] != Quirks.pipeWireStandIn
    }

    /// Returns the device id of a sink's monitor, which is PulseAudio's name for the monitor.
    static func monitorID(of sink: String) -> String { "\(sink).monitor" }

    /// Returns the devices with known channels in the order of their numbers, then the sinks' monitors; of several devices with
    /// the same id only the first.
    func descriptions() -> [AudioDeviceDescription] {
        var seen: Set<String> = []
        let hardware = hardware()
        return (hardware + hardware.compactMap(monitor)).filter { seen.insert($0.id).inserted }
    }

    /// Returns the description of a sink's monitor, an input that captures what the sink plays; nil for other devices, or if the
    /// sink has no monitor ports.
    private func monitor(of sink: AudioDeviceDescription) -> AudioDeviceDescription? {
        guard sink.inputChannelCount == 0, let node = deviceNode(named: sink.id) else { return nil }
        let count = sources(of: node).count
        guard count > 0 else { return nil }
        return AudioDeviceDescription(
            id: Self.monitorID(of: sink.id), backend: .pipewire, name: "Monitor of \(sink.name)",
            transport: sink.transport, form: .monitor, inputChannelCount: count, outputChannelCount: 0,
            sampleRate: sink.sampleRate, sampleRates: sink.sampleRates, blockFrameCounts: sink.blockFrameCounts)
    }

    /// Returns the devices with known channels in the order of their numbers.
    func hardware() -> [AudioDeviceDescription] {
        nodes.filter { Self.isDevice($0.value) }.sorted { $0.key < $1.key }.compactMap { id, own in
            // Properties that a node lacks are taken from the device to which the node belongs.
            let device = Self.card(of: own).flatMap { devices[$0] } ?? [:]
            return description(id, own.merging(device) { own, _ in own })
        }
    }

    private func description(_ id: UInt32, _ properties: [String: String]) -> AudioDeviceDescription? {
        guard let name = properties[PW_KEY_NODE_NAME], let kind = properties[PW_KEY_MEDIA_CLASS] else { return nil }
        let hasInput = kind != "Audio/Sink"
        let hasOutput = kind == "Audio/Sink" || kind == "Audio/Duplex"
        let channels = properties[PW_KEY_AUDIO_CHANNELS].flatMap { Int($0) }.map { max(0, min(1_024, $0)) } ?? 0
        let sources = sources(of: id).count
        let inputs = hasInput ? (sources > 0 ? sources : channels) : 0
        let destinations = destinations(of: id).count
        let outputs = hasOutput ? (destinations > 0 ? destinations : channels) : 0
        guard inputs + outputs > 0 else { return nil }
        let ports = ports(ofNode: properties, isOutput: hasOutput)
        let own = properties[PW_KEY_AUDIO_RATE].flatMap { Int($0) }.flatMap { (1...1_000_000).contains($0) ? $0 : nil }
        var description = AudioDeviceDescription(
            id: name, backend: .pipewire,
            name: properties[PW_KEY_NODE_DESCRIPTION] ?? properties[PW_KEY_NODE_NICK] ?? name,
            transport: ports.activeType == "hdmi" ? .hdmi : Self.transport(properties),
            form: Self.form(properties, ports.active, isOutput: hasOutput),
            inputChannelCount: inputs, outputChannelCount: outputs, sampleRate: Double(own ?? sampleRate),
            sampleRates: own.map { [Double($0)] } ?? clock.sampleRates.map(Double.init),
            blockFrameCounts: clock.quanta,
            inputLatency: inputs > 0 ? latency(self.sources(of: id).first) : nil,
            outputLatency: outputs > 0 ? latency(self.destinations(of: id).first) : nil,
            isDefaultInput: hasInput && name == defaultSource,
            isDefaultOutput: hasOutput && name == defaultSink)
        description.ports = ports.all
        description.portName = ports.activeName
        description.headsetProfile = headsetProfile(ofNode: properties)
        return description
    }

    /// Returns the latency of a device's port in seconds, for the quantum of a default request; nil if the device reports none.
    private func latency(_ port: Port?) -> Double? {
        guard let delay = port.flatMap({ delays[$0.id] }), delay != Delay() else { return nil }
        return delay.seconds(quantum: AudioDeviceRequest().ioDuration, sampleRate: Double(sampleRate))
    }

    private static func transport(_ properties: [String: String]) -> AudioDeviceDescription.Transport {
        if properties[PW_KEY_DEVICE_API] == "bluez5" { return .bluetooth }
        if properties["device.profile.name"]?.hasPrefix("hdmi") ?? false { return .hdmi }
        switch properties[PW_KEY_DEVICE_BUS] {
        case "usb": return .usb
        case "bluetooth": return .bluetooth
        case "pci", "isa", "platform": return .builtIn
        case nil where properties[PW_KEY_DEVICE_ID] == nil && properties[PW_KEY_DEVICE_API] == nil: return .virtual
        default: return .unknown
        }
    }
}
