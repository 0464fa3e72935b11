// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The parts that the singers have. Each chooses its own; of two singers, the other one takes the part that becomes free.
extension DuetCore {
    /// Chooses the part of the local singer before the song.
    package mutating func setPart(_ part: Int) throws(DuetRefusal) {
        guard song != nil else { throw .noSong }
        guard transport.state == .waiting else { throw .started }
        self.part = part
        partChange &+= 1
        nextMessage = nil
    }

    /// Seconds after the host's first message in which a guest hears of the parts of the others.
    private static var partTime: Double { 3 * interval }

    /// Takes a part, if there is none yet: the host the first, a guest that with fewer singers, and of equal ones the second.
    mutating func choosePart(at now: HostTime) {
        guard part == nil, song != nil, let host, host == own || others[host] != nil else { return }
        let start = partStart ?? now
        partStart = start
        guard host == own || now.seconds(since: start) >= Self.partTime else { return }
        let parts = others.values.compactMap(\.message.part)
        let isFirst = host == own || parts.count { $0 == 1 } < parts.count { $0 == 2 }
        part = isFirst ? 1 : 2
        nextMessage = nil
    }

    /// Takes the other part if the only other singer has changed to the local singer's one. A message that comes late changes
    /// nothing.
    mutating func swapPart(for message: DuetMessage) {
        guard let change = message.partChange, Int8(bitPattern: change &- partChange) > 0 else { return }
        partChange = change
        guard transport.state == .waiting, others.count == 1, let part, message.part == part else { return }
        self.part = DuetPart.other(part)
        nextMessage = nil
    }
}
