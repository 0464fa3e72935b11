// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The render thread's view of a unit's plug-in instances and port memory: pointers and counts.
///
/// Ports stay connected to Earshot's own buffers, so an instance never accesses the caller's memory and need not work in place.
/// Samples are copied to and from these buffers; output is checked before it is copied.
struct PlugInRenderer {
    /// The number of instances: one per channel for a mono plug-in, otherwise one.
    var copies = 0
    var instances: UnsafeMutablePointer<UnsafeMutablePointer<LilvInstance>>
    /// Spare instances, as many as ``instances``. A reset exchanges the two if ``spareState`` is ``ready``.
    var spare: UnsafeMutablePointer<UnsafeMutablePointer<LilvInstance>>
    var spareState: UnsafeMutablePointer<Atomic<Int>>
    /// Wakes the thread that replaces used spare instances.
    var renewal: Wakeup.Handle
    /// True if the instances have processed nothing yet.
    var isNew = true
    /// The number of the unit's channels.
    var channelCount = 0
    /// The numbers of audio input and output ports of all instances together; ``inputs`` and ``outputs`` are the ports' buffers.
    var inputCount = 0
    var outputCount = 0
    var inputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    var outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    var parameterCount = 0
    var parameters: UnsafeMutablePointer<Parameter>
    var sequenceCount = 0
    var sequences: UnsafeMutablePointer<Sequence>
    /// The maximum frames in one call of the plug-in; with fixed blocks the exact number.
    var block = 0
    var isFixed = false
    /// The frames of the current fixed block that have arrived; 0 without fixed blocks.
    var position = 0
    /// The counter of output samples that were replaced by silence.
    var scrubbed: UnsafeMutablePointer<Atomic<Int>>

    /// The values of ``spareState``: the spare instances are used and ``InstanceRebuilder`` must replace them, or they are ready,
    /// or they could not be created.
    @inline(__always) static var used: Int { @_noLocks get { 0 } }
    @inline(__always) static var ready: Int { @_noLocks get { 1 } }
    @inline(__always) static var failed: Int { @_noLocks get { 2 } }

    /// A control port's memory, and the conversion of the unit's parameter to the port's value.
    struct Parameter: BitwiseCopyable {
        var value: UnsafeMutablePointer<Float>  // the port's memory
        var factor: Double  // the port's units per parameter unit
        var lower: Float  // the port's least value
        var upper: Float
        var isWhole: Bool
        var choices: UnsafeMutablePointer<Float>
        var choiceCount: Int
    }

    /// An event sequence that the plug-in may write.
    struct Sequence: BitwiseCopyable {
        var memory: UnsafeMutablePointer<LV2_Atom_Sequence>
        var chunk: UInt32
        var room: UInt32
    }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        for i in 0..<parameterCount {
            let parameter = parameters[i]
            var value = values[i]
            if parameter.choiceCount > 0 {
                let last = Float(parameter.choiceCount &- 1)
                value = value > 0 ? (value < last ? value : last) : 0
                value = parameter.choices[Int(earshot_lv2_round(value))]
            } else {
                value = Float(Double(value) * parameter.factor)
                if parameter.isWhole { value = earshot_lv2_round(value) }
                if value > parameter.upper { value = parameter.upper }
                if !(value >= parameter.lower) { value = parameter.lower }
            }
            parameter.value.pointee = value
        }
    }

    @_noLocks
    mutating func process(_ slice: UnitBlock) {
        var done = 0
        while done < slice.frameCount {
            let count = min(block &- position, slice.frameCount &- done)
            load(slice, at: slice.offset &+ done, count)
            if isFixed {
                store(slice, at: slice.offset &+ done, count)
                position &+= count
                if position == block {
                    run(block)
                    position = 0
                }
            } else {
                run(count)
                store(slice, at: slice.offset &+ done, count)
            }
            done &+= count
        }
    }

    /// Exchanges the instances for the spare ones, which are new: a second activation may allocate, and many plug-ins keep their
    /// state in it. Another thread creates the next spare instances. After a reset before these are ready, the instances keep
    /// their state, which in real time is only a few milliseconds old. The buffers are always cleared.
    @_noLocks
    mutating func reset() {
        if !isNew, spareState.pointee.load(ordering: .acquiring) == Self.ready {
            let old = instances
            instances = spare
            spare = old
            isNew = true
            spareState.pointee.store(Self.used, ordering: .releasing)
            renewal.wake()
        }
        for i in 0..<inputCount { clearSamples(inputs[i], block) }
        for i in 0..<outputCount { clearSamples(outputs[i], block) }
        position = 0
    }

    @_noLocks
    mutating func run(_ frameCount: Int) {
        isNew = false
        for i in 0..<sequenceCount { earshot_lv2_empty(sequences[i].memory, sequences[i].chunk, sequences[i].room) }
        for i in 0..<copies { earshot_lv2_run(instances[i], frameCount) }
        for i in 0..<outputCount { scrub(outputs[i], frameCount) }
    }

    /// Copies the unit's input channels to the input ports: one to one, or one channel to two ports, or the mean of two channels
    /// to one port.
    @_noLocks
    private func load(_ slice: UnitBlock, at offset: Int, _ count: Int) {
        if inputCount == 0 { return }
        if inputCount == 1, channelCount == 2 {
            let (left, right) = (slice.input[0] + offset, slice.input[1] + offset)
            let to = inputs[0] + position
            for i in 0..<count { to[i] = (left[i] + right[i]) * 0.5 }
        } else {
            for p in 0..<inputCount {
                copySamples(inputs[p] + position, slice.input[channelCount == 1 ? 0 : p] + offset, count)
            }
        }
    }

    @_noLocks
    private func store(_ slice: UnitBlock, at offset: Int, _ count: Int) {
        if outputCount == 2, channelCount == 1 {
            let (left, right) = (outputs[0] + position, outputs[1] + position)
            let to = slice.output[0] + offset
            for i in 0..<count { to[i] = (left[i] + right[i]) * 0.5 }
        } else {
            for c in 0..<channelCount {
                copySamples(slice.output[c] + offset, outputs[outputCount == 1 ? 0 : c] + position, count)
            }
        }
    }

    /// Replaces NaN, infinity and samples of a million or more in magnitude by silence, and counts them.
    @_noLocks
    private func scrub(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
        var badCount = 0
        for i in 0..<count where !(samples[i] > -1e6 && samples[i] < 1e6) {
            samples[i] = 0
            badCount &+= 1
        }
        if badCount > 0 { scrubbed.pointee.wrappingAdd(badCount, ordering: .relaxed) }
    }

    static let functions = UnitFunctions(
        set: { $0.assumingMemoryBound(to: PlugInRenderer.self).pointee.set($1, over: $2) },
        process: { state, block in
            state.assumingMemoryBound(to: PlugInRenderer.self).pointee.process(
                block.assumingMemoryBound(to: UnitBlock.self).pointee)
        },
        reset: { $0.assumingMemoryBound(to: PlugInRenderer.self).pointee.reset() })
}
