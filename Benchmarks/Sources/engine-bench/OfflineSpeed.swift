import AudioBase
import AudioEngine
import AudioFiles
import Foundation
import PairedTimes

/// Whole work from a WAV file to a WAV file, beside sox with its nearest chain: one thread each, the same file in.
enum OfflineSpeed {
    /// Of the processor's time, or of the wall's.
    private struct Cost {
        var wall: Double
        var processor: Double

        init(wall: Double, processor: Double) {
            self.wall = wall
            self.processor = processor
        }

        init(median costs: [Cost]) {
            self.init(
                wall: PairedTimes.median(costs.map(\.wall)), processor: PairedTimes.median(costs.map(\.processor)))
        }

        func words(_ frames: Double) -> String {
            "\(decimal(wall, 2)) s (\(decimal(processor, 2)) s of processor, \(decimal(processor / frames * 1e9, 0)) ns a frame)"
        }
    }

    private struct LostFrames: Error {
        var count: Int
    }

    /// Sound of five minutes or less that is read over and over.
    private static let piece = 300

    static func figures(minutes: Int) throws -> [Report] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("earshot-offline-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, rendered, output) = (
            folder.appendingPathComponent("in.wav").path, folder.appendingPathComponent("ours.wav").path,
            folder.appendingPathComponent("sox.wav").path
        )
        let seconds = min(piece, minutes * 60)
        let times = max(1, minutes * 60 / seconds)
        // A chord that swells over pink noise, with peaks that the compressor and the limiter have work with.
        let synth =
            "-n -r 48000 -c 2 -b 16 \(input) synth \(seconds) pinknoise synth \(seconds) sine mix 220 synth \(seconds) "
            + "sine mix 277.2 synth \(seconds) sine mix 329.6 tremolo 0.5 80 gain -n -1"
        guard sox(synth) != nil else {
            print("offline: sox is not there to compare with")
            return []
        }
        let inputs = [String](repeating: input, count: times).joined(separator: " ")
        let chain =
            "equalizer 80 0.7q 2 equalizer 250 1q -3 equalizer 1200 1q 1 equalizer 3000 0.8q 3 equalizer 10000 0.7q 2 "
            + "compand 0.005,0.12 10:-90,-90,-24,-24,0,-16 6 -90 reverb 30 50 60 100 20 "
            + "compand 0.001,0.06 -90,-90,-1,-1,0,-1 0 -90 0.005"
        let command = "-V1 -D --single-threaded \(inputs) -b 16 \(output) \(chain)"
        guard let sox = sox(command) else {
            print("offline: sox failed: sox \(command)")
            return []
        }
        var pairs = [(ours: try render(input, times: times, seconds: seconds, to: rendered), sox: sox)]
        // Several times in turn where it is short.
        while minutes < 10, pairs.count < 5, let sox = Self.sox(command) {
            pairs.append((try render(input, times: times, seconds: seconds, to: rendered), sox))
        }
        let frames = Double(times * seconds) * 48_000
        let (ours, theirs) = (Cost(median: pairs.map(\.ours)), Cost(median: pairs.map(\.sox)))
        let ratios = pairs.map { $0.sox.processor / $0.ours.processor }
        print("offline: sox -V1 -D --single-threaded IN.wav… -b 16 OUT.wav \(chain)")
        return [
            Report(
                "\(minutes) min of stereo at 48 kHz through equalizer, compressor, reverb and limiter, WAV to WAV of 16 bits, "
                    + "\(pairs.count) in turn: ours \(ours.words(frames)), sox \(theirs.words(frames)); how many times as "
                    + "fast as sox, by the processor's time, the median", PairedTimes.median(ratios),
                least: ratios.max(), "", .atLeast(1), against: "sox \(version)")
        ]
    }

    private static func render(_ input: String, times: Int, seconds: Int, to path: String) throws -> Cost {
        let (start, before) = (HostTime.now(), processorSeconds(RUSAGE_SELF))
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let engine = AudioEngine()
        let player = AudioPlayerNode(format: format)
        let (equalizer, compressor) = (AudioUnitEffect(.equalizer), AudioUnitEffect(.compressor))
        let (reverb, limiter) = (AudioUnitEffect(.reverb), AudioUnitEffect(.limiter))
        let bands: [(frequency: Float, q: Float, gain: Float)] = [
            (80, 0.7, 2), (250, 1, -3), (1_200, 1, 1), (3_000, 0.8, 3), (10_000, 0.7, 2),
        ]
        for (n, band) in bands.enumerated() {
            equalizer["band\(n + 2).type"]?.value = 0
            equalizer["band\(n + 2).frequency"]?.value = band.frequency
            equalizer["band\(n + 2).q"]?.value = band.q
            equalizer["band\(n + 2).gain"]?.value = band.gain
        }
        try compressor.loadPreset("voice")
        try engine.edit { edit throws(AudioEngineError) in
            var last: AudioNode = player
            try edit.attach(player)
            for node in [equalizer, compressor, reverb, limiter] {
                try edit.attach(node)
                try edit.connect(last, to: node)
                last = node
            }
            try edit.connect(last, to: engine.outputNode)
        }
        for _ in 0..<times { try player.scheduleFile(input) }
        player.play()
        try engine.enableManualRendering(format: format, maximumFrameCount: 4_096)
        let writer = try AudioFileWriter(path: path, format: format, sampleFormat: .int16)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
        var left = times * seconds * 48_000
        while left > 0 {
            let count = min(4_096, left)
            try engine.renderOffline(buffer.channels, frameCount: count)
            try writer.write(buffer.channels, frameCount: count)
            left -= count
        }
        try writer.close()
        guard player.lostFrameCount == 0 else { throw LostFrames(count: player.lostFrameCount) }
        return Cost(wall: HostTime.now().seconds(since: start), processor: processorSeconds(RUSAGE_SELF) - before)
    }

    private static func processorSeconds(_ who: __rusage_who) -> Double {
        var usage = rusage()
        getrusage(who.rawValue, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6
    }

    private static func sox(_ arguments: String) -> Cost? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sox"] + arguments.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        let (start, before) = (HostTime.now(), processorSeconds(RUSAGE_CHILDREN))
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return Cost(wall: HostTime.now().seconds(since: start), processor: processorSeconds(RUSAGE_CHILDREN) - before)
    }

    private static var version: String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sox", "--version"]
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return "" }
        process.waitUntilExit()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
    }
}
