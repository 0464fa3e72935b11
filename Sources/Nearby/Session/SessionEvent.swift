import AudioBase
import Rooms

/// An event for one of a session's cores. Those of a host are dropped if the session is none, as are those of a guest.
enum SessionEvent {
    case host((inout RoomHost, HostTime) -> [RoomHost.Action])
    case guest((inout RoomGuest, HostTime) -> [RoomGuest.Action])
    case media(MediaNegotiation.Event)
}
