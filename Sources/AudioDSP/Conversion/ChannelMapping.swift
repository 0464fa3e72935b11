// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Copies frames between buffers with different channels: mono to all channels, all channels to mono as their mean; otherwise
/// channels map one to one, and output channels without an input channel are silent. The buffers may be the same. Safe on the
/// render thread.
/// - Parameters:
///   - from: the first frame of `input`.
///   - to: the first frame of `output`.
@_noLocks
package func mapChannels(_ input: Channels, from: Int = 0, to output: Channels, at to: Int = 0, frameCount: Int) {
    if output.count == 1, input.count > 1 {
        let gain = 1 / Float(input.count)
        let mono = output[0] + to
        for i in 0..<frameCount {
            var sum: Float = 0
            for c in 0..<input.count { sum += input[c][from &+ i] }
            mono[i] = sum * gain
        }
        return
    }
    for c in 0..<output.count {
        let source = input.count == 1 ? 0 : c
        if source < input.count {
            moveSamples(output[c] + to, input[source] + from, frameCount)
        } else {
            clearSamples(output[c] + to, frameCount)
        }
    }
}
