// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A block of captured frames at the device's rate, read once for all encoders.
struct CapturedBlock {
    let channels: Channels
    let frameCount: Int
    /// The frames lost just before the block.
    let gap: Int
}

/// Reads captured frames in blocks, on the media thread.
struct CaptureReader: ~Copyable {
    private let ring: AudioRing
    private let deviceRate: Double
    private let readLimit: Int  // the maximum frames of a block
    private let raw: AudioBuffer
    private var endPosition = 0  // the ring's position after the last block
    private var gapFrames = 0  // lost since the last block

    /// The frames lost before they could be encoded: skipped by the device, rejected by the full ring, or dropped as too old.
    private(set) var lostFrames = 0
    /// The current block size of the device in frames, which may change with the route.
    var deviceBlock: Int

    init(_ ring: AudioRing, channelCount: Int, deviceRate: Double, deviceBlock: Int) {
        self.ring = ring
        self.deviceRate = deviceRate
        self.deviceBlock = deviceBlock
        readLimit = Self.readLimit(deviceBlock: deviceBlock)
        raw = AudioBuffer(channelCount: channelCount, frameCapacity: readLimit)
    }

    /// Returns the maximum frames of a read block, for a device that had this block size at the start. A later device may have
    /// longer blocks: parts of a block would be packets that wait for its end, and a listener may begin with any of them.
    static func readLimit(deviceBlock: Int) -> Int { max(deviceBlock, 512) * 3 / 2 }

    /// The ring's position after the last block.
    var position: Int { endPosition }

    /// Returns true if ``next()`` has a block.
    var hasFrames: Bool { ring.reader.heldFrames > 0 }

    /// Returns true if the ring holds at least ``awaited`` frames.
    var hasAwaited: Bool { ring.reader.heldFrames >= awaited }

    /// The frames in the ring at which the callback wakes the media thread. Clamped to 1 frame…20 ms, because frames that wait
    /// much longer are dropped.
    var awaited = 1 {
        didSet {
            awaited = max(1, min(awaited, Int(deviceRate * 0.02)))
            ring.reader.await(awaited)
        }
    }

    /// Returns the next frames, valid until the next call; nil if there are none. Frames older than 50 ms, or than four blocks if
    /// these are longer, are dropped, so that the remote peer hears a gap instead of a longer delay.
    mutating func next() -> CapturedBlock? {
        let waitingFrames = ring.reader.heldFrames
        guard waitingFrames > 0 else { return nil }
        // More than 1.5 blocks are read block by block, because PCM sends each read block as one packet if it fits.
        let isOneBlock = waitingFrames <= min(readLimit, deviceBlock * 3 / 2)
        let wanted = isOneBlock ? waitingFrames : min(deviceBlock, readLimit)
        let slice = ring.reader.read(
            raw.channels, frameCount: wanted, holdingAtMost: max(Int(deviceRate * 0.05), 4 * deviceBlock))
        gapFrames += slice.position - endPosition
        lostFrames += slice.position - endPosition
        endPosition = slice.position + slice.frameCount
        guard slice.frameCount > 0 else { return nil }
        defer { gapFrames = 0 }
        return CapturedBlock(channels: raw.channels, frameCount: slice.frameCount, gap: gapFrames)
    }
}
