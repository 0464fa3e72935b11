import EarshotRooms

/// An event for one of a session's cores. Those of a host are dropped if the session is none, as are those of a guest.
enum SessionEvent {
    case host(RoomHost.Event)
    case guest(RoomGuest.Event)
    case media(MediaNegotiation.Event)
}
