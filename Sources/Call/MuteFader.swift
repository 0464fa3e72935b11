import AudioBase

/// Makes a voice silent, and lets it be heard again, by a fade of 5 ms. What is not muted is not touched, to the bit.
struct MuteFader: BitwiseCopyable {
    private var gain: Float = 1
    private let step: Float  // a frame

    @_noLocks
    init(sampleRate: Double) { step = Float(1 / (0.005 * sampleRate)) }

    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int, isMuted: Bool) {
        let goal: Float = isMuted ? 0 : 1
        if gain == goal {
            if isMuted { for c in 0..<block.count { clearSamples(block[c], frameCount) } }
            return
        }
        let change = isMuted ? 0 - step : step
        var reached = gain
        for c in 0..<block.count {
            let samples = block[c]
            reached = gain
            for i in 0..<frameCount {
                reached += change
                reached = reached < 0 ? 0 : reached > 1 ? 1 : reached
                samples[i] *= reached
            }
        }
        gain = reached
    }
}
