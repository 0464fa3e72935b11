// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Takes a stream's frames from its ring, on the render thread or on a reader's thread.
///
/// Sound fades out before the ring runs empty and before a seek, and fades in afterwards. Otherwise the frames are unchanged.
struct StreamRenderer: @unchecked Sendable {  // atomics; `fade` and the ring's reader have one thread, by contract
    struct Shared: ~Copyable {
        let isOpen = Atomic(false)
        let isComplete = Atomic(false)
        let isSuspended = Atomic(false)
        let framesPlayed = Atomic(0)
        /// Frames taken so far, including dropped ones.
        let framesTaken = Atomic(0)
        /// The position, among all frames written to the ring, before which frames are dropped.
        let discardEnd = Atomic(0)
        let shift = Atomic(0)
        let seekBegun = Atomic(0)
        let seekEnded = Atomic(0)
        let pulls = Atomic(0)
    }

    /// The progress of a fade.
    struct Fade {
        /// True if the last frame was sound.
        var isSounding = false
        /// Frames left before silence; negative if no fade-out is pending.
        var left = -1
        /// Frames of the fade-out.
        var length = 0
        /// Frames left of the fade-in.
        var rise = 0
    }

    let ring: AudioRing.Reader
    let fadeLength: Int
    let shared: UnsafeMutablePointer<Shared>
    let fade: UnsafeMutablePointer<Fade>

    /// True from the beginning of a seek until its end: the buffered frames are at most faded out.
    var isSeeking: Bool {
        @_noLocks get {
            shared.pointee.seekBegun.load(ordering: .acquiring) != shared.pointee.seekEnded.load(ordering: .acquiring)
        }
    }

    /// Fills a block, with silence where there is no sound.
    @_noLocks
    func render(_ output: Channels, frameCount: Int) -> Int {
        let got = readFrames(output, frameCount: frameCount, offset: 0, fadesBeforeSeek: true)
        var c = 0
        while c < output.count {
            clearSamples(output[c] + got, frameCount &- got)
            c &+= 1
        }
        return frameCount
    }

    /// Reads the available frames, which may be none, and returns their number. When the ring has run empty, no frames are
    /// returned until the control side sets ``StreamPlayout/isOpen``.
    /// - Parameter fadesBeforeSeek: true to fade out the buffered sound when a seek begins; false to drop it at once.
    @_noLocks
    func readFrames(_ output: Channels, frameCount: Int, offset: Int, fadesBeforeSeek: Bool) -> Int {
        count(1, shared.pointee.pulls)
        let isSeeking = isSeeking
        let staleFrames =
            shared.pointee.discardEnd.load(ordering: .acquiring)
            &- shared.pointee.framesTaken.load(ordering: .relaxed)
        let isStale = isSeeking || staleFrames > 0
        if isStale {
            let canFade = fadesBeforeSeek && !shared.pointee.isSuspended.load(ordering: .acquiring)
            guard canFade, fade.pointee.isSounding else {
                leaveOut(isSeeking ? ring.heldFrames : staleFrames)
                return 0
            }
        }
        if fade.pointee.left < 0 {
            if isStale {
                end(within: isSeeking || staleFrames > fadeLength ? fadeLength : staleFrames)
            } else {
                guard shared.pointee.isOpen.load(ordering: .acquiring) else { return 0 }
                let isComplete = shared.pointee.isComplete.load(ordering: .acquiring)
                if !isComplete, ring.heldFrames < frameCount &+ fadeLength { end(within: .max) }
            }
        }
        let left = fade.pointee.left
        let got = ring.read(output, frameCount: left >= 0 && left < frameCount ? left : frameCount, offset: offset)
            .frameCount
        shape(output, offset, got)
        count(got, shared.pointee.framesTaken)
        count(got, shared.pointee.framesPlayed)
        if got > 0 { fade.pointee.isSounding = true }
        guard left >= 0 else {
            if got < frameCount { endSound() }  // the stream's last frame was read
            return got
        }
        fade.pointee.left = left &- got
        if fade.pointee.left <= 0 || got == 0 {
            endSound()
            if !isStale { shared.pointee.isOpen.store(false, ordering: .releasing) }
        }
        return got
    }

    /// Begins a fade-out to silence that ends with the last buffered frame, or `maximumFrames` from now if that is earlier.
    @_noLocks
    private func end(within maximumFrames: Int) {
        let held = ring.heldFrames
        fade.pointee.left = held < maximumFrames ? held : maximumFrames
        fade.pointee.length = fade.pointee.left < fadeLength ? fade.pointee.left : fadeLength
    }

    @_noLocks
    private func endSound() {
        fade.pointee.left = -1
        fade.pointee.isSounding = false
        fade.pointee.rise = fadeLength
    }

    @_noLocks
    private func leaveOut(_ frames: Int) {
        count(ring.discard(frames), shared.pointee.framesTaken)
        endSound()
    }

    /// Multiplies the frames by the gains of the fade-in and the fade-out.
    @_noLocks
    private func shape(_ output: Channels, _ offset: Int, _ frameCount: Int) {
        let (left, length, rise) = (fade.pointee.left, fade.pointee.length, fade.pointee.rise)
        let steady = left < 0 || left &- frameCount >= length
        if rise == 0, steady { return }
        for i in 0..<frameCount {
            var gain: Float = 1
            if i < rise { gain = Float(fadeLength &- rise &+ i &+ 1) / Float(fadeLength) }
            let framesToSilence = left &- i &- 1
            if left >= 0, framesToSilence < length { gain *= Float(framesToSilence) / Float(length) }
            if gain == 1 { continue }
            for c in 0..<output.count { output[c][offset &+ i] *= gain }
        }
        fade.pointee.rise = rise > frameCount ? rise &- frameCount : 0
    }

    @_noLocks
    private func count(_ more: Int, _ number: borrowing Atomic<Int>) {
        if more != 0 { number.store(number.load(ordering: .relaxed) &+ more, ordering: .releasing) }
    }
}
