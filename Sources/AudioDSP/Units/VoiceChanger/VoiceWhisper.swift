import AudioBase
import CRealtime

/// One channel's sound with its excitation replaced by noise: linear prediction by the autocorrelation method (J. Makhoul,
/// "Linear prediction: a tutorial review", Proceedings of the IEEE 63, 1975), the envelope ringing under white noise.
///
/// Works at 48 kHz or below; the work of an analysis is spread over the frames until the next.
struct VoiceWhisper: ~Copyable {
    /// The whispered sound, by the sample's number at the low rate.
    let ring: MirrorRing
    /// Frames by which the whisper in the ring is behind the sound that it follows, at the full rate.
    let delay: Int
    private let decimator: VoiceDecimator
    private let order: Int
    private let hop: Int
    private let window: Int
    private let shape: UnsafeMutablePointer<Float>
    private let past: MirrorRing
    private let segment: UnsafeMutablePointer<Float>
    private let correlation: UnsafeMutablePointer<Float>
    private let predictor: UnsafeMutablePointer<Float>
    private let scratch: UnsafeMutablePointer<Float>
    private let taper: UnsafeMutablePointer<Float>
    private let output: MirrorRing
    private let zero: Float
    private let pole: Float
    private let level: Float
    private var isOn = false
    private var gain: Float = 0
    private var gainStep: Float = 0
    private var lastShaped: Float = 0
    private var random: UInt32 = 1

    init(sampleRate: Double, frameCount: Int) {
        let factor = max(1, Int(sampleRate / 44_100))
        let rate = sampleRate / Double(factor)
        decimator = VoiceDecimator(factor: factor, lobes: 12, cutoff: 0.45)
        order = min(48, (Int(rate / 1_000) + 7) / 4 * 4)
        hop = Int(0.005 * rate)
        window = 4 * hop
        delay = decimator.delay + factor * (window / 2 + hop + hop / 2)
        ring = MirrorRing(channelCount: 1, frameCount: frameCount / factor + 64)
        past = MirrorRing(channelCount: 1, frameCount: window + 8)
        output = MirrorRing(channelCount: 1, frameCount: order + 8)
        shape = .allocate(capacity: 2 * window + 4 * order + 8)
        shape.initialize(repeating: 0, count: 2 * window + 4 * order + 8)
        segment = shape + window
        correlation = segment + window
        taper = correlation + (order + 1)
        predictor = taper + (order + 1)
        scratch = predictor + (order + 1)
        for i in 0..<window {
            shape[i] = Float(0.5 - 0.5 * earshot_cos(2 * Double.pi * (Double(i) + 0.5) / Double(window)))
        }
        // Widens what might be a single harmonic by 60 Hz, and lays a floor 50 dB below.
        for k in 0...order {
            let x = 2 * Double.pi * 60 * Double(k) / rate
            taper[k] = Float(earshot_exp(-0.5 * x * x)) * (k == 0 ? 1.000_01 : 1)
        }
        // A whisper lacks the fall of the glottal pulse's spectrum: a shelf takes 12 dB from the low end.
        zero = Float(earshot_exp(-2 * Double.pi * 700 / rate))
        pole = Float(earshot_exp(-2 * Double.pi * min(2_800, 0.45 * rate) / rate))
        level = (1 + pole) / (1 + zero) * 1.5
    }

    deinit { shape.deallocate() }

    /// Where in ``ring`` the whisper of a place on the time axis of the input is.
    @_noLocks
    func place(of time: Double) -> Double {
        (time + Double(delay &- decimator.factor &+ 1)) / Double(decimator.factor)
    }

    /// Frames of ``ring`` for a frame.
    var pace: Double { @_noLocks get { 1 / Double(decimator.factor) } }

    /// Takes the input's frame of this number.
    @_noLocks
    mutating func push(_ x: Float, at frame: Int) {
        if !isOn {
            clear()
            isOn = true
        }
        guard decimator.push(x, at: frame) else { return }
        let tick = frame / decimator.factor
        past.write(decimator.value(at: frame), at: tick, channel: 0)
        let phase = tick % hop
        if phase == 0 {
            let from = past.samples(from: tick &- window &+ 1, channel: 0)
            for i in 0..<window { segment[i] = from[i] * shape[i] }
        }
        // The lags of the autocorrelation are shared out among the frames of a hop.
        var lag = phase &* (order &+ 1) / hop
        let stop = (phase &+ 1) &* (order &+ 1) / hop
        while lag < stop {
            correlation[lag] = dotProduct(segment, segment + lag, window &- lag) * taper[lag]
            lag &+= 1
        }
        if phase == hop &- 1 { solve() }
        ring.write(next(tick), at: tick, channel: 0)
    }

    /// Does nothing but remember that it must start anew.
    @_noLocks @inline(__always)
    mutating func rest() { isOn = false }

    /// The Levinson–Durbin recursion; the predictor is kept with its last coefficient first.
    @_noLocks
    private mutating func solve() {
        var error = correlation[0]
        // The window's mean square is 3/8.
        let silent = error < 1e-12 * Float(window)
        if silent {
            gainStep = -gain / Float(hop)
            return
        }
        for i in 0..<order { scratch[i] = 0 }
        for m in 0..<order {
            var sum = correlation[m &+ 1]
            for i in 0..<m { sum -= scratch[i] * correlation[m &- i] }
            let k = max(-0.9999, min(0.9999, sum / error))
            scratch[m] = k
            var i = 0
            while i < m &- 1 &- i {
                let a = scratch[i]
                let b = scratch[m &- 1 &- i]
                scratch[i] = a - k * b
                scratch[m &- 1 &- i] = b - k * a
                i &+= 1
            }
            if m > 0, i == m &- 1 &- i { scratch[i] -= k * scratch[i] }
            error *= 1 - k * k
        }
        for i in 0..<order { predictor[order &- 1 &- i] = scratch[i] }
        let target = earshot_sqrtf(max(0, error) / (0.375 * Float(window)))
        gainStep = (target - gain) / Float(hop)
    }

    @_noLocks
    private mutating func next(_ tick: Int) -> Float {
        random = random &* 1_664_525 &+ 1_013_904_223
        gain = max(0, gain + gainStep)
        // Evenly spread over ±√3: the power is 1.
        let noise = (Float(random >> 8) / 8_388_608 - 1) * 1.732_050_8
        var y = gain * noise + dotProduct(output.samples(from: tick &- order, channel: 0), predictor, order)
        if gain < 1e-9 { y = 0 }
        y = max(-1e6, min(1e6, y))
        output.write(y, at: tick, channel: 0)
        let previous = output.samples(from: tick &- 1, channel: 0)[0]
        lastShaped = level * (y - zero * previous) + pole * lastShaped
        if gain < 1e-9 { lastShaped = 0 }
        return lastShaped
    }

    @_noLocks
    private mutating func clear() {
        decimator.reset()
        past.clear()
        output.clear()
        ring.clear()
        clearSamples(segment, window)
        clearSamples(correlation, order &+ 1)
        clearSamples(predictor, order)
        gain = 0
        gainStep = 0
        lastShaped = 0
        random = 1
    }

    /// Forgets every sample.
    @_noLocks
    mutating func reset() {
        clear()
        isOn = false
    }
}
