// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Foundation
import Testing

/// Every render call goes through ``RenderCallback``. With EARSHOT_BUILD=rtsan, RealtimeSanitizer checks it.
@Suite struct RenderCallbackRealtimeTests {
    private static func cycle(_ buffer: AudioBuffer) -> IOCycle {
        IOCycle(
            frameCount: buffer.frameCapacity, sampleTime: 0, hostTime: .now(), inputLatency: 0, outputLatency: 0,
            input: buffer.channels, output: buffer.channels)
    }

    @Test func aCallbackGetsItsContextAndTheCycle() {
        let ring = AudioRing(channelCount: 1, capacity: 64)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 16)
        let context = UnsafeMutablePointer<AudioRing.Writer>.allocate(capacity: 1)
        context.initialize(to: ring.writer)
        defer { context.deallocate() }
        let callback = RenderCallback(context: context) { context, cycle in
            guard let cycle = cycle?.assumingMemoryBound(to: IOCycle.self) else { return }
            let writer = context?.assumingMemoryBound(to: AudioRing.Writer.self)
            writer?.pointee.write(cycle.pointee.input, frameCount: cycle.pointee.frameCount)
        }
        var cycle = Self.cycle(buffer)
        for _ in 0..<3 { callback(&cycle) }
        #expect(ring.reader.heldFrames == 48)
    }

    /// Proves that the sanitizer works: it catches an allocation.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_BUILD"] == "rtsan"))
    func allocatingInACallbackAborts() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let callback = RenderCallback(context: nil) { _, _ in free(malloc(64)) }
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: 16)
            var cycle = RenderCallbackRealtimeTests.cycle(buffer)
            callback(&cycle)
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("RealtimeSanitizer: unsafe-library-call") && message.contains("malloc"))
    }

    /// The device's own code around the callback is checked, too.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_BUILD"] == "rtsan"))
    func allocatingAfterACallbackAborts() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let callback = RenderCallback(context: nil) { _, _ in }
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: 16)
            var cycle = RenderCallbackRealtimeTests.cycle(buffer)
            earshot_realtime_enter()
            callback(&cycle)
            free(malloc(64))
            earshot_realtime_exit()
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("RealtimeSanitizer: unsafe-library-call") && message.contains("malloc"))
    }
}
