// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Pitch-synchronous overlap-add on the residual of linear prediction (E. Moulines and F. Charpentier, Speech Communication 9,
/// 1990): two periods around each mark are cut out and repeated at the new pitch's distance, then the envelope is applied, with
/// formants unchanged or shifted.
///
/// Unvoiced sound keeps its position, and so its character. Pitch and marks are those of the channels' sum, so that a stereo
/// image stays; each channel has its own envelope.
struct VoiceChangerKernel: UnitKernel, ~Copyable {
    let latency: Int
    let memory: Int
    private let channelCount: Int
    private let rate: Double
    private let lead: Double  // frames from the creation of a grain to its middle
    private let chunk = 64  // the maximum frames of a piece
    private let input: MirrorRing
    private let tables: GrainTables
    private let decimator: VoiceDecimator
    private let heard: MirrorRing  // the tracker's input, at the low rate
    private var tracker: VoicePitchTracker
    private var marks: VoiceMarks
    private let envelopes: UnsafeMutablePointer<VoiceEnvelope>
    private let trains: UnsafeMutablePointer<VoiceTrain>  // the voice, two added voices, the whisper's breath
    private let mono: UnsafeMutablePointer<Float>  // the weighted sum of a piece's channels
    private let wet: UnsafeMutablePointer<Float>  // a piece of the changed sound of a channel
    private let breath: UnsafeMutablePointer<Float>  // the level of a whisper's noise in each frame of a piece
    private let hop: Int  // samples of the low rate between analyses of the pitch
    private let blocker: Float  // the coefficient of a high-pass that removes 0 Hz
    private var frame = 0  // the number of the piece's first input frame
    private var blockerIn: Float = 0
    private var blockerOut: Float = 0
    private var setting = VoiceSetting()
    private var mix = LinearRamp(1)
    private var effect = LinearRamp(0)  // 0 while the settings change nothing, otherwise 1

    init(sampleRate: Double, channelCount: Int) {
        rate = sampleRate
        self.channelCount = channelCount
        latency = Int((0.025 * sampleRate).rounded())
        lead = (sampleRate / 70).rounded(.up)
        memory = latency + Int(4 * lead) + Int(0.06 * sampleRate)
        input = MirrorRing(channelCount: channelCount, frameCount: latency + Int(4 * lead) + 128)
        tables = GrainTables()
        decimator = VoiceDecimator(factor: max(1, Int(sampleRate / 11_000)), lobes: 4, cutoff: 0.28)
        let lowRate = sampleRate / Double(decimator.factor)
        tracker = VoicePitchTracker(rate: lowRate)
        heard = MirrorRing(channelCount: 1, frameCount: Int(0.1 * lowRate))
        marks = VoiceMarks(rate: lowRate, reach: Int(0.0125 * lowRate))
        hop = Int(0.0025 * lowRate)
        blocker = Float(earshot_exp(-2 * Double.pi * 40 / lowRate))
        trains = .allocate(capacity: 4)
        for k in 0..<4 { (trains + k).initialize(to: VoiceTrain()) }
        envelopes = .allocate(capacity: channelCount)
        for c in 0..<channelCount {
            (envelopes + c).initialize(to: VoiceEnvelope(sampleRate: sampleRate, frameCount: input.mask + 1))
        }
        mono = .allocate(capacity: 3 * chunk)
        mono.initialize(repeating: 0, count: 3 * chunk)
        breath = mono + 2 * chunk
        wet = mono + chunk
    }

