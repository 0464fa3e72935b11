// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A sound system that can make other programs quieter.
package protocol AudioDucking: AudioSystem {
    /// Multiplies what other programs play, also what begins later, until the result is ended or freed. Where several are in
    /// force the lowest counts. Any thread but the render thread.
    /// - Parameter gain: a factor from 0 to 1, to which others are clamped.
    func duckOthers(to gain: Float) -> Ducking
}

/// Other programs are quieter while this lives. Any thread but the render thread.
package final class Ducking: Sendable {
    private let restore: Mutex<(@Sendable () -> Void)?>

    /// - Parameter restore: is called once, at the end.
    package init(_ restore: @escaping @Sendable () -> Void) { self.restore = Mutex(restore) }

    deinit { end() }

    /// Gives others their loudness back. Harmless when done already.
    package func end() {
        let restore = restore.withLock { restore in
            defer { restore = nil }
            return restore
        }
        restore?()
    }
}
