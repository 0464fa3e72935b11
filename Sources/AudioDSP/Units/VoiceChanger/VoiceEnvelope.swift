// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Removes the vocal tract's envelope from one channel, and applies it again with higher, lower or unchanged formants.
///
/// Linear prediction by the autocorrelation method (J. Makhoul, "Linear prediction: a tutorial review", Proceedings of the IEEE
/// 63, 1975). The residual is nearly flat, so that cutting it leaves formants unchanged (the LP-PSOLA of Moulines and
/// Charpentier). Formants shift by stretching the autocorrelation, which scales its spectrum. The work of an analysis is spread
/// over the frames until the next analysis.
struct VoiceEnvelope: ~Copyable {
    /// The residual of the input (the prediction's error), by frame number.
    let residual: MirrorRing
    /// The delay of ``residual`` in frames.
    let delay: Int
    private let order: Int
    private let hop: Int  // frames between analyses
    private let step: Int  // an eighth of `hop`, in which coefficients are constant
    private let window: Int  // frames of an analysis
    private let lagRoom: Int  // the maximum number of lags
    private let setStride: Int  // floats of a set of coefficients
    private let shape: UnsafeMutablePointer<Float>  // the analysis window
    private let emphasised: MirrorRing  // the input with raised high frequencies
    private let output: MirrorRing
    private let segment: UnsafeMutablePointer<Float>  // the windowed frames of an analysis
    private let correlation: UnsafeMutablePointer<Float>  // lags from −16 on
    private let taper: UnsafeMutablePointer<Float>  // the factor of each lag
    private let predictor: UnsafeMutablePointer<Float>  // the set for the input's present frame
    private let current: UnsafeMutablePointer<Float>  // the set for the output's present frame
    private let scratch: UnsafeMutablePointer<Double>  // the coefficients that `levinson()` computes
    private let stretched: UnsafeMutablePointer<Double>  // the autocorrelation that `levinson()` reads
    // A ring of eight sets, each with the output filter's coefficients, two levels, and the input filter's coefficients. The last
    // coefficient comes first.
    private let sets: UnsafeMutablePointer<Float>
    private let emphasis: Float
    private let noiseScale: Float
    private var previous: Float = 0  // the last input frame
    private var lags = 0  // the number of lags of the present analysis
    private var formant = 1.0
    private var random: UInt32 = 1
    private var peak: Float = 0  // the decaying peak of the input
    private let fall: Float  // the factor of `peak` in each frame

    /// - Parameter frameCount: the frames of ``residual`` to keep.
    init(sampleRate: Double, frameCount: Int) {
        order = min(192, max(12, (Int(sampleRate / 1_000) + 3) / 4 * 4))
        step = Int(0.0005 * sampleRate)
        hop = 8 * step
        window = Int(0.03 * sampleRate)
        lagRoom = 2 * order + 16
        setStride = 2 * order + 2
        residual = MirrorRing(channelCount: 1, frameCount: frameCount)
        emphasised = MirrorRing(channelCount: 1, frameCount: window + 8)
        output = MirrorRing(channelCount: 1, frameCount: order + 72)
        let room = 2 * window + lagRoom + 32 + lagRoom + 10 * setStride
        shape = .allocate(capacity: room)
        shape.initialize(repeating: 0, count: room)
        segment = shape + window
        correlation = segment + window
        taper = correlation + (lagRoom + 32)
        predictor = taper + lagRoom
        current = predictor + setStride
        sets = current + setStride
        scratch = .allocate(capacity: 2 * (order + 1))
        scratch.initialize(repeating: 0, count: 2 * (order + 1))
        stretched = scratch + (order + 1)
        // The window rises slowly and falls fast: much of the past counts, but the window's centre is recent.
        let rise = window * 4 / 5
        var weight = 0.0
        var moment = 0.0
        for i in 0..<window {
            let x = i < rise ? (Double(i) + 0.5) / Double(rise) : (Double(window - i) - 0.5) / Double(window - rise)
            let w = earshot_sin(0.5 * Double.pi * x)
            shape[i] = Float(w * w)
            weight += w * w * w * w
            moment += w * w * w * w * Double(window - i)
        }
        delay = Int(moment / weight) + hop + hop / 2
        for k in 0..<lagRoom {
            let x = 2 * Double.pi * 40 * Double(k) / sampleRate
            taper[k] = Float(earshot_exp(-0.5 * x * x))
        }
        let c = earshot_exp(-2 * Double.pi * 300 / sampleRate)
        emphasis = Float(c)
        let w = 2 * Double.pi * 1_000 / sampleRate
        noiseScale = Float(1 / earshot_sqrt(weight * (1 + c * c - 2 * c * earshot_cos(w))))
        fall = Float(earshot_exp(-1 / (0.1 * sampleRate)))
    }

