// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

@testable import EarshotCall
@testable import EarshotLiveCall

/// An accompaniment's player and the render callbacks of its call, on virtual time.
final class AccompanimentPlayerRig {
    /// The events of the player.
    private final class Recorder: Sendable {
        let events = LockedValue<[LiveCallCore.Event]>([])
    }

    let folder: String
    let player: AccompanimentPlayer
    let song: CallAccompaniment
    private let processor: CallProcessor
    private let recorder = Recorder()
    private(set) var played: [Float] = []
    private(set) var sampleTime = 0
    private var orderCount = 0
    private let (input, output) = (
        AudioBuffer(channelCount: 1, frameCapacity: 256), AudioBuffer(channelCount: 1, frameCapacity: 256)
    )

    init() throws {
        folder = NSTemporaryDirectory() + "earshot-songs-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        song = CallAccompaniment(channelCount: 1, sampleRate: 48_000)
        processor.songInserts.playback.set(song.playbackInsert)
        processor.songInserts.capture.set(song.captureInsert)
        player = AccompanimentPlayer(song) { [recorder] event in recorder.events.withLock { $0.append(event) } }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: Files

    /// Writes a file of a constant level, so that its sound can be told from others.
    @discardableResult
    func file(_ name: String, level: Float, seconds: Double, rate: Double = 48_000) throws -> String {
        let path = "\(folder)/\(name)"
        let count = Int(seconds * rate)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: max(1, count))
        for i in 0..<count { buffer.channels[0][i] = level }
        let file = try SoundFiles.create(path, format: AudioFormat(sampleRate: rate, channelCount: 1))
        try file.write(buffer.channels, frameCount: count)
        try file.close()
        return path
    }

    @discardableResult
    func text(_ name: String, _ lines: [String]) throws -> String {
        let path = "\(folder)/\(name)"
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    // MARK: Running

    var now: HostTime { HostTime(nanoseconds: 0).advanced(bySeconds: 5 + Double(sampleTime) / 48_000) }

    /// Gives an order, and runs the player's turn.
    func give(_ order: AccompanimentOrder) {
        orderCount += 1
        player.give(order, number: orderCount)
        work()
    }

    func load(_ files: String...) { give(.load(files, gain: 1, isForAll: false)) }
    func control(_ control: AccompanimentControl) { give(.control(control)) }

    /// Runs turns of the player until it pauses.
    func work() { while player.work(at: now) == .milliseconds(0) {} }

    /// Runs the device for some seconds, and the player every 20 ms.
    func run(_ seconds: Double) {
        let end = sampleTime + Int(seconds * 48_000)
        var turn = sampleTime
        while sampleTime < end {
            if sampleTime >= turn {
                work()
                turn += 960
            }
            clearSamples(input.channels[0], 128)
            clearSamples(output.channels[0], 128)
            var cycle = IOCycle(
                frameCount: 128, sampleTime: Int64(sampleTime), hostTime: now, inputLatency: 0, outputLatency: 0,
                input: input.channels, output: output.channels)
            processor.callback(&cycle)
            played += UnsafeBufferPointer(start: output.channels[0], count: 128)
            _ = processor.captured.reader.read(input.channels, frameCount: 128)
            sampleTime += 128
        }
        work()
    }

    /// The levels that were played, in order and without those of fades.
    var levels: [Float] {
        var levels: [Float] = []
        for start in stride(from: 0, to: played.count - 960, by: 960) {
            let level = (played[start] * 1_000).rounded() / 1_000
            let isSteady = played[start..<start + 960].allSatisfy { abs($0 - played[start]) < 1e-4 }
            if isSteady, level != levels.last { levels.append(level) }
        }
        return levels
    }

    // MARK: Reports

    var reports: [AccompanimentReport] {
        recorder.events.withLock { events in
            events.compactMap { if case .accompaniment(let report) = $0 { report } else { nil } }
        }
    }

    var failures: [AudioFileError] {
        recorder.events.withLock { events in
            events.compactMap { if case .accompanimentFailed(let error) = $0 { error } else { nil } }
        }
    }
}