    deinit {
        trains.deinitialize(count: 4)
        trains.deallocate()
        envelopes.deinitialize(count: channelCount)
        envelopes.deallocate()
        mono.deallocate()
    }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        setting.read(values, sampleRate: rate)
        // Dry and changed sound crossfade in 10 ms, which is inaudible.
        let length = frameCount == 0 ? 0 : Int(0.01 * rate)
        mix.move(to: setting.mix, over: length)
        effect.move(to: setting.isNeutral ? 0 : 1, over: length)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var done = 0
        while done < block.frameCount {
            let count = min(chunk, block.frameCount &- done)
            enqueueInput(block.input, block.offset &+ done, count)
            for i in 0..<count { advance(i) }
            writeOutput(block.output, block.offset &+ done, count)
            frame &+= count
            done &+= count
        }
    }

    /// Writes input to the rings, and the sum of the channels to ``mono``. Each channel has less weight than the previous one, so
    /// that a voice with opposite phase on two channels does not cancel.
    @_noLocks
    private mutating func enqueueInput(_ channels: Channels, _ offset: Int, _ count: Int) {
        var weight: Float = 1
        clearSamples(mono, count)
        for c in 0..<channelCount {
            let from = channels[c] + offset
            for i in 0..<count {
                input.write(from[i], at: frame &+ i, channel: c)
                mono[i] += weight * from[i]
            }
            for i in 0..<count {
                envelopes[c].advance(input, c, frame &+ i, formant: setting.formant)
            }
            weight *= 0.7
        }
    }

    /// Advances pitch, marks and grains by frame `i` of the piece.
    @_noLocks
    private mutating func advance(_ i: Int) {
        let now = frame &+ i
        if decimator.push(mono[i], at: now) {
            let tick = now / decimator.factor
            let x = decimator.value(at: now)
            blockerOut = x - blockerIn + blocker * blockerOut
            blockerIn = x
            heard.write(blockerOut, at: tick, channel: 0)
            if tick % hop == hop &- 1 { tracker.analyze(heard.samples(from: tick &+ 1 &- tracker.span, channel: 0)) }
            marks.advance(heard, now: tick, period: tracker.period)
        }
        let time = now &- latency
        let sounds = effect.value > 0 || effect.remaining > 0
        for k in 0..<4 {
            // The first train always runs: it has the consonants, also of a whisper.
            if sounds, k == 0 || setting.level(k) > 0 { run(k, time) } else { trains[k].runs = false }
            trains[k].drop(before: time &- chunk)
        }
    }

    /// Adds the grains that are due at input frame `time` to train `k`.
    @_noLocks
    private mutating func run(_ k: Int, _ time: Int) {
        let horizon = Double(time) + lead
        if !trains[k].runs {
            trains[k].runs = true
            trains[k].wasVoiced = false
            trains[k].last = horizon - 0.004 * rate
            trains[k].lastCentre = trains[k].last
            trains[k].due = horizon
            trains[k].probe = horizon
        }
        while trains[k].probe <= horizon {
            let place = trains[k].probe
            let mark = marked(place)
            if mark.period == 0 {
                layUnvoiced(k, place)
            } else if trains[k].wasVoiced, place < trains[k].due - 0.5 {
                trains[k].probe = min(trains[k].due, place + mark.period)
            } else {
                layVoiced(k, place, mark, time)
            }
        }
    }

    /// Returns the mark nearest to a position; both are on the time axis of the input.
    @_noLocks
    private func marked(_ place: Double) -> VoiceMark {
        let factor = Double(decimator.factor)
        let shift = Double(decimator.factor &- 1 &- decimator.delay)
        let mark = marks.nearest(to: (place - shift) / factor)
        return VoiceMark(
            position: mark.position * factor + shift, period: mark.period * factor, offset: mark.offset * factor)
    }

    @_noLocks
    private mutating func layUnvoiced(_ k: Int, _ place: Double) {
        let spacing = 0.004 * rate
        let leftLength = min(lead - 2, max(1, place - trains[k].lastCentre))
        if !trains[k].wasVoiced { trains[k].closeLast(leftLength) }
        // The added voices have no consonants; only the first train has them.
        trains[k].append(
            VoiceGrain(centre: place, source: place, left: leftLength, right: spacing, gain: k == 0 ? 1 : 0))
        trains[k].last = place
        trains[k].lastCentre = place
        trains[k].due = place + spacing
        trains[k].probe = place + spacing
        trains[k].wasVoiced = false
    }

    @_noLocks
    private mutating func layVoiced(_ k: Int, _ due: Double, _ mark: VoiceMark, _ time: Int) {
        var place = due
        let period = mark.period
        let ratio = setting.ratio(k)
        let spacing = setting.robotSpacing > 0 ? setting.robotSpacing / setting.interval(k) : period / ratio
        let staysOnMarks = k == 3 || (setting.robotSpacing == 0 && (ratio - 1).magnitude < 1e-4)
        // A voice starts on a mark; a voice at the input's own pitch stays on marks.
        if staysOnMarks || !trains[k].wasVoiced {
            place = mark.position
            while place < trains[k].last + 0.3 * min(period, 0.004 * rate) { place += period }
        }
        let centre = place + mark.offset
        let room = max(1, min(lead - 2, centre - Double(time) - 1))
        let fullLength = min(room, period)
        let gap = max(1, centre - trains[k].lastCentre)
        var leftLength = fullLength
        if !trains[k].wasVoiced || (staysOnMarks && gap < 1.5 * period) {
            leftLength = min(room, gap)
            trains[k].closeLast(leftLength)
        }
        let density = k == 3 ? 1 : Float(earshot_sqrt(spacing / period))
        trains[k].append(
            VoiceGrain(
                centre: centre, source: mark.position + mark.offset, left: leftLength, right: fullLength,
                gain: density * setting.level(k)))
        trains[k].last = place
        trains[k].lastCentre = centre
        let step = k == 3 ? period : spacing
        trains[k].due = place + step
        trains[k].probe = place + min(step, period)
        trains[k].wasVoiced = true
    }

    /// Outputs a piece: the delayed input, crossfaded by the mix with the sum of the trains.
    @_noLocks
    private mutating func writeOutput(_ channels: Channels, _ offset: Int, _ count: Int) {
        let time = frame &- latency
        let startMix = mix
        let startEffect = effect
        let dryOnly = mix.remaining == 0 && effect.remaining == 0 && mix.value * effect.value == 0
        clearSamples(breath, count)
        if !dryOnly { trains[3].addWindows(tables, from: time, to: breath, count: count) }
        for c in 0..<channelCount {
            let to = channels[c] + offset
            let dry = input.samples(from: time, channel: c)
            if dryOnly {
                envelopes[c].followInput(dry: dry, from: time, count: count)
                for i in 0..<count { to[i] = dry[i] }
                continue
            }
            clearSamples(wet, count)
            for k in 0..<3 { trains[k].add(envelopes[c].residual, tables, from: time, to: wet, count: count) }
            envelopes[c].sound(wet, breath: breath, dry: dry, from: time, count: count)
            mix = startMix
            effect = startEffect
            for i in 0..<count {
                let w = mix.next() * effect.next()
                to[i] = dry[i] + w * (wet[i] - dry[i])
            }
        }
    }

    @_noLocks
    mutating func reset() {
        input.clear()
        heard.clear()
        decimator.reset()
        tracker.reset()
        marks.reset()
        for k in 0..<4 { trains[k].reset() }
        for c in 0..<channelCount { envelopes[c].reset() }
        frame = 0
        blockerIn = 0
        blockerOut = 0
        mix.finish()
        effect.finish()
    }

    static var functions: UnitFunctions {
        UnitFunctions(
            set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
            process: { state, block in
                state.assumingMemoryBound(to: Self.self).pointee.process(
                    block.assumingMemoryBound(to: UnitBlock.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
    }
}
