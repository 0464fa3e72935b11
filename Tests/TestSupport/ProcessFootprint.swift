// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The resources that this process uses.
public struct ProcessFootprint: Sendable {
    /// The number of threads.
    public var threads: Int
    /// The number of open descriptors.
    public var descriptors: Int
    /// Private memory in bytes, without files and shared memory.
    public var anonymousBytes: Int

    /// True if freed memory is kept, as by the address sanitizer: then the size has no meaning.
    public static let keepsFreed = dlsym(nil, "__asan_init") != nil

    /// Returns the current footprint.
    public static func now() -> ProcessFootprint {
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
