// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Frames that the device recorded, at its rate, for every encoder.
struct CapturedBlock {
    let channels: Channels
    let frameCount: Int
    /// Frames lost before the first of these.
    let gap: Int
}

/// Reads what the callback captured, a block at a time, on the media thread.
struct CaptureReader: ~Copyable {
    private let ring: AudioRing
    private let deviceRate: Double
    private let readLimit: Int  // frames one block has at most
    private let raw: AudioBuffer
    private var expected = 0  // the ring's position behind the last block
    private var gap = 0

    /// Frames lost before they could be encoded: rejected by the ring or dropped as too old.
    private(set) var lostFrames = 0
    /// Frames that the device now calls with; another route may have other blocks than the call began with.
    var deviceBlock: Int

    init(_ ring: AudioRing, channelCount: Int, deviceRate: Double, deviceBlock: Int) {
        self.ring = ring
        self.deviceRate = deviceRate
        self.deviceBlock = deviceBlock
        readLimit = Self.readLimit(deviceBlock: deviceBlock)
        raw = AudioBuffer(channelCount: channelCount, frameCapacity: readLimit)
    }

    /// The maximum frames of a block, for a device that began with this block size.
    static func readLimit(deviceBlock: Int) -> Int { deviceBlock * 3 / 2 }

    /// The ring's position behind the last block.
    var position: Int { expected }

    /// Returns true if ``next()`` has something.
    var hasFrames: Bool { ring.reader.heldFrames > 0 }

    /// Returns true if it has as much as was awaited.
    var hasAwaited: Bool { ring.reader.heldFrames >= awaited }

    /// Frames, 1 or more, for which the callback is to wake the media thread. It is woken each 20 ms at least, as what waits
    /// much longer is dropped.
    var awaited = 1 {
        didSet {
            awaited = max(1, min(awaited, Int(deviceRate * 0.02)))
            ring.reader.await(awaited)
        }
    }

    /// The next frames, valid until the next call; nil when there are none. What waited longer than 50 ms is no longer live:
    /// the oldest goes, and the remote peer hears a gap, not a delay.
    mutating func next() -> CapturedBlock? {
        let held = ring.reader.heldFrames
        guard held > 0 else { return nil }
        // A block of the device's if it can be: PCM goes out as it comes, a packet a block.
        let wanted = held <= readLimit ? held : min(deviceBlock, readLimit)
        let slice = ring.reader.read(
            raw.channels, frameCount: wanted, holdingAtMost: max(Int(deviceRate * 0.05), 4 * deviceBlock))
        gap += slice.position - expected
        lostFrames += slice.position - expected
        expected = slice.position + slice.frameCount
        guard slice.frameCount > 0 else { return nil }
        defer { gap = 0 }
        return CapturedBlock(channels: raw.channels, frameCount: slice.frameCount, gap: gap)
    }
}
