import AudioBase
import AudioContainers
import AudioFiles
import Foundation
import Testing

@Suite(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_TEST_HOUR"] != nil))
struct HourTests {
    @Test func figures() throws {
        func resident() -> Int {
            let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
                .flatMap { Int($0.split(whereSeparator: { !$0.isNumber }).first ?? "0") } ?? 0
        }
        let clock = ContinuousClock()
        for path in (ProcessInfo.processInfo.environment["EARSHOT_TEST_HOUR"] ?? "").split(separator: ":").map(
            String.init)
        {
            let before = resident()
            var reader: ContainerFileReader?
            let opening = try clock.measure { reader = try ContainerFileReader(path: path) }
            guard let reader else { continue }
            print(path, "open", opening, "frames", reader.frameCount, "memory", resident() - before, "kB")
            let part = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
            var worst = Duration.zero
            var sum = Duration.zero
            var state: UInt64 = 7
            for _ in 0..<200 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let target = Int(state >> 33) % reader.frameCount
                let time = try clock.measure {
                    try reader.seek(to: target)
                    _ = try reader.read(into: part.channels, frameCount: 512)
                }
                worst = max(worst, time)
                sum += time
            }
            print("seek mean", sum / 200, "worst", worst)
            try reader.seek(to: 0)
            let all = try clock.measure { while try reader.read(into: part.channels, frameCount: 4_096) == 4_096 {} }
            print("decode all", all, "memory", resident() - before, "kB")
        }
    }

    /// WAV to M4A at a bit rate, for side-by-side figures.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_TEST_ENCODE"] != nil))
    func encode() throws {
        let words = (ProcessInfo.processInfo.environment["EARSHOT_TEST_ENCODE"] ?? "").split(separator: ":").map(
            String.init)
        let reader = try SoundFiles.open(words[0])
        let clock = ContinuousClock()
        let time = try clock.measure {
            let writer = try SoundFiles.create(
                words[1], format: reader.processingFormat,
                settings: SoundFiles.Settings(bitRate: .constant(Int(words[2]) ?? 128)))
            let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 4_096)
            while true {
                let frames = try reader.read(into: block.channels, frameCount: 4_096)
                if frames == 0 { break }
                try writer.write(block.channels, frameCount: frames, offset: 0)
            }
            try writer.close()
        }
        print("encode", time, "frames", try SoundFiles.open(words[1]).frameCount)
    }
}
