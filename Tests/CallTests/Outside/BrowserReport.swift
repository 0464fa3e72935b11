// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation

/// A browser page's report of its connection and its clocks.
struct BrowserReport {
    /// The protection of media, in Chromium's words.
    let srtpCipher: String
    /// Chromium's part in the handshake.
    let dtlsRole: String
    /// Packets that Chromium received, and lost.
    let received: Int
    let lost: Int
    /// When the audio context was at 0.
    private let contextStart: HostTime

    init(_ text: String) throws {
        let whole = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        let stats = whole["stats"] as? [[String: Any]] ?? []
        func value(_ name: String, _ type: String) -> Any? {
            stats.first { $0["type"] as? String == type && $0[name] != nil }?[name]
        }
        srtpCipher = value("srtpCipher", "transport") as? String ?? ""
        dtlsRole = value("dtlsRole", "transport") as? String ?? ""
        received = (value("packetsReceived", "inbound-rtp") as? NSNumber)?.intValue ?? 0
        lost = (value("packetsLost", "inbound-rtp") as? NSNumber)?.intValue ?? 0
        let context = (whole["contextTime"] as? NSNumber)?.doubleValue ?? 0
        let wall = (whole["wallTime"] as? NSNumber)?.doubleValue ?? 0
        contextStart = HostTime.now().advanced(bySeconds: wall - context - Date().timeIntervalSince1970)
    }

    /// Returns the recording of the page's worklet, by the machine's clock.
    func signal(_ samples: [Float], of recording: Browser.Recording) -> TimedSignal {
        TimedSignal(
            samples: samples, sampleRate: 48_000,
            firstFrameTime: contextStart.advanced(bySeconds: Double(recording.first ?? 0) / 48_000))
    }

    /// Milliseconds from one to the other, by the first half minute of both; −1 where it cannot be told.
    func delay(of heard: TimedSignal, from said: TimedSignal) -> Double {
        var options = DelayMeasurement.Options()
        options.searchRange = 0...1.5
        return (try? DelayMeasurement(sent: said.first(30), heard: heard.first(32), options: options))?.p50 ?? -1
    }
}

extension TimedSignal {
    /// From a frame on.
    func part(from frame: Int) -> TimedSignal {
        TimedSignal(
            samples: Array(samples.dropFirst(frame)), sampleRate: sampleRate,
            firstFrameTime: firstFrameTime.advanced(bySeconds: Double(frame) / sampleRate))
    }

    /// The first seconds of it.
    func first(_ seconds: Double) -> TimedSignal {
        TimedSignal(
            samples: Array(samples.prefix(Int(seconds * sampleRate))), sampleRate: sampleRate,
            firstFrameTime: firstFrameTime)
    }
}
