// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotCall

/// Records speech between Chromium and a call, in both DTLS roles, for Tests/Quality to score: set EARSHOT_BROWSER_FOLDER to a
/// folder with `speech.f32` (raw 32-bit floats, mono, 48 kHz), as `scripts/bench browser` does.
@Suite struct BrowserQualityTests {
    private static let folder = ProcessInfo.processInfo.environment["EARSHOT_BROWSER_FOLDER"]
    /// The length of each of the two calls in seconds.
    private static let seconds =
        ProcessInfo.processInfo.environment["EARSHOT_BROWSER_SECONDS"].flatMap { Int($0) } ?? 120

    @Test(.enabled(if: folder != nil, "EARSHOT_BROWSER_FOLDER is not set"))
    func `speech is exchanged with Chromium and recorded at both ends`() throws {
        let folder = URL(fileURLWithPath: try #require(Self.folder))
        let speech = try Data(contentsOf: folder.appendingPathComponent("speech.f32")).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        let whole = 2 * Self.seconds + 30
        let says = (0..<whole * 48_000).map { speech[$0 % speech.count] }
        let end = try BrowserEnd(says: says, seconds: whole)
        let browser = try Browser(microphone: speech) { query, offer in
            try end.answer(offer, as: query == "active" ? .client : .server)
        }
        defer { browser.stop() }
        try end.start()
        defer { end.stop() }
        _ = try browser.notify("listen")
        for (role, query) in [("server", "active"), ("client", "passive")] {
            _ = try browser.notify("join?\(query)")
            try #require(eventually { if case .open? = end.report?.state { true } else { false } })
            let (heardFrom, recordedFrom) = (end.end.heardSignal.samples.count, browser.recording.remote.count)
            // Playout finds its delay within the first seconds, which are not left out.
            for _ in 0..<Self.seconds {
                usleep(1_000_000)
                end.end.listen()
            }
            let report = try BrowserReport(browser.notify("report"))
            let statistics = try #require(end.statistics)
            #expect(report.srtpCipher == "SRTP_AEAD_AES_128_GCM" && report.dtlsRole == role, "\(report)")
            print(
                "browser \(role): \(statistics.media.rtp), \(statistics.playout), \(end.report as Any), gaps \(browser.gapCount)"
            )
            let heard = end.end.heardSignal.part(from: heardFrom)
            let recording = browser.recording
            let recorded = report.signal(recording.remote, of: recording).part(from: recordedFrom)
            let microphone = report.signal(recording.microphone, of: recording).part(from: recordedFrom)
            try write(
                heard, to: folder, "from-\(role)", cipher: report.srtpCipher,
                delay: report.delay(of: heard, from: microphone), lost: statistics.media.rtp.packetsLost,
                packets: statistics.media.rtp.packetsExpected)
            try write(
                recorded, to: folder, "to-\(role)", cipher: report.srtpCipher,
                delay: report.delay(of: recorded, from: end.end.saidSignal.part(from: heardFrom)),
                lost: report.lost, packets: report.received + report.lost)
            _ = try browser.notify("leave")
            #expect(eventually { end.report?.state == .closed })
            end.removeParticipant()
        }
    }

    private func write(
        _ signal: TimedSignal, to folder: URL, _ name: String, cipher: String, delay: Double, lost: Int, packets: Int
    ) throws {
        try signal.samples.withUnsafeBytes { Data($0) }.write(to: folder.appendingPathComponent("\(name).f32"))
        let told: [String: Any] = ["cipher": cipher, "delay": delay, "lost": lost, "packets": packets]
        try JSONSerialization.data(withJSONObject: told).write(to: folder.appendingPathComponent("\(name).json"))
    }
}
