// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot calibrate` with the program as users run it, on a simulated card whose output enters its input.
@Suite(.serialized, .realTime, .needs("jackd")) struct CalibrateCommandTests {
    private let scratch: Scratch
    /// The folder of the user's data.
    private let data: String

    init() throws {
        scratch = try Scratch()
        data = scratch("data")
    }

    private var storePath: String { "\(data)/earshot/calibrations.json" }

    private func calibrate(_ more: [String]) throws -> ChildProcess {
        try Earshot.start(["calibrate"] + more, environment: ["XDG_DATA_HOME": data])
    }

    @Test func `the delay by cable is exact, is stored for its owner only, and is stale at another block size`() throws
    {
        let arguments = ["--cable", "--device", "simulated", "--json", "--block"]
        let program = try calibrate(arguments + ["256"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        #expect(abs((report["roundTripMs"] as? Double ?? 0) - 512 / 48.0) < 1 / 48.0, "\(report)")
        #expect(abs(report["differenceMs"] as? Double ?? 9) < 1 / 48.0, "\(report)")
        #expect(report["uncertaintyMs"] as? Double ?? 9 < 0.1 && report["path"] as? String == "cable")
        #expect(program.errors.contains("The device reports 10.67 ms"), "\(program.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: storePath)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

        let other = try calibrate(arguments + ["128"])
        #expect(other.wait() == .exit(0), "\(other.errors)")
        let words =
            "The stored delay is that of 256-frame blocks and 48 kHz, not of 128-frame blocks and 48 kHz."
        #expect(!program.errors.contains(words) && other.errors.contains(words), "\(other.errors)")
    }

    @Test func `by air the distance is subtracted`() throws {
        let program = try calibrate(["--distance", "34.3", "--device", "simulated", "--json"])
        #expect(program.says("Put the microphone 34.3 cm from the loudspeaker"), "\(program.errors)")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        // The simulated card's output enters its input without a way through the air.
        #expect(abs((report["differenceMs"] as? Double ?? 9) + 1) < 0.1, "\(report)")
        let uncertainty = try #require(report["uncertaintyMs"] as? Double)
        #expect(uncertainty > 0.3 && uncertainty < 1 && report["path"] as? String == "air", "\(report)")
    }

    @Test func `an open loop is refused with its reason, and nothing is stored`() throws {
        let server = try JACKServer(blockFrameCount: 256)
        defer { server.stop() }
        let program = try calibrate(["--cable", "--jack-server", server.name, "--json"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("jack_connect earshot:output_1 earshot:input_1"), "\(program.errors)")
        let report = try theReport(program)
        #expect(["silence", "noEcho"].contains(report["refused"] as? String ?? ""), "\(report)")
        #expect(report["roundTripMs"] == nil && !FileManager.default.fileExists(atPath: storePath))
    }

    @Test(arguments: [
        ["--distance", "0"], ["--distance", "501"], ["--distance", "nan"], ["--cable", "--distance", "30"],
        ["--cable", "--air"], ["--block", "15"],
    ]) func `unsuitable options are refused`(options: [String]) throws {
        let program = try calibrate(options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
    }
}
