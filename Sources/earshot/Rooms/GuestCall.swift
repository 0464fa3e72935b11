import Call
import MediaTransport
import Nearby
import Rooms

/// In a room as a guest with a sound card and a call: what `join` and `forecast` share.
struct GuestCall {
    let card: SoundCard
    let call: CallSession
    let console: RoomConsole
    /// What the room was found as.
    let roomName: String

    /// Finds the room, opens the sound card and enters. What was opened is closed again where that fails.
    /// - Parameters:
    ///   - port: for signalling and sound; nil for the usual one, and another where that is taken.
    ///   - isSilent: whether it says nothing there, and lets in those alone who are known.
    init(
        _ entrance: EntranceOptions, to room: String?, as own: RoomOptions, port: UInt16?, _ options: CallOptions,
        keys: Keys?, isSilent: Bool = false
    ) throws {
        let (found, pin) = try entrance.locate(room, own, keys)
        card = try SoundCard(options)
        let nearby: NearbySession
        do {
            call = try options.makeCall(card)
            var configuration = NearbySession.Configuration(name: own.ownName, store: own.store)
            configuration.port = port ?? JoinCode.usualPort
            configuration.takesAnyPort = true
            configuration.isMuted = isSilent
            configuration.media = call
            nearby = try NearbySession.opened(configuration)
        } catch {
            card.close()
            throw error
        }
        call.isMuted = isSilent
        console = RoomConsole(nearby, keys: keys, policy: keys == nil || isSilent ? .known : .ask)
        console.hasSound = true
        console.receive(into: options.receive)
        do {
            try entrance.enter(found, pin, own, console, keys)
        } catch {
            Terminal.live("")
            waiting { await nearby.close() }
            card.close()
            throw error
        }
        roomName = found.name
    }
}
