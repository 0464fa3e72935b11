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
}
