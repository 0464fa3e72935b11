// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// A headless Chromium in a call, and the sound at both ends.
@Suite(.serialized) struct BrowserTests {
    @Test(.realTime(time: .real), .needs("chromium"))
    func `Chromium joins as a DTLS server, exchanges sound, leaves, and rejoins as a client`()
        throws
    {
        let end = try BrowserEnd(says: babble(seconds: 30, voice: 11), seconds: 30)
        let microphone = babble(seconds: 12, voice: 12)
        let browser = try Browser(microphone: microphone) { query, offer in
            try end.answer(offer, as: query.contains("active") ? .client : .server)
        }
        defer { browser.stop() }
        try end.start()
        defer { end.stop() }
        #expect(try browser.notify("listen") == "listening")
        for (role, query) in [("server", "active&data"), ("client", "passive")] {
            #expect(try browser.notify("join?\(query)") == "connected")
            #expect(eventually { if case .open? = end.report?.state { true } else { false } }, "\(end.report as Any)")
            let (heardFrom, recordedFrom) = (end.end.heardSignal.samples.count, browser.recording.remote.count)
            usleep(2_700_000)
            let report = try BrowserReport(browser.notify("report"))
            #expect(report.dtlsRole == role && report.srtpCipher == "SRTP_AEAD_AES_128_GCM", "\(report)")
            #expect(report.received > 100 && report.lost == 0)
            let statistics = try #require(end.statistics)
            #expect(statistics.media.rtp.packetsLost == 0 && statistics.media.corruptPackets == 0)
            #expect(statistics.media.rtp.roundTrip != nil, "Chromium's reports are read")
            #expect(end.report?.statistics.unauthentic == 0)

            let heard = end.end.heardSignal.part(from: heardFrom)
            let said = TimedSignal(samples: microphone, sampleRate: 48_000, firstFrameTime: .now())
            let fromBrowser = Similarity(of: heard, with: said, within: 14)
            let recording = browser.recording
            let recorded = report.signal(recording.remote, of: recording).part(from: recordedFrom)
            let toBrowser = Similarity(of: recorded, with: end.end.saidSignal.part(from: heardFrom), within: 2)
            print("Chromium as DTLS \(role): from it \(fromBrowser); to it \(toBrowser)")
            #expect(fromBrowser.seconds(above: 0.8) >= 1, "\(fromBrowser); \(statistics)")
            #expect(toBrowser.seconds(above: 0.8) >= 1, "\(toBrowser)")

            #expect(try browser.notify("leave") == "left")
            #expect(eventually { end.report?.state == .closed }, "it says so")
            end.removeParticipant()
        }
        #expect(end.end.session.peers.isEmpty && end.end.session.failure == nil)
    }
}
