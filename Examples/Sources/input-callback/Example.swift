// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine
import Foundation
import Stage

/// The microphone through your own function to the loudspeakers: a ring modulator, which gives voices a robot's sound.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "input-callback")
        let engine = AudioEngine()

        // Called on the render thread, some hundred times per second: no locks, no allocation, no files, nothing that waits.
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
        // Faults of the function are counted here: samples that are NaN or infinite, calls that took too long.
        print(ring.faults)
    }
}
