// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioEngine
import Stage

/// Two files, each through its own equalizer, into a mixer with a stereo and a mono input: a song and a voice.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "two-players SONG VOICE")
        guard stage.files.count == 2 else { throw Wrong.usage }
        let engine = AudioEngine()

        // A player's format is its output's; a file with another sample rate or channel count is converted as it is read.
        let song = AudioPlayerNode(format: AudioFormat(sampleRate: 48_000, channelCount: 2), name: "song")
        let voice = AudioPlayerNode(format: AudioFormat(sampleRate: 44_100, channelCount: 1), name: "voice")
        let songTone = AudioUnitEffect(.equalizer, name: "song's equalizer")
        let voiceTone = AudioUnitEffect(.equalizer, name: "voice's equalizer")
        for node in [song, voice, songTone, voiceTone] { try engine.attach(node) }
        try engine.connect(song, to: songTone)
        try engine.connect(songTone, to: engine.mainMixerNode, bus: 0)  // stereo
        try engine.connect(voice, to: voiceTone)
        try engine.connect(voiceTone, to: engine.mainMixerNode, bus: 1)  // mono, heard on both sides

        try songTone.loadPreset("bass-boost")
        try voiceTone.loadPreset("telephone")

        try song.scheduleFile(SoundFiles.open(stage.files[0]), options: .loops)
        try voice.scheduleFile(SoundFiles.open(stage.files[1]), at: 24_000)  // half a second later, to the frame
        song.play()
        voice.play()
        try stage.run(engine, seconds: 4)
    }

    enum Wrong: Error { case usage }
}
