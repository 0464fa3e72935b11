// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Copies samples between buffers that do not overlap. Render-safe.
@_noLocks @inlinable
public func copySamples(_ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int) {
    earshot_copy(to, from, count &* 4)
}

/// Moves samples within a buffer; the ranges may overlap. Render-safe.
@_noLocks @inlinable
package func moveSamples(_ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int) {
    earshot_move(to, from, count &* 4)
}

/// Fills a buffer with silence. Render-safe.
@_noLocks @inlinable
public func clearSamples(_ samples: UnsafeMutablePointer<Float>, _ count: Int) { earshot_zero(samples, count &* 4) }

/// Copies `count` samples that lie `stride` apart, with 0 in place of each that is no number or infinite. Returns how many were.
package func copyFiniteSamples(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int, stride: Int = 1
) -> Int {
    var faults = 0
    for i in 0..<count {
        let sample = from[i &* stride]
        let isFinite = sample.isFinite
        to[i] = isFinite ? sample : 0
        faults &+= isFinite ? 0 : 1
    }
    return faults
}

/// The buffers of one block of planar audio, one pointer a channel, each to the same number of frames.
///
/// A view: it owns nothing and is valid as long as the memory it names, in a render callback until that returns.
@frozen
public struct Channels: BitwiseCopyable {
    /// One pointer a channel.
    public let pointers: UnsafePointer<UnsafeMutablePointer<Float>>
    /// The number of channels.
    public let count: Int

    /// A view of memory that the caller keeps.
    @inlinable @_noLocks
    public init(_ pointers: UnsafePointer<UnsafeMutablePointer<Float>>, count: Int) {
        self.pointers = pointers
        self.count = count
    }

    /// The samples of one channel. - Precondition: `0 ..< count` contains `channel` (checked in debug builds).
    @inlinable @_noLocks
    public subscript(channel: Int) -> UnsafeMutablePointer<Float> {
        assert(channel >= 0 && channel < count)
        return pointers[channel]
    }
}

/// A view of ``Channels`` through which nothing can be written: others read the same samples.
@frozen
public struct ReadOnlyChannels: BitwiseCopyable {
    @usableFromInline let channels: Channels

    /// A view of memory that the caller keeps.
    @inlinable @_noLocks
    public init(_ channels: Channels) { self.channels = channels }

    /// The number of channels.
    @inlinable public var count: Int { @_noLocks get { channels.count } }

    /// The samples of one channel. - Precondition: `0 ..< count` contains `channel` (checked in debug builds).
    @inlinable @_noLocks
    public subscript(channel: Int) -> UnsafePointer<Float> { UnsafePointer(channels[channel]) }
}

/// Memory for one block of planar audio, kept for as long as this object lives.
///
/// Made and freed on the control thread; ``channels`` is what the render thread gets.
public final class AudioBuffer: @unchecked Sendable {  // immutable but for the samples, which one thread at a time uses
    /// Frames each channel has room for.
    public let frameCapacity: Int
    /// The memory, as a view.
    public let channels: Channels
    private let samples: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

    /// Zeroed memory. - Precondition: `channelCount >= 1`, `frameCapacity >= 1`.
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
