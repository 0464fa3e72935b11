// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EarshotAudioEngine

/// Edits from four threads while a device renders, for the thread sanitizer.
@Suite struct EngineEditsConcurrentTests {
    @Test func fourThreadsEditWhileADeviceRenders() throws {
        let engine = AudioEngine()
        let sources = (0..<4).map { sineSource(200 + 50 * Double($0), amplitude: 0.1, name: "source \($0)") }
        let effects = (0..<8).map { AudioUnitEffect(.gain, name: "gain \($0)") }
        for node in sources { try engine.attach(node) }
        for node in effects { try engine.attach(node) }
        let card = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 256)
        let device = try SimulatedDevice(card)
        try engine.start(on: device)
        let accepted = Atomic(0)
        let refused = LockedValue<[AudioEngineError]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededRandom(seed: UInt64(thread) + 1)
            for _ in 0..<250 {
                do throws(AudioEngineError) {
                    try change(engine, sources, effects, &random)
                    accepted.add(1, ordering: .relaxed)
                } catch { refused.withLock { $0.append(error) } }
                if random.next() % 8 == 0 { usleep(2_000) }
            }
        }
        // An impossible edit is refused with its own error, and no other edit is refused.
        for error in refused.withLock({ $0 }) {
            switch error {
            case .cycle, .notAttached: break
            default: Issue.record("\(error)")
            }
        }
        #expect(accepted.load(ordering: .relaxed) > 400)
        #expect(engine.state.withLock { $0.failure } == nil)
        // The final graph is the one requested last.
        for node in effects { try? engine.detach(node) }
        let last = Peak()
        try engine.connect(sources[0], to: engine.mainMixerNode, bus: 0)
        engine.mainMixerNode.input(0).isMuted = false
        engine.mainMixerNode.input(0).volume = 1
        engine.mainMixerNode.input(0).pan = 0
        try engine.installTap(on: engine.mainMixerNode, bufferSize: 512) { samples, count, _ in
            for i in 0..<count { last.hear(samples[0][i]) }
        }
        let deadline = Date(timeIntervalSinceNow: 20)
        while last.value < 0.05, Date() < deadline { usleep(10_000) }
        engine.stop()
        #expect(last.value > 0.05)
        #expect(engine.outputNode.faultCount == 0)
    }

    /// A stopping thread waits until the engine is stopped, whichever other thread stops, pauses, resumes or starts it.
    @Test func startsAndStopsMeetOnThreads() throws {
        let engine = AudioEngine()
        let source = sineSource(200)
        try engine.attach(source)
        try engine.connect(source, to: engine.mainMixerNode)
        try engine.installTap(on: source, bufferSize: 64) { [weak engine] _, _, time in
            if time / 64 % 5 == 4 { engine?.stop() }  // on the engine's own thread
        }
        let card = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 64)
        let devices = try (0..<2).map { _ in try SimulatedDevice(card) }
        for turn in 0..<60 {
            try? engine.start(on: devices[0])
            DispatchQueue.concurrentPerform(iterations: 3) { thread in
                switch (turn + thread) % 4 {
                case 0: engine.pause()
                case 1: try? engine.resume()
                case 2: if turn % 3 == 0 { try? engine.start(on: devices[1]) } else { engine.stop() }
                default: engine.stop()
                }
            }
            engine.stop()
            #expect(!engine.isRunning && engine.sampleRate == nil)
        }
    }

    /// The second of two threads that stop at the same time also waits: the device no longer calls what it then frees.
    @Test func nothingIsRenderedOnceAnyoneHasStopped() throws {
        let engine = AudioEngine()
        let hasStopped = Atomic(false)
        let isRendering = Atomic(false)
        let late = Atomic(0)
        let source = AudioSourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1)) { _, count, _ in
            isRendering.store(true, ordering: .relaxed)
            usleep(3_000)
            if hasStopped.load(ordering: .relaxed) { late.add(1, ordering: .relaxed) }
            return count
        }
        try engine.attach(source)
        try engine.connect(source, to: engine.mainMixerNode)
        let device = try SimulatedDevice(.init(sampleRate: 48_000, blockFrameCount: 256))
        for turn in 0..<20 {
            hasStopped.store(false, ordering: .relaxed)
            isRendering.store(false, ordering: .relaxed)
            try engine.start(on: device)
            #expect(eventually { isRendering.load(ordering: .relaxed) })
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0, turn % 2 == 0 { engine.pause() }
                engine.stop()
                hasStopped.store(true, ordering: .relaxed)
            }
        }
        #expect(late.load(ordering: .relaxed) == 0)
    }

    @Test func aTapMayStopItsEngine() throws {
        let engine = AudioEngine()
        let source = sineSource(200)
        try engine.attach(source)
        try engine.connect(source, to: engine.mainMixerNode)
        let stopped = DispatchSemaphore(value: 0)
        try engine.installTap(on: source, bufferSize: 64) { [weak engine] _, _, _ in
            engine?.stop()
            stopped.signal()
        }
        try engine.start(on: SimulatedDevice(.init(sampleRate: 48_000, blockFrameCount: 64)))
        #expect(stopped.wait(timeout: .now() + 20) == .success)
        #expect(!engine.isRunning)
    }

    private func change(
        _ engine: AudioEngine, _ sources: [AudioSourceNode], _ effects: [AudioUnitEffect], _ random: inout SeededRandom
    ) throws(AudioEngineError) {
        let effect = effects[Int(random.next() % 8)]
        let source = sources[Int(random.next() % 4)]
        switch random.next() % 10 {
        case 0: try engine.attach(effect)
        case 1: try engine.detach(effect)
        case 2: try engine.connect(source, to: effect)
        case 3: try engine.connect(effect, to: engine.mainMixerNode, bus: Int(random.next() % 4))
        case 4: try engine.connect(effect, to: effects[Int(random.next() % 8)])
        case 5: try engine.disconnectNodeInput(engine.mainMixerNode, bus: Int(random.next() % 4))
        case 6:
            effect["gain"]?.value = Float(random.next() % 40) - 40
            effect.bypass.toggle()
        case 7:
            let input = engine.mainMixerNode.input(Int(random.next() % 4))
            input.isMuted.toggle()
            input.pan = Float(random.next() % 3) - 1
        case 8: try engine.installTap(on: source, bufferSize: 256) { _, _, _ in }
        default: engine.removeTap(from: source)
        }
    }
}

/// The loudest sample.
private final class Peak: Sendable {
    private let held = LockedValue<Float>(0)
    var value: Float { held.withLock { $0 } }
    func hear(_ sample: Float) { held.withLock { $0 = max($0, abs(sample)) } }
}
