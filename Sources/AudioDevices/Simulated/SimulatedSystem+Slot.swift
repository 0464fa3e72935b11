// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

extension SimulatedSystem {
    /// The state shared by the open devices of a card. Any thread.
    final class Slot: Sendable {
        private struct Rings {
            var areTaken = false
            var marks = SimulatedCard.RingMarks()
        }
        private let rings = Mutex(Rings())
        private let firstStart = Mutex<HostTime?>(nil)
        private let onFirstStart: @Sendable (Slot, HostTime) -> Void

        init(onFirstStart: @escaping @Sendable (Slot, HostTime) -> Void) {
            self.onFirstStart = onFirstStart
        }

        /// Takes the card's rings for one device; other devices then get silence.
        /// - Returns: the positions at which the rings were left; nil if another device has the rings.
        func takeRings() -> SimulatedCard.RingMarks? {
            rings.withLock { rings in
                guard !rings.areTaken else { return nil }
                rings.areTaken = true
                return rings.marks
            }
        }

        func returnRings(_ marks: SimulatedCard.RingMarks) {
            rings.withLock { $0 = Rings(areTaken: false, marks: marks) }
        }

        /// Notes the start of a device on the card. The card's script is played once, from the first start on.
        func noteStart(_ time: HostTime) {
            let isFirst = firstStart.withLock { first in
                guard first == nil else { return false }
                first = time
                return true
            }
            if isFirst { onFirstStart(self, time) }
        }

        /// Returns the remaining events of the card's script for a device that is opened now.
        func remaining(of script: [SimulatedCard.Event]) -> [SimulatedCard.Event] {
            guard let start = firstStart.withLock({ $0 }) else { return script }
            let elapsed = HostTime.now().seconds(since: start)
            return script.compactMap { $0.remaining(after: elapsed) }
        }
    }
}
