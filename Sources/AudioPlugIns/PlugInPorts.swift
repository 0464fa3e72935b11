// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv

/// The memory to which the ports of a unit's plug-in instances are connected.
final class PlugInPorts {
    /// The buffers of the audio input ports of all instances, one instance after the other.
    let inputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// The buffers of the audio output ports of all instances, one instance after the other.
    let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    let parameters: UnsafeMutablePointer<PlugInRenderer.Parameter>
    let sequences: UnsafeMutablePointer<PlugInRenderer.Sequence>
    /// The memory where the first instance reports its latency in frames; nil if the plug-in has no such port.
    private(set) var latency: UnsafeMutablePointer<Float>?
    /// The connections of each instance: all ports and the memory of each port.
    private(set) var connections: [[(port: Int, memory: UnsafeMutableRawPointer?)]] = []
    private let arena = Arena()

    init(_ layout: PortLayout, copies: Int, sampleRate: Double) {
        let placeholder = arena.one(Float(0))
        inputs = arena.array(of: placeholder, count: copies * layout.audioInputs.count)
        outputs = arena.array(of: placeholder, count: copies * layout.audioOutputs.count)
        parameters = Self.parameters(layout, arena, sampleRate)
        sequences = Self.sequences(layout, arena, copies)
        for copy in 0..<copies { connections.append(connect(layout, copy)) }
    }

    private func connect(_ layout: PortLayout, _ copy: Int) -> [(port: Int, memory: UnsafeMutableRawPointer?)] {
        var list: [(port: Int, memory: UnsafeMutableRawPointer?)] = []
        func samples(_ port: Int) -> UnsafeMutablePointer<Float> {
            let samples = arena.array(of: Float(0), count: PlugInBlocks.longest)
            list.append((port, UnsafeMutableRawPointer(samples)))
            return samples
        }
        for (i, port) in layout.audioInputs.enumerated() { inputs[copy * layout.audioInputs.count + i] = samples(port) }
        for (i, port) in layout.audioOutputs.enumerated() {
            outputs[copy * layout.audioOutputs.count + i] = samples(port)
        }
        for port in layout.silentInputs + layout.unheardOutputs { _ = samples(port) }
        for (i, binding) in layout.parameters.enumerated() {
            list.append((binding.port, UnsafeMutableRawPointer(parameters[i].value)))
        }
        for (port, value) in layout.constants { list.append((port, UnsafeMutableRawPointer(arena.one(value)))) }
        for port in layout.controlOutputs {
            let value = arena.one(Float(0))
            list.append((port, UnsafeMutableRawPointer(value)))
            if port == layout.latency, copy == 0 { latency = value }
        }
        for port in layout.eventInputs {
            var empty = LV2_Atom_Sequence()
            empty.atom.size = UInt32(MemoryLayout<LV2_Atom_Sequence_Body>.size)
            empty.atom.type = URIDTable.shared.identifier(of: earshot_lv2_atom_sequence)
            list.append((port, UnsafeMutableRawPointer(arena.one(empty))))
        }
        for (i, output) in layout.eventOutputs.enumerated() {
            list.append(
                (output.port, UnsafeMutableRawPointer(sequences[copy * layout.eventOutputs.count + i].memory)))
        }
        for port in layout.unconnected { list.append((port, nil)) }
        return list
    }

    private static func parameters(
        _ layout: PortLayout, _ arena: Arena, _ sampleRate: Double
    ) -> UnsafeMutablePointer<PlugInRenderer.Parameter> {
        let values = arena.array(of: Float(0), count: layout.parameters.count)
        let placeholder = PlugInRenderer.Parameter(
            value: values, factor: 1, lower: 0, upper: 0, isWhole: false, choices: values, choiceCount: 0)
        let parameters = arena.array(of: placeholder, count: layout.parameters.count)
        for (i, binding) in layout.parameters.enumerated() {
            let choices = arena.array(of: Float(0), count: binding.choices.count)
            for (k, value) in binding.choices.enumerated() { choices[k] = value }
            let scale = binding.isRelativeToRate ? Float(sampleRate) : 1
            parameters[i] = PlugInRenderer.Parameter(
                value: values + i, factor: binding.factor, lower: binding.lower * scale, upper: binding.upper * scale,
                isWhole: binding.isWhole, choices: choices, choiceCount: binding.choices.count)
        }
        return parameters
    }

    private static func sequences(
        _ layout: PortLayout, _ arena: Arena, _ copies: Int
    ) -> UnsafeMutablePointer<PlugInRenderer.Sequence> {
        let chunkID = URIDTable.shared.identifier(of: earshot_lv2_atom_chunk)
        func sequence(_ size: Int) -> PlugInRenderer.Sequence {
            let memory = arena.array(of: UInt64(0), count: (size + MemoryLayout<LV2_Atom_Sequence>.size) / 8 + 1)
            return PlugInRenderer.Sequence(
                memory: UnsafeMutableRawPointer(memory).assumingMemoryBound(to: LV2_Atom_Sequence.self), chunk: chunkID,
                room: UInt32(size))
        }
        let all = (0..<copies).flatMap { _ in layout.eventOutputs.map { sequence($0.size) } }
        let list = arena.array(of: sequence(0), count: all.count)
        for (i, sequence) in all.enumerated() { list[i] = sequence }
        return list
    }
}
