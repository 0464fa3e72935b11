// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// Channels for several speakers are in the order of WAV, whatever the codec's order is.
@Suite struct ChannelOrderTests {
    @Test(
        arguments: [(3, "3.0"), (5, "5.0"), (6, "5.1"), (7, "6.1")],
        [["-c:a", "alac"], ["-c:a", "aac", "-b:a", "512k"], ["-c:a", "libopus", "-mapping_family", "1"]])
    func `every codec in M4A puts the centre channel third and LFE fourth`(
        _ layout: (Int, String), _ options: [String]
    ) throws {
        let (count, name) = layout
        let folder = try Folder()
        let path = folder.path("a.mp4")
        // The same low tone in each channel, with increasing level.
        let tones = (1...count).map { "0.08*\($0)*sin(2*PI*60*t)" }.joined(separator: "|")
        let run = try ChildProcess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i"]
                + ["aevalsrc=\(tones):c=\(name):d=0.6:s=48000"] + options + [path])
        #expect(run.status == 0, "\(run.errors)")
        let heard = try contents(path)
        #expect(heard.count == count)
        for (c, samples) in heard.enumerated() {
            let peak = samples[9_600..<24_000].reduce(0) { max($0, abs($1)) }
            #expect(abs(peak / (0.08 * Float(c + 1)) - 1) < 0.12, "channel \(c): \(peak)")
        }
    }
}
