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
    /// The reason for which nothing is written now; nil while the voice is written.
    private(set) var silence: RecordingManifest.Gap.Reason?
    /// The sound of the current block: a sum, since a renegotiated voice arrives in two parts.
    let block: AudioBuffer
    /// True if the current block has sound.
    var isFilled = false
    private var gain: Float = 1
    private var goal: Float = 1

    init(
        _ track: RecordingTrack, key: KeyFingerprint?, name: String, kind: RecordingManifest.Kind = .voice,
        isLocal: Bool = false, channelCount: Int
    ) {
        self.track = track
        self.key = key
        self.kind = kind
        self.isLocal = isLocal
        names = [name]
        block = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
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
    /// - Parameter frame: the frame of the timeline up to which everything was read.
    func update(name: String, silence: RecordingManifest.Gap.Reason?, volume: Float, at frame: Int) {
        if names.last != name { names.append(name) }
        if volume != goal || volumes.isEmpty {
            volumes.append(.init(frame: max(0, frame), gain: volume))
            if volumes.count == 1 { gain = volume }
            goal = volume
        }
        // A gap of one reason ends where the next one begins.
        if let old = self.silence, silence != old { track.pad(to: frame - (shift ?? 0), because: old) }
        self.silence = silence
    }

    /// Writes the current block to the track and adds it to the mix.
    /// - Parameters:
    ///   - frame: the block's frame on the timeline; negative before its beginning.
    ///   - end: the frame at which the recording ends; nil while it goes on.
    func write(frameCount: Int, at frame: Int, end: Int?, to mix: inout RecordingMix) {
        defer { isFilled = false }
        guard silence == nil else { return }
        let skipped = max(0, -frame)
        let count = min(frameCount, (end ?? .max) - frame) - skipped
        guard count > 0 else { return }
        if skipped > 0 {
            for c in 0..<block.channels.count { moveSamples(block.channels[c], block.channels[c] + skipped, count) }
        }
        track.write(block.channels, frameCount: count, at: frame + skipped, missing: isLocal ? .device : .away)
        guard kind == .voice else { return }
        mix.add(block.channels, frameCount: count, at: frame + skipped, gain: gain, to: goal)
        gain = goal
    }

    /// Fills the track up to the recording's end.
    func finish(at end: Int) {
        if let silence {
            track.pad(to: end, because: silence)
        } else {
            track.padSilently(to: end)
        }
        track.close()
    }
}
