// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import EarshotAudioBase
import Synchronization

/// A unit's plug-in instances, the spare instances, and the memory of both. All are freed with this object.
final class PlugInUnit: @unchecked Sendable {  // the spare instances have one owner at a time, by `spareState`
    let renderer: UnsafeMutablePointer<PlugInRenderer>
    /// The latency in frames that the plug-in reports with its default values, plus a fixed block.
    private(set) var latency = 0
    private let plugIn: PlugIn
    private let copies: Int
    private let sampleRate: Double
    private let features: PlugInFeatures
    private let ports: PlugInPorts
    private let instances: Arena
    private let spareState: UnsafeMutablePointer<Atomic<Int>>

    /// The longest latency in seconds; a reported latency is clamped to it.
    private static let longestLatency = 10.0

    init(
        _ plugIn: PlugIn, _ copies: Int, sampleRate: Double, channelCount: Int, _ blocks: PlugInBlocks
    ) throws(PlugInError) {
        self.plugIn = plugIn
        self.copies = copies
        self.sampleRate = sampleRate
        features = PlugInFeatures(sampleRate: sampleRate, blocks: blocks)
        ports = PlugInPorts(plugIn.layout, copies: copies, sampleRate: sampleRate)
        instances = Arena()
        let placeholder = instances.one(LilvInstance())
        spareState = .allocate(capacity: 1)
        spareState.initialize(to: Atomic(PlugInRenderer.failed))
        renderer = .allocate(capacity: 1)
        renderer.initialize(
            to: PlugInRenderer(
                instances: instances.array(of: placeholder, count: copies),
                spare: instances.array(of: placeholder, count: copies),
                spareState: spareState, renewal: InstanceRebuilder.shared.handle, channelCount: channelCount,
                inputCount: copies * plugIn.layout.audioInputs.count,
                outputCount: copies * plugIn.layout.audioOutputs.count, inputs: ports.inputs, outputs: ports.outputs,
                parameterCount: plugIn.layout.parameters.count, parameters: ports.parameters,
                sequenceCount: copies * plugIn.layout.eventOutputs.count, sequences: ports.sequences,
                block: PlugInBlocks.longest, scrubbed: plugIn.scrubbed))
        if case .fixed(let count) = blocks {
            renderer.pointee.block = count
            renderer.pointee.isFixed = true
        }
        plugIn.description.defaultValues.withUnsafeBufferPointer {
            if let values = $0.baseAddress { renderer.pointee.set(values, over: 0) }
        }
        let areCreated = fill(renderer.pointee.instances)
        let log = features.closeLog()
        guard areCreated else {
            throw .instantiationFailed(
                plugIn: plugIn.description.name, sampleRate: sampleRate, log: log.isEmpty ? plugIn.openError : log
            )
        }
        renderer.pointee.copies = copies
        measureLatency()
        if fill(renderer.pointee.spare) { spareState.pointee.store(PlugInRenderer.ready, ordering: .releasing) }
        InstanceRebuilder.shared.add(self)
    }

    deinit {
        if renderer.pointee.copies > 0 {
            empty(renderer.pointee.instances)
            if spareState.pointee.load(ordering: .acquiring) != PlugInRenderer.failed { empty(renderer.pointee.spare) }
        }
        renderer.deallocate()
        spareState.deinitialize(count: 1)
        spareState.deallocate()
    }

    /// Creates new spare instances if a reset has used the previous ones. For the rebuilder's thread.
    func renewIfUsed() {
        guard spareState.pointee.load(ordering: .acquiring) == PlugInRenderer.used else { return }
        empty(renderer.pointee.spare)
        let areCreated = fill(renderer.pointee.spare)
        spareState.pointee.store(areCreated ? PlugInRenderer.ready : PlugInRenderer.failed, ordering: .releasing)
    }

    /// Sets ``latency``. A plug-in reports its latency only while it runs: a block of silence is processed, then the instances
    /// are replaced by new ones.
    private func measureLatency() {
        if let reported = ports.latency {
            renderer.pointee.run(renderer.pointee.block)
            let frames = reported.pointee.isFinite ? Double(reported.pointee) : 0
            latency = Int(max(0, min(frames, Self.longestLatency * sampleRate)).rounded())
            if fill(renderer.pointee.spare) {
                swap(&renderer.pointee.instances, &renderer.pointee.spare)
                empty(renderer.pointee.spare)
            }
            renderer.pointee.isNew = true
            renderer.pointee.reset()
        }
        if renderer.pointee.isFixed { latency += renderer.pointee.block }
    }

    /// Creates, connects and activates all instances. Returns false, without any instance, if one cannot be created.
    private func fill(_ instances: UnsafeMutablePointer<UnsafeMutablePointer<LilvInstance>>) -> Bool {
        plugIn.world.lock.withLock { _ in
            for copy in 0..<copies {
                guard let instance = lilv_plugin_instantiate(plugIn.pointer, sampleRate, features.list) else {
                    for made in 0..<copy { lilv_instance_free(instances[made]) }
                    return false
                }
                instances[copy] = instance
            }
            for copy in 0..<copies {
                for (port, memory) in ports.connections[copy] {
                    lilv_instance_connect_port(instances[copy], UInt32(port), memory)
                }
                lilv_instance_activate(instances[copy])
            }
            return true
        }
    }

    private func empty(_ instances: UnsafeMutablePointer<UnsafeMutablePointer<LilvInstance>>) {
        plugIn.world.lock.withLock { _ in
            for copy in 0..<copies {
                lilv_instance_deactivate(instances[copy])
                lilv_instance_free(instances[copy])
            }
        }
    }
}

extension PlugIn {
    /// The system's reason that the plug-in's library cannot be opened; empty if the library can be opened.
    fileprivate var openError: String {
        earshot_lv2_why_closed(libraryPath).map { printable(String(cString: $0)) } ?? ""
    }
}
