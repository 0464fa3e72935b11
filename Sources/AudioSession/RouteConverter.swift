// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Converts between a device's rate and the session's rate, in both directions. For each block of the device, the client gets
/// frames of the same duration at the session's rate.
///
/// Everything except `init` is safe on the render thread.
struct RouteConverter: ~Copyable {
    /// The device frames converted at a time, so that the client's frames stay within the maximum of a callback.
    private let pieceLength: Int
    private let sessionRate: Double
    private let deviceRate: Double
    private var capture: Resampler
    private var playback: Resampler
    private let waiting: AudioBuffer  // captured frames at the session's rate that the client has not had yet
    private let held: Channels
    private var heldCount = 0
    /// The seconds by which the client's frames are ahead of the device's: those that the filters hold.
    private(set) var lead = 0.0
    private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

    /// Creates a converter; both rates are in hertz.
    init(sessionRate: Double, deviceRate: Double, inputCount: Int, outputCount: Int) {
        self.sessionRate = sessionRate
        self.deviceRate = deviceRate
        pieceLength = max(1, min(1_024, Int(0.95 * Double(IOCycle.maximumFrameCount) * deviceRate / sessionRate)))
        capture = Resampler(
            from: deviceRate, to: sessionRate, channelCount: max(1, inputCount), halfLength: 32,
            maximumFrameCount: IOCycle.maximumFrameCount)
        playback = Resampler(
            from: sessionRate, to: deviceRate, channelCount: max(1, outputCount), halfLength: 32,
            maximumFrameCount: pieceLength)
        waiting = AudioBuffer(channelCount: max(1, inputCount), frameCapacity: 2 * IOCycle.maximumFrameCount)
        held = waiting.channels
        outputs = .allocate(capacity: max(1, outputCount))
        outputs.initialize(to: playback.input[0])
        for c in 1..<max(1, outputCount) { (outputs + c).initialize(to: playback.input[c]) }
    }

    deinit { outputs.deallocate() }

    /// Handles one callback of the device.
    /// - Parameters:
    ///   - cycle: the device's cycle, with the session's channel counts.
    ///   - sampleTime: the session's frame counter, which advances by the client's frames.
    @_noLocks
    mutating func process(_ cycle: IOCycle, _ sampleTime: inout Int64, _ client: RenderCallback) {
        var offset = 0
        lead -= Double(cycle.frameCount) / deviceRate
        while offset < cycle.frameCount {
            let count = min(pieceLength, cycle.frameCount &- offset)
            takeInput(cycle.input, offset, count)
            let wanted = cycle.output.count > 0 ? playback.inputNeeded(for: count) : heldCount
            if wanted > 0 { call(client, cycle, wanted, offset, &sampleTime) }
            if cycle.output.count > 0 {
                playback.render(cycle.output, frameCount: count, offset: offset, adding: wanted)
            }
            offset &+= count
        }
    }

    @_noLocks
    private mutating func takeInput(_ input: Channels, _ offset: Int, _ count: Int) {
        guard input.count > 0 else { return }
        for c in 0..<input.count { copySamples(capture.input[c] + capture.inputOffset, input[c] + offset, count) }
        let room = waiting.frameCapacity &- heldCount
        let ready = min(capture.outputAvailable(afterAdding: count), room)
        capture.render(held, frameCount: ready, offset: heldCount, adding: count)
        heldCount &+= ready
    }

    /// Calls the client with `count` frames. At the start, silence replaces the input that the filters do not have yet; from then
    /// on both directions stay aligned to the frame.
    @_noLocks
    private mutating func call(
        _ client: RenderCallback, _ cycle: IOCycle, _ count: Int, _ offset: Int, _ sampleTime: inout Int64
    ) {
        if cycle.input.count > 0, heldCount < count {
            for c in 0..<cycle.input.count {
                moveSamples(held[c] + (count &- heldCount), held[c], heldCount)
                clearSamples(held[c], count &- heldCount)
            }
            heldCount = count
        }
        for c in 0..<cycle.output.count {
            outputs[c] = playback.input[c] + playback.inputOffset
            clearSamples(outputs[c], count)
        }
        let addedLatency = Double(max(0, heldCount &- count)) / sessionRate + capture.heldFrames / deviceRate
        var inner = IOCycle(
            frameCount: count, sampleTime: sampleTime,
            hostTime: cycle.hostTime.advanced(bySeconds: Double(offset) / deviceRate),
            inputLatency: cycle.inputLatency + addedLatency,
            outputLatency: cycle.outputLatency + playback.heldFrames / sessionRate,
            input: Channels(held.pointers, count: cycle.input.count),
            output: Channels(outputs, count: cycle.output.count))
        inner.lateness = cycle.lateness
        client(&inner)
        sampleTime &+= Int64(count)
        lead += Double(count) / sessionRate
        guard cycle.input.count > 0 else { return }
        heldCount &-= count
        for c in 0..<cycle.input.count { moveSamples(held[c], held[c] + count, heldCount) }
    }
}
