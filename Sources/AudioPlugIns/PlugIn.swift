// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Synchronization

/// One plug-in that is installed, of which units can be made with ``makeUnit(sampleRate:channelCount:blocks:)``.
public final class PlugIn: @unchecked Sendable {  // lilv's part is used under the world's lock
    /// The plug-in's URI.
    public let uri: String
    /// Its name, parameters and presets, as far as they make sense: what a file says too little or wrongly about is put right.
    public let description: UnitDescription
    /// Channels that it takes, side chains apart.
    public let audioInputCount: Int
    /// Channels that it gives.
    public let audioOutputCount: Int
    /// True if its author says that it neither waits nor allocates while it renders.
    public let isRealTimeCapable: Bool
    /// True if it wants blocks of one length, and so is late by one (``PlugInBlocks/fixed(_:)``).
    public let needsFixedBlocks: Bool
    /// The reason that the plug-in cannot become a unit; nil if none is known.
    public let problem: PlugInError?

    let layout: PortLayout
    let libraryPath: String
    let world: LilvWorld
    let pointer: OpaquePointer
    let scrubbed: UnsafeMutablePointer<Atomic<Int>>

    /// The caller holds the world's lock.
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

    /// Samples that its units gave so far which were no sound (NaN, infinite or above a million), and so were replaced by
    /// silence. Any thread.
    public var scrubbedSampleCount: Int { scrubbed.pointee.load(ordering: .relaxed) }
}

/// The lengths in which a plug-in is called.
public enum PlugInBlocks: Hashable, Sendable {
    /// The caller's blocks, divided at 256 frames: no delay, but what a plug-in does once a block depends on them.
    case asCalled
    /// Always this many frames, 16, 32, 64, 128 or 256: the plug-in is late by as many, parameters move at their boundaries,
    /// and samples do not depend on the caller's blocks.
    case fixed(Int)

    static let longest = 256
}
