// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import Foundation
import Stage

/// Output only: four notes from a function, repeated. Games and synthesizers work like this.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "synthesizer")
        let engine = AudioEngine()

        let rate = 48_000.0
        // The engine converts if the device has another sample rate. The notes are a tuple, since arrays may allocate on the
        // render thread.
        let notes = (440.0, 554.37, 659.26, 880.0)
        let synthesizer = AudioSourceNode(
            format: AudioFormat(sampleRate: rate, channelCount: 1), name: "synthesizer"
        ) { sampleTime, frameCount, output in
            for i in 0..<frameCount {
                let time = Double(sampleTime + Int64(i)) / rate
                let note = Int(time * 2) % 4  // two notes a second
                let frequency = note == 0 ? notes.0 : note == 1 ? notes.1 : note == 2 ? notes.2 : notes.3
                let sinceStrike = (time * 2).truncatingRemainder(dividingBy: 1) / 2
                let envelope = min(1, sinceStrike * 200) * exp(-4 * sinceStrike)
                output[0][i] = Float(0.3 * envelope * sin(2 * .pi * frequency * sinceStrike))
            }
            return frameCount  // less would be silence, and counted
        }
        try engine.attach(synthesizer)
        try engine.connect(synthesizer, to: engine.mainMixerNode)

        try stage.run(engine, seconds: 4)
    }
}