    deinit {
        shape.deallocate()
        scratch.deallocate()
    }

    /// Adds the input's frame `now` and computes ``residual`` at `now - delay`.
    @_noLocks
    mutating func advance(
        _ input: borrowing MirrorRing, _ channel: Int, _ now: Int, formant: Double
    ) {
        let x = input.samples(from: now, channel: channel)[0]
        emphasised.write(x - emphasis * previous, at: now, channel: 0)
        previous = x
        let phase = now % hop
        if phase == 0 {
            let from = emphasised.samples(from: now &- window &+ 1, channel: 0)
            for i in 0..<window { segment[i] = from[i] * shape[i] }
            self.formant = formant
            lags = formant == 1 ? order &+ 1 : min(lagRoom, wholeBelow(Double(order) * max(1, formant)) &+ 4)
        }
        var lag = phase &* lags / hop
        let stop = (phase &+ 1) &* lags / hop
        while lag < stop {
            correlation[16 &+ lag] = dotProduct(segment, segment + lag, window &- lag) * taper[lag]
            lag &+= 1
        }
        if phase == hop &- 1 { solve(now / hop &+ 1) }
        if now % step == 0 { blend(predictor, at: now) }
        let past = input.samples(from: now &- delay &- order, channel: channel)
        let predicted = dotProduct(past, predictor + (order &+ 2), order)
        residual.write(past[order] - predicted, at: now &- delay, channel: 0)
    }

    /// Computes coefficients from the autocorrelation, for the frames of hop `index`.
    @_noLocks
    private mutating func solve(_ index: Int) {
        let set = sets + (index & 7) &* setStride
        clearSamples(set, setStride)
        let power = Double(correlation[16])
        guard power > 1e-12 else { return }
        for k in 0...order { stretched[k] = Double(correlation[16 &+ k]) }
        stretched[0] = power * 1.000_1
        let error = levinson()
        let inputSet = set + (order &+ 2)
        for i in 0..<order { inputSet[order &- 1 &- i] = Float(scratch[i]) }
        var movedError = error
        if formant == 1 {
            for i in 0..<order { set[i] = inputSet[i] }
        } else {
            correlation[15] = correlation[17]
            clearSamples(correlation + (16 &+ lags), 16)
            for k in 0...order { stretched[k] = lagged(Double(k) * formant) }
            // The power stays the same, and a noise floor is added, because stretching can leave a band empty.
            let scale = power / max(1e-30, stretched[0])
            for k in 0...order { stretched[k] *= scale }
            stretched[0] = power * 1.000_1
            movedError = levinson()
            for i in 0..<order { set[order &- 1 &- i] = Float(scratch[i]) }
        }
        // The powers of both filters' emphasised sounds become equal; `formant` allows for less emphasis at lower frequencies.
        set[order] = Float(earshot_sqrt(movedError / error) * formant)
        set[order &+ 1] = Float(earshot_sqrt(movedError)) * noiseScale
    }

