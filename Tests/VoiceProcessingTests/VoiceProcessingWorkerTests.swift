// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import TestTraits
import Testing

@testable import EarshotVoiceProcessing

/// A render callback that the test calls, with an array as the microphone.
private final class Callback {
    let worker: VoiceProcessingWorker
    var time = 0
    var heard: [Float] = []

    init(worker: VoiceProcessingWorker) { self.worker = worker }

    func call(_ frames: Int, _ microphone: [Float], reference: [Float] = []) -> Bool {
        var input = (time..<time + frames).map { $0 < microphone.count ? microphone[$0] : 0 }
        var far = (time..<time + frames).map { $0 < reference.count ? reference[$0] : 0 }
        var output = [Float](repeating: 9, count: frames)
        let isWhole = worker.port.exchange(input: &input, reference: &far, output: &output, frameCount: frames)
        heard += output
        time += frames
        return isWhole
    }
}

@Suite(.serialized, .realTime) struct VoiceProcessingWorkerTests {
    static let gentle = VoiceProcessingOptions(echo: .low, noise: nil, highPass: false)

    @Test(arguments: [8_000.0, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000], [64, 480, 1024])
    func `the processed sound has the stated latency and is never missing`(rate: Double, block: Int) throws {
        let talk = Array(try Speech.talk(rate: Int(rate)).prefix(Int(rate)))
        let worker = try VoiceProcessingWorker(sampleRate: rate, maximumFrameCount: block, options: Self.gentle)
        let callback = Callback(worker: worker)
        while callback.time < talk.count + worker.latency {
            #expect(callback.call(block, talk))
            worker.runPending()
        }
        let near = max(4, Int(rate / 4000))
        let shifted = Array(callback.heard[(worker.latency - near)...])
        let found = lag(of: shifted, behind: talk, upTo: 2 * near)
        #expect(abs(found.lag - near) <= max(2, Int(rate / 8000)), "\(found), near \(near)")
        #expect(found.correlation > 0.9)
        #expect(worker.counts.late == 0 && worker.counts.rejected == 0 && worker.error == nil)
    }

    @Test(arguments: [1, 7, 4096]) func `the output does not depend on the block size`(block: Int)
        throws
    {
        let talk = Array(try Speech.talk(rate: 16_000).prefix(16_000))
        let far = Array(try Speech.words(rate: 16_000).prefix(16_000))
        func heard(_ blocks: [Int]) throws -> [Float] {
            let worker = try VoiceProcessingWorker(sampleRate: 16_000, maximumFrameCount: 4096)
            let callback = Callback(worker: worker)
            var turn = 0
            while callback.time < 24_000 {
                #expect(callback.call(blocks[turn % blocks.count], talk, reference: far))
                worker.runPending()
                turn += 1
            }
            return Array(callback.heard[..<24_000])
        }
        #expect(try heard([block]) == heard([160, 33, 1, 1000]))
    }

    /// The worker pauses for 100 ms, and for two seconds, which exceeds its buffer: afterwards the delay is as before.
    @Test(arguments: [0.1, 2.0]) func `a stall does not change the latency`(stall: Double) throws {
        let rate = 16_000
        let talk = try Speech.talk(rate: rate)
        let worker = try VoiceProcessingWorker(sampleRate: 16_000, maximumFrameCount: 64, options: Self.gentle)
        let callback = Callback(worker: worker)
        var missed = 0
        while callback.time < talk.count {
            if !callback.call(64, talk) { missed += 1 }
            let seconds = Double(callback.time) / 16_000
            if seconds < 4 || seconds > 4 + stall { worker.runPending() }
            if worker.isLeft { break }
        }
        #expect(missed > 0 && worker.counts.late > 0)
        #expect((worker.counts.rejected > 0) == (stall > 1))
        guard stall < 1 else {
            // Two of five seconds were silent: processing ends and reports it.
            guard case .left(.late(_, let share))? = worker.error else {
                Issue.record("\(String(describing: worker.error))")
                return
            }
            #expect(share > 0.2)
            return
        }
        #expect(!worker.isLeft)
        let from = 6 * rate
        let near = 16
        let shifted = Array(callback.heard[(from + worker.latency - near)...])
        let found = lag(of: shifted, behind: Array(talk[from..<(from + rate)]), upTo: 2 * near)
        #expect(abs(found.lag - near) <= 2 && found.correlation > 0.9, "\(found)")
    }

