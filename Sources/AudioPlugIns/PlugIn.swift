// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Synchronization

/// An installed plug-in, from which ``makeUnit(sampleRate:channelCount:blocks:)`` creates units.
public final class PlugIn: @unchecked Sendable {  // lilv's part is used under the world's lock
    /// The plug-in's URI.
    public let uri: String
    /// The plug-in's name, parameters and presets. Missing and wrong values in its files are replaced by plausible ones.
    public let description: UnitDescription
    /// The number of input channels, without side chains.
    public let audioInputCount: Int
    /// The number of output channels.
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
    let scrubbed: UnsafeMutablePointer<Atomic<Int>>

    /// The caller must hold the world's lock.
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

    /// Samples of all its units so far that were NaN, infinite or above a million and were replaced by silence. Any thread.
    public var scrubbedSampleCount: Int { scrubbed.pointee.load(ordering: .relaxed) }
}

/// The length of the blocks in which a plug-in is called.
public enum PlugInBlocks: Hashable, Sendable {
    /// The caller's blocks, divided at 256 frames. There is no delay, but a plug-in's once-per-block work depends on the caller.
    case asCalled
    /// Always this many frames: 16, 32, 64, 128 or 256. The sound is delayed by as many frames, parameters change at block
    /// boundaries, and the output does not depend on the caller's blocks.
    case fixed(Int)

    static let longest = 256
}
