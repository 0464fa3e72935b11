// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine
import Foundation
import Stage

/// The microphone through a function of one's own to the loudspeakers: a ring modulator, which makes robots of voices.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "input-callback")
        let engine = AudioEngine()

        // Called on the render thread, some hundred times a second: no locks, no memory, no files, nothing that waits.
        let ring = AudioEffectNode(name: "ring modulator") { sampleTime, frameCount, samples in
            for i in 0..<frameCount {
                let carrier = Float(sin(2 * .pi * 100 * Double(sampleTime + Int64(i)) / 48_000))
                for c in 0..<samples.count { samples[c][i] *= carrier }
            }
        }
        try engine.attach(ring)
        try engine.connect(engine.inputNode, to: ring)
        try engine.connect(ring, to: engine.mainMixerNode)

        try stage.run(engine, seconds: 4)
        // The function's faults are counted here: samples that are no number, calls that took too long.
        print(ring.faults)
    }
}
