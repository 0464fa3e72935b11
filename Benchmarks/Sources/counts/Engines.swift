// SPDX-License-Identifier: Apache-2.0

import BenchScenes
import EarshotAudioBase
import EarshotAudioEngine

/// Blocks that a device's thread renders, 64 stereo frames.
enum Engines {
    static func count() throws {
        try blocks("128 nodes, a concert", try Concert().engine)
        try blocks("128 nodes, gains and mixers", try Graphs.gains())
        try blocks("64 units that do nothing", try Graphs.chain(64) { Graphs.emptyUnit() })
        try blocks(
            "64 converters with nothing to convert",
            try Graphs.chain(64) { AudioConverterNode(to: AudioFormat(sampleRate: 48_000, channelCount: 2)) })
        try blocks("64 gains", try Graphs.chain(64) { AudioUnitEffect(.gain) })
        try blocks("64 idle equalizers", try Graphs.chain(64) { AudioUnitEffect(.equalizer) }, silentSeconds: 2)
        try blocks("a mixer of 32 stereo inputs", try Graphs.mixer(inputs: 32))
        try blocks("equalizer, compressor, reverb and limiter", try Graphs.mastering())
    }

    /// - Parameter silentSeconds: the seconds of silence before counting, which then continues.
    private static func blocks(_ name: String, _ engine: AudioEngine, silentSeconds: Int = 0) throws {
        let run = try EngineRun(engine)
        if silentSeconds > 0 { for c in 0..<2 { clearSamples(run.input.channels[c], 4_096) } }
        run.blocks(150 + silentSeconds * 750)
        counted("\(name), 64 frames", 150) { run.blocks(150) }
    }
}
