import AudioBase
import Synchronization

/// The render thread's side of a stream: frames out of the ring, silence while there are none.
final class StreamPlayout: Sendable {
    let ring: AudioRing
    /// For the render thread; must not outlive this object.
    let renderer: Renderer

    init(ring: AudioRing) {
        self.ring = ring
        renderer = Renderer(ring: ring.reader, shared: .allocate(capacity: 1))
        renderer.shared.initialize(to: Shared())
    }

    deinit {
        renderer.shared.deinitialize(count: 1)
        renderer.shared.deallocate()
    }

    struct Shared: ~Copyable {
        let isOpen = Atomic(false)
        let framesPlayed = Atomic(0)
        let isComplete = Atomic(false)
        let fadeLeft = Atomic(0)
    }

    var isOpen: Bool {
        get { renderer.shared.pointee.isOpen.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isOpen.store(newValue, ordering: .releasing) }
    }
    /// Whether the last frame there will be is in the ring, or was.
    var isComplete: Bool {
        get { renderer.shared.pointee.isComplete.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isComplete.store(newValue, ordering: .releasing) }
    }
    var framesPlayed: Int { renderer.shared.pointee.framesPlayed.load(ordering: .acquiring) }

    struct Renderer: @unchecked Sendable {  // what is shared is atomic; the ring's reader has one thread, by contract
        let ring: AudioRing.Reader
        let shared: UnsafeMutablePointer<Shared>

        /// Fills a block. Once the ring is short, silence stays until the other side opens it again.
        @_noLocks
        func render(_ output: Channels, frameCount: Int) -> Int {
            var got = 0
            if shared.pointee.isOpen.load(ordering: .acquiring) {
                got = ring.read(output, frameCount: frameCount).frameCount
                if got < frameCount { shared.pointee.isOpen.store(false, ordering: .releasing) }
                let played = shared.pointee.framesPlayed.load(ordering: .relaxed)
                shared.pointee.framesPlayed.store(played &+ got, ordering: .releasing)
            }
            var c = 0
            while c < output.count {
                clearSamples(output[c] + got, frameCount &- got)
                c &+= 1
            }
            return frameCount
        }

        /// Gives what there is, for who reads ahead. Once the ring is short it gives no more until the other side opens it again; what
        /// comes before that fades out, what comes after it fades in.
        func take(_ output: Channels, frameCount: Int, offset: Int, fadeLength: Int) -> Int {
            guard shared.pointee.isOpen.load(ordering: .acquiring) else { return 0 }
            let isComplete = shared.pointee.isComplete.load(ordering: .acquiring)
            let isLast = !isComplete && ring.heldFrames < frameCount + fadeLength
            let played = shared.pointee.framesPlayed.load(ordering: .relaxed)
            let got = ring.read(output, frameCount: frameCount, offset: offset).frameCount
            let fadeLeft = min(shared.pointee.fadeLeft.load(ordering: .relaxed), fadeLength)
            for i in 0..<min(fadeLeft, got) {
                let gain = Float(fadeLength - fadeLeft + i + 1) / Float(fadeLength)
                for c in 0..<output.count { output[c][offset + i] *= gain }
            }
            shared.pointee.fadeLeft.store(isLast ? fadeLength : max(0, fadeLeft - got), ordering: .relaxed)
            if isLast {
                let length = min(got, fadeLength)
                for i in 0..<length {
                    let gain = Float(i) / Float(length)
                    for c in 0..<output.count { output[c][offset + got - 1 - i] *= gain }
                }
                shared.pointee.isOpen.store(false, ordering: .releasing)
            }
            shared.pointee.framesPlayed.store(played + got, ordering: .releasing)
            return got
        }
    }
}
