import AudioBase

/// What a tap hands over: a block, and the engine's frame counter at its first frame. Not on the render thread.
public typealias AudioTapBlock = @Sendable (_ samples: Channels, _ frameCount: Int, _ sampleTime: Int64) -> Void

/// Listens to a node's output: the render thread writes into a ring, the engine's own thread empties it.
final class NodeTap: @unchecked Sendable {  // one thread serves; `made` is set under the engine's lock
    private let frameCount: Int
    private let block: AudioTapBlock
    private let wakeup: Wakeup
    private var made: (format: AudioFormat, ring: AudioRing, buffer: AudioBuffer, state: RenderState)?

    init(frameCount: Int, wakeup: Wakeup, block: @escaping AudioTapBlock) {
        self.frameCount = max(1, frameCount)
        self.wakeup = wakeup
        self.block = block
    }

    /// The step that writes. Under the engine's lock.
    func state(_ format: AudioFormat) -> RenderState {
        if let made, made.format == format { return made.state }
        let ring = AudioRing(
            channelCount: format.channelCount, capacity: max(Int(format.sampleRate), 4 * frameCount))
        let state = RenderMemory(
            TapState(ring: ring.writer, wakeup: wakeup.handle), keeping: [ring, wakeup], function: TapState.function)
        let buffer = AudioBuffer(channelCount: format.channelCount, frameCapacity: frameCount)
        made = (format, ring, buffer, state)
        return state
    }

    /// Hands over what is there. - Parameter all: the last, shorter block too.
    func serve(all: Bool = false) {
        guard let made else { return }
        while made.ring.writer.heldFrames >= (all ? 1 : frameCount) {
            let slice = made.ring.reader.read(made.buffer.channels, frameCount: frameCount)
            guard slice.frameCount > 0 else { return }
            block(made.buffer.channels, slice.frameCount, Int64(slice.position))
        }
    }
}
