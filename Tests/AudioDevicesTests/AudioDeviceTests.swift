import AudioBase
import AudioDevices
import Foundation
import TestSupport
import Testing

/// What every device must do, simulated or served by JACK.
@Suite("AudioDevice", .serialized) struct AudioDeviceTests {
    enum Kind: CaseIterable { case simulated, jack }

    /// Runs a test on a device of a kind, with the server it needs.
    private func with(
        _ kind: Kind, blockFrameCount: Int, inputs: Int = 1, outputs: Int = 2, _ body: (any AudioDevice) throws -> Void
    ) throws {
        switch kind {
        case .simulated:
            try body(
                try SimulatedDevice(
                    .init(
                        sampleRate: 48_000, blockFrameCount: blockFrameCount, inputChannelCount: inputs,
                        outputChannelCount: outputs)))
        case .jack:
            try JACKServer.running(blockFrameCount: blockFrameCount) { server in
                try body(
                    try JACKDevice(
                        name: "probe", serverName: server.name, inputChannelCount: inputs, outputChannelCount: outputs))
            }
        }
    }

    @Test("calls come, each continuing the last", arguments: Kind.allCases, [64, 256])
    func callsArrive(_ kind: Kind, block: Int) throws {
        try with(kind, blockFrameCount: block) { device in
            #expect(device.sampleRate == 48_000)
            #expect(device.blockFrameCount == block)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 50 })
            device.stop()
            let notes = probe.notes
            var skipped: Int64 = 0
            for (a, b) in zip(notes, notes.dropFirst()) {
                let jump = b.sampleTime - a.sampleTime - Int64(a.frameCount)
                #expect(jump >= 0)
                skipped += jump
                // Host time follows sample time to a tenth of a block, whatever the machine was doing.
                let seconds = b.hostTime.seconds(since: a.hostTime)
                #expect(abs(seconds - Double(b.sampleTime - a.sampleTime) / 48_000) < 0.1 * Double(block) / 48_000)
            }
            #expect(skipped == Int64(device.monitor.skippedFrameCount))
            #expect(notes.allSatisfy { $0.inputCount == 1 && $0.outputCount == 2 && $0.outputWasSilent })
            #expect(notes.allSatisfy { $0.frameCount == block })
            #expect(device.failure == nil)
        }
    }

    @Test("stop ends the calls, and the device starts again", arguments: Kind.allCases)
    func stopAndStart(_ kind: Kind) throws {
        try with(kind, blockFrameCount: 128) { device in
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(throws: AudioDeviceError.alreadyRunning) { try device.start(probe.callback) }
            #expect(eventually { probe.count >= 10 })
            device.stop()
            let count = probe.count
            #expect(!(0..<20).contains { _ in usleepAndCompare(probe, count) })
            device.stop()
            let again = CycleProbe()
            try device.start(again.callback)
            #expect(eventually { again.count >= 10 })
            device.stop()
            #expect(probe.count == count)
        }
    }

    @Test("each call leaves a record", arguments: Kind.allCases)
    func records(_ kind: Kind) throws {
        try with(kind, blockFrameCount: 128) { device in
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { device.monitor.callCount >= 20 })
            device.stop()
            let monitor = device.monitor
            var records: [CallbackMonitor.Record] = []
            while let record = monitor.nextRecord() { records.append(record) }
            #expect(records.count == probe.count)
            #expect(records.count == monitor.callCount)
            #expect(records.allSatisfy { $0.frameCount == 128 && $0.duration > 0 })
        }
    }

    @Test(
        "a device without inputs, without outputs, without either", arguments: Kind.allCases, [(0, 1), (1, 0), (0, 0)])
    func channelCounts(_ kind: Kind, counts: (inputs: Int, outputs: Int)) throws {
        try with(kind, blockFrameCount: 128, inputs: counts.inputs, outputs: counts.outputs) { device in
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 5 })
            device.stop()
            #expect(probe.notes.allSatisfy { $0.inputCount == counts.inputs && $0.outputCount == counts.outputs })
        }
    }

    private func usleepAndCompare(_ probe: CycleProbe, _ count: Int) -> Bool {
        usleep(1_000)
        return probe.count != count
    }
}
