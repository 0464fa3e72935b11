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

/// Waits for an effect of a task without blocking a thread of the pool; false after ten seconds.
public func happens(_ condition: () async -> Bool) async -> Bool {
    for _ in 0..<2_000 {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return await condition()
}
