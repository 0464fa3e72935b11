// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Sound files by common encoders, as bytes.
enum StreamFixture: String, CaseIterable, Sendable {
    case lameCBR, lameVBR, lameTagged, lameUntagged, lame8k, lame22k, lameMono, mp2
    case adts44, adts48Mono
    case vorbis, vorbisMono, opus, opusMono, opusShort, opusLong
    case wav8, wav16, wav24, wav32, wavFloat, wavExtensible, wavPiped

    var ending: String {
        switch self {
        case .lameCBR, .lameVBR, .lameTagged, .lameUntagged, .lame8k, .lame22k, .lameMono: "mp3"
        case .mp2: "mp2"
        case .adts44, .adts48Mono: "aac"
        case .vorbis, .vorbisMono, .opus, .opusMono, .opusShort, .opusLong: "ogg"
        default: "wav"
        }
    }

    /// The commands that create it: FROM is three seconds of a tone with noise at 44.1 kHz, TO the file.
    private var command: String {
        let ffmpeg = "ffmpeg -v error -y -i FROM"
        return switch self {
        case .lameCBR: "lame --quiet -b 128 FROM TO"
        case .lameVBR: "lame --quiet -V 2 FROM TO"
        case .lameTagged: "lame --quiet -V 5 --add-id3v2 --pad-id3v2-size 3000 --tt Title --ta Artist FROM TO"
        case .lameUntagged: "lame --quiet -t -b 128 FROM TO"
        case .lame8k: "lame --quiet -b 16 --resample 8 -m m FROM TO"
        case .lame22k: "lame --quiet -b 56 --resample 22.05 FROM TO"
        case .lameMono: "lame --quiet -b 64 -m m FROM TO"
        case .mp2: "\(ffmpeg) -c:a mp2 -b:a 192k TO"
        case .adts44: "\(ffmpeg) -c:a aac -b:a 128k -f adts TO"
        case .adts48Mono: "\(ffmpeg) -c:a aac -b:a 64k -ar 48000 -ac 1 -f adts TO"
        case .vorbis: "oggenc -Q -q 5 -a Artist -t Title -o TO FROM"
        case .vorbisMono: "oggenc -Q -q 2 --downmix --resample 22050 -o TO FROM"
        case .opus: "opusenc --quiet --artist Artist --title Title FROM TO"
        case .opusMono: "opusenc --quiet --downmix-mono --bitrate 24 FROM TO"
        case .opusShort: "\(ffmpeg) -c:a libopus -frame_duration 2.5 -b:a 128k TO"
        case .opusLong: "\(ffmpeg) -c:a libopus -frame_duration 60 -b:a 32k TO"
        case .wav8: "sox -D FROM -b 8 TO"
        case .wav16: "cp FROM TO"
        case .wav24: "sox -D FROM -b 24 -t wavpcm TO"
        case .wav32: "sox -D FROM -b 32 -t wavpcm TO"
        case .wavFloat: "sox -D FROM -e float -b 32 TO"
        case .wavExtensible: "\(ffmpeg) -c:a pcm_s24le TO"
        case .wavPiped: "ffmpeg -v error -i FROM -c:a pcm_s16le -f wav - | cat > TO"
        }
    }

    /// The file's path. It is created once per test run.
    var path: String {
        get throws { try Self.folder.get() + "/\(rawValue).\(ending)" }
    }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
    }

    static let frameCount = 132_300

    private static let folder = Result {
        let folder = Folder.place.path + "/earshot-streams-\(getpid())"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Folder.place.path + "/earshot-streams-\(getpid())") }
        let from = "\(folder)/from.wav"
        try shell("sox -D -R -n -r 44100 -c 2 -b 16 \(from) synth 3 sine 440 pinknoise vol 0.4")
        // Run them at the same time; each failure is reported.
        let commands = allCases.map { fixture in
            let to = "\(folder)/\(fixture.rawValue).\(fixture.ending)"
            let command = fixture.command.replacingOccurrences(of: "FROM", with: from)
                .replacingOccurrences(of: "TO", with: to)
            return "{ \(command) || echo failed; } &"
        }
        try shell("test -z \"$({ \(commands.joined(separator: "\n")) wait; } 2>&1 </dev/null | tee /dev/stderr)\"")
        return folder
    }

    static func shell(_ command: String) throws {
        let (status, output) = try run("bash", "-c", command)
        try #require(status == 0, "\(command): \(output)")
    }
}

/// Records a failure where a value is expected.
func wrong(_ text: String) { Issue.record("\(text)") }
