// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation
import PairedTimes

/// Sixteen files at once: the gain from a second core for `earshot convert`, and for two independent programs.
enum BatchSpeed {
    private static let count = 16

    static func figures(_ workshop: Workshop) throws -> [Report] {
        let seconds = workshop.isLong ? 30 : 4
        let music = try workshop.music(seconds: seconds * count)
        let folder = workshop.path("batch")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let names = (0..<count).map { "\(folder)/\($0).wav" }
        for (n, name) in names.enumerated() {
            try Cost.finish([
                try Cost.start(["sox", "-D", music, name, "trim", "\(n * seconds)", "\(seconds)"])
            ])
        }
        func ours(_ jobs: Int) throws -> Double {
            try Cost(
                running: workshop.earshot(
                    "convert", folder, "--to", "mp3", "--output", workshop.path("batch-out"), "--overwrite", "--jobs",
                    "\(jobs)")
            ).wall
        }
        func theirs(_ jobs: Int) throws -> Double {
            let lanes = (0..<jobs).map { lane in
                let files = names.indices.filter { $0 % jobs == lane }
                    .map { "ffmpeg -v error -y -threads 1 -i '\(names[$0])' -q:a 2 '\(names[$0]).mp3' || exit 1" }
                return ["sh", "-c", files.joined(separator: "\n")]
            }
            return try Cost { try Cost.finish(try lanes.map(Cost.start)) }.wall
        }
        var gains: [(ours: Double, theirs: Double)] = []
        for _ in 0..<3 {
            let (one, other) = (try ours(1), try theirs(1))
            gains.append((one / (try ours(2)), other / (try theirs(2))))
        }
        let (gain, other) = (PairedTimes.median(gains.map(\.ours)), PairedTimes.median(gains.map(\.theirs)))
        let isLike = gains.contains { $0.ours >= 0.95 * $0.theirs }
        return [
            Report(
                "\(count) WAV files of \(seconds) s to MP3 V2, what --jobs 2 gains over --jobs 1; two ffmpegs side by side "
                    + "gain \(decimal(other, 2)) over one", gain, least: gains.map(\.ours).max(),
                excuse: isLike ? "the machine has no more: two ffmpegs gain \(decimal(other, 2))" : nil,
                "times as fast",
                .atLeast(1.7), against: "one core; ffmpeg in turn")
        ]
    }
}
