// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    /// The routes and profiles of a device object.
    ///
    /// A sound card shows a plug in one of three ways: the route in use changes; the profile changes, so that nodes are removed
    /// and added; or only the availability of a route changes, and then the default node.
    struct Card: Hashable {
        /// The routes in use, at most one for each of the card's nodes.
        var routes: [Route] = []
        /// The routes that the card has. Their availability is the newest.
        var possibleRoutes: [Route] = []
        /// The profile in use; empty while the card changes its profile.
        var profiles: [Profile] = []
        /// The profiles that the card has.
        var possibleProfiles: [Profile] = []

        /// Adds a part of a server's answer.
        mutating func add(_ update: CardUpdate) {
            switch update {
            case .list(.routes): routes = []
            case .list(.possibleRoutes): possibleRoutes = []
            case .list(.profiles): profiles = []
            case .list(.possibleProfiles): possibleProfiles = []
            case .route(let route, .routes): routes.append(route)
            case .route(let route, _): possibleRoutes.append(route)
            case .profile(let profile, .profiles): profiles.append(profile)
            case .profile(let profile, _): possibleProfiles.append(profile)
            }
        }
    }

    /// A socket or a built-in converter of a card.
    struct Route: Hashable {
        var name: String
        var isOutput: Bool
        /// The number of the card's node (`card.profile.device`) that uses the route; nil in a list of possible routes.
        var device: Int?
        /// The numbers of the card's nodes that can use the route.
        var devices: [Int] = []
        /// The kind of port (`port.type`), such as "headphones"; nil if the server does not say.
        var portType: String?
        var availability = AudioDeviceDescription.Port.Availability.unknown
    }

    /// A set of nodes that a card can have.
    struct Profile: Hashable {
        /// The profile's number, which is not its place in a list.
        var index: Int
        var name: String
        var priority = 0
        var availability = AudioDeviceDescription.Port.Availability.unknown
    }

    /// A parameter of a device object: a list of routes or profiles.
    enum CardParameter: CaseIterable {
        case routes
        case possibleRoutes
        case profiles
        case possibleProfiles
    }

    /// A part of a server's answer about a card.
    enum CardUpdate {
        /// A new list begins. Its values follow unless it is empty.
        case list(CardParameter)
        case route(Route, CardParameter)
        case profile(Profile, CardParameter)
    }

    /// Adds a part of a server's answer. It takes effect with ``applyCardUpdates()``, since a list is incomplete until the server
    /// has sent all of it.
    mutating func add(_ update: CardUpdate, to id: UInt32) {
        // Changes the card in place: a copy of a long list for each of its values takes long.
        unfinishedCards[id, default: cards[id] ?? Card()].add(update)
    }

    /// Applies the answers about all cards, which are complete now, and notes the nodes of Bluetooth cards.
    mutating func applyCardUpdates() {
        cards.merge(unfinishedCards) { _, new in new }
        unfinishedCards = [:]
        for node in nodes.values where Self.isDevice(node) {
            guard let id = Self.card(of: node), let name = node[PW_KEY_NODE_NAME], isBluetooth(devices[id]) else {
                continue
            }
            bluetoothNodes[id, default: []].insert(name)
        }
    }

    /// The names of the Bluetooth nodes that are absent while their card is present with a profile: a headset that changes
    /// between music and calls removes its nodes for up to two seconds. A new node is absent until its channels are known.
    var reconfiguredNodes: Set<String> {
        let present = Set(hardware().map(\.id))
        var names: Set<String> = []
        for (id, known) in bluetoothNodes where isBluetooth(devices[id]) {
            if cards[id]?.profiles.contains(where: { $0.name == "off" }) ?? false { continue }
            names.formUnion(known.subtracting(present))
        }
        return names
    }

    private func isBluetooth(_ device: [String: String]?) -> Bool { device?[PW_KEY_DEVICE_API] == "bluez5" }

    /// Returns the number of a node's device object; nil if the node has none.
    static func card(of node: [String: String]) -> UInt32? { node[PW_KEY_DEVICE_ID].flatMap { UInt32($0) } }
}
