// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The resources that this process holds.
public struct ProcessFootprint: Sendable {
    /// Threads.
    public var threads: Int
    /// Open descriptors.
    public var descriptors: Int
    /// Memory of its own, in bytes: not files', not shared.
    public var anonymousBytes: Int

    /// True if freed memory is kept, as the address sanitizer does: then its size says nothing.
    public static let keepsFreed = dlsym(nil, "__asan_init") != nil

    /// Returns the present footprint.
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
