// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi

/// The work of a ``RoomAdvertiser`` on its thread: keeps one entry group of the daemon up to date.
///
/// Safe since libavahi's objects are used on the advertiser's thread only, and not after ``clientEnds()``.
@safe final class AdvertiserWork: AvahiClientDelegate {
    private let room: AdvertisedRoom
    /// The announced name: the room's name, or a variant of it if that is taken. The name is kept when the daemon restarts.
    private var name: String
    private var client: OpaquePointer?
    private var group: OpaquePointer?
    /// The announcement that the daemon has; nil if the whole service is to be announced.
    private var announced: RoomAnnouncement?
    private var failure: DiscoveryError?

    private static let anywhere = CInt(AVAHI_IF_UNSPEC)
    private static let anyProtocol = CInt(AVAHI_PROTO_UNSPEC)
    private static let noFlags = AvahiPublishFlags(0)
    /// The maximum names to try for one announcement.
    private static let maximumTries = 100

    init(_ room: AdvertisedRoom) {
        self.room = room
        name = room.name
    }

    func becameReady(_ client: OpaquePointer) { unsafe self.client = unsafe client }

    func becameBusy() {
        unsafe client = nil
        announced = nil
        room.state.set(.starting)
    }

    func clientEnds() {
        unsafe client = nil
        unsafe group = nil
        announced = nil
        failure = nil
    }

    func becameUnavailable(_ reason: DiscoveryError) { room.state.set(.unavailable(reason)) }

    func update() throws(DiscoveryError) {
        if let failure { throw failure }
        guard let client = unsafe client else { return }
        let wanted = room.announcement.withLock { $0 }
        guard wanted != announced else { return }
        if announced != nil, let group = unsafe group, unsafe updateTXT(wanted, group) == 0 {
            announced = wanted
        } else {
            try unsafe announce(wanted, client)
        }
    }

    private func announce(_ wanted: RoomAnnouncement, _ client: OpaquePointer) throws(DiscoveryError) {
        if case .collision = room.state.current {} else { room.state.set(.starting) }
        let group = try unsafe emptyGroup(client)
        for _ in 0..<Self.maximumTries {
            var code = unsafe withTXT(wanted) {
                unsafe avahi_entry_group_add_service_strlst(
                    group, Self.anywhere, Self.anyProtocol, Self.noFlags, name, RoomAnnouncement.serviceType, nil, nil,
                    room.port, $0)
            }
            if Int(code) == AVAHI_ERR_COLLISION {  // taken on this machine; collisions on the network come later
                rename()
                continue
            }
            if code == 0 { code = unsafe avahi_entry_group_commit(group) }
            guard code == 0 else { throw DiscoveryError(avahi: code) }
            announced = wanted
            return
        }
        throw DiscoveryError(avahi: CInt(AVAHI_ERR_COLLISION))
    }

    private func emptyGroup(_ client: OpaquePointer) throws(DiscoveryError) -> OpaquePointer {
        if let group = unsafe group {
            let code = unsafe avahi_entry_group_reset(group)
            guard code == 0 else { throw DiscoveryError(avahi: code) }
            return unsafe group
        }
        let new = unsafe avahi_entry_group_new(
            client,
            { _, state, context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<AdvertiserWork>.fromOpaque(context).takeUnretainedValue().handleState(state)
            }, unsafe Unmanaged.passUnretained(self).toOpaque())
        guard let new = unsafe new else { throw unsafe DiscoveryError(avahi: avahi_client_errno(client)) }
        unsafe group = unsafe new
        return unsafe new
    }

    private func handleState(_ state: AvahiEntryGroupState) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: room.state.set(.advertising(name: name))
        case AVAHI_ENTRY_GROUP_COLLISION:
            rename()
            announced = nil
        case AVAHI_ENTRY_GROUP_FAILURE:
            failure = unsafe DiscoveryError(
                avahi: client.map { unsafe avahi_client_errno($0) } ?? CInt(AVAHI_ERR_FAILURE))
        default: break
        }
    }

    private func rename() {
        guard let next = unsafe avahi_alternative_service_name(name) else { return }
        defer { unsafe avahi_free(next) }
        let taken = name
        name = unsafe String(cString: next)
        room.state.set(.collision(taken: taken, trying: name))
    }

    private func updateTXT(_ wanted: RoomAnnouncement, _ group: OpaquePointer) -> CInt {
        unsafe withTXT(wanted) {
            unsafe avahi_entry_group_update_service_txt_strlst(
                group, Self.anywhere, Self.anyProtocol, Self.noFlags, name, RoomAnnouncement.serviceType, nil, $0)
        }
    }

    private func withTXT(
        _ announcement: RoomAnnouncement, _ body: (UnsafeMutablePointer<AvahiStringList>?) -> CInt
    ) -> CInt {
        let bytes = announcement.record.bytes
        var list: UnsafeMutablePointer<AvahiStringList>?
        let code = unsafe avahi_string_list_parse(bytes, bytes.count, &list)
        guard code == 0 else { return code }
        defer { unsafe avahi_string_list_free(list) }
        return unsafe body(list)
    }
}
