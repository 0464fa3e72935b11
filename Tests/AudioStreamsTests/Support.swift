// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotAudioStreams

/// Three seconds of sound at 44.1 kHz in two channels, as bytes.
enum Sound: String, CaseIterable, Sendable {
    case mp3, live, aac, opus, vorbis, wav

    static let frameCount = 132_300

    private var command: String {
        switch self {
        case .mp3: "lame --quiet -b 128 FROM TO"
        case .live: "lame --quiet -t -b 128 FROM TO"  // as a station sends it, without Xing's header
        case .aac: "ffmpeg -v error -y -i FROM -c:a aac -b:a 128k -f adts TO"
        case .opus: "opusenc --quiet FROM TO"
        case .vorbis: "oggenc -Q -q 5 -o TO FROM"
        case .wav: "cp FROM TO"
        }
    }

    var path: String { get throws { try Self.folder.get() + "/\(self)" } }
    var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) } }

    static let folder = Result {
        let folder = NSTemporaryDirectory() + "earshot-streaming-\(getpid())"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: NSTemporaryDirectory() + "earshot-streaming-\(getpid())") }
        let from = "\(folder)/from.wav"
        try shell("sox -D -R -n -r 44100 -c 2 -b 16 \(from) synth 3 sine 440 sine 660 vol 0.4")
        for sound in allCases {
            try shell(
                sound.command.replacingOccurrences(of: "FROM", with: from)
                    .replacingOccurrences(of: "TO", with: "\(folder)/\(sound)"))
        }
        return folder
    }

    static func shell(_ command: String) throws {
        let child = try ChildProcess(["bash", "-c", command])
        try #require(child.wait(seconds: 60) == .exit(0), "\(command): \(child.errors)")
    }
}

extension AudioFormat {
    static let cd = AudioFormat(sampleRate: 44_100, channelCount: 2)
}

/// A stream's core on virtual time. The test plays the network's part.
final class CoreRig {
    var core: StreamCore
    let playout: StreamPlayout
    let format: AudioFormat
    private(set) var time = HostTime(nanoseconds: 0)
    /// The played sound of the stream, without silence in between.
    private(set) var heard: [[Float]]
    /// The reported position of each played frame in the sound.
    private(set) var places: [Int] = []
    /// The rendered first channel, with silence.
    private(set) var output: [Float] = []
    private(set) var states: [AudioStreamState] = []
    private(set) var titles: [AudioStreamTitle] = []
    private(set) var refusals: [AudioStreamError] = []
    private(set) var actions: [StreamCore.Action] = []
    private let block: AudioBuffer
    private var owed = 0.0
    private var served = 0

    init(
        _ address: String = "http://radio.example/live", format: AudioFormat = .cd,
        options: AudioStreamOptions = AudioStreamOptions()
    ) throws {
        self.format = format
        let frames = max(StreamDecoder.leastCapacity(format), Int(options.buffer * format.sampleRate))
        playout = StreamPlayout(
            ring: AudioRing(channelCount: format.channelCount, capacity: frames), sampleRate: format.sampleRate)
        core = StreamCore(
            try StreamAddress(address), format: format, playout: playout, options: options,
            random: SeededRandom(seed: 1))
        heard = Array(repeating: [], count: format.channelCount)
        block = AudioBuffer(channelCount: format.channelCount, frameCapacity: 8_192)
        core.start(at: time)
        collect()
    }

    private func collect() {
        states += core.takeStates()
        titles += core.takeTitles()
        refusals += core.takeRefusals()
        actions += core.takeActions()
    }

    func answer(_ status: Int = 200, _ fields: [String: String] = [:], at address: String = "x") {
        var head = HTTPHead(address: address)
        head.status = status
        head.fields = fields
        core.receive(head, at: time)
        collect()
    }

    /// Delivers bytes as a network does. While they are not accepted, playback advances the time.
    func send(_ bytes: some Collection<UInt8>, piece: Int = 4_096) {
        var rest = Array(bytes)[...]
        let asked = actions.count
        while !rest.isEmpty, actions.count == asked {
            let piece = Array(rest.prefix(piece))
            var attemptsLeft = 100_000
            while !piece.withUnsafeBytes({ core.receive($0, at: time) }) {
                advance(0.02)
                attemptsLeft -= 1
                if attemptsLeft == 0 { return wrong("bytes are never taken") }
            }
            core.tick(at: time)
            collect()
            rest = rest.dropFirst(piece.count)
        }
    }

    func end(_ ending: HTTPEnding = .complete) {
        core.end(ending, at: time)
        core.tick(at: time)
        collect()
    }

    /// Answers requests as a file server does: with part of the file, up to a number of bytes.
    func serve(_ bytes: [UInt8], hasRanges: Bool = true, atMost count: Int = .max) {
        while served < actions.count {
            let action = actions[served]
            served += 1
            guard served == actions.count, case .connect(_, let offset) = action else { continue }
            let start = hasRanges ? offset : 0
            var fields = ["content-length": "\(bytes.count - start)"]
            if hasRanges {
                fields["accept-ranges"] = "bytes"
                if start > 0 { fields["content-range"] = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)" }
            }
            answer(start > 0 ? 206 : 200, fields)
            let part = bytes[start..<start + min(count, bytes.count - start)]
            send(part)
            if part.endIndex == bytes.count, served == actions.count { end() }
        }
    }

    /// Seeks to a frame.
    func seek(to frame: Int) {
        core.seek(to: frame, number: playout.beginSeek(), at: time)
        collect()
    }

    /// Advances the time without playback.
    func idle(_ seconds: Double) {
        for _ in 0..<Int(seconds * 50) {
            time = time.advanced(bySeconds: 0.02)
            core.tick(at: time)
            collect()
        }
    }

    /// Plays this many seconds in blocks of 20 ms, or of this many frames.
    func advance(_ seconds: Double, block frameCount: Int? = nil) {
        var left = seconds
        let length = frameCount.map { Double($0) / format.sampleRate } ?? 0.02
        while left > 1e-9 {
            let step = min(length, left)
            left -= step
            time = time.advanced(bySeconds: step)
            owed += step * format.sampleRate
            let frames = Int(owed)
            owed -= Double(frames)
            let before = playout.framesPlayed
            _ = playout.renderer.render(block.channels, frameCount: frames)
            let played = playout.framesPlayed - before
            output += UnsafeBufferPointer(start: block.channels[0], count: frames)
            places += (0..<played).map { playout.framePosition - played + $0 }
            for c in 0..<heard.count { heard[c] += (0..<played).map { block.channels[c][$0] } }
            core.tick(at: time)
            collect()
        }
    }
}

/// Returns a file reader's output for the same bytes.
func reference(_ sound: Sound) throws -> [Float] {
    let reader = try AudioFileReader(path: try sound.path)
    let buffer = AudioBuffer(channelCount: 2, frameCapacity: reader.frameCount + 4_096)
    let frames = try reader.read(into: buffer.channels, frameCount: reader.frameCount + 4_096)
    return (0..<frames).map { buffer.channels[0][$0] }
}

/// Records a failure where a value is expected.
func wrong(_ text: String) { Issue.record("\(text)") }
