// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Synchronization

/// An installed plug-in, from which ``makeUnit(sampleRate:channelCount:blocks:)`` creates units.
public final class PlugIn: @unchecked Sendable {  // lilv's objects are used under the world's lock
    /// The plug-in's URI.
    public let uri: String
    /// The plug-in's name, parameters and presets. Missing and wrong values in its files are replaced by plausible ones.
    public let description: UnitDescription
    /// The number of input channels. Side chains and optional inputs only count if there are no other inputs.
    public let audioInputCount: Int
    /// The number of output channels. Optional outputs only count if there are no other outputs.
    public let audioOutputCount: Int
    /// True if the plug-in declares that it neither waits nor allocates while it renders.
    public let isRealTimeCapable: Bool
    /// True if the plug-in needs blocks of a fixed length, which delay the sound by one block (``PlugInBlocks/fixed(_:)``).
    public let needsFixedBlocks: Bool
    /// The reason that the plug-in cannot be used as a unit; nil if none is known.
    public let problem: PlugInError?

    let layout: PortLayout
    let libraryPath: String
    let world: LilvWorld
    let pointer: OpaquePointer
    /// The counter of ``scrubbedSampleCount``.
    let scrubbed: UnsafeMutablePointer<Atomic<Int>>

    /// Reads the plug-in's files. The caller must hold the world's lock.
    init(_ pointer: OpaquePointer, uri: String, _ world: LilvWorld) {
        let reader = PlugInReader(pointer, uri: uri, world)
        self.pointer = pointer
        self.world = world
        self.uri = uri
        layout = reader.layout
        libraryPath = reader.libraryPath
        description = reader.description
        audioInputCount = layout.audioInputs.count
        audioOutputCount = layout.audioOutputs.count
        isRealTimeCapable = reader.isRealTimeCapable
        needsFixedBlocks = reader.needsFixedBlocks
        problem = reader.problem
        scrubbed = .allocate(capacity: 1)
        scrubbed.initialize(to: Atomic(0))
    }

    deinit {
        scrubbed.deinitialize(count: 1)
        scrubbed.deallocate()
    }

    /// The number of output samples of all this plug-in's units so far that were replaced by silence, because they were NaN,
    /// infinite, or a million or more in magnitude. Safe on any thread.
    public var scrubbedSampleCount: Int { scrubbed.pointee.load(ordering: .relaxed) }
}

/// The length of the blocks in which a plug-in is called.
public enum PlugInBlocks: Hashable, Sendable {
    /// The caller's blocks, divided into pieces of at most 256 frames. The sound is not delayed, but a plug-in that works once
    /// per block depends on the caller's blocks.
    case asCalled
    /// Always this many frames: 16, 32, 64, 128 or 256. The sound is delayed by as many frames, parameters change at block
    /// boundaries, and the output does not depend on the caller's blocks.
    case fixed(Int)

    /// The maximum frames of a block.
    static let longest = 256
}
