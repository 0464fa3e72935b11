// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The recording of one participant's voice: its track, its place on the timeline, and its gain in the mix. For one thread at a
/// time.
final class RecordedVoice {
    /// The maximum number of names that are listed.
    static let maximumNameCount = 100
    /// The seconds in which the mix reaches a new volume, and the voice fades before and after silence.
    static let rampTime = 0.005

    let track: RecordingTrack
    /// The verified key; nil for a browser.
    let key: KeyFingerprint?
    let kind: RecordingManifest.Kind
    let isLocal: Bool
    /// The frames by which the voice is written earlier than it was read; nil while unknown.
    var shift: Int?
    /// Converts the sound of a microphone with its own clock; nil for other sound.
    let microphone: SeparateMicrophone?
    /// The participant's last name.
    private(set) var name: String
    /// All names, in order.
    private(set) var names: [String]
    private(set) var volumes: [RecordingManifest.Volume] = []
    /// The sound of the current block. It is a sum, because a renegotiated voice arrives in two parts.
    private let block: AudioBuffer
    /// True if the current block has sound.
    private(set) var isFilled = false

    /// The changes after the written frames.
    private var changes: [Change] = []
    private var latestChange: Change?
    /// The reason that the voice is silence; nil while it is written.
    private var silenceReason: RecordingManifest.Gap.Reason?
    private var gain: Float = 1
    private var targetGain: Float = 1
    /// The frames until the mix reaches the target gain.
    private var rampLeft = 0
    private let rampFrames: Int
    /// The frames until the voice is complete after silence.
    private var fadeInLeft = 0
    /// The frames in which the voice fades before the next silence; nil while that is further away, or unknown.
    private var fadeOut: Range<Int>?

    /// A change of the participant's state at a frame of the timeline.
    private struct Change {
        var frame: Int
        var silenceReason: RecordingManifest.Gap.Reason?
        var volume: Float
    }

    init(
        _ track: RecordingTrack, format: AudioFormat, key: KeyFingerprint?, name: String,
        kind: RecordingManifest.Kind = .voice, isLocal: Bool = false, microphone: SeparateMicrophone? = nil
    ) {
        self.track = track
        self.key = key
        self.kind = kind
        self.isLocal = isLocal
        self.microphone = microphone
        self.name = name
        names = [name]
        // A separate microphone's block may become longer.
        block = AudioBuffer(channelCount: format.channelCount, frameCapacity: 2 * IOCycle.maximumFrameCount)
        rampFrames = max(1, Int(Self.rampTime * format.sampleRate))
    }

    /// The reason of missing frames while the voice is written.
    private var missingReason: RecordingManifest.Gap.Reason { isLocal ? .device : .away }

    /// Adds sound to the current block.
    func add(_ sound: ReadOnlyChannels, frameCount: Int) {
        for c in 0..<block.channels.count {
            if isFilled {
                addSamples(block.channels[c], sound[c], frameCount, gain: 1)
            } else {
                copySamples(block.channels[c], sound[c], frameCount)
            }
        }
        isFilled = true
    }

    /// Empties the current block.
    func discardBlock() { isFilled = false }

    /// Notes the participant's state from a frame on.
    /// - Parameter silenceReason: the reason that the voice must be silence; nil if it is written.
    func update(name: String, silenceReason: RecordingManifest.Gap.Reason?, volume: Float, at frame: Int) {
        self.name = name
        if !names.contains(name), names.count < Self.maximumNameCount { names.append(name) }
        guard let latestChange else {
            // Before this frame the participant was absent.
            if frame > 0 { self.silenceReason = .away }
            (gain, targetGain) = (volume, volume)
            return note(Change(frame: frame, silenceReason: silenceReason, volume: volume))
        }
        guard silenceReason != latestChange.silenceReason || volume != latestChange.volume else { return }
        note(Change(frame: max(frame, latestChange.frame), silenceReason: silenceReason, volume: volume))
    }

    private func note(_ change: Change) {
        if change.volume != latestChange?.volume {
            volumes.append(.init(frame: latestChange == nil ? 0 : change.frame, gain: change.volume))
        }
        latestChange = change
        changes.append(change)
    }

