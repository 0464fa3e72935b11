// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Glibc
import TestSupport
import Testing

@testable import EarshotAudioSession

/// The adapter with cards that come and go on virtual time.
@Suite("RouteAdapter") struct RouteAdapterTests {
    /// A callback as the client sees it.
    struct Call {
        var sampleTime: Int64
        var frames: Int
        var hostTime: HostTime
        var lateness: Double
    }

    /// A client that plays a sine by its frame counter, and keeps the captured sound.
    final class Client: @unchecked Sendable {  // one thread
        var calls: [Call] = []
        var heard: [[Float]] = []
        let rate: Double
        let inputs: Int
        init(rate: Double, inputs: Int) {
            self.rate = rate
            self.inputs = inputs
            heard = Array(repeating: [], count: inputs)
        }

        var callback: RenderCallback {
            RenderCallback(context: Unmanaged.passUnretained(self).toOpaque()) { context, cycle in
                guard let context, let cycle else { return }
                let client = Unmanaged<Client>.fromOpaque(context).takeUnretainedValue()
                let at = cycle.assumingMemoryBound(to: IOCycle.self).pointee
                client.calls.append(
                    Call(
                        sampleTime: at.sampleTime, frames: at.frameCount, hostTime: at.hostTime, lateness: at.lateness))
                for c in 0..<client.inputs {
                    client.heard[c] += Array(UnsafeBufferPointer(start: at.input[c], count: at.frameCount))
                }
                for c in 0..<at.output.count {
                    for i in 0..<at.frameCount {
                        at.output[c][i] = sine(Int(at.sampleTime) + i, frequency: 1_000, rate: client.rate)
                    }
                }
            }
        }
    }

    struct Rig {
        let adapter = UnsafeMutablePointer<RouteAdapter>.allocate(capacity: 1)
        let client: Client
        let monitor: CallbackMonitor
        let wakeup = Wakeup()

        init(rate: Double, inputs: Int = 1, outputs: Int = 1) {
            client = Client(rate: rate, inputs: inputs)
            monitor = CallbackMonitor(sampleRate: rate)
            adapter.initialize(
                to: RouteAdapter(
                    rate: rate, inputCount: inputs, outputCount: outputs, recorder: monitor.recorder,
                    session: wakeup.handle))
            adapter.pointee.client = client.callback
        }

        func end() {
            adapter.deinitialize(count: 1)
            adapter.deallocate()
        }

        /// Runs a card for some time. Its microphone captures a sine that begins with the card.
        /// - Parameter endBlock: the block from which the sound fades out; nil for none.
        /// - Returns: the output of its loudspeakers, and the end of its last callback.
        @discardableResult
        func run(
            _ card: SimulatedCard.Configuration, from start: HostTime, seconds: Double, endingAt endBlock: Int? = nil
        ) throws -> (said: [[Float]], end: HostTime) {
            let frames = Int(seconds * card.sampleRate)
            let blocks = frames / card.blockFrameCount
            let inputs = max(1, card.inputChannelCount)
            let source = AudioRing(channelCount: inputs, capacity: frames + 8_192)
            let sink = AudioRing(channelCount: max(1, card.outputChannelCount), capacity: frames + 8_192)
            let sound = AudioBuffer(channelCount: inputs, frameCapacity: frames)
            for c in 0..<inputs {
                for i in 0..<frames {
                    sound.channels[c][i] = sine(
                        i, frequency: 1_000, rate: card.sampleRate, amplitude: 0.5 / Double(c + 1))
                }
            }
            source.writer.write(sound.channels, frameCount: frames)
            var configuration = card
            configuration.source = card.inputChannelCount > 0 ? source : nil
            configuration.sink = card.outputChannelCount > 0 ? sink : nil
            let device = try SimulatedCard(configuration)
            adapter.pointee.prepare(for: card.sampleRate)
            device.renderer.start(at: start)
            for block in 0..<blocks {
                if block == endBlock { adapter.pointee.isEnding.store(true, ordering: .relaxed) }
                let now = device.renderer.nextCallTime
                adapter.pointee.process(device.renderer.beginCycle(at: now))
                device.renderer.endCycle(at: now)
            }
            let held = sink.reader.heldFrames
            guard held > 0 else { return ([], device.renderer.nextCallTime) }
            let said = AudioBuffer(channelCount: sink.channelCount, frameCapacity: held)
            _ = sink.reader.read(said.channels, frameCount: held)
            return (
                (0..<sink.channelCount).map { Array(UnsafeBufferPointer(start: said.channels[$0], count: held)) },
                device.renderer.nextCallTime
            )
        }
    }