    /// Interpolates a set of coefficients between two analyses, for the input's frame `now`.
    @_noLocks
    private func blend(_ to: UnsafeMutablePointer<Float>, at now: Int) {
        let index = now / hop
        let a = sets + ((index &- 1) & 7) &* setStride
        let b = sets + (index & 7) &* setStride
        let part = Float(now % hop / step &+ 1) * 0.125
        for i in 0..<setStride { to[i] = a[i] + part * (b[i] - a[i]) }
    }

    /// Returns the autocorrelation at a lag between whole lags, by a cubic B-spline. The spline's spectrum is never negative, so
    /// the result is still an autocorrelation, and its filter is stable.
    @_noLocks
    private func lagged(_ lag: Double) -> Double {
        let whole = wholeBelow(lag)
        let t = lag - Double(whole)
        let u = 1 - t
        let r = correlation + (16 &+ whole)
        let ends = Double(r[-1]) * u * u * u + Double(r[2]) * t * t * t
        let near = Double(r[0]) * (4 - 6 * t * t + 3 * t * t * t)
        return (ends + near + Double(r[1]) * (4 - 6 * u * u + 3 * u * u * u)) / 6
    }

    /// Runs the Levinson–Durbin recursion from `stretched` to `scratch`. Returns the prediction error.
    @_noLocks
    private mutating func levinson() -> Double {
        var error = stretched[0]
        let minimumError = error * 1e-9
        for i in 0..<order { scratch[i] = 0 }
        for m in 0..<order {
            var sum = stretched[m &+ 1]
            for i in 0..<m { sum -= scratch[i] * stretched[m &- i] }
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
            error = max(minimumError, error * (1 - k * k))
        }
        return error
    }

    /// Applies the envelope to `excitation`, in place.
    /// - Parameters:
    ///   - breath: the level of added noise, a factor for each frame.
    ///   - dry: the input at the same place, which limits the output.
    ///   - time: the first frame, on the time axis of the input.
    @_noLocks
    mutating func sound(
        _ excitation: UnsafeMutablePointer<Float>, breath: UnsafePointer<Float>, dry: UnsafePointer<Float>,
        from time: Int, count: Int
    ) {
        for i in 0..<count {
            let inputFrame = time &+ i &+ delay
            if inputFrame >= 0, inputFrame % step == 0 { blend(current, at: inputFrame) }
            let set = UnsafePointer(current)
            random = random &* 1_664_525 &+ 1_013_904_223
            // Uniform in ±√3: the power is 1.
            let noise = (Float(random >> 8) / 8_388_608 - 1) * 1.732_050_8
            var y = excitation[i] * set[order] + breath[i] * noise * set[order &+ 1]
            y += dotProduct(output.samples(from: time &+ i &- order, channel: 0), set, order)
            peak = max(peak * fall, dry[i].magnitude)
            // Filters that change while they ring can overshoot; no voice reaches this limit.
            y = max(-6 * peak, min(6 * peak, y))
            output.write(y, at: time &+ i, channel: 0)
            excitation[i] = y
        }
    }

    /// Updates the output filter's memory as if the filter had output the input.
    @_noLocks
    mutating func followInput(dry: UnsafePointer<Float>, from time: Int, count: Int) {
        for i in 0..<count {
            output.write(dry[i], at: time &+ i, channel: 0)
            peak = max(peak * fall, dry[i].magnitude)
            random = random &* 1_664_525 &+ 1_013_904_223
            let inputFrame = time &+ i &+ delay
            if inputFrame >= 0, inputFrame % step == 0 { blend(current, at: inputFrame) }
        }
    }

    /// Forgets all sound.
    @_noLocks
    mutating func reset() {
        residual.clear()
        emphasised.clear()
        output.clear()
        clearSamples(segment, window)
        clearSamples(correlation, lagRoom &+ 32)
        clearSamples(predictor, 10 &* setStride)
        previous = 0
        lags = 0
        formant = 1
        random = 1
        peak = 0
    }
}
