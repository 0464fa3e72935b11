// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

/// Changes of running calls: no change clicks, none costs more than its gap, and faces that follow by events agree.
///
/// `EARSHOT_CHANGES=1-1000` runs these seeds instead of 1 to 100 (`scripts/bench changes`). `EARSHOT_CHANGES_FOLDER` names a
/// folder for the sound that each person hears, in 32-bit floats. `EARSHOT_CHANGES_WITHOUT` leaves out kinds of changes.
@Suite(.optimized) struct ChangedCallTests {
    private static let seeds: ClosedRange<UInt64> = {
        let ends = ProcessInfo.processInfo.environment["EARSHOT_CHANGES"]?.split(separator: "-").compactMap {
            UInt64($0)
        }
        guard let ends, ends.count == 2, ends[0] <= ends[1] else { return 1...100 }
        return ends[0]...ends[1]
    }()

    @Test func `no change of a running call clicks or costs an unexplained gap, and two faces agree`() throws {
        var report = ChangeReport()
        let songs = try SongFiles()
        for seed in Self.seeds {
            let call = ChangedCall(seed: seed, songs: songs)
            try call.run()
            report.add(call, limits: .init(excess: Self.knownFaults[seed]?.excess ?? ChangeReport.Limits().excess))
            try keep(call)
        }
        let faults = report.faults()
        for fault in faults { print(fault) }
        #expect(faults.isEmpty, "\(faults.count) faults, the first: \(faults.first ?? "")")
        for line in report.table(of: CallChange.Kind.drawn) { print("change figure: \(line)") }
        print("change figure: ")
        print("change figure: \(report.lateText)")
        let counts = ChangeReport.Fault.allCases.map { "\($0.rawValue) \(report.faultyCalls[$0]?.count ?? 0)" }
        print("change figure: Of \(report.callCount) calls so many have a fault: \(counts.joined(separator: ", ")).")
        print(
            "changes: \(report.callCount) calls, \(Int(report.seconds)) s of sound, \(report.levelCount) levels compared"
        )
        #expect(report.levelCount > 100 * report.callCount)
        if Self.seeds.count >= 100 {
            #expect(CallChange.Kind.drawn.allSatisfy { report.rows[$0]?.count ?? 0 > Self.seeds.count })
        }
    }

    /// The fault that is known in calls with changes of both the codec and the device: a click of libopus where it changes from
    /// its hybrid coder to its transform coder, in packets of 20 ms. It repeats the click for some periods, which adds to other tones.
    private static let knownFaults: [UInt64: ChangeReport.Limits] = [50: .init(click: -57, excess: 0.006)]

    @Test(arguments: [[CallChange.Kind.codec], [.device], [.codec, .device]])
    func `among changes of the codec and the device too, no change clicks or costs an unexplained gap`(
        added: [CallChange.Kind]
    ) throws {
        let kinds = CallChange.Kind.allCases.filter { added.contains($0) || ![.codec, .device].contains($0) }
        var report = ChangeReport()
        let songs = try SongFiles()
        for seed: UInt64 in 1...100 {
            let call = ChangedCall(seed: seed, songs: songs, kinds: kinds)
            try call.run()
            report.add(call, limits: added.count > 1 ? Self.knownFaults[seed] ?? .init() : .init())
        }
        let faults = report.faults()
        for fault in faults { print(fault) }
        #expect(faults.isEmpty, "\(faults.count) faults, the first: \(faults.first ?? "")")
        for line in report.table(of: kinds) { print("with \(added): \(line)") }
        #expect(kinds.allSatisfy { report.rows[$0]?.count ?? 0 > 100 })
    }

    @Test func `equal seeds give equal sound`() throws {
        let songs = try SongFiles()
        let calls = [ChangedCall(seed: 5, songs: songs), ChangedCall(seed: 5, songs: songs)]
        for call in calls { try call.run() }
        let heard = calls.map { call in (call.departed + call.present).map(\.heard) }
        let isEqual = heard[0] == heard[1]
        let isHeard = heard[0].contains { $0.contains { $0 != 0 } }
        #expect(isEqual && isHeard)
    }

    /// Call 415: a card with a converter ended abruptly, 30 ms before the next, with a limiter. Call 709: noise of a concealment
    /// that was not played. Call 957: that of a change of Opus's mode. Call 96: a voice from blocks of 512 frames, which had
    /// begun with shorter ones, joined with a gap. Call 536: a concealment of Opus that ended abruptly.
    @Test(arguments: [415, 709, 957, 96, 536] as [UInt64])
    func `calls that had a click or a gap have none`(seed: UInt64) throws {
        let call = ChangedCall(seed: seed, songs: try SongFiles(), kinds: CallChange.Kind.allCases)
        try call.run()
        var report = ChangeReport()
        report.add(call)
        let faults = report.faults()
        #expect(faults.isEmpty, "\(faults)")
    }

    /// Prints the changes of a single call, and keeps its sound if a folder is named.
    private func keep(_ call: ChangedCall) throws {
        guard Self.seeds.count == 1 else { return }
        for change in call.changes {
            print(
                String(format: "%.3f s:", change.time.seconds(since: ChangedCall.beginning)), "person", change.person,
                change.text)
        }
        guard let folder = ProcessInfo.processInfo.environment["EARSHOT_CHANGES_FOLDER"] else { return }
        for (index, peer) in (call.departed + call.present).enumerated() {
            let file = URL(fileURLWithPath: folder).appendingPathComponent("\(call.seed)-\(index)-\(peer.person).f32")
            try peer.heard.withUnsafeBytes { Data($0) }.write(to: file)
        }
    }
}
