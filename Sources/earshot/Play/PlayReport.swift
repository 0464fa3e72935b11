// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioStreams

/// What `earshot play --json` prints at the end. The manual page has its fields, which stay.
struct PlayReport: Codable, CommandReport {
    /// One that was played, or that could not be.
    struct Item: Codable {
        struct Title: Codable {
            var title: String
            /// Of the item's sound before it.
            var seconds: Double
        }

        var name: String
        /// `file` or `stream`.
        var kind: String
        /// Times that it was begun.
        var plays = 0
        /// Of its sound that were heard, over all plays.
        var seconds = 0.0
        /// Frames at the device's rate that were not there in time.
        var lostFrames = 0
        /// Of a stream: times that the sound ran out, and that the connection was made anew.
        var stalls = 0
        var reconnections = 0
        /// Of a station: what was held during a long pause, and left out for it to go on live.
        var leftOutSeconds = 0.0
        /// Of a stream, the newest thousand.
        var titles: [Title] = []
        /// Why it was not played, or not to its end.
        var error: String?
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    /// Names, in order.
    var effects: [String]
    var items: [Item]
    /// What could not even be looked at: the line that was told.
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
            "play ended (\(ended)): \(played.count) of \(items.count) played, \(FileFormatting.time(sound)) of sound\n"
            + "\(lost) frames lost, \(stalls) stalls, \(callback.xruns) xruns, \(callback.skippedFrames) frames skipped"
    }
}
