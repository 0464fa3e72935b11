// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioStreams

/// The report of `earshot play --json` at the end. The manual page documents its fields, which must not change.
struct PlayReport: Codable, CommandReport {
    /// An entry that was played, or could not be.
    struct Item: Codable {
        struct Title: Codable {
            var title: String
            /// The position in the item's sound, in seconds, at which the title arrived.
            var seconds: Double
        }

        var name: String
        /// The kind: `file` or `stream`.
        var kind: String
        /// The number of times that playback of the entry began.
        var plays = 0
        /// The seconds of the entry's sound that were heard, in all plays together.
        var seconds = 0.0
        /// The number of frames, at the device's rate, that were lost because they came too late.
        var lostFrames = 0
        /// The number of stalls of a stream, and (``reconnections``) of new connections to it.
        var stalls = 0
        var reconnections = 0
        /// The seconds of a stream that were skipped after long pauses, so that playback continued live.
        var leftOutSeconds = 0.0
        /// The last thousand titles of a stream.
        var titles: [Title] = []
        /// The reason that the entry was not played to its end; nil if there is none.
        var error: String?
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    /// The names of the effects, in order.
    var effects: [String]
    var items: [Item]
    /// The failures of sources that could not be opened.
    var failures: [String]
    var seconds: Double
    var ended: String
    var volumeDb: Double
    var rate: Double
    var seed: UInt64?
    var routeChanges: [CallReport.RouteChanged]
    var interruptions: [CallReport.Interrupted]
    var routeLostFrames: Int
    var callback: CallReport.Callback

    /// Returns the report as two lines of text.
    func summary(_ ending: EndReason) -> String {
        let played = items.filter { $0.seconds > 0 }
        let lost = items.reduce(0) { $0 + $1.lostFrames }
        let stalls = items.reduce(0) { $0 + $1.stalls }
        let sound = played.reduce(0) { $0 + $1.seconds }
        return
            "Played \(played.count) of \(items.count)\(ending.bracketed()): \(FileFormatting.time(sound)) of audio\n"
            + "\(lost) frames lost, \(stalls) stalls, \(callback.xruns) xruns, \(callback.skippedFrames) frames skipped"
    }
}
