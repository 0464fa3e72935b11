// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Captured frames at the device's rate, for every encoder.
struct CapturedBlock {
    let channels: Channels
    let frameCount: Int
    /// The frames lost before the first frame.
    let gap: Int
}

/// Reads captured frames in blocks, on the media thread.
struct CaptureReader: ~Copyable {
    private let ring: AudioRing
    private let deviceRate: Double
    private let readLimit: Int  // frames one block has at most
    private let raw: AudioBuffer
    private var expected = 0  // the ring's position behind the last block
    private var gap = 0

    /// The frames lost before they could be encoded: rejected by the ring or dropped as too old.
    private(set) var lostFrames = 0
    /// The current block size of the device, which may change with the route.
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

    /// The ring's position after the last block.
    var position: Int { expected }

    /// Returns true if ``next()`` has a block.
    var hasFrames: Bool { ring.reader.heldFrames > 0 }

    /// Returns true if the awaited frames are there.
    var hasAwaited: Bool { ring.reader.heldFrames >= awaited }

    /// The number of frames, at least 1, for which the callback wakes the media thread. Limited to 20 ms, as frames that wait
    /// much longer are dropped.
    var awaited = 1 {
        didSet {
            awaited = max(1, min(awaited, Int(deviceRate * 0.02)))
            ring.reader.await(awaited)
        }
    }

    /// Returns the next frames, valid until the next call; nil if there are none. Frames older than 50 ms are dropped, so that
    /// the remote peer hears a gap instead of a longer delay.
    mutating func next() -> CapturedBlock? {
        let held = ring.reader.heldFrames
        guard held > 0 else { return nil }
        // If possible a block of the device, since PCM sends each block as one packet.
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
