// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The mode of files that others may read.
package enum FileMode {
    /// The process's umask by /proc; 0077 if that fails. `umask()` would change it for other threads.
    package static let mask: mode_t = {
        guard let file = fopen("/proc/self/status", "r") else { return 0o077 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("Umask:") else { continue }
            return text.split { $0.isWhitespace }.last.flatMap { mode_t($0, radix: 8) } ?? 0o077
        }
        return 0o077
    }()
}
