// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import Foundation
import Stage

/// Two functions that generate sound, one of them through an equalizer, into one mixer.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "two-callbacks")
        let engine = AudioEngine()

        let buzz = tones("buzz", [200, 6_000])
        let hum = tones("hum", [660])
        let equalizer = AudioUnitEffect(.equalizer)
        for node in [buzz, hum, equalizer] { try engine.attach(node) }
        try engine.connect(buzz, to: equalizer)
        try engine.connect(equalizer, to: engine.mainMixerNode, bus: 0)
        try engine.connect(hum, to: engine.mainMixerNode, bus: 1)

        // The last band as a low-pass at 1 kHz removes the 6 kHz of the buzz; the hum does not pass through here.
        try equalizer.parameter("band8.type").value = 3
        try equalizer.parameter("band8.frequency").value = 1_000
        engine.mainMixerNode.input(1).volume = 0.5

        try stage.run(engine, seconds: 3)
    }

    static func tones(_ name: String, _ frequencies: [Double]) -> AudioSourceNode {
        let (low, high) = (frequencies[0], frequencies.last ?? 0)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        return AudioSourceNode(format: format, name: name) { sampleTime, frameCount, output in
            for i in 0..<frameCount {
                let turns = 2 * Double.pi * Double(sampleTime + Int64(i)) / 48_000
                output[0][i] = Float(0.1 * sin(low * turns) + 0.1 * sin(high * turns))
            }
            return frameCount
        }
    }
}
