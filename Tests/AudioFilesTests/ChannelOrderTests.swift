import AudioBase
import AudioFiles
import Foundation
import TestSupport
import Testing

/// Files of several speakers: which channel is which.
@Suite struct ChannelOrderTests {
    private static let layouts = [3: "3.0", 4: "quad", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"]

    /// Of the n-th channel, in the order of WAV; low frequencies have one that they keep.
    private func hertz(_ channel: Int, of count: Int) -> Double { channel == 3 && count > 5 ? 60 : 400 + 150 * Double(channel) }

    private func file(_ folder: Folder, _ name: String, channels: Int, _ options: [String]) throws -> String {
        let path = folder.path(name)
        let tones = (0..<channels).map { "0.3*sin(2*PI*\(hertz($0, of: channels))*t)" }.joined(separator: "|")
        let source = "aevalsrc=\(tones):c=\(try #require(Self.layouts[channels])):d=0.5:s=48000"
        let run = try ChildProcess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", source] + options + [path])
        #expect(run.status == 0, "\(run.errors)")
        return path
    }

    /// The level of a tone of a frequency, 0 to 1.
    private func level(_ samples: ArraySlice<Float>, _ hertz: Double) -> Double {
        var (re, im) = (0.0, 0.0)
        for (i, x) in samples.enumerated() {
            let phase = 2 * Double.pi * hertz * Double(i) / 48_000
            re += Double(x) * cos(phase)
            im += Double(x) * sin(phase)
        }
        return 2 * hypot(re, im) / Double(samples.count)
    }

    /// The channel whose tone is loudest in each of the channels that are heard.
    private func heard(_ path: String, _ channels: Int) throws -> [Int] {
        try contents(path).map { samples in
            let levels = (0..<channels).map { level(samples[4_800..<19_200], hertz($0, of: channels)) }
            #expect(levels.filter { $0 > 0.1 }.count == 1, "\(levels)")
            return levels.firstIndex(of: levels.max() ?? 0) ?? -1
        }
    }

    @Test("Of every kind and number the centre is the third, and low frequencies are the fourth", arguments: 3...8)
    func order(channels: Int) throws {
        let folder = try Folder()
        for (name, options) in [
            ("a.flac", []), ("a.ogg", ["-c:a", "libvorbis", "-q:a", "6"]),
            ("a.opus", ["-c:a", "libopus", "-b:a", "\(96 * channels)k", "-mapping_family", "1"]),
        ] {
            let path = try file(folder, name, channels: channels, options)
            #expect(try heard(path, channels) == Array(0..<channels), "\(name)")
        }
        // Opus of which nobody says what the channels are.
        let options = ["-c:a", "libopus", "-b:a", "\(96 * channels)k", "-mapping_family", "255"]
        #expect(try heard(file(folder, "b.opus", channels: channels, options), channels) == Array(0..<channels))
    }
}
