// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation
import Testing

@testable import EarshotLiveCall

/// The file of the measured delays of devices.
@Suite struct CalibrationStoreTests {
    /// A temporary folder for one test.
    private final class Scratch {
        let path = NSTemporaryDirectory() + "earshot-calibrations-\(UUID().uuidString)"

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var store: CalibrationStore { CalibrationStore(path: "\(path)/earshot/calibrations.json") }

        func insert(_ delay: CalibratedDelay, _ device: CalibratedDevice) throws {
            let date = Date(timeIntervalSince1970: 1_795_874_700)
            try store.insert(delay, roundTrip: 0.02, through: "air", of: device, date: date)
        }
    }

    private static let device = CalibratedDevice(
        system: "pipewire", microphone: "mic", output: "phones", sampleRate: 48_000, blockFrameCount: 128)
    private static let delay = CalibratedDelay(correction: 0.0051, uncertainty: 0.0004)

    @Test func `a delay is known for its device, rate and block size, and stale for another rate or block size`() throws
    {
        let scratch = Scratch()
        #expect(scratch.store.read().knowledge(of: Self.device) == .reported)
        try scratch.insert(Self.delay, Self.device)
        let known = scratch.store.read()
        #expect(known.knowledge(of: Self.device) == .measured(Self.delay))
        var (otherRate, otherBlock, otherOutput) = (Self.device, Self.device, Self.device)
        (otherRate.sampleRate, otherBlock.blockFrameCount, otherOutput.output) = (44_100, 256, "other")
        for device in [otherRate, otherBlock] {
            #expect(known.knowledge(of: device) == .stale(Self.device))
            #expect(known.knowledge(of: device).delay == nil)
        }
        #expect(known.knowledge(of: otherOutput) == .reported)
    }

    @Test func `a new measurement replaces the earlier one, and the file is private`() throws {
        let scratch = Scratch()
        try scratch.insert(CalibratedDelay(correction: 0.001, uncertainty: 0.001), Self.device)
        try scratch.insert(Self.delay, Self.device)
        #expect(scratch.store.read().knowledge(of: Self.device) == .measured(Self.delay))
        #expect(fileMode(scratch.store.path) == 0o600)
        let text = try String(contentsOfFile: scratch.store.path, encoding: .utf8)
        #expect(text.components(separatedBy: "\"mic\"").count == 2 && text.contains("\"path\" : \"air\""), "\(text)")
    }

    @Test(arguments: ["1e300", "-11", "11"]) func `a number that is no delay is ignored`(number: String) throws {
        let scratch = Scratch()
        try scratch.insert(Self.delay, Self.device)
        let text = try String(contentsOfFile: scratch.store.path, encoding: .utf8)
        let changed = text.replacingOccurrences(of: "0.0051", with: number)
        #expect(changed != text)
        try changed.write(toFile: scratch.store.path, atomically: false, encoding: .utf8)
        #expect(scratch.store.read().knowledge(of: Self.device) == .reported)
    }
}
