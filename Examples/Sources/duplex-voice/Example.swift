// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotVoiceProcessing
import Stage

/// Sing to an accompaniment, with effects on your voice and a limiter on the output.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "duplex-voice ACCOMPANIMENT [loudspeaker]")
        guard let path = stage.files.first else { throw Wrong.usage }
        let engine = AudioEngine()

        // Without headphones the microphone captures the accompaniment: voice processing removes it, with a delay of 26 ms.
        if stage.files.contains("loudspeaker") { engine.setVoiceProcessing(VoiceProcessingOptions()) }

        // The voice: a gate removes what is softer than speech; then tone, evenness and a room.
        let voice = [
            AudioUnitEffect(.gate), AudioUnitEffect(.equalizer), AudioUnitEffect(.compressor), AudioUnitEffect(.reverb),
        ]
        for (unit, preset) in zip(voice.dropFirst(), ["voice", "singing", "vocal"]) { try unit.loadPreset(preset) }
        let player = AudioPlayerNode(format: stage.format, name: "accompaniment")
        let limiter = AudioUnitEffect(.limiter)

        // One edit: all of it takes effect at once, or nothing if one line is wrong.
        try engine.edit { edit throws(AudioEngineError) in
            for node in voice + [player, limiter] { try edit.attach(node) }
            let chain: [AudioNode] = [engine.inputNode] + voice + [engine.mainMixerNode]
            for (from, to) in zip(chain, chain.dropFirst()) { try edit.connect(from, to: to) }
            try edit.connect(player, to: engine.mainMixerNode)
            try edit.connect(engine.mainMixerNode, to: limiter)
            try edit.connect(limiter, to: engine.outputNode)
        }
        try player.scheduleFile(SoundFiles.open(path))
        player.play()
        try stage.run(engine, seconds: 4)
    }

    enum Wrong: Error { case usage }
}
