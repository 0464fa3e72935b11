// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A sound system that can lower the volume of other programs.
package protocol AudioDucking: AudioSystem {
    /// Lowers the volume of other programs, including new ones, until the returned ``Ducking`` is ended or released. The lowest
    /// of several gains applies. Any thread except the render thread.
    /// - Parameter gain: a factor, clamped to 0…1.
    func duckOthers(to gain: Float) -> Ducking
}

/// Keeps the volume of other programs lowered until it is ended or released. Any thread except the render thread.
package final class Ducking: Sendable {
    private let restore: Mutex<(@Sendable () -> Void)?>

    /// - Parameter restore: restores the volume; called once, when this object is ended or released.
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
