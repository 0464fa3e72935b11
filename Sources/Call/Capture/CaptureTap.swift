// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The captured voice's way to a recording: from the capturing render thread to the recording's reader.
///
/// Each block has its time on the device's counter, so that the reader knows the length of every gap. A block that does not fit
/// is dropped, and is such a gap. While no recording reads, nothing is copied.
final class CaptureTap: Sendable {
    private let ring: AudioRing
    private let blocks: MessageQueue<TappedBlock>
    private let isOn: SharedFlag
    private let copy: AudioBuffer
    private let deviceRate: Double
    private let position = Atomic(0)  // of the next frame to read; only the reader uses it

    /// The memory of the flag that the render thread reads.
    private struct SharedFlag: @unchecked Sendable { let value: UnsafeMutablePointer<Atomic<Bool>> }

    /// - Parameter deviceRate: in hertz.
    init(channelCount: Int, deviceRate: Double) {
        // The reader may be two seconds late, with blocks of 16 frames or more.
        ring = AudioRing(channelCount: channelCount, capacity: Int(2 * deviceRate))
        blocks = MessageQueue(capacity: ring.capacity / 16)
        copy = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        self.deviceRate = deviceRate
        isOn = SharedFlag(value: .allocate(capacity: 1))
        isOn.value.initialize(to: Atomic(false))
    }

    deinit {
        isOn.value.deinitialize(count: 1)
        isOn.value.deallocate()
    }

    /// The render thread's handle, which must not outlive the tap. There must be only one.
    func makeWriter() -> Writer {
        Writer(
            ring: ring.writer, blocks: blocks.writer, capacity: ring.capacity, isOn: isOn.value, copy: copy.channels,
            fader: VoiceFader(sampleRate: deviceRate, isHeard: true))
    }

    /// Discards what was captured so far, and begins to copy. The previous reader must have ended.
    func begin() {
        while blocks.pop() != nil {}
        position.add(ring.reader.discard(ring.capacity), ordering: .relaxed)
        isOn.value.pointee.store(true, ordering: .relaxed)
    }

    /// Ends the copying. Captured blocks can still be read.
    func end() { isOn.value.pointee.store(false, ordering: .relaxed) }

    /// Reads the next block. For one thread at a time.
    /// - Returns: the block's time and length; nil if every block was read.
    func read(_ block: Channels) -> CallCycle? {
        while let tapped = blocks.pop() {
            let orphanedCount = tapped.position - position.load(ordering: .relaxed)
            // ``begin()`` discarded the frames of a block that was being written.
            if orphanedCount < 0 { continue }
            if orphanedCount > 0 { ring.reader.discard(orphanedCount) }
            let count = ring.reader.read(block, frameCount: tapped.cycle.frameCount).frameCount
            position.store(tapped.position + count, ordering: .relaxed)
            return tapped.cycle
        }
        return nil
    }

    /// The render thread's side.
    struct Writer: ~Copyable {
        private let ring: AudioRing.Writer
        private let blocks: MessageQueue<TappedBlock>.Writer
        private let capacity: Int
        private let isOn: UnsafeMutablePointer<Atomic<Bool>>
        private let copy: Channels
        private var fader: VoiceFader
        private var position = 0

        fileprivate init(
            ring: AudioRing.Writer, blocks: MessageQueue<TappedBlock>.Writer, capacity: Int,
            isOn: UnsafeMutablePointer<Atomic<Bool>>, copy: Channels, fader: VoiceFader
        ) {
            self.ring = ring
            self.blocks = blocks
            self.capacity = capacity
            self.isOn = isOn
            self.copy = copy
            self.fader = fader
        }

        /// Copies a block of a cycle for the recording, if there is one; as silence unless the voice is heard.
        @_noLocks
        mutating func write(_ block: Channels, _ cycle: IOCycle, frameCount: Int, isHeard: Bool) {
            guard isOn.pointee.load(ordering: .relaxed) else { return fader.reset(isHeard: isHeard) }
            for c in 0..<copy.count { copySamples(copy[c], block[c], frameCount) }
            fader.process(copy, frameCount, isHeard: isHeard)
            // The ring never rejects a block, since its later blocks would be rejected too.
            guard ring.heldFrames &+ frameCount <= capacity, ring.write(copy, frameCount: frameCount) else { return }
            // Frames without a record are discarded when the next record is read.
            blocks.push(
                TappedBlock(
                    cycle: CallCycle(sampleTime: cycle.sampleTime, frameCount: frameCount, hostTime: cycle.hostTime),
                    position: position))
            position = position &+ frameCount
        }
    }
}

/// A block in the ring of a ``CaptureTap``.
struct TappedBlock: BitwiseCopyable, Sendable {
    let cycle: CallCycle
    /// The position of the block's first frame among all frames in the ring so far.
    let position: Int

    @_noLocks
    init(cycle: CallCycle, position: Int) {
        self.cycle = cycle
        self.position = position
    }
}
