// SPDX-License-Identifier: Apache-2.0

import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotSimulation

/// A call of two PCM peers at 128 frames on virtual time, with this program's own code at both ends, relative to real time.
struct SimulationBenchmark {
    /// Seconds of a core's time per second of the call, the median of some calls: without SRTP, and with it.
    var plain: Double
    var encrypted: Double
    /// The digest of all datagrams without SRTP. It is equal for versions of the program that simulate the same.
    var digest = ""

    private static let seconds = 30.0
    private static let rounds = 5

    init() throws {
        var times: (plain: [Double], encrypted: [Double]) = ([], [])
        for _ in 0..<Self.rounds {
            let clear = try Self.run(isEncrypted: false)
            digest = clear.digest
            times.plain.append(clear.load)
            times.encrypted.append(try Self.run(isEncrypted: true).load)
        }
        plain = median(times.plain)
        encrypted = median(times.encrypted)
    }

    private static func run(isEncrypted: Bool) throws -> (load: Double, digest: String) {
        var configuration = CallSimulation.Configuration()
        configuration.codec = .pcm
        configuration.isEncrypted = isEncrypted
        var simulation = try CallSimulation(configuration)
        try simulation.run(until: 1)
        let before = ProcessorTime.now()
        try simulation.run(until: 1 + seconds)
        let load = (ProcessorTime.now() - before) / seconds
        let report = simulation.report
        for stream in report.streams where stream.concealedFrames > 48_000 {
            fatalError("\(stream.concealedFrames) frames were concealed")
        }
        return (load, report.digest)
    }
}
