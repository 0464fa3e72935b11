// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import EarshotAudioBase
import Synchronization

/// The plug-in instances of a unit, the spare ones and their memory. All are freed with this object.
final class PlugInUnit: @unchecked Sendable {  // the spare plug-ins have one owner at a time, by `spareState`
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

    /// The longest latency to accept, in seconds.
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
        let nothing = instances.one(LilvInstance())
        spareState = .allocate(capacity: 1)
        spareState.initialize(to: Atomic(PlugInRenderer.failed))
        renderer = .allocate(capacity: 1)
        renderer.initialize(
            to: PlugInRenderer(
                instances: instances.array(of: nothing, count: copies),
                spare: instances.array(of: nothing, count: copies),
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
        let isMade = fill(renderer.pointee.instances)
        let log = features.closeLog()
        guard isMade else {
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

    /// Creates new spare instances after a reset has used the previous ones. For the rebuilder's thread.
    func renewIfUsed() {
        guard spareState.pointee.load(ordering: .acquiring) == PlugInRenderer.used else { return }
        empty(renderer.pointee.spare)
        let isMade = fill(renderer.pointee.spare)
        spareState.pointee.store(isMade ? PlugInRenderer.ready : PlugInRenderer.failed, ordering: .releasing)
    }

    /// Processes a block of silence to read the latency, which a plug-in reports only while it runs, then replaces the instance.
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

    /// Creates, connects and activates instances; all of them or none.
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
    /// The system's reason for which the library cannot be opened; empty if it can be.
    fileprivate var openError: String {
        earshot_lv2_why_closed(libraryPath).map { printable(String(cString: $0)) } ?? ""
    }
}