    /// Makes the changes up to a frame. A gap of one reason ends where the next begins.
    private func makeChanges(upTo frame: Int) {
        while let change = changes.first, change.frame <= frame {
            changes.removeFirst()
            if let silenceReason { track.writeGap(to: change.frame, because: silenceReason) }
            if silenceReason != nil, change.silenceReason == nil { fadeInLeft = rampFrames }
            silenceReason = change.silenceReason
            if silenceReason != nil { fadeOut = nil }
            if change.volume != targetGain { (targetGain, rampLeft) = (change.volume, rampFrames) }
        }
    }

    /// Writes missing frames before `frame`, at most `limit` of them, so that a long gap does not delay other voices at its end.
    func writeDueGap(before frame: Int, limit: Int) {
        let end = min(frame, track.frameCount + limit)
        while track.frameCount < end, track.error == nil {
            makeChanges(upTo: track.frameCount)
            track.writeGap(to: min(end, changes.first?.frame ?? end), because: silenceReason ?? missingReason)
        }
    }

    /// Writes the current block to the track and adds it to the mix.
    /// - Parameters:
    ///   - frame: the block's frame on the timeline; negative before its beginning.
    ///   - end: the frame at which the recording ends; nil while it goes on.
    ///   - limit: the maximum frames of a gap before the block. After a longer gap the block is discarded, and is part of the gap.
    func write(frameCount: Int, at frame: Int, end: Int?, limit: Int, to mix: inout RecordingMix) {
        isFilled = false
        var start = max(0, frame)
        guard start - track.frameCount <= limit else { return }
        let stop = min(frame + frameCount, end ?? .max)
        while start < stop {
            makeChanges(upTo: start)
            let next = min(stop, changes.first?.frame ?? stop)
            if silenceReason == nil { write(next - start, at: start, offset: start - frame, to: &mix) }
            start = next
        }
    }

    private func write(_ count: Int, at frame: Int, offset: Int, to mix: inout RecordingMix) {
        // Frames written before are already in the mix.
        let skipped = min(count, max(0, track.frameCount - frame))
        fade(count - skipped, at: frame + skipped, offset: offset + skipped)
        track.write(block.channels, frameCount: count, offset: offset, at: frame, missing: missingReason)
        guard kind == .voice else { return }
        var start = skipped
        while start < count {
            let piece = rampLeft > 0 ? min(rampLeft, count - start) : count - start
            let reachedGain =
                piece < rampLeft ? gain + (targetGain - gain) * Float(piece) / Float(rampLeft) : targetGain
            mix.add(
                block.channels, frameCount: piece, offset: offset + start, at: frame + start, gain: gain,
                to: reachedGain)
            gain = reachedGain
            rampLeft = max(0, rampLeft - piece)
            start += piece
        }
    }

    /// Fades frames of the block in after silence, and out before it: the answers about recording change at any sample. A change
    /// is known before its frames are read, because remote voices are read with a delay.
    private func fade(_ count: Int, at frame: Int, offset: Int) {
        guard count > 0 else { return }
        if fadeInLeft > 0 {
            let piece = min(fadeInLeft, count)
            scale(piece, offset, gain: 0, step: 1 / Float(rampFrames), past: rampFrames - fadeInLeft)
            fadeInLeft -= piece
        }
        guard let silence = changes.first(where: { $0.silenceReason != nil })?.frame else { return }
        let start = max(frame, silence - rampFrames)
        guard start < frame + count else { return }
        let fade = fadeOut ?? start..<silence
        fadeOut = fade
        scale(
            frame + count - start, offset + start - frame, gain: 1, step: -1 / Float(fade.count),
            past: start - fade.lowerBound)
    }

    private func scale(_ count: Int, _ offset: Int, gain: Float, step: Float, past: Int) {
        for c in 0..<block.channels.count {
            let samples = block.channels[c] + offset
            scaleSamples(samples, samples, count, gain: gain, step: step, past: past)
        }
    }

    /// Fills the track up to the recording's end.
    /// - Parameter tolerance: the frames that may be missing at the end without being a gap.
    func finish(at end: Int, tolerance: Int) {
        if end - track.frameCount > tolerance || silenceReason != nil { writeDueGap(before: end, limit: .max / 2) }
        track.writeSilence(to: end)
        track.close()
    }
}
