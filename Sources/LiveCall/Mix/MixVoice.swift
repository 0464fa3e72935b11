// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// A voice on its way to the sum: effects, volumes, balance and pan. For one thread at a time.
final class MixVoice {
    let reader: TrackReader
    /// True if the voice feeds the shared reverb.
    let hasReverb: Bool
    /// The frames by which the voice comes later.
    let shift: Int
    /// The voice's part of the sum, in stereo; valid until the next call of ``render(frameCount:at:)``.
    let output: AudioBuffer

    private let units: [UnitInstance]
    private let input: AudioBuffer
    private var volumes: VolumeCurve
    private let gains: (left: Float, right: Float)

    init(
        _ reader: TrackReader, volumes: [RecordingManifest.Volume], units: [UnitInstance], settings: MixSettings.Voice,
        pan: Float, sampleRate: Double
    ) {
        self.reader = reader
        self.units = units
        hasReverb = !settings.isSong
        shift = settings.shift(sampleRate: sampleRate)
        self.volumes = VolumeCurve(volumes, sampleRate: sampleRate)
        let pans = Self.panGains(pan)
        let gain = settings.balance == 0 ? 1 : decibelsToGain(settings.balance)
        gains = (gain * pans.left, gain * pans.right)
        input = AudioBuffer(channelCount: reader.channelCount, frameCapacity: Mixdown.sliceLength)
        output = AudioBuffer(channelCount: 2, frameCapacity: Mixdown.sliceLength)
    }

    /// Returns the gains of constant power with 0 dB in the middle, exactly, and 3 dB at the sides.
    static func panGains(_ pan: Float) -> (left: Float, right: Float) {
        guard pan != 0 else { return (1, 1) }
        let angle = (pan + 1) * .pi / 4
        return (max(0, Float(2).squareRoot() * cosf(angle)), max(0, Float(2).squareRoot() * sinf(angle)))
    }

    /// The first frame of the mix after the voice.
    var end: Int { reader.frameCount + shift }

    /// Renders the next frames of the mix into ``output``.
    func render(frameCount count: Int, at frame: Int) {
        let position = frame - shift
        reader.read(into: input.channels, at: position, frameCount: count)
        for unit in units { unit.process(input.channels, input.channels, frameCount: count) }
        volumes.apply(input.channels, frameCount: count, at: position)
        scaleSamples(output.channels[0], input.channels[0], count, gain: gains.left)
        scaleSamples(output.channels[1], input.channels[reader.channelCount - 1], count, gain: gains.right)
    }
}
