// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import EarshotAudioBase

/// The properties of a PCM, which is opened to read them but not started.
struct ALSAProbe {
    /// The properties of one direction that could be opened, for an ``AudioDeviceDescription``.
    struct Side: Hashable {
        var channelCount: Int
        var sampleRates: [Double]
        var blockFrameCounts: ClosedRange<Int>
        var card: Int?
        var isServer: Bool
    }

    var capture: Side?
    var playback: Side?
    /// True if another program uses the PCM, so that the properties of a direction are unknown.
    var isBusy = false
    var sides: [Side] { [playback, capture].compactMap { $0 } }

    /// Opens a PCM in these directions, reads its properties, and closes it.
    init(_ name: String, capture hasCapture: Bool = true, playback hasPlayback: Bool = true) {
        if hasCapture { capture = side(name, .input) }
        if hasPlayback { playback = side(name, .output) }
    }

    private mutating func side(_ name: String, _ direction: AudioDirection) -> Side? {
        do {
            let pcm = try ALSAPCM(name, direction)
            let parameters = try ALSAParameters(pcm, isResampling: false)
            let (channels, blocks) = (parameters.channelCounts, parameters.blockFrameCounts)
            let low = max(16, min(blocks.lowerBound, 4_096))
            return Side(
                channelCount: Self.channelCount(channels, isHardware: pcm.isHardware),
                sampleRates: parameters.sampleRates,
                blockFrameCounts: low...max(low, min(4_096, blocks.upperBound)), card: pcm.card, isServer: pcm.isServer)
        } catch {
            if case .busy = error { isBusy = true }
            return nil
        }
    }

    /// Returns the number of channels to list for a direction. A plug-in that accepts any number converts to the channels of
    /// another PCM, whose number it does not report; two is the most common.
    private static func channelCount(_ channels: ClosedRange<Int>, isHardware: Bool) -> Int {
        !isHardware && channels.lowerBound <= 2 && channels.upperBound > 8 ? 2 : min(channels.upperBound, 32)
    }

    /// Sets a description's channels, rates and blocks to those of the opened directions.
    func fill(_ description: inout AudioDeviceDescription) {
        guard let first = sides.first else { return }
        description.inputChannelCount = capture?.channelCount ?? description.inputChannelCount
        description.outputChannelCount = playback?.channelCount ?? description.outputChannelCount
        let rates = sides.dropFirst().reduce(first.sampleRates) { rates, side in rates.filter(side.sampleRates.contains)
        }
        description.sampleRates = rates.isEmpty ? first.sampleRates : rates
        description.sampleRate =
            description.sampleRates.min { abs($0 - 48_000) < abs($1 - 48_000) } ?? description.sampleRate
        let low = sides.map(\.blockFrameCounts.lowerBound).max() ?? 16
        description.blockFrameCounts = low...max(low, sides.map(\.blockFrameCounts.upperBound).min() ?? 4_096)
    }
}
