// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Copies samples between buffers that do not overlap. Safe on the render thread.
@_noLocks @inlinable
public func copySamples(_ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int) {
    earshot_copy(to, from, count &* 4)
}

/// Moves samples within a buffer; the ranges may overlap. Safe on the render thread.
@_noLocks @inlinable
package func moveSamples(_ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int) {
    earshot_move(to, from, count &* 4)
}

/// Fills a buffer with silence. Safe on the render thread.
@_noLocks @inlinable
public func clearSamples(_ samples: UnsafeMutablePointer<Float>, _ count: Int) { earshot_zero(samples, count &* 4) }

/// Copies `count` samples that lie `stride` samples apart in `from`; NaN and infinity become 0. Returns the number of samples
/// replaced.
package func copyFiniteSamples(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int, stride: Int = 1
) -> Int {
    var replacedCount = 0
    for i in 0..<count {
        let sample = from[i &* stride]
        let isFinite = sample.isFinite
        to[i] = isFinite ? sample : 0
        replacedCount &+= isFinite ? 0 : 1
    }
    return replacedCount
}

/// Returns the number of samples beyond full scale, which is −1 to 1.
package func countBeyondFullScale(_ samples: UnsafePointer<Float>, _ count: Int) -> Int {
    var overloadCount: Int32 = 0
    var i = 0
    while i < count {  // the checks of a `for` loop would prevent vector instructions
        overloadCount &+= samples[i].magnitude > 1 ? 1 : 0
        i &+= 1
    }
    return Int(overloadCount)
}

/// The buffers of a block of planar audio, one pointer for each channel, all with the same number of frames.
///
/// A view: it owns no memory. It is valid as long as the memory exists; in a render callback, until the callback returns.
@frozen
public struct Channels: BitwiseCopyable {
    /// The pointers, one for each channel.
    public let pointers: UnsafePointer<UnsafeMutablePointer<Float>>
    /// The number of channels.
    public let count: Int

    /// Creates a view of the caller's memory.
    @inlinable @_noLocks
    public init(_ pointers: UnsafePointer<UnsafeMutablePointer<Float>>, count: Int) {
        self.pointers = pointers
        self.count = count
    }

    /// The samples of a channel.
    /// - Precondition: `0 ..< count` contains `channel` (checked in debug builds).
    @inlinable @_noLocks
    public subscript(channel: Int) -> UnsafeMutablePointer<Float> {
        assert(channel >= 0 && channel < count)
        return pointers[channel]
    }
}

/// A read-only view of ``Channels``, for samples that have several readers.
@frozen
public struct ReadOnlyChannels: BitwiseCopyable {
    @usableFromInline let channels: Channels

    /// Creates a view of the caller's memory.
    @inlinable @_noLocks
    public init(_ channels: Channels) { self.channels = channels }

    /// The number of channels.
    @inlinable public var count: Int { @_noLocks get { channels.count } }

    /// The samples of a channel.
    /// - Precondition: `0 ..< count` contains `channel` (checked in debug builds).
    @inlinable @_noLocks
    public subscript(channel: Int) -> UnsafePointer<Float> { UnsafePointer(channels[channel]) }
}

/// The memory of a block of planar audio.
///
/// Created and freed on the control thread; the render thread gets ``channels``.
public final class AudioBuffer: @unchecked Sendable {  // immutable except the samples, which one thread at a time uses
    /// The capacity of each channel in frames.
    public let frameCapacity: Int
    /// The view of this memory, for the render thread.
    public let channels: Channels
    private let samples: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

    /// Allocates silent memory.
    /// - Precondition: `channelCount >= 1`, `frameCapacity >= 1`.
    public init(channelCount: Int, frameCapacity: Int) {
        precondition(channelCount >= 1 && frameCapacity >= 1)
        self.frameCapacity = frameCapacity
        samples = .allocate(capacity: channelCount * frameCapacity)
        samples.initialize(repeating: 0, count: channelCount * frameCapacity)
        pointers = .allocate(capacity: channelCount)
        for c in 0..<channelCount { (pointers + c).initialize(to: samples + c * frameCapacity) }
        channels = Channels(pointers, count: channelCount)
    }

    deinit {
        samples.deallocate()
        pointers.deallocate()
    }
}
