// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioStreams

/// The report of `earshot play --json` at the end. The manual page has its fields, which stay.
struct PlayReport: Codable, CommandReport {
    /// One that was played, or that could not be.
    struct Item: Codable {
        struct Title: Codable {
            var title: String
            /// Seconds of the item's sound before it.
            var seconds: Double
        }

        var name: String
        /// `file` or `stream`.
        var kind: String
        /// Times that it was begun.
        var plays = 0
        /// Seconds of its sound that were heard, over all plays.
        var seconds = 0.0
        /// Frames at the device's rate that were not there in time.
        var lostFrames = 0
        /// The number of times that a stream ran out, and that it reconnected.
        var stalls = 0
        var reconnections = 0
        /// Seconds that were left out after a long pause of a station, so that it continues live.
        var leftOutSeconds = 0.0
        /// The newest thousand titles of a stream.
        var titles: [Title] = []
        /// Why it was not played, or not to its end.
        var error: String?
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    /// Names, in order.
    var effects: [String]
    var items: [Item]
    /// The lines told of sources that could not be opened.
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

    /// Two lines.
    var summary: String {
        let played = items.filter { $0.seconds > 0 }
        let lost = items.reduce(0) { $0 + $1.lostFrames }
        let stalls = items.reduce(0) { $0 + $1.stalls }
        let sound = played.reduce(0) { $0 + $1.seconds }
        return
            "Played \(played.count) of \(items.count) (\(ended)): \(FileFormatting.time(sound)) of audio\n"
            + "\(lost) frames lost, \(stalls) stalls, \(callback.xruns) xruns, \(callback.skippedFrames) frames skipped"
    }
}
