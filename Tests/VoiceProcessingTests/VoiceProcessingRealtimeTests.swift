// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Testing

@testable import EarshotVoiceProcessing

/// Does the render callback's work under RealtimeSanitizer, if that is built in.
@Suite struct VoiceProcessingRealtimeTests {
    @Test(arguments: [1, 64, 441, 4096]) func `an exchange neither blocks nor allocates`(block: Int) throws {
        let worker = try VoiceProcessingWorker(sampleRate: 48_000, maximumFrameCount: block)
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: 3 * block)
        memory.initialize(repeating: 0.1, count: 3 * block)
        defer { memory.deallocate() }
        func exchange() -> Bool {
            earshot_realtime_enter()
            defer { earshot_realtime_exit() }
            return worker.port.exchange(
                input: memory, reference: memory + block, output: memory + 2 * block, frameCount: block)
        }
        var late = 0
        for i in 0..<100 {
            // In the middle the worker does nothing, so that blocks are late, and later dropped.
            if !exchange() { late += 1 }
            if i < 30 || i > 60 { worker.runPending() }
        }
        #expect((late > 0) == (block > 1))
        worker.leave(.failed(code: -1))
        for _ in 0..<300 { #expect(exchange()) }
        #expect(memory[2 * block] == memory[0])
    }
}