    /// Tests only the bookkeeping, without the monitor: every part is off, so that samples can be compared.
    @Test func `samples keep their positions after more are lost than the ring holds`() throws {
        let worker = try VoiceProcessingWorker(sampleRate: 16_000, maximumFrameCount: 64, options: .off)
        let callback = Callback(worker: worker)
        let ramp = (0..<60_000).map { Float($0) / 65_536 * 0.5 }
        while callback.time < 12_800 + 10_000 {  // 0.6 s: more than is kept, less than is judged late
            _ = callback.call(64, ramp)
            if callback.time < 12_800 || callback.time >= 12_800 + 10_000 { worker.runPending() }
        }
        #expect(worker.counts.rejected > 0)
        while callback.time < 59_000, !worker.isLeft {
            _ = callback.call(64, ramp)
            worker.runPending()
        }
        let end = callback.time
        let place = end - 1 - worker.latency
        #expect(abs(callback.heard[end - 1] - ramp[place]) < 1e-4, "\(callback.heard[end - 1] * 131_072) of \(place)")
    }

    @Test func `an abandoned processor fades to the plain microphone without a click`() throws {
        let worker = try VoiceProcessingWorker(sampleRate: 48_000, maximumFrameCount: 64)
        let callback = Callback(worker: worker)
        let level = [Float](repeating: 0.5, count: 48_000)
        for _ in 0..<10 {
            _ = callback.call(64, level)
            worker.runPending()
        }
        worker.leave(.failed(code: -1))
        worker.leave(.noThread(code: 11))
        #expect(worker.error == .failed(code: -1))
        let from = callback.heard.count
        for _ in 0..<10 { #expect(callback.call(64, level)) }
        #expect(callback.heard[from] < 0.01)
        for i in from + 1..<callback.heard.count { #expect(callback.heard[i] - callback.heard[i - 1] <= 0.0021) }
        #expect(callback.heard.last == 0.5)
    }

    @Test func `sample rates outside the device range are rejected`() {
        for rate in [4_000.0, 384_000, .nan] {
            #expect(throws: VoiceProcessingError.self) {
                try VoiceProcessingWorker(sampleRate: rate, maximumFrameCount: 64)
            }
        }
    }

    @Test func `the worker thread is named voice, processes and ends`() throws {
        let talk = try Speech.talk(rate: 16_000)
        let worker = try VoiceProcessingWorker(sampleRate: 16_000, maximumFrameCount: 160, options: Self.gentle)
        try worker.start(below: nil)
        try worker.start(below: nil)
        worker.follow(nil)
        let callback = Callback(worker: worker)
        while callback.time < 48_000 {
            // The callback is as slow as the thread: all frames must arrive, but not in time.
            _ = callback.call(160, talk)
            for _ in 0..<2_000 where worker.port.toWorker.heldFrames > 0 { usleep(100) }
        }
        #expect(threadNames().contains("voice"))
        worker.stop()
        worker.stop()
        #expect(!threadNames().contains("voice"))
        #expect(worker.statistics.frames == 300)
        #expect(worker.error == nil)
        #expect(power(callback.heard) > 0.5 * power(talk[..<48_000]))
    }

    private func threadNames() -> Set<String> {
        guard let folder = opendir("/proc/self/task") else { return [] }
        defer { closedir(folder) }
        var names: Set<String> = []
        while let entry = readdir(folder) {
            let id = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 64)
            if fgets(&line, 64, file) != nil {
                names.insert(
                    String(decoding: line.prefix { $0 != 10 && $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
        }
        return names
    }
}
