// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Carries the captured voice, or the remote voices, from the render thread to a reader.
///
/// Each block has its time on the device's counter, so the reader sees the length of each gap. Drops a block that does not fit.
/// Copies nothing before ``begin()`` and after ``end()``.
final class SoundTap: Sendable {
    private let ring: AudioRing
    private let blocks: MessageQueue<TappedBlock>
    private let isOn: SharedFlag
    private let sampleRate: Double
    private let reading = Mutex(Reading())

    /// The memory of the flag that the render thread reads.
    private struct SharedFlag: @unchecked Sendable { let value: UnsafeMutablePointer<Atomic<Bool>> }

    private struct Reading {
        /// The position of the next frame in the ring.
        var position = 0
        /// Fades the voice when it is muted or unmuted; nil before the first block.
        var fader: VoiceFader?
    }

    /// - Parameter deviceRate: in hertz.
    init(channelCount: Int, deviceRate: Double) {
        // The reader may be two seconds late, with blocks of 16 frames or more.
        ring = AudioRing(channelCount: channelCount, capacity: Int(2 * deviceRate))
        blocks = MessageQueue(capacity: ring.capacity / 16)
        sampleRate = deviceRate
        isOn = SharedFlag(value: .allocate(capacity: 1))
        isOn.value.initialize(to: Atomic(false))
    }

    deinit {
        isOn.value.deinitialize(count: 1)
        isOn.value.deallocate()
    }

    /// The render thread's handle, which must not outlive the tap. There must be only one.
    func makeWriter() -> Writer {
        Writer(ring: ring.writer, blocks: blocks.writer, capacity: ring.capacity, isOn: isOn.value)
    }

    /// Discards what was captured so far, and begins to copy. The previous reader must have ended.
    func begin() {
        reading.withLock { reading in
            while blocks.pop() != nil {}
            reading.position += ring.reader.discard(ring.capacity)
            reading.fader = nil
        }
        isOn.value.pointee.store(true, ordering: .relaxed)
    }

    /// Ends the copying. Captured blocks can still be read.
    func end() { isOn.value.pointee.store(false, ordering: .relaxed) }

    /// Reads the next block; while the voice is muted, it is silence.
    /// - Returns: the block's time and length; nil if every block was read.
    func read(_ block: Channels) -> CallCycle? { readBlock(block)?.cycle }

    /// Reads the next block as ``read(_:)`` does.
    func readBlock(_ block: Channels) -> TappedBlock? {
        reading.withLock { reading in
            while let tapped = blocks.pop() {
                let orphanedCount = tapped.position - reading.position
                // ``begin()`` discarded the frames of a block that was being written.
                if orphanedCount < 0 { continue }
                if orphanedCount > 0 { ring.reader.discard(orphanedCount) }
                let count = ring.reader.read(block, frameCount: tapped.cycle.frameCount).frameCount
                reading.position = tapped.position + count
                var fader = reading.fader ?? VoiceFader(sampleRate: sampleRate, isHeard: tapped.isHeard)
                fader.process(block, count, isHeard: tapped.isHeard)
                reading.fader = fader
                return tapped
            }
            return nil
        }
    }

    /// The render thread's side.
    struct Writer: ~Copyable {
        private let ring: AudioRing.Writer
        private let blocks: MessageQueue<TappedBlock>.Writer
        private let capacity: Int
        private let isOn: UnsafeMutablePointer<Atomic<Bool>>
        private var position = 0

        fileprivate init(
            ring: AudioRing.Writer, blocks: MessageQueue<TappedBlock>.Writer, capacity: Int,
            isOn: UnsafeMutablePointer<Atomic<Bool>>
        ) {
            self.ring = ring
            self.blocks = blocks
            self.capacity = capacity
            self.isOn = isOn
        }

        /// Copies a block of a cycle, if there is a reader.
        /// - Parameter isHeard: false while the voice is muted.
        @_noLocks
        mutating func write(_ block: Channels, _ cycle: IOCycle, frameCount: Int, isHeard: Bool) {
            write(block, TappedBlock(cycle: CallCycle(cycle, frameCount: frameCount), isHeard: isHeard))
        }

        /// Copies a block of a remote voice, if there is a reader.
        @_noLocks
        mutating func write(_ block: Channels, _ tapped: TappedBlock) {
            guard isOn.pointee.load(ordering: .relaxed) else { return }
            // Never overfills the ring: it would then reject every later block.
            let frameCount = tapped.cycle.frameCount
            guard ring.heldFrames &+ frameCount <= capacity, ring.write(block, frameCount: frameCount) else { return }
            // Frames without a record are discarded when the next record is read.
            var tapped = tapped
            tapped.position = position
            blocks.push(tapped)
            position = position &+ frameCount
        }
    }
}

/// A block in the ring of a ``SoundTap``.
struct TappedBlock: BitwiseCopyable, Sendable {
    let cycle: CallCycle
    /// The position of the block's first frame among all frames in the ring so far.
    fileprivate(set) var position = 0
    /// False while the voice is muted.
    let isHeard: Bool
    /// The place of a remote voice in the mix, and the frame of its stream at which the block begins.
    let (voice, streamPosition): (Int, Double)

    @_noLocks
    init(cycle: CallCycle, isHeard: Bool, voice: Int = 0, streamPosition: Double = 0) {
        self.cycle = cycle
        self.isHeard = isHeard
        self.voice = voice
        self.streamPosition = streamPosition
    }
}
