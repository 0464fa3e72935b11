import AudioBase
import AudioDSP

/// Bridges what is missing: continues the sound by linear prediction, lets it fade, and blends back into what comes.
///
/// Everything that is played passes through, so that the past is known when it is needed. The continuation is held for
/// 10 ms and gone after 60 ms: long enough for a lost packet, too short to buzz.
struct Concealer: ~Copyable {
    /// Whether a continuation is being played, or blended into what follows.
    private(set) var isActive = false

    private let channelCount: Int
    private let predictors: UnsafeMutablePointer<LinearPredictor>
    private var past: History
    private let holdFrames: Int
    private let fadeFrames: Int
    private let blendFrames: Int
    private var elapsed = 0  // frames of continuation so far
    private var blended = 0  // of these, frames blended with what followed

    init(channelCount: Int, sampleRate: Double) {
        self.channelCount = channelCount
        past = History(channelCount: channelCount, frameCount: 768)
        predictors = .allocate(capacity: channelCount)
        for c in 0..<channelCount { (predictors + c).initialize(to: LinearPredictor(historyCount: past.frameCount)) }
        holdFrames = Int(0.010 * sampleRate)
        fadeFrames = Int(0.050 * sampleRate)
        blendFrames = Int(0.0025 * sampleRate)
    }

    deinit {
        predictors.deinitialize(count: channelCount)
        predictors.deallocate()
    }

    /// Starts a continuation at the present end of what was played. What is passed next is blended into it.
    @_noLocks
    mutating func begin() {
        guard !isActive || blended > 0 else { return }
        for c in 0..<channelCount { predictors[c].analyze(past[c]) }
        isActive = true
        elapsed = 0
        blended = 0
    }

    /// Writes frames that nothing came for.
    @_noLocks
    mutating func conceal(_ output: Channels, offset: Int, frameCount: Int) {
        begin()
        for c in 0..<channelCount {
            if elapsed >= holdFrames &+ fadeFrames {
                clearSamples(output[c] + offset, frameCount)
            } else {
                for i in 0..<frameCount { output[c][offset &+ i] = gain(elapsed &+ i) * predictors[c].next() }
            }
        }
        elapsed &+= frameCount
        past.append(output, offset: offset, frameCount: frameCount)
    }

    /// Passes frames that did come, blending the first of them with a continuation.
    @_noLocks
    mutating func pass(_ output: Channels, offset: Int, frameCount: Int) {
        if isActive {
            let count = min(frameCount, blendFrames &- blended)
            for c in 0..<channelCount {
                for i in 0..<count {
                    let weight = (Float(blended &+ i) + 0.5) / Float(blendFrames)
                    let continued = gain(elapsed &+ i) * predictors[c].next()
                    output[c][offset &+ i] = continued + (output[c][offset &+ i] - continued) * weight
                }
            }
            elapsed &+= count
            blended &+= count
            if blended >= blendFrames { isActive = false }
        }
        past.append(output, offset: offset, frameCount: frameCount)
    }

    @_noLocks @inline(__always)
    private func gain(_ frame: Int) -> Float {
        frame < holdFrames ? 1 : max(0, 1 - Float(frame &- holdFrames) / Float(fadeFrames))
    }
}
