// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The processor time of this thread, which excludes other programs.
enum ProcessorTime {
    /// Seconds since the thread began.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
