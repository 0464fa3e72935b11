// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioDevices
@testable import EarshotAudioEngine
@testable import EarshotAudioFiles
@testable import TestSupport

/// The cost of an MP3 during monitoring: two programs at a time on one JACK server capture the same song, and one of them records
/// it.
enum RecordingCost {
    static func figures(_ workshop: Workshop) throws -> [Report] {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let (seconds, parts) = (workshop.isLong ? 6.0 : 1.0, 5)
        let music = try workshop.music(seconds: Int(seconds) * parts + 20, format: format)
        return try JACKServer.running { server in
            var request = AudioDeviceRequest()
            request.clientName = "song"
            request.sampleRate = format.sampleRate
            request.blockFrameCount = 64
            let engine = AudioEngine()
            let player = AudioPlayerNode(format: format)
            try engine.attach(player)
            try engine.connect(player, to: engine.mainMixerNode)
            try player.scheduleFile(AudioFileReader(path: music))
            let device = try JACKSystem(serverName: server.name).open(request)
            try engine.start(on: device)
            defer { engine.stop() }
            player.play()
            func monitor(_ name: String, _ rest: String...) throws -> ChildProcess {
                let child = try ChildProcess(
                    workshop.earshot(
                        "monitor", "--device", "jack", "--jack-server", server.name, "--client-name", name,
                        "--channels",
                        "2", "--duration", "120") + rest)
                guard child.says("from mouth to ear") else { throw Topics.WrongArgument("monitor: \(child.errors)") }
                for channel in 1...2 { try server.connect("song:output_\(channel)", "\(name):input_\(channel)") }
                return child
            }
            let recording = workshop.path("monitored.mp3")
            let (plain, recorder) = (
                try monitor("plain"), try monitor("recorder", "--record", recording, "--overwrite")
            )
            usleep(1_000_000)
            var shares: [Double] = []
            var plainShares: [Double] = []
            for _ in 0..<parts {
                let before = (cost(plain), cost(recorder), HostTime.now())
                usleep(useconds_t(seconds * 1e6))
                let after = (cost(plain), cost(recorder), HostTime.now())
                let wall = after.2.seconds(since: before.2)
                shares.append((after.1 - before.1 - (after.0 - before.0)) / wall * 100)
                plainShares.append((after.0 - before.0) / wall * 100)
            }
            for child in [plain, recorder] {
                child.signal(SIGINT)
                _ = child.wait(seconds: 10)
            }
            let bytes = (try? FileManager.default.attributesOfItem(atPath: recording)[.size] as? Int) ?? 0
            let kilobits = Double(bytes) * 8 / 1_000 / (seconds * Double(parts) + 1)
            return [
                Report(
                    "recording stereo at 48 kHz to MP3 V2 (\(decimal(kilobits, 0)) kb/s) while monitoring in blocks of 64 "
                        + "frames, beside a monitor that records nothing and takes \(decimal(median(plainShares), 2)) %, "
                        + "\(parts) times \(decimal(seconds, 0)) s", median(shares), least: shares.min(), "% of a core",
                    .atMost(2), against: "the monitor beside it; jackd, dummy driver")
            ]
        }
    }

    private static func median(_ values: [Double]) -> Double { PairedTimes.median(values) }

    /// Returns the seconds of processor time of a program's threads.
    private static func cost(_ child: ChildProcess) -> Double {
        guard let pid = child.processID else { return .nan }
        let folder = "/proc/\(pid)/task"
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return tasks.reduce(0) { sum, task in
            let text = (try? String(contentsOfFile: "\(folder)/\(task)/schedstat", encoding: .utf8)) ?? ""
            return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) * 1e-9
        }
    }
}
