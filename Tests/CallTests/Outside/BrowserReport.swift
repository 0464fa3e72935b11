// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation

/// A browser page's report of its connection and its clocks.
struct BrowserReport {
    /// The protection of media, as Chromium names it.
    let srtpCipher: String
    /// Chromium's role in the handshake.
    let dtlsRole: String
    /// The packets that Chromium received and lost.
    let received: Int
    let lost: Int
    /// The time at which the audio context's time was 0.
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

    /// Returns the recording by the page's worklet with its time on the machine's clock.
    func signal(_ samples: [Float], of recording: Browser.Recording) -> TimedSignal {
        TimedSignal(
            samples: samples, sampleRate: 48_000,
            firstFrameTime: contextStart.advanced(bySeconds: Double(recording.first ?? 0) / 48_000))
    }

    /// Returns the milliseconds from one sound to the other, from the first half minute of both; −1 if they cannot be measured.
    func delay(of heard: TimedSignal, from said: TimedSignal) -> Double {
        var options = DelayMeasurement.Options()
        options.searchRange = 0...1.5
        return (try? DelayMeasurement(sent: said.first(30), heard: heard.first(32), options: options))?.p50 ?? -1
    }
}

extension TimedSignal {
    /// Returns the part from a frame on.
    func part(from frame: Int) -> TimedSignal {
        TimedSignal(
            samples: Array(samples.dropFirst(frame)), sampleRate: sampleRate,
            firstFrameTime: firstFrameTime.advanced(bySeconds: Double(frame) / sampleRate))
    }

    /// Returns the first seconds.
    func first(_ seconds: Double) -> TimedSignal {
        TimedSignal(
            samples: Array(samples.prefix(Int(seconds * sampleRate))), sampleRate: sampleRate,
            firstFrameTime: firstFrameTime)
    }
}
