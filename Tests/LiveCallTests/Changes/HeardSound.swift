// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures
import Foundation

/// The measures of what one person of a ``ChangedCall`` hears.
struct HeardSound {
    /// The frames of a measure of clicks: 5 ms.
    static let clickFrameCount = 240
    /// The limit of a click in dBFS.
    static let clickLimit = -60.0
    /// The indices of the tones in a measure of ``ToneMeter``, whose tones are 50 Hz apart from 100 Hz on.
    private static let toneIndices = ChangedCall.frequencies.map { ($0 - 100) / 50 }

    /// The peaks above 2 kHz of each 5 ms, in dBFS.
    let clickLevels: [Double]
    /// The amplitudes of the tones of ``ChangedCall/frequencies`` in each 20 ms.
    let amplitudes: [[Double]]

    init(_ samples: [Float]) {
        var clicks = ClickMeter(settling: 0)
        var tones = ToneMeter()
        var clickLevels: [Double] = []
        var amplitudes: [[Double]] = []
        for (index, sample) in samples.enumerated() {
            clicks.add(sample)
            if (index + 1) % Self.clickFrameCount == 0 {
                clickLevels.append(clicks.level)
                clicks.restart()
            }
            if let levels = tones.add(sample) { amplitudes.append(Self.toneIndices.map { levels[$0] }) }
        }
        (self.clickLevels, self.amplitudes) = (clickLevels, amplitudes)
    }

    /// Returns the frames of 20 ms by which a tone's measured amplitude is less than expected; 0 up to a tenth, since another
    /// rate or a repeated period changes it.
    static func missingFrames(amplitude: Double, expected: Double) -> Int {
        guard expected > 0.001, amplitude < 0.9 * expected else { return 0 }
        return Int((1 - amplitude / expected) * Double(ToneMeter.frameCount))
    }
}
