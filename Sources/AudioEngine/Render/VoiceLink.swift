import AudioBase
import VoiceProcessing

/// What the output played, kept for the input's echo canceller: a mono delay line between the two ends of the graph.
///
/// The input renders before the output does, so it gets what was played one block ago. That is early enough: an echo comes
/// no sooner than the device plays the block.
final class VoiceLink {
    struct Memory {
        fileprivate static var length: Int { @_noLocks get { 8_192 } }
        fileprivate let samples: UnsafeMutablePointer<Float>
        fileprivate let microphone: UnsafeMutablePointer<Float>
        fileprivate let reference: UnsafeMutablePointer<Float>
        fileprivate let delay: Int
        fileprivate var written = 0
        fileprivate var read = 0

        /// Keeps the mean of what was played. In the output.
        @_noLocks
        mutating func write(_ channels: Channels, offset: Int, frameCount: Int) {
            let share = 1 / Float(channels.count < 1 ? 1 : channels.count)
            for i in 0..<frameCount {
                var sum: Float = 0
                for c in 0..<channels.count { sum += channels[c][offset &+ i] }
                samples[(written &+ i) & (Self.length &- 1)] = sum * share
            }
            written &+= frameCount
        }

        /// A new input begins at what is played now. The output may have listened for longer: the graph that is faded out has
        /// it too.
        @_noLocks
        mutating func begin() { read = written }

        /// Takes the echo out of a block, in its place; every channel gets the result. In the input.
        @_noLocks
        mutating func process(_ bus: RenderBus, _ port: VoiceProcessingPort, frameCount: Int) {
            let share = 1 / Float(bus.channels.count)
            for i in 0..<frameCount {
                var sum: Float = 0
                for c in 0..<bus.channels.count { sum += bus.channels[c][i] }
                microphone[i] = sum * share
                let at = read &- delay &+ i
                reference[i] = at >= 0 && at < written ? samples[at & (Self.length &- 1)] : 0
            }
            read &+= frameCount
            port.exchange(input: microphone, reference: reference, output: microphone, frameCount: frameCount)
            for c in 0..<bus.channels.count { copySamples(bus.channels[c], microphone, frameCount) }
        }
    }

    let memory: UnsafeMutablePointer<Memory>

    /// - Parameter delay: frames by which the reference is late; a block's, 256 at most.
    init(delay: Int) {
        let samples = UnsafeMutablePointer<Float>.allocate(capacity: Memory.length)
        samples.initialize(repeating: 0, count: Memory.length)
        let room = RenderProgram.sliceFrameCount
        memory = .allocate(capacity: 1)
        memory.initialize(
            to: Memory(
                samples: samples, microphone: .allocate(capacity: room), reference: .allocate(capacity: room),
                delay: delay))
    }

    deinit {
        memory.pointee.samples.deallocate()
        memory.pointee.microphone.deallocate()
        memory.pointee.reference.deallocate()
        memory.deallocate()
    }
}
