// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits for an effect of another thread; false after ten seconds.
public func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<2_000 {
        if condition() { return true }
        usleep(5_000)
    }
    return condition()
}
