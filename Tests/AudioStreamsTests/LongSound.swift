// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

@testable import EarshotAudioStreams

/// Forty seconds of sound, different everywhere, loud and soft, as bytes.
enum LongSound: String, CaseIterable, Sendable {
    case constant, untagged, low, variable, aac, opus, vorbis, wav

    private var command: String {
        switch self {
        case .constant: "lame --quiet -b 128 FROM TO"
        case .untagged: "lame --quiet -t -b 160 FROM TO"
        case .low: "lame --quiet -b 24 -m m --resample 22.05 FROM TO"
        case .variable: "lame --quiet -V 5 FROM TO"
        case .aac: "ffmpeg -v error -y -i FROM -c:a aac -b:a 128k -f adts TO"
        case .opus: "opusenc --quiet --bitrate 96 FROM TO"
        case .vorbis: "oggenc -Q -q 5 -o TO FROM"
        case .wav: "cp FROM TO"
        }
    }

    /// Returns true if the format declares the position of each frame.
    var isExact: Bool { self != .variable && self != .aac }

    /// All bytes.
    var bytes: [UInt8] {
        get throws {
            let path = try Self.folder.get() + "/\(self)"
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    private static let folder = Result {
        let folder = try Sound.folder.get() + "/long"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let from = "\(folder)/from.wav"
        try Sound.shell(
            "sox -D -R -n -r 44100 -c 2 -b 16 \(from) synth 40 sine 300-3000 synth 40 brownnoise mix "
                + "synth 40 sine amod 0.1 50 vol 0.5")
        for sound in allCases {
            try Sound.shell(
                sound.command.replacingOccurrences(of: "FROM", with: from)
                    .replacingOccurrences(of: "TO", with: "\(folder)/\(sound)"))
        }
        return folder
    }

    /// Returns the sound from the beginning to the end, or a tenth of it.
    func heard(_ format: AudioFormat, isShort: Bool = false) throws -> [Float] {
        let rig = try CoreRig(format: format)
        let bytes = try bytes
        rig.serve(bytes, atMost: isShort ? bytes.count / 10 : .max)
        rig.advance(isShort ? 3 : 45)
        return rig.heard[0]
    }
}
