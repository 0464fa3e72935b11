// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// Measures the time from `earshot join` to the first sound, and after an interruption. `scripts/bench join` sets
/// EARSHOT_FIGURES, so that the figures are printed. Each machine is a network namespace with its own Avahi daemon.
@Suite(
    .serialized,
    .enabled(if: NetworkHost.whyNot == nil && ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil))
struct JoinFigureTests {
    private static let repeats = 10

    private func start(_ arguments: [String], on host: NetworkHost, _ tone: String) throws -> ChildProcess {
        try host.start(
            [Earshot.program] + arguments + ["--device", "simulated", "--speak", tone, "--json"],
            environment: [
                "XDG_DATA_HOME": TestFolders.next("machine"), "XDG_RUNTIME_DIR": nil, "JACK_DEFAULT_SERVER": nil,
                "LC_ALL": "C.UTF-8",
            ])
    }

    /// A minute of noise, so that there is sound from the first frame on.
    private func noise(_ path: String) throws {
        var random = SeededRandom(seed: 1)
        let samples = (0..<2_880_000).map { _ in Int16(truncatingIfNeeded: Int(random.unit() * 16_000) - 8_000) }
        var bytes = Data()
        func add(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes.append(Data("RIFF".utf8))
        add(UInt32(36 + samples.count * 2))
        bytes.append(Data("WAVEfmt ".utf8))
        add(UInt32(16))
        for value in [1, 1] as [UInt16] { add(value) }
        add(UInt32(48_000))
        add(UInt32(96_000))
        for value in [2, 16] as [UInt16] { add(value) }
        bytes.append(Data("data".utf8))
        add(UInt32(samples.count * 2))
        samples.withUnsafeBytes { bytes.append(contentsOf: $0) }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Returns the seconds from `began` to the first audible sound.
    private func firstSound(_ report: [String: Any], since began: HostTime) throws -> Double {
        let heard = try #require(report["heard"] as? [String: Any])
        let first = try #require((heard["firstFrameMonotonicNanoseconds"] as? NSNumber)?.int64Value)
        let path = try #require(heard["file"] as? String)
        let reader = try AudioFileReader(path: path)
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: reader.frameCount)
        let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount, offset: 0)
        let frame = try #require((0..<count).first { abs(buffer.channels[0][$0]) > 0.01 })
        return HostTime(nanoseconds: first).seconds(since: began) + Double(frame) / 48_000
    }

    private func notify(_ name: String, _ seconds: [Double], limit: Double) {
        let sorted = seconds.sorted()
        let (middle, worst) = (sorted[sorted.count / 2] * 1e3, (sorted.last ?? 0) * 1e3)
        print(
            String(
                format: "join figure: %@: %.0f ms, at most %.0f (%d times; limit %.0f)%@", name, middle, worst,
                sorted.count, limit * 1e3, middle <= limit * 1e3 ? "" : "  MISSED"))
    }

    @Test func `the time from join to the first sound is measured`() throws {
        let scratch = try Scratch()
        try noise(scratch("noise.wav"))
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            let servers = try AvahiServer.starting(on: network.hosts)
            try withExtendedLifetime(servers) {
                let host = try start(
                    ["host", "Blue Room", "--accept", "all"], on: network.hosts[0], scratch("noise.wav"))
                #expect(host.says("people nearby find the room as 'Blue Room'"), "\(host.errors)")
                var starts: [Double] = []
                for _ in 0..<Self.repeats {
                    let began = HostTime.now()
                    let program = try network.hosts[1].start([Earshot.program, "--version"])
                    #expect(program.wait() == .exit(0))
                    starts.append(HostTime.now().seconds(since: began))
                }
                notify("a program's start and end alone, earshot --version", starts, limit: 1)
                for (words, room, limit) in [
                    ("join ADDRESS to the first sound", "10.77.0.1", 0.3),
                    ("join NAME to the first sound", "Blue Room", 1.5),
                ] {
                    var times: [Double] = []
                    for n in 0..<Self.repeats {
                        let began = HostTime.now()
                        let guest = try start(
                            [
                                "join", room, "--name", "Bob \(limit) \(n)", "--duration", "1", "--hear",
                                scratch("heard.wav"),
                            ], on: network.hosts[1], scratch("noise.wav"))
                        #expect(guest.wait() == .exit(0), "\(guest.errors)")
                        times.append(try firstSound(try theReport(guest), since: began))
                    }
                    notify(words, times, limit: limit)
                }
            }
        }
    }
}
