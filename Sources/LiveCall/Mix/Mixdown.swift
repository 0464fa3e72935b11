// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The sum of a recording's voices and its song, from the first frame to the last. The same settings give the same samples. Memory does not grow
/// with the length. For one thread at a time; it waits for the disk.
final class Mixdown {
    /// The maximum frames of a call of ``render(into:offset:frameCount:)``.
    static let sliceLength = 4_096

    let format: AudioFormat
    /// The frames of the mix: up to the end of the last voice, and the reverb's tail.
    let frameCount: Int
    let voices: [MixVoice]
    /// The shared reverb's output of the last call; nil without reverb.
    private(set) var reverbOutput: AudioBuffer?

    private let reverb: UnitInstance?
    private let sendGain: Float
    private let send: AudioBuffer
    private var position = 0

    /// Opens the voices.
    /// - Throws: ``MixError/nothingReadable(folder:faults:)``.
    init(_ source: MixSource, _ settings: MixSettings) throws(MixError) {
        let rate = source.sampleRate
        format = AudioFormat(sampleRate: rate, channelCount: 2)
        voices = source.voices.indices.map { index in
            let voice = source.voices[index]
            let reader = TrackReader(
                voice.track, folder: source.folder, voice: voice.name, sampleRate: rate)
            return MixVoice(
                reader, volumes: voice.track.volumes,
                units: voice.isSong
                    ? [] : settings.preset.makeUnits(sampleRate: rate, channelCount: reader.channelCount),
                settings: settings.voices[index], pan: settings.pan(of: index), sampleRate: rate)
        }
        let made = settings.preset.makeReverb(sampleRate: rate)
        reverb = made?.unit
        sendGain = decibelsToGain(settings.preset.send)
        send = AudioBuffer(channelCount: 2, frameCapacity: Self.sliceLength)
        if made != nil { reverbOutput = AudioBuffer(channelCount: 2, frameCapacity: Self.sliceLength) }
        let end = voices.map { $0.reader.frameCount > 0 ? $0.end : 0 }.max() ?? 0
        frameCount = max(0, end) + (end > 0 ? Int((made?.tail ?? 0) * rate) : 0)
        if voices.allSatisfy({ $0.reader.frameCount == 0 }) {
            throw .nothingReadable(folder: source.folder, faults: faults)
        }
    }

    /// The faults of the voices so far, in their order.
    var faults: [MixFault] {
        voices.flatMap { $0.reader.faults.sorted { $0.description < $1.description } }
    }

    /// Renders the next frames into a stereo buffer. Returns their number: 0 at the end.
    func render(into channels: Channels, offset: Int = 0, frameCount wanted: Int) -> Int {
        let count = min(wanted, Self.sliceLength, frameCount - position)
        guard count > 0 else { return 0 }
        for c in 0..<2 {
            clearSamples(channels[c] + offset, count)
            clearSamples(send.channels[c], count)
        }
        for voice in voices {
            voice.render(frameCount: count, at: position)
            for c in 0..<2 {
                addSamples(channels[c] + offset, voice.output.channels[c], count, gain: 1)
                if reverb != nil, voice.hasReverb {
                    addSamples(send.channels[c], voice.output.channels[c], count, gain: sendGain)
                }
            }
        }
        if let reverb, let wet = reverbOutput {
            reverb.process(send.channels, wet.channels, frameCount: count)
            for c in 0..<2 { addSamples(channels[c] + offset, wet.channels[c], count, gain: 1) }
        }
        position += count
        return count
    }
}