    static let origin = HostTime(nanoseconds: 1_000_000_000)

    @Test("the client learns how late a callback is", arguments: [48_000.0, 44_100])
    func lateness(_ rate: Double) throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        var card = SimulatedCard.Configuration(sampleRate: rate, blockFrameCount: 128)
        card.jitter = .uniform(1e-4)
        try rig.run(card, from: Self.origin, seconds: 2)
        #expect(rig.client.calls.allSatisfy { abs($0.lateness) < 3e-4 })
        #expect(rig.client.calls.count { $0.lateness > 5e-5 } > 100)
    }

    @Test(
        "samples pass unchanged if the device and the session have the same sample rate",
        arguments: [16, 64, 470, 4_096])
    func passThrough(_ block: Int) throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        let said = try rig.run(.init(sampleRate: 48_000, blockFrameCount: block), from: Self.origin, seconds: 1).said[0]
        let after = 480
        for i in after..<rig.client.heard[0].count {
            #expect(rig.client.heard[0][i] == sine(i, frequency: 1_000, rate: 48_000))
            #expect(said[i] == sine(i, frequency: 1_000, rate: 48_000))
        }
        #expect(abs(said[0]) < 0.001 && abs(rig.client.heard[0][0]) < 0.001, "it fades in")
        #expect(rig.client.calls.count > 1)
        for (a, b) in zip(rig.client.calls, rig.client.calls.dropFirst()) {
            #expect(b.sampleTime == a.sampleTime + Int64(a.frames))
        }
    }

    @Test(
        "a different device rate is converted in both directions without distortion",
        arguments: [(48_000.0, 44_100.0), (44_100, 48_000), (48_000, 16_000), (48_000, 96_000), (48_000, 192_000)],
        [64, 470])
    func converts(_ rates: (session: Double, device: Double), block: Int) throws {
        let rig = Rig(rate: rates.session)
        defer { rig.end() }
        let said = try rig.run(
            .init(sampleRate: rates.device, blockFrameCount: block), from: Self.origin, seconds: 2
        ).said[0]
        let heard = rig.client.heard[0]
        #expect(abs(heard.count - Int(2 * rates.session)) < Int(0.05 * rates.session))
        #expect(abs(said.count - Int(2 * rates.device)) < Int(0.05 * rates.device))
        let settled = { (samples: [Float], rate: Double) in Array(samples.dropFirst(Int(rate * 0.1))) }
        #expect(sineDefect(settled(heard, rates.session), frequency: 1_000, rate: rates.session) < -60)
        #expect(sineDefect(settled(said, rates.device), frequency: 1_000, rate: rates.device) < -60)
        #expect(rig.client.calls.count > 1)
        for (a, b) in zip(rig.client.calls, rig.client.calls.dropFirst()) {
            #expect(b.sampleTime == a.sampleTime + Int64(a.frames))
            #expect(b.hostTime >= a.hostTime)
        }
    }

    @Test(
        "a device change advances the frame counter by the frames missed in between",
        arguments: [0.0, 0.05, 0.3, 90], [48_000.0, 44_100])
    func change(_ gap: Double, rate: Double) throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        let first = try rig.run(.init(sampleRate: 48_000, blockFrameCount: 256), from: Self.origin, seconds: 1)
        let before = rig.client.calls.count
        // The first callback is due one block after the card's start.
        let start = first.end.advanced(bySeconds: gap - 128 / rate)
        try rig.run(.init(sampleRate: rate, blockFrameCount: 128), from: start, seconds: 1)
        let (last, next) = (rig.client.calls[before - 1], rig.client.calls[before])
        let jump = Double(next.sampleTime - last.sampleTime - Int64(last.frames)) / 48_000
        #expect(abs(jump - gap) < 0.0001)
        #expect(rig.monitor.skippedFrameCount == Int((gap * 48_000).rounded()))
        #expect(rig.adapter.pointee.gap.load(ordering: .relaxed) == rig.monitor.skippedFrameCount)
        // The frame counter and the clock stay together.
        let seconds = rig.client.calls.last.map { $0.hostTime.seconds(since: rig.client.calls[0].hostTime) } ?? 0
        let frames = rig.client.calls.last.map { $0.sampleTime - rig.client.calls[0].sampleTime } ?? 0
        #expect(abs(Double(frames) / 48_000 - seconds) < 0.003)
    }

    @Test func `the frame counter follows the clock through many devices of other rates`() throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        var start = Self.origin
        for number in 0..<20 {
            let rate = [44_100.0, 96_000, 16_000][number % 3]
            start = try rig.run(.init(sampleRate: rate, blockFrameCount: 96), from: start, seconds: 0.1).end
                .advanced(bySeconds: 0.05)
        }
        let first = try #require(rig.client.calls.first)
        try rig.run(.init(sampleRate: 48_000, blockFrameCount: 96), from: start, seconds: 0.1)
        let last = try #require(rig.client.calls.last)
        let seconds = last.hostTime.seconds(since: first.hostTime)
        #expect(abs(Double(last.sampleTime - first.sampleTime) / 48_000 - seconds) < 0.001)
    }

    @Test(arguments: [16, 64, 470], [48_000.0, 44_100, 96_000])
    func `a device's sound fades out in both directions, and the next device's fades in`(
        block: Int, rate: Double
    ) throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        let card = SimulatedCard.Configuration(sampleRate: rate, blockFrameCount: block)
        let (end, fade) = (20_000 / block, Int(0.005 * rate))
        let first = try rig.run(card, from: Self.origin, seconds: 0.5, endingAt: end)
        let hasEnded = rig.adapter.pointee.hasEnded.load(ordering: .relaxed)
        #expect(hasEnded)
        let said = first.said[0]
        let begin = end * block
        #expect(said[begin - 1_000..<begin].max() ?? 0 > 0.45)
        #expect(said[(begin + fade)...].allSatisfy { $0 == 0 })
        #expect(said[(begin + fade / 2)..<(begin + fade)].max() ?? 0 > 0.05, "the fade takes 5 ms")
        let steps = zip(said[begin...], said[(begin - 1)...]).map { abs($0 - $1) }
        #expect(steps.max() ?? 1 < 0.08, "the sine of 1 kHz rises by 0.071 at most")
        #expect(rig.client.heard[0].suffix(1_000).allSatisfy { abs($0) < 1e-4 })
        let count = rig.client.heard[0].count
        let next = try rig.run(card, from: first.end, seconds: 0.5)
        #expect(next.said[0][..<(fade / 2)].max() ?? 1 < 0.26, "a sine of 0.5 at half of the fade")
        let isSilent = rig.adapter.pointee.hasEnded.load(ordering: .relaxed)
        #expect(!isSilent)
        #expect(rig.client.heard[0][(count + 1_000)...].max() ?? 0 > 0.4)
    }

    @Test("a new device that calls early does not set the frame counter back")
    func early() throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        let first = try rig.run(.init(sampleRate: 48_000, blockFrameCount: 256), from: Self.origin, seconds: 0.1)
        let second = try rig.run(
            .init(sampleRate: 48_000, blockFrameCount: 64), from: first.end.advanced(bySeconds: -0.01), seconds: 0.1)
        #expect(rig.client.calls.count > 60, "4,800 frames in blocks of 256, and most of 4,800 in blocks of 64")
        for (a, b) in zip(rig.client.calls, rig.client.calls.dropFirst()) {
            #expect(b.sampleTime == a.sampleTime + Int64(a.frames))
        }
        // A later device makes up for it.
        try rig.run(
            .init(sampleRate: 48_000, blockFrameCount: 64), from: second.end.advanced(bySeconds: 0.05), seconds: 0.1)
        let (begin, end) = (try #require(rig.client.calls.first), try #require(rig.client.calls.last))
        let seconds = end.hostTime.seconds(since: begin.hostTime)
        #expect(abs(Double(end.sampleTime - begin.sampleTime) / 48_000 - seconds) < 0.000_1)
    }

    @Test("mono input feeds all channels, missing channels are silent, and stereo is mixed to mono")
    func channels() throws {
        var rig = Rig(rate: 48_000, inputs: 2, outputs: 2)
        let card = { (inputs: Int, outputs: Int) in
            SimulatedCard.Configuration(
                sampleRate: 48_000, blockFrameCount: 64, inputChannelCount: inputs, outputChannelCount: outputs)
        }
        var said = try rig.run(card(1, 1), from: Self.origin, seconds: 0.1).said
        #expect(rig.client.heard[0] == rig.client.heard[1])
        #expect(said[0][1_000] == sine(1_000, frequency: 1_000, rate: 48_000))
        rig.end()
        rig = Rig(rate: 48_000, inputs: 3, outputs: 1)
        said = try rig.run(card(2, 2), from: Self.origin, seconds: 0.1).said
        #expect(rig.client.heard[1][1_000] == sine(1_000, frequency: 1_000, rate: 48_000, amplitude: 0.25))
        #expect(rig.client.heard[2].allSatisfy { $0 == 0 })
        #expect(said[0] == said[1])
        rig.end()
        rig = Rig(rate: 48_000, inputs: 1, outputs: 1)
        said = try rig.run(card(0, 1), from: Self.origin, seconds: 0.1).said
        #expect(rig.client.heard[0].allSatisfy { $0 == 0 })
        try rig.run(card(1, 0), from: Self.origin.advanced(bySeconds: 1), seconds: 0.1)
        #expect(rig.client.heard[0].contains { $0 != 0 })
        rig.end()
    }

    @Test("only the first callback of each route wakes the session's thread")
    func wakes() throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        let device = try SimulatedCard(SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 256))
        device.renderer.start(at: Self.origin)
        for call in 0..<6 {
            if call % 3 == 0 { rig.adapter.pointee.prepare(for: 48_000) }
            rig.wakeup.prepareToSleep()
            let now = device.renderer.nextCallTime
            rig.adapter.pointee.process(device.renderer.beginCycle(at: now))
            device.renderer.endCycle(at: now)
            var descriptor = pollfd(fd: rig.wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let isWoken = poll(&descriptor, 1, 0) > 0
            rig.wakeup.wokeUp(isSignalled: isWoken)
            #expect(isWoken == (call % 3 == 0), "call \(call)")
        }
    }

    @Test("input-only and output-only devices are converted too", arguments: [(0, 1), (1, 0)])
    func oneSided(_ counts: (inputs: Int, outputs: Int)) throws {
        let rig = Rig(rate: 48_000)
        defer { rig.end() }
        let said = try rig.run(
            .init(
                sampleRate: 44_100, blockFrameCount: 256, inputChannelCount: counts.inputs,
                outputChannelCount: counts.outputs), from: Self.origin, seconds: 1
        ).said
        #expect(abs((rig.client.calls.last?.sampleTime ?? 0) - 48_000) < 2_000)
        if counts.outputs > 0 {
            #expect(sineDefect(Array(said[0].dropFirst(4_410)), frequency: 1_000, rate: 44_100) < -60)
        } else {
            #expect(sineDefect(Array(rig.client.heard[0].dropFirst(4_800)), frequency: 1_000, rate: 48_000) < -60)
        }
    }
}
