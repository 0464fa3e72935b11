// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct AudioPlayerNodeTests {
    private let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
    private let mono = AudioFormat(sampleRate: 48_000, channelCount: 1)

    private func rig(_ player: AudioPlayerNode, channels: Int = 1) throws -> EngineRig {
        let rig = EngineRig(channels: channels)
        try rig.engine.attach(player)
        try rig.engine.connect(player, to: rig.engine.mainMixerNode)
        try rig.start()
        return rig
    }

    private func ramp(_ count: Int, from first: Int = 1) -> AudioBuffer {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: count)
        for i in 0..<count { buffer.channels[0][i] = Float(first + i) / 10_000 }
        return buffer
    }

    @Test func `NaN and infinite samples in a buffer become silence and are counted`() throws {
        let player = AudioPlayerNode(format: mono)
        let rig = try rig(player)
        let buffer = ramp(500)
        for (frame, wrong) in [(10, Float.nan), (20, .infinity), (499, -.infinity)] {
            buffer.channels[0][frame] = wrong
        }
        player.scheduleBuffer(buffer, frameCount: 500)
        player.play()
        let output = try rig.render(1_000)[0]
        #expect(player.faultCount == 3 && rig.engine.outputNode.faultCount == 0)
        for frame in [10, 20, 499] { #expect(output[frame] == 0) }
        #expect(abs(output[11] - 12 / 10_000) < 1e-6)
    }

    @Test func `a fractional sample rate is rejected`() throws {
        let player = AudioPlayerNode(format: AudioFormat(sampleRate: 44_100.4, channelCount: 1))
        let error = try #require(throws: AudioEngineError.self) { _ = try rig(player) }
        #expect(error.description.contains("whole number of hertz"), "\(error)")
    }

    @Test(arguments: [[256], [1], [64, 1_000, 7]])
    func `a buffer starts at its exact frame`(blocks: [Int]) throws {
        let player = AudioPlayerNode(format: mono)
        let rig = try rig(player)
        player.scheduleBuffer(ramp(500), frameCount: 500, at: 1_234)
        player.scheduleBuffer(ramp(100, from: 5_000), frameCount: 100)
        player.play()
        let output = try rig.render(3_000, blocks: blocks)[0]
        #expect(output[..<1_234].allSatisfy { $0 == 0 })
        for i in 0..<500 { #expect(abs(output[1_234 + i] - Float(i + 1) / 10_000) < 1e-6) }
        for i in 0..<100 { #expect(abs(output[1_734 + i] - Float(i + 5_000) / 10_000) < 1e-6) }
        #expect(output[1_834...].allSatisfy { $0 == 0 })
        #expect(player.isFinished && player.lostFrameCount == 0)
    }

    @Test func `a buffer scheduled for a later frame survives an engine restart`() throws {
        let player = AudioPlayerNode(format: mono)
        let rig = try rig(player)
        player.play()
        player.scheduleBuffer(ramp(500), frameCount: 500, at: 4_000)
        _ = try rig.render(1_000)
        rig.engine.stop()
        try rig.start()
        let output = try rig.render(5_000)[0]
        #expect(output[..<4_000].allSatisfy { $0 == 0 })
        for i in 0..<500 { #expect(abs(output[4_000 + i] - Float(i + 1) / 10_000) < 1e-6) }
    }

    @Test func `the late part of a buffer is dropped so that the rest is on time`() throws {
        let player = AudioPlayerNode(format: mono)
        let rig = try rig(player)
        player.play()
        _ = try rig.render(1_000)
        player.scheduleBuffer(ramp(2_000), frameCount: 2_000, at: 700)
        let output = try rig.render(2_000)[0]
        #expect(abs(output[10] - Float(1_000 + 10 - 700 + 1) / 10_000) < 1e-6)
        #expect(player.lostFrameCount == 300)
    }

    @Test func `a loop is seamless and ends when another buffer interrupts it`() throws {
        let player = AudioPlayerNode(format: mono)
        let rig = try rig(player)
        let loop = AudioBuffer(channelCount: 1, frameCapacity: 480)
        for i in 0..<480 { loop.channels[0][i] = sine(i, frequency: 100, rate: 48_000) }
        player.scheduleBuffer(loop, frameCount: 480, options: .loops)
        player.play()
        let output = try rig.render(48_000)[0]
        #expect(sineDefect(output, frequency: 100, rate: 48_000) < -100)
        let next = AudioBuffer(channelCount: 1, frameCapacity: 4_800)
        player.scheduleBuffer(next, frameCount: 4_800, options: .interrupts)
        let after = try rig.render(9_600)[0]
        #expect(after[1_000...].allSatisfy { $0 == 0 })
        #expect(clickLevel(Array(output.suffix(4_800)) + after) < -60)
    }

    @Test func `a pause keeps the position and does not click`() throws {
        let player = AudioPlayerNode(format: mono)
        let rig = try rig(player)
        let tone = AudioBuffer(channelCount: 1, frameCapacity: 48_000)
        for i in 0..<48_000 { tone.channels[0][i] = sine(i, frequency: 100, rate: 48_000) }
        player.scheduleBuffer(tone, frameCount: 48_000)
        player.play()
        var output = try rig.render(4_800)[0]
        player.pause()
        output += try rig.render(4_800)[0]
        #expect(output.suffix(4_000).allSatisfy { $0 == 0 })
        let held = player.framePosition
        #expect((4_800...5_300).contains(held))
        player.play()
        output += try rig.render(4_800)[0]
        #expect(player.framePosition == held + 4_800)
        #expect(clickLevel(output) < -60)
    }

    @Test func `a file at another rate plays completely twice, and its end is reported`() throws {
        let path = NSTemporaryDirectory() + "earshot-player-\(UUID().uuidString).wav"
        defer { unlink(path) }
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 44_100)
        for i in 0..<44_100 { block.channels[0][i] = sine(i, frequency: 441, rate: 44_100) }
        try writer.write(block.channels, frameCount: 44_100)
        try writer.close()
        let player = AudioPlayerNode(format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        let rig = try rig(player)
        let ended = Heard()
        try player.scheduleFile(AudioFileReader(path: path))
        try player.scheduleFile(AudioFileReader(path: path), startingFrame: 22_050) { ended.starts.append(1) }
        player.play()
        let output = try rig.render(80_000, blocks: [4_096])[0]
        let loud = output.indices.filter { abs(output[$0]) > 0.4 }
        #expect(abs((loud.last ?? 0) - (loud.first ?? 0) - 72_000) < 100)
        #expect(ended.starts == [1])
        #expect(player.isFinished && player.error == nil)
    }

    /// A thread that schedules, plays or stops never runs the completions itself.
    @Test func `completion handlers run on the engine's own thread`() throws {
        let engine = AudioEngine()
        let player = AudioPlayerNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        try engine.attach(player)
        try engine.connect(player, to: engine.mainMixerNode)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 64)
        let names = LockedValue<[String]>([])
        let all = DispatchSemaphore(value: 0)
        @Sendable func note() {
            names.withLock { $0.append(threadName()) }
            all.signal()
        }
        // Stopped before there is a thread: reported once there is one.
        player.scheduleBuffer(buffer, frameCount: 64, completion: note)
        player.stop()
        player.scheduleBuffer(buffer, frameCount: 64, completion: note)
        #expect(names.withLock { $0.isEmpty })
        player.play()
        try engine.start(on: try SimulatedDevice(SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 64)))
        defer { engine.stop() }
        for k in 0..<100 {  // some are over by the time that the next is scheduled
            player.scheduleBuffer(buffer, frameCount: 64) {
                note()
                if k == 50 { player.scheduleBuffer(buffer, frameCount: 64) }
            }
            if k % 10 == 0 { usleep(3_000) }
            if k % 25 == 24 {
                player.stop()
                player.play()
            }
        }
        player.stop()
        for _ in 0..<102 { #expect(all.wait(timeout: .now() + 20) == .success) }
        #expect(Set(names.withLock { $0 }) == ["engine"])
    }

    @Test func `completion handlers run only inside the render call in manual rendering`() throws {
        let rig = EngineRig()
        let player = AudioPlayerNode(format: rig.format)
        try rig.engine.attach(player)
        try rig.engine.connect(player, to: rig.engine.mainMixerNode)
        try rig.start()
        let count = Atomic(0)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 64)
        player.scheduleBuffer(buffer, frameCount: 64) { count.add(1, ordering: .relaxed) }
        player.play()
        player.stop()
        player.play()
        player.scheduleBuffer(buffer, frameCount: 64, options: .interrupts)
        #expect(count.load(ordering: .relaxed) == 0)
        _ = try rig.render(64)
        #expect(count.load(ordering: .relaxed) == 1)
    }
}

/// Returns the name that `top -H` shows.
private func threadName() -> String {
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .newlines) ?? ""
}
