// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import EarshotMediaTransport

/// The work of a ``RoomBrowser`` on its thread: a browser of the daemon for the service type, and a permanent resolver for each
/// service, which reports changes of the TXT record.
///
/// Safe since libavahi's objects are used on the browser's thread only, and not after ``clientEnds()``.
@safe final class BrowserWork: AvahiClientDelegate {
    private let snapshot: CurrentValue<RoomBrowser.Snapshot>
    private var client: OpaquePointer?
    private var browser: OpaquePointer?
    private var resolvers: [RoomSightings.Place: OpaquePointer] = unsafe [:]
    private var sightings = RoomSightings()
    private var isChanged = false
    private var failure: DiscoveryError?

    private static let noFlags = AvahiLookupFlags(0)

    init(_ snapshot: CurrentValue<RoomBrowser.Snapshot>) { self.snapshot = snapshot }

    func becameReady(_ client: OpaquePointer) { unsafe self.client = unsafe client }

    func becameBusy() {}  // nothing is announced here

    func clientEnds() {
        unsafe client = nil
        unsafe browser = nil
        unsafe resolvers = unsafe [:]
        sightings = RoomSightings()
        isChanged = false
        failure = nil
    }

    func becameUnavailable(_ reason: DiscoveryError) { snapshot.set(.init(state: .unavailable(reason), rooms: [])) }

    func update() throws(DiscoveryError) {
        if let failure { throw failure }
        if unsafe browser == nil, let client = unsafe client { try unsafe browse(client) }
        guard isChanged else { return }
        isChanged = false
        snapshot.set(.init(state: .browsing, rooms: sightings.rooms))
    }

    private func browse(_ client: OpaquePointer) throws(DiscoveryError) {
        unsafe browser = unsafe avahi_service_browser_new(
            client, CInt(AVAHI_IF_UNSPEC), CInt(AVAHI_PROTO_UNSPEC), RoomAnnouncement.serviceType, nil, Self.noFlags,
            { _, interface, family, event, name, _, domain, flags, context in
                guard let context = unsafe context else { return }
                let isLocal = flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0
                unsafe Unmanaged<BrowserWork>.fromOpaque(context).takeUnretainedValue().handleEvent(
                    event, RoomSightings.Place(interface, family, name, domain), isOnThisMachine: isLocal)
            }, unsafe Unmanaged.passUnretained(self).toOpaque())
        guard unsafe browser != nil else { throw unsafe DiscoveryError(avahi: avahi_client_errno(client)) }
        isChanged = true
    }

    private func handleEvent(_ event: AvahiBrowserEvent, _ place: RoomSightings.Place?, isOnThisMachine: Bool) {
        switch event {
        case AVAHI_BROWSER_NEW: if let place { follow(place, isOnThisMachine: isOnThisMachine) }
        case AVAHI_BROWSER_REMOVE: if let place { forget(place) }
        case AVAHI_BROWSER_FAILURE:
            failure = unsafe DiscoveryError(
                avahi: client.map { unsafe avahi_client_errno($0) } ?? CInt(AVAHI_ERR_FAILURE))
        default: break  // the daemon has reported all that it knew, or all for now
        }
    }

    private func follow(_ place: RoomSightings.Place, isOnThisMachine: Bool) {
        guard let client = unsafe client, sightings.add(place, isOnThisMachine: isOnThisMachine) else { return }
        unsafe resolvers[place] = unsafe avahi_service_resolver_new(
            client, place.interface, place.family, place.name, RoomAnnouncement.serviceType, place.domain,
            CInt(AVAHI_PROTO_UNSPEC), Self.noFlags,
            { _, interface, family, event, name, _, domain, host, address, port, txt, _, context in
                guard let context = unsafe context,
                    let place = unsafe RoomSightings.Place(interface, family, name, domain)
                else { return }
                let sighting =
                    unsafe event == AVAHI_RESOLVER_FOUND
                    ? RoomSightings.Sighting(interface, host, address, port, txt) : nil
                unsafe Unmanaged<BrowserWork>.fromOpaque(context).takeUnretainedValue().updateSighting(place, sighting)
            }, unsafe Unmanaged.passUnretained(self).toOpaque())
        if unsafe resolvers[place] == nil { sightings.remove(place) }
    }

    private func forget(_ place: RoomSightings.Place) {
        if let resolver = unsafe resolvers.removeValue(forKey: place) { unsafe avahi_service_resolver_free(resolver) }
        sightings.remove(place)
        isChanged = true
    }

    private func updateSighting(_ place: RoomSightings.Place, _ sighting: RoomSightings.Sighting?) {
        sightings.update(place, sighting)
        isChanged = true
    }
}

extension RoomSightings.Place {
    fileprivate init?(
        _ interface: CInt, _ family: AvahiProtocol, _ name: UnsafePointer<CChar>?, _ domain: UnsafePointer<CChar>?
    ) {
        guard let name = unsafe name, let domain = unsafe domain else { return nil }
        unsafe self.init(
            interface: interface, isV6: family == CInt(AVAHI_PROTO_INET6), name: String(cString: name),
            domain: String(cString: domain))
    }

    fileprivate var family: AvahiProtocol { CInt(isV6 ? AVAHI_PROTO_INET6 : AVAHI_PROTO_INET) }
}

extension RoomSightings.Sighting {
    /// Reads a resolver's result; nil if it is no room of Earshot.
    fileprivate init?(
        _ interface: CInt, _ host: UnsafePointer<CChar>?, _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16,
        _ txt: UnsafeMutablePointer<AvahiStringList>?
    ) {
        guard let host = unsafe host, let address = unsafe address,
            let announcement = unsafe RoomAnnouncement(TXTRecord(parsing: Self.bytes(of: txt)))
        else { return nil }
        let found = unsafe IPAddress(address.pointee).scoped(to: UInt32(max(0, interface)))
        unsafe self.init(
            hostName: String(cString: host), endpoint: SocketAddress(found, port: port), announcement: announcement)
    }

    private static func bytes(of txt: UnsafeMutablePointer<AvahiStringList>?) -> [UInt8] {
        let size = unsafe avahi_string_list_serialize(txt, nil, 0)
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = unsafe avahi_string_list_serialize(txt, buffer.baseAddress, size)
        }
    }
}

extension IPAddress {
    fileprivate init(_ address: AvahiAddress) {
        if address.proto == CInt(AVAHI_PROTO_INET) {
            self = unsafe .v4(UInt32(bigEndian: address.data.ipv4.address))
        } else {
            let bits = unsafe withUnsafeBytes(of: address.data.ipv6.address) {
                unsafe $0.loadUnaligned(as: UInt128.self)
            }
            self = .v6(UInt128(bigEndian: bits), scope: 0)
        }
    }
}
