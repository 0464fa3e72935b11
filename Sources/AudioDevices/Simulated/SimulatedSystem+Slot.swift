import AudioBase
import Synchronization

extension SimulatedSystem {
    /// What the devices that are open on one card share. Any thread.
    final class Slot: Sendable {
        private let ringsAreTaken = Atomic<Bool>(false)
        private let firstStart = Mutex<HostTime?>(nil)
        private let whenFirstStarted: @Sendable (Slot, HostTime) -> Void

        init(whenFirstStarted: @escaping @Sendable (Slot, HostTime) -> Void) {
            self.whenFirstStarted = whenFirstStarted
        }

        /// A card's rings are for one device at a time; the others hear silence.
        func takeRings() -> Bool {
            ringsAreTaken.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        }

        func giveRings() { ringsAreTaken.store(false, ordering: .releasing) }

        /// The script is played once, from the first start on.
        func noteStart(_ time: HostTime) {
            let isFirst = firstStart.withLock { first in
                guard first == nil else { return false }
                first = time
                return true
            }
            if isFirst { whenFirstStarted(self, time) }
        }

        /// What is still to come of a script for a device that is opened now.
        func remaining(of script: [SimulatedCard.Event]) -> [SimulatedCard.Event] {
            guard let start = firstStart.withLock({ $0 }) else { return script }
            let elapsed = HostTime.now().seconds(since: start)
            return script.compactMap { $0.remaining(after: elapsed) }
        }
    }
}
