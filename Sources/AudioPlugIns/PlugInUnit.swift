import CLilv

/// The plug-ins of one unit with their memory; they go when it goes.
final class PlugInUnit {
    let renderer: UnsafeMutablePointer<PlugInRenderer>
    /// Frames, as reported at the parameters' defaults, and those of a fixed block.
    private(set) var latency = 0
    private let plugIn: PlugIn
    private let arena: Arena
    private let features: PlugInFeatures
    private var isActive = false

    /// Seconds of latency that are believed.
    private static let longestLatency = 10.0

    init(
        _ plugIn: PlugIn, _ copies: Int, sampleRate: Double, channelCount: Int, _ blocks: PlugInBlocks
    ) throws(PlugInError) {
        let layout = plugIn.layout
        let arena = Arena()
        let nothing = arena.one(Float(0))
        let noInstance = arena.one(LilvInstance())
        self.plugIn = plugIn
        self.arena = arena
        features = PlugInFeatures(sampleRate: sampleRate, blocks: blocks)
        renderer = arena.one(
            PlugInRenderer(
                instances: arena.array(of: noInstance, count: copies), channelCount: channelCount,
                inputs: arena.array(of: nothing, count: copies * layout.audioInputs.count),
                outputs: arena.array(of: nothing, count: copies * layout.audioOutputs.count),
                parameterCount: layout.parameters.count,
                parameters: Self.parameters(layout, arena, sampleRate),
                sequences: Self.sequences(layout, arena, copies), block: PlugInBlocks.longest, scrubbed: plugIn.scrubbed
            ))
        if case .fixed(let count) = blocks {
            renderer.pointee.block = count
            renderer.pointee.isFixed = true
        }
        try instantiate(copies, sampleRate)
        for copy in 0..<copies { connect(copy) }
        start(sampleRate)
    }

    deinit {
        plugIn.world.lock.withLock { _ in
            for i in 0..<renderer.pointee.copies {
                if isActive { lilv_instance_deactivate(renderer.pointee.instances[i]) }
                lilv_instance_free(renderer.pointee.instances[i])
            }
        }
    }

    private func instantiate(_ copies: Int, _ sampleRate: Double) throws(PlugInError) {
        plugIn.world.lock.withLock { _ in
            while renderer.pointee.copies < copies {
                guard let instance = lilv_plugin_instantiate(plugIn.pointer, sampleRate, features.list) else { return }
                renderer.pointee.instances[renderer.pointee.copies] = instance
                renderer.pointee.copies += 1
            }
        }
        var words = features.closeLog()
        if renderer.pointee.copies < copies {
            if words.isEmpty {
                words = earshot_lv2_why_closed(plugIn.libraryPath).map { printable(String(cString: $0)) } ?? ""
            }
            throw .instantiationFailed(plugIn: plugIn.description.name, sampleRate: sampleRate, words: words)
        }
    }

    private func connect(_ copy: Int) {
        let layout = plugIn.layout
        let instance = renderer.pointee.instances[copy]
        func connect(_ port: Int, _ memory: UnsafeMutableRawPointer?) {
            lilv_instance_connect_port(instance, UInt32(port), memory)
        }
        func buffer() -> UnsafeMutablePointer<Float> { arena.array(of: Float(0), count: PlugInBlocks.longest) }

        for port in layout.audioInputs {
            let samples = buffer()
            connect(port, samples)
            renderer.pointee.inputs[renderer.pointee.inputCount] = samples
            renderer.pointee.inputCount += 1
        }
        for port in layout.audioOutputs {
            let samples = buffer()
            connect(port, samples)
            renderer.pointee.outputs[renderer.pointee.outputCount] = samples
            renderer.pointee.outputCount += 1
        }
        for port in layout.silentInputs + layout.unheardOutputs { connect(port, buffer()) }
        for (i, binding) in layout.parameters.enumerated() {
            connect(binding.port, renderer.pointee.parameters[i].value)
        }
        for (port, value) in layout.constants { connect(port, arena.one(value)) }
        for port in layout.controlOutputs {
            let value = arena.one(Float(0))
            connect(port, value)
            if port == layout.latency, copy == 0 { reported = value }
        }
        for port in layout.eventInputs {
            var empty = LV2_Atom_Sequence()
            empty.atom.size = UInt32(MemoryLayout<LV2_Atom_Sequence_Body>.size)
            empty.atom.type = URIDTable.shared.identifier(of: earshot_lv2_atom_sequence)
            connect(port, arena.one(empty))
        }
        for (port, _) in layout.eventOutputs {
            connect(port, renderer.pointee.sequences[renderer.pointee.sequenceCount].memory)
            renderer.pointee.sequenceCount += 1
        }
        for port in layout.unconnected { connect(port, nil) }
    }
    private var reported: UnsafeMutablePointer<Float>?

    /// Activates; a plug-in that reports its latency does so when it runs, so it hears a block of silence, and forgets it.
    private func start(_ sampleRate: Double) {
        let defaults = plugIn.description.defaultValues
        defaults.withUnsafeBufferPointer { if let values = $0.baseAddress { renderer.pointee.set(values, over: 0) } }
        for i in 0..<renderer.pointee.copies { lilv_instance_activate(renderer.pointee.instances[i]) }
        isActive = true
        if let reported {
            renderer.pointee.run(renderer.pointee.block)
            let frames = reported.pointee.isFinite ? Double(reported.pointee) : 0
            latency = Int(max(0, min(frames, Self.longestLatency * sampleRate)).rounded())
            renderer.pointee.reset()
        }
        if renderer.pointee.isFixed { latency += renderer.pointee.block }
    }

    private static func parameters(
        _ layout: PortLayout, _ arena: Arena, _ sampleRate: Double
    ) -> UnsafeMutablePointer<PlugInRenderer.Parameter> {
        let values = arena.array(of: Float(0), count: layout.parameters.count)
        let nothing = PlugInRenderer.Parameter(
            value: values, factor: 1, lower: 0, upper: 0, isWhole: false, choices: values, choiceCount: 0)
        let parameters = arena.array(of: nothing, count: layout.parameters.count)
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
        let chunk = URIDTable.shared.identifier(of: earshot_lv2_atom_chunk)
        let header = MemoryLayout<LV2_Atom_Sequence>.size
        let all = (0..<copies).flatMap { _ in
            layout.eventOutputs.map { output in
                let memory = UnsafeMutableRawPointer(arena.array(of: UInt64(0), count: (output.size + header) / 8 + 1))
                return PlugInRenderer.Sequence(
                    memory: memory.assumingMemoryBound(to: LV2_Atom_Sequence.self), chunk: chunk,
                    room: UInt32(output.size))
            }
        }
        let none = PlugInRenderer.Sequence(
            memory: UnsafeMutableRawPointer(arena.array(of: UInt64(0), count: header / 8 + 1))
                .assumingMemoryBound(to: LV2_Atom_Sequence.self), chunk: chunk, room: 0)
        let list = arena.array(of: none, count: all.count)
        for (i, sequence) in all.enumerated() { list[i] = sequence }
        return list
    }
}
