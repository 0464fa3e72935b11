// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles
import EarshotAudioQueues
import Foundation

/// The report of `record --json`. The manual page documents its fields, which must not change.
struct RecordReport: Codable, CommandReport {
    /// A recorded file; with `--split`, all its parts.
    struct File: Codable {
        /// The path of the file, or the paths of its parts; `-` for standard output.
        var paths: [String]
        var type: String
        /// The number of frames that this command recorded, at the report's ``RecordReport/rate``.
        var frames: Int
        /// The number of frames in the whole file after sound was appended; nil for a new file.
        var totalFrames: Int?
        var bytes: Int
        /// The reason that the file ended early; nil if the file is complete.
        var error: String?
        /// The reason that tags were not written to the file; nil if there is none.
        var warning: String?
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    var rate: Double
    var channels: Int
    /// The seconds of sound, without pauses.
    var seconds: Double
    var ended: String
    var files: [File]
    /// The number of lost frames, which are silence in the files.
    var lostFrames: Int
    /// The number of silent frames that `--trim-silence` left out.
    var trimmedFrames: Int
    var pauses: Int
    /// The recorded peak in dBFS; nil if every sample is zero.
    var peakDb: Double?
    var routeChanges: [CallReport.RouteChanged]
    var interruptions: [CallReport.Interrupted]
    var callback: CallReport.Callback

    init(
        _ command: RecordCommand, _ plan: RecordPlan, _ card: RecordCard, device: CallReport.Device, ended: String,
        pauses: Int, warnings: [String: String]
    ) {
        let recorder = card.recorder
        self.device = device
        rate = recorder.format.sampleRate
        channels = recorder.format.channelCount
        seconds = Double(recorder.elapsedFrameCount) / rate
        self.ended = ended
        files = zip(plan.items, recorder.files).map { item, file in
            File(
                paths: item.isStream ? [StandardStream.name] : file.paths, type: FileKinds.ending(item.type),
                frames: file.frameCount, totalFrames: item.existingFrames.map { $0 + file.frameCount },
                bytes: file.paths.reduce(0) { $0 + Self.byteCount($1) },
                error: file.error.map { ErrorText.text($0) },
                warning: file.paths.lazy.compactMap { warnings[$0] }.first)
        }
        lostFrames = recorder.lostFrameCount
        trimmedFrames = recorder.trimmedFrameCount
        self.pauses = pauses
        peakDb = recorder.recordedPeak > 0 ? Double(gainToDecibels(recorder.recordedPeak)) : nil
        routeChanges = card.session.routeChanges
        interruptions = card.session.interruptions
        callback = CallReport.Callback(card.watchdog.snapshot)
    }

    /// True if the peak is full scale, so that the recording is probably clipped.
    var isClipped: Bool { (peakDb ?? -.infinity) >= -0.000_1 }

    static func byteCount(_ path: String) -> Int {
        PathText.status(path).map { Int($0.st_size) } ?? 0
    }

    /// Returns one line about the recording and its end, and one for each file; the parts of a divided file share a line.
    func summary(_ ending: EndReason) -> String {
        let peak = peakDb.map { String(format: "peak %.1f dBFS", $0) } ?? "silence only"
        var text =
            "Recorded \(FileFormatting.time(seconds))\(ending.bracketed(quit: "asked")): \(peak), \(lostFrames) frames lost, "
            + "\(callback.xruns) xruns"
        if trimmedFrames > 0 { text += ", \(FileFormatting.time(Double(trimmedFrames) / rate)) of silence skipped" }
        for file in files {
            let name = file.paths.count == 1 ? file.paths[0] : "\(file.paths[0]) … \(file.paths.count) parts"
            text +=
                "\n\(name): \(length(of: file)), "
                + FileFormatting.format(rate: rate, channels: channels)
                + (file.bytes > 0 ? ", \(FileFormatting.size(file.bytes))" : "")
                + (file.error == nil ? "" : ", ended early")
        }
        return text
    }

    private func length(of file: File) -> String {
        let recorded = FileFormatting.time(Double(file.frames) / rate)
        guard let total = file.totalFrames else { return recorded }
        return "\(recorded) appended, now \(FileFormatting.time(Double(total) / rate))"
    }
}
