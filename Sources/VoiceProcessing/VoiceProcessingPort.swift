import AudioBase
import Synchronization

/// The render callback's side of a ``VoiceProcessingWorker``: gives microphone and reference, takes what was cleaned.
///
/// One thread. It must not outlive the worker. Whatever the worker does, the delay stays: frames that come too late are
/// silence, and are dropped when they come.
public struct VoiceProcessingPort: @unchecked Sendable {  // one thread at a time; what is shared are rings and atomics
    /// Counted by the render callback, for everybody.
    struct Counts: ~Copyable {
        let wanted = Atomic<Int>(0)  // frames
        let late = Atomic<Int>(0)
        let rejected = Atomic<Int>(0)
        let isLeft = Atomic<Bool>(false)
    }

    /// The callback's own.
    struct State {
        var owed = 0  // frames that were silence, and must be dropped when they come
        var pending = 0  // frames since the worker was woken
        var fade = 0  // frames of plain sound since it was left, up to `fadeLength`
    }

    let toWorker: AudioRing.Writer
    let fromWorker: AudioRing.Reader
    let wakeup: Wakeup.Handle
    let counts: UnsafeMutablePointer<Counts>
    let state: UnsafeMutablePointer<State>
    let pair: UnsafeMutablePointer<UnsafeMutablePointer<Float>>  // microphone and reference of this call
    let single: UnsafeMutablePointer<UnsafeMutablePointer<Float>>  // the output of this call
    let dropped: Channels
    let fadeStep: Float

    static var fadeLength: Int { @_noLocks get { 256 } }
    static var wakeLength: Int { @_noLocks get { 32 } }
    static var dropLength: Int { @_noLocks get { 1024 } }

    /// Hands over what was captured and what is played, and takes what was cleaned; never blocks.
    /// - Parameters:
    ///   - input: the microphone.
    ///   - reference: what this callback gives to the loudspeaker, all of it, after any volume.
    ///   - output: the cleaned microphone, ``VoiceProcessingWorker/latency`` frames late; plain once it was left. May be
    ///     `input`.
    ///   - frameCount: any number.
    /// - Returns: whether all of it was there in time.
    @_noLocks @discardableResult
    public func exchange(
        input: UnsafeMutablePointer<Float>, reference: UnsafeMutablePointer<Float>,
        output: UnsafeMutablePointer<Float>, frameCount: Int
    ) -> Bool {
        let isLeft = counts.pointee.isLeft.load(ordering: .relaxed)
        if isLeft, state.pointee.fade >= Self.fadeLength {
            if output != input { moveSamples(output, input, frameCount) }
            return true
        }
        pair[0] = input
        pair[1] = reference
        let isTaken = toWorker.write(Channels(pair, count: 2), frameCount: frameCount)
        if !isTaken {
            state.pointee.owed = state.pointee.owed &- frameCount
            counts.pointee.rejected.wrappingAdd(frameCount, ordering: .relaxed)
        }
        state.pointee.pending = state.pointee.pending &+ frameCount
        if state.pointee.pending >= Self.wakeLength {
            state.pointee.pending = 0
            wakeup.wake()
        }
        if isLeft {
            fade(from: input, into: output, frameCount: frameCount)
            return true
        }
        return take(into: output, frameCount: frameCount)
    }

    @_noLocks
    private func take(into output: UnsafeMutablePointer<Float>, frameCount: Int) -> Bool {
        dropLate()
        // A block that was rejected is missing in what comes: silence stands for it. Else silence goes before what comes.
        var lead = 0
        if state.pointee.owed < 0 {
            lead = frameCount < 0 &- state.pointee.owed ? frameCount : 0 &- state.pointee.owed
            clearSamples(output, lead)
            state.pointee.owed = state.pointee.owed &+ lead
        }
        single[0] = output
        var got = 0
        if state.pointee.owed == 0 {
            got = fromWorker.read(Channels(single, count: 1), frameCount: frameCount &- lead, offset: lead).frameCount
        }
        let missing = frameCount &- lead &- got
        if missing > 0 {
            clearSamples(output + (lead &+ got), missing)
            state.pointee.owed = state.pointee.owed &+ missing
        }
        counts.pointee.wanted.wrappingAdd(frameCount, ordering: .relaxed)
        if lead &+ missing > 0 { counts.pointee.late.wrappingAdd(lead &+ missing, ordering: .relaxed) }
        return lead &+ missing == 0
    }

    @_noLocks
    private func dropLate() {
        while state.pointee.owed > 0 {
            let most = state.pointee.owed < Self.dropLength ? state.pointee.owed : Self.dropLength
            let got = fromWorker.read(dropped, frameCount: most).frameCount
            state.pointee.owed = state.pointee.owed &- got
            if got < most { return }
        }
    }

    /// Whether `exchange` gives the plain microphone. Render-safe.
    public var isLeft: Bool { @_noLocks get { counts.pointee.isLeft.load(ordering: .relaxed) } }

    /// The plain microphone comes in over what the worker gave last, of which some is held; silence stands for what is not.
    @_noLocks
    private func fade(
        from input: UnsafeMutablePointer<Float>, into output: UnsafeMutablePointer<Float>, frameCount: Int
    ) {
        dropLate()
        let rest = Self.fadeLength &- state.pointee.fade
        let most = frameCount < rest ? frameCount : rest
        let got = state.pointee.owed == 0 ? fromWorker.read(dropped, frameCount: most).frameCount : 0
        var gain = Float(state.pointee.fade) * fadeStep
        var i = 0
        while i < frameCount {
            gain = gain + fadeStep > 1 ? 1 : gain + fadeStep
            let last = i < got ? dropped[0][i] : 0
            output[i] = last + gain * (input[i] - last)
            i &+= 1
        }
        state.pointee.fade = state.pointee.fade &+ frameCount
    }
}
