// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A sound system that can lower the volume of other programs.
package protocol AudioDucking: AudioSystem {
    /// Lowers the volume of other programs, including new ones, until the result is ended or released. The lowest
    /// of several gains applies. Any thread except the render thread.
    /// - Parameter gain: a factor, clamped to 0…1.
    func duckOthers(to gain: Float) -> Ducking
}

/// Lowers the volume of other programs while it lives. Any thread except the render thread.
package final class Ducking: Sendable {
    private let restore: Mutex<(@Sendable () -> Void)?>

    /// - Parameter restore: called once, at the end.
    package init(_ restore: @escaping @Sendable () -> Void) { self.restore = Mutex(restore) }

    deinit { end() }

    /// Restores the volume of other programs. A second call does nothing.
    package func end() {
        let restore = restore.withLock { restore in
            defer { restore = nil }
            return restore
        }
        restore?()
    }
}
