import AudioBase
import AudioDSP

/// A joint between two formats: takes frames in one rate domain and gives them in another.
///
/// Each domain has its own count of frames in a slice, whole numbers that wobble by one about the true ratio; a few frames
/// of silence ahead make sure that there is always enough. Both halves are steps of the one render thread.
struct ConversionState: ~Copyable {
    private var resampler: Resampler
    private let isRateEqual: Bool
    private var written = 0  // frames behind `inputOffset` not told to the resampler yet
    private let inputCount: Int
    private let outputCount: Int
    private let lanes: Int
    private let held: AudioBuffer
    private let heldChannels: Channels
    private(set) var starved = 0
    private var silentFrames = 0

    /// Frames of silence ahead of the first: what the filter looks ahead, and the wobble of the counts.
    private static func priming(_ halfLength: Int) -> Int { halfLength + 3 }
    private static let halfLength = 64

    init(from: AudioFormat, to: AudioFormat, slice: Int) {
        inputCount = from.channelCount
        outputCount = to.channelCount
        lanes = min(from.channelCount, to.channelCount)
        isRateEqual = from.sampleRate == to.sampleRate
        let most = Int(Double(slice) * max(1, to.sampleRate / from.sampleRate)) + 8
        resampler = Resampler(
            from: from.sampleRate, to: to.sampleRate, channelCount: lanes, halfLength: Self.halfLength,
            maximumFrameCount: 2 * most)
        held = AudioBuffer(channelCount: lanes, frameCapacity: most + 8)
        heldChannels = held.channels
        if !isRateEqual { written = Self.priming(resampler.halfLength) }
        silentFrames = 2 * resampler.halfLength + 16
    }

    /// Frames of delay at the output's rate.
    var latency: Double {
        isRateEqual ? 0 : Double(Self.priming(resampler.halfLength)) / resampler.step
    }

    static var write: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: ConversionState.self).pointee.write(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }
    static var read: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: ConversionState.self).pointee.read(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    /// In the source's domain.
    @_noLocks
    mutating func write(_ call: RenderCall) {
        let from = call.inputs[0]
        silentFrames = from.isSilent ? silentFrames &+ call.frameCount : 0
        let count = call.frameCount
        for lane in 0..<lanes {
            let to = isRateEqual ? heldChannels[lane] : resampler.input[lane] + (resampler.inputOffset &+ written)
            if lanes < inputCount, lanes == 1 {
                mean(from.channels, to, count)
            } else {
                copySamples(to, from.channels[lane], count)
            }
        }
        written &+= count
    }

    /// In the destination's domain.
    @_noLocks
    mutating func read(_ call: RenderCall) {
        let to = call.outputs[0]
        let count = call.frameCount
        if isRateEqual {
            for c in 0..<outputCount { spread(heldChannels, to.channels, c, count) }
            written = 0
        } else {
            let needed = resampler.inputNeeded(for: count)
            if needed > written {
                for lane in 0..<lanes {
                    clearSamples(resampler.input[lane] + (resampler.inputOffset &+ written), needed &- written)
                }
                starved &+= needed &- written
                written = needed
            }
            resampler.render(heldChannels, frameCount: count, adding: written)
            written = 0
            for c in 0..<outputCount { spread(heldChannels, to.channels, c, count) }
        }
        to.isSilent = silentFrames > 2 &* resampler.halfLength &+ 16 &+ count
        if to.isSilent { to.silence(count) }
    }

    @_noLocks
    private func mean(_ from: Channels, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
        copySamples(to, from[0], count)
        for c in 1..<from.count { for i in 0..<count { to[i] += from[c][i] } }
        let share = 1 / Float(from.count)
        for i in 0..<count { to[i] *= share }
    }

    /// One lane to every channel; otherwise each to its like, and silence where there is none.
    @_noLocks
    private func spread(_ from: Channels, _ to: Channels, _ channel: Int, _ count: Int) {
        if lanes == 1 {
            copySamples(to[channel], from[0], count)
        } else if channel < lanes {
            copySamples(to[channel], from[channel], count)
        } else {
            clearSamples(to[channel], count)
        }
    }
}
