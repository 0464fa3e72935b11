// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The recording of one person: its track, its place on the timeline, and its gain in the mix. For one thread at a time.
final class RecordedVoice {
    let track: RecordingTrack
    /// The verified key; nil for a browser.
    let key: KeyFingerprint?
    let kind: RecordingManifest.Kind
    let isLocal: Bool
    /// The frames by which the voice is written earlier than it was read; nil while unknown.
    var shift: Int?
    /// All names, in order.
    private(set) var names: [String]
    private(set) var volumes: [RecordingManifest.Volume] = []
    /// The changes that the written part has not reached, since a voice is read later than it was heard.
    private var changes: [Change] = []
    /// The reason for which nothing is written; nil while the voice is written.
    private var silence: RecordingManifest.Gap.Reason?
    private var newest: Change?
    /// The sound of the current block: a sum, since a renegotiated voice arrives in two parts.
    let block: AudioBuffer
    private let scratch: AudioBuffer  // the part of a block from a later frame on
    /// True if the current block has sound.
    var isFilled = false
    private var gain: Float = 1
    private var goal: Float = 1
    /// The conversion of the sound of a microphone with its own clock; nil for other sound.
    var microphone: SeparateMicrophone?

    /// A change of the person's state at a frame of the timeline.
    private struct Change {
        var frame: Int
        var silence: RecordingManifest.Gap.Reason?
        var volume: Float
    }

    init(
        _ track: RecordingTrack, key: KeyFingerprint?, name: String, kind: RecordingManifest.Kind = .voice,
        isLocal: Bool = false, channelCount: Int
    ) {
        self.track = track
        self.key = key
        self.kind = kind
        self.isLocal = isLocal
        names = [name]
        block = AudioBuffer(channelCount: channelCount, frameCapacity: 2 * IOCycle.maximumFrameCount)
        scratch = AudioBuffer(channelCount: channelCount, frameCapacity: 2 * IOCycle.maximumFrameCount)
    }

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

    /// Notes the person's present state.
    /// - Parameters:
    ///   - silence: the reason for which the voice must be silence from now on; nil if it is written.
    ///   - frame: the frame of the timeline that is heard now.
    func update(name: String, silence: RecordingManifest.Gap.Reason?, volume: Float, at frame: Int) {
        if names.last != name { names.append(name) }
        if volume != newest?.volume { volumes.append(.init(frame: newest == nil ? 0 : frame, gain: volume)) }
        guard let newest else {
            // Until now the person was not there.
            if frame > 0 { self.silence = .away }
            (gain, goal) = (volume, volume)
            newest = Change(frame: frame, silence: silence, volume: volume)
            changes = newest.map { [$0] } ?? []
            return
        }
        guard silence != newest.silence || volume != newest.volume else { return }
        let change = Change(frame: frame, silence: silence, volume: volume)
        self.newest = change
        changes.append(change)
    }

    /// Makes the changes up to a frame: a gap of one reason ends where the next begins.
    private func makeChanges(upTo frame: Int) {
        while let change = changes.first, change.frame <= frame {
            changes.removeFirst()
            if let silence { track.pad(to: change.frame, because: silence) }
            (silence, goal) = (change.silence, change.volume)
        }
    }

    /// Writes the silence up to a frame, at most `limit` frames of it, so that a long gap does not delay other voices at its end.
    func padSilence(upTo frame: Int, limit: Int) {
        if track.frameCount >= frame { return }
        makeChanges(upTo: track.frameCount)
        guard let silence else { return }
        track.pad(to: min(frame, changes.first?.frame ?? frame, track.frameCount + limit), because: silence)
    }

    /// Writes the current block to the track and adds it to the mix.
    /// - Parameters:
    ///   - frame: the block's frame on the timeline; negative before its beginning.
    ///   - end: the frame at which the recording ends; nil while it goes on.
    func write(frameCount: Int, at frame: Int, end: Int?, to mix: inout RecordingMix) {
        isFilled = false
        var start = max(0, frame)
        let stop = min(frame + frameCount, end ?? .max)
        while start < stop {
            makeChanges(upTo: start)
            let next = min(stop, changes.first?.frame ?? stop)
            if silence == nil { write(next - start, at: start, blockOffset: start - frame, to: &mix) }
            start = next
        }
    }

    private func write(_ count: Int, at frame: Int, blockOffset: Int, to mix: inout RecordingMix) {
        if blockOffset > 0 {
            for c in 0..<block.channels.count {
                moveSamples(scratch.channels[c], block.channels[c] + blockOffset, count)
            }
        }
        let sound = blockOffset > 0 ? scratch.channels : block.channels
        // Frames that the track has already are not in the mix twice.
        let isNew = frame >= track.frameCount
        track.write(sound, frameCount: count, at: frame, missing: isLocal ? .device : .away)
        guard kind == .voice, isNew else { return }
        mix.add(sound, frameCount: count, at: frame, gain: gain, to: goal)
        gain = goal
    }

    /// Fills the track up to the recording's end.
    func finish(at end: Int) {
        makeChanges(upTo: end)
        if let silence {
            track.pad(to: end, because: silence)
        } else {
            track.padSilently(to: end)
        }
        track.close()
    }
}
