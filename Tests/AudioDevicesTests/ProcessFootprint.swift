import Foundation

/// What this process holds of the machine.
struct ProcessFootprint {
    /// Threads.
    var threads: Int
    /// Open descriptors.
    var descriptors: Int
    /// Memory of its own, in bytes: not files', not shared.
    var anonymousBytes: Int

    static func now() -> ProcessFootprint {
        func count(_ folder: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
        }
        let rollup = FileManager.default.contents(atPath: "/proc/self/smaps_rollup").map {
            String(decoding: $0, as: UTF8.self)
        }
        let anonymous = rollup?.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        let kilobytes = anonymous?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return ProcessFootprint(
            threads: count("/proc/self/task"), descriptors: count("/proc/self/fd"), anonymousBytes: kilobytes * 1_024)
    }
}
