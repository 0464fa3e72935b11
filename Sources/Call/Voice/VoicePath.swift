import AudioBase
import Synchronization
import VoiceProcessing

/// What a captured block goes through before it is sent, on the render thread: voice processing, then effects.
///
/// Made by ``CallVoice``, which owns what it points to.
struct VoicePath {
    /// Told by the control thread.
    struct Wishes: ~Copyable {
        let processes = Atomic<Bool>(false)
    }

    /// Voice processing, and what its part of a block needs.
    struct Processing {
        let port: VoiceProcessingPort
        let wishes: UnsafeMutablePointer<Wishes>
        let microphone: Channels
        let reference: Channels
        let cleaned: Channels
        /// Frames until what comes out is what went in.
        let latency: Int
        /// Of the crossfade, for each frame.
        let step: Float
    }

    private let processing: Processing?
    private let effects: RenderCallback?
    private let changed: Channels?
    private var share: Float = 0  // of processed sound, 0 to 1
    private var given = 0  // frames since processing was last begun

    /// Nothing changes the sound.
    init() {
        processing = nil
        effects = nil
        changed = nil
    }

    /// - Parameter changed: where effects render; as many channels as the call has.
    init(processing: Processing?, effects: RenderCallback?, changed: Channels?) {
        self.processing = processing
        self.effects = effects
        self.changed = changed
    }

    /// Whether ``process(_:_:frameCount:)`` needs the cycle's output: voice processing is on, or fades.
    @_noLocks
    func needsReference() -> Bool {
        guard let processing else { return false }
        return share > 0 || processing.wishes.pointee.processes.load(ordering: .relaxed)
    }

    /// Changes a block in its place.
    /// - Parameter cycle: the device's, for its clock and for what it plays.
    @_noLocks
    mutating func process(_ block: Channels, _ cycle: IOCycle, frameCount: Int) {
        if let processing { clean(block, cycle, frameCount, processing) }
        guard let effects, let changed else { return }
        for c in 0..<changed.count { clearSamples(changed[c], frameCount) }
        var inner = cycle
        inner.frameCount = frameCount
        inner.input = block
        inner.output = changed
        effects(&inner)
        for c in 0..<block.count { copySamples(block[c], changed[c], frameCount) }
    }

    /// Voice processing is for one microphone: of two channels it gets the mean, and gives both the same.
    @_noLocks
    private mutating func clean(_ block: Channels, _ cycle: IOCycle, _ frameCount: Int, _ processing: Processing) {
        let isWanted = processing.wishes.pointee.processes.load(ordering: .relaxed) && !processing.port.isLeft
        if !isWanted, share == 0 {
            given = 0
            return
        }
        mean(of: block, into: processing.microphone[0], frameCount)
        mean(of: cycle.output, into: processing.reference[0], frameCount)
        processing.port.exchange(
            input: processing.microphone[0], reference: processing.reference[0], output: processing.cleaned[0],
            frameCount: frameCount)
        // What the worker still holds from the time before, or silence, comes out first.
        let isReady = given >= processing.latency
        given = isReady ? given : given &+ frameCount
        let step = isWanted && isReady ? processing.step : 0 - processing.step
        if share == 0, step < 0 { return }
        var last = share
        for c in 0..<block.count {
            last = share
            for i in 0..<frameCount {
                last += step
                last = last > 1 ? 1 : last < 0 ? 0 : last
                block[c][i] += last * (processing.cleaned[0][i] - block[c][i])
            }
        }
        share = last
    }

    @_noLocks
    private func mean(of channels: Channels, into mono: UnsafeMutablePointer<Float>, _ frameCount: Int) {
        if channels.count == 0 { return clearSamples(mono, frameCount) }
        copySamples(mono, channels[0], frameCount)
        if channels.count == 1 { return }
        for c in 1..<channels.count { for i in 0..<frameCount { mono[i] += channels[c][i] } }
        let part = 1 / Float(channels.count)
        for i in 0..<frameCount { mono[i] *= part }
    }
}
