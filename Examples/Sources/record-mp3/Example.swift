// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine
import EarshotAudioQueues
import Stage

/// Hear yourself while the same sound is recorded as MP3: the microphone goes to the loudspeakers and to a file.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "record-mp3 TAKE.mp3")
        guard let path = stage.files.first else { throw Wrong.usage }
        let engine = AudioEngine()
        try engine.connect(engine.inputNode, to: engine.mainMixerNode)

        // The render thread only copies into buffers; LAME and the disk run on the recorder's own thread.
        let recorder = try AudioRecorder(
            path: path, format: stage.format, on: engine, from: engine.mainMixerNode)
        try recorder.record()

        try stage.run(engine, seconds: 3)
        try recorder.stop()
        print("\(path): \(recorder.frameCount) frames, \(recorder.lostFrameCount) of them lost")
    }

    enum Wrong: Error { case usage }
}
