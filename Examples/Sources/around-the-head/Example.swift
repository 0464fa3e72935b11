// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import Foundation
import Stage

/// Two sources in space, for headphones: noise that starts at the right and moves to the left, and a bell behind the listener.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "around-the-head")
        let engine = AudioEngine()
        let space = AudioEnvironmentNode()
        let steps = AudioUnitEffect(.generator, name: "steps")
        let bell = AudioUnitEffect(.generator, name: "bell")
        for node in [space, steps, bell] { try engine.attach(node) }
        try engine.connect(steps, to: space, bus: 0)
        try engine.connect(bell, to: space, bus: 1)
        try engine.connect(space, to: engine.mainMixerNode)

        try steps.loadPreset("pink-noise")
        try bell.loadPreset("tone")
        try bell.parameter("gain").value = -50

        // Metres: x to the right, y up, z to the back. The listener looks along −z, and may also turn.
        space.input(0).position = ListenerGeometry.place(azimuth: 90, distance: 2)
        space.input(1).position = [0, 0, 3]

        // On any thread, at any time: here after half of the time, as counted by a tap.
        try engine.installTap(on: space, bufferSize: 480) { _, _, sampleTime in
            let seconds = Double(sampleTime) / 48_000
            let azimuth = Float(90 - 180 * min(1, max(0, seconds - 1)))  // from 90 to −90 in the second second
            space.input(0).position = ListenerGeometry.place(azimuth: azimuth, distance: 2)
        }
        try stage.run(engine, seconds: 3)
    }
}
