// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine
import Stage

/// The microphone through a mixer to the loudspeakers: softer, and moving from left to right.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "pan-and-volume")
        let engine = AudioEngine()
        let mixer = engine.mainMixerNode
        try engine.connect(engine.inputNode, to: mixer, bus: 0)

        // Both can be changed at any time, on any thread, and never click.
        let voice = mixer.input(0)
        voice.volume = 0.5
        voice.pan = -1
        // From the left to the right within two seconds, one second after the start, exact to the frame.
        try voice["pan"]?.setValue(1, ramp: 2, at: 48_000)

        try stage.run(engine, seconds: 4)
    }
}
