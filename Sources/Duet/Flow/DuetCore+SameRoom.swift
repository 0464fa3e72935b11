// SPDX-License-Identifier: Apache-2.0

/// The singers in one room, who hear each other through the air: over the network they are silent, and one loudspeaker plays the
/// song.
extension DuetCore {
    /// Sets how the local sound is captured and played.
    /// - Parameters:
    ///   - captureDelay: the seconds from the microphone to the device's cycle, with the processing of the voice.
    ///   - hasLoudspeaker: true if others in the room hear what is played.
    package mutating func setSound(captureDelay: Double, hasLoudspeaker: Bool) {
        // More digits would only lengthen the message.
        let microseconds = (max(0, min(DuetMessage.Room.longestDelay, captureDelay)) * 1e6).rounded()
        (room.captureDelay, room.hasLoudspeaker) = (microseconds / 1e6, hasLoudspeaker)
    }

    /// Sets the members whose voices the local microphone hears through the air.
    package mutating func setHeardInRoom(_ members: Set<Member>) {
        let numbers = members.compactMap { others[$0]?.message.singer }.sorted()
        guard numbers != room.heard else { return }
        room.heard = numbers
        nextMessage = nil
    }

    /// The seconds from the microphone of each member to its device's cycle, as far as they are known.
    package var captureDelays: [Member: Double] { others.compactMapValues { $0.message.room?.captureDelay } }

    /// The members in the same room: each of the two hears the other's voice through the air.
    var nearbyMembers: Set<Member> {
        Set(
            others.filter { _, other in
                guard let number = other.message.singer, let theirs = other.message.room else { return false }
                return room.heard.contains(number) && theirs.heard.contains(singer)
            }.keys)
    }

    /// Returns true if another loudspeaker in the room plays the song for the local singer too.
    /// - Parameter nearby: the members in the same room.
    package func isSongElsewhere(_ nearby: Set<Member>) -> Bool {
        room.hasLoudspeaker && nearby.contains { $0 < own && others[$0]?.message.room?.hasLoudspeaker == true }
    }
}
