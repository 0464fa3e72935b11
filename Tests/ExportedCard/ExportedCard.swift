// SPDX-License-Identifier: Apache-2.0

import Glibc
import PipeWireCard
import TestSupport

/// A sound card with routes and profiles in a test's PipeWire server, exported as a session manager exports a card. For one
/// thread.
///
/// The card's nodes are null sinks and sources of the server, which name the card by its number.
package final class ExportedCard {
    /// The card's knowledge of a plug; the raw values are the protocol's.
    package enum Availability: UInt32, Sendable { case unknown, no, yes }

    /// A socket or a built-in converter.
    package struct Route: Sendable {
        package var index: Int32
        package var name: String
        /// "headphones", "speaker", "mic" …
        package var portType: String?
        package var isOutput: Bool
        /// The number that the route's node has as `card.profile.device`.
        package var device: Int32
        /// The profile that has the route.
        package var profile: Int32
        package var availability: Availability

        package init(
            _ index: Int32, _ name: String, portType: String? = nil, isOutput: Bool = true, device: Int32 = 0,
            profile: Int32 = 1, availability: Availability = .unknown
        ) {
            self.index = index
            self.name = name
            self.portType = portType
            self.isOutput = isOutput
            self.device = device
            self.profile = profile
            self.availability = availability
        }
    }

    /// A set of nodes.
    package struct Profile: Sendable {
        package var index: Int32
        package var name: String
        package var priority: Int32
        /// The numbers of the profile's sink and source; nil for none.
        package var sink: Int32?
        package var source: Int32?

        package init(_ index: Int32, _ name: String, priority: Int32, sink: Int32? = nil, source: Int32? = nil) {
            self.index = index
            self.name = name
            self.priority = priority
            self.sink = sink
            self.source = source
        }
    }

    /// A list of the card.
    package enum List: UInt32, CaseIterable, Sendable { case routes, possibleRoutes, profiles, possibleProfiles }

    /// A request to set a route or a profile, by its index.
    package struct Request: Hashable, Sendable {
        package var list: List
        package var index: Int

        package static func route(_ index: Int) -> Self { Self(list: .routes, index: index) }
        package static func profile(_ index: Int) -> Self { Self(list: .profiles, index: index) }
    }

    /// A failure to export a card.
    package struct ExportError: Error {}

    package var routes: [Route] = []
    package var possibleRoutes: [Route] = []
    package var profiles: [Profile] = []
    package var possibleProfiles: [Profile] = []
    /// The lists that also contain one value of each kind of damage.
    package var damagedLists: Set<List> = []
    private var card: OpaquePointer?
    private var obeyedCount = 0

    /// - Parameter properties: the properties, with `device.name`.
    package init(_ properties: [String: String]) {
        withStrings(properties.map(\.key)) { names in
            withStrings(properties.map { properties[$0.key] ?? "" }) { values in
                card = test_card_create(names, values, properties.count)
            }
        }
    }

    deinit { remove() }

    /// Exports the card with all its lists. Returns when the server has given the card a number.
    package func export(to server: PipeWireServer) throws {
        announce(List.allCases)
        guard let card, test_card_export(card, server.remote), eventually({ test_card_number(card) != .max }) else {
            throw ExportError()
        }
    }

    /// The card's number on the server.
    package var number: UInt32 { card.map { test_card_number($0) } ?? .max }

    /// The properties of a node of this card.
    package func node(_ device: Int, _ more: [String: String] = [:]) -> [String: String] {
        more.merging(["device.id": "\(number)", "card.profile.device": "\(device)"]) { own, _ in own }
    }

    /// Removes the card from the server. A second call does nothing.
    package func remove() {
        if let card { test_card_remove(card) }
        card = nil
    }

    /// Announces changed lists at once.
    package func announce(_ lists: List...) { announce(lists) }

    private func announce(_ lists: [List]) {
        guard let card else { return }
        test_card_begin(card)
        for list in lists { fill(list, of: card) }
        test_card_announce(card)
    }

    /// Stops naming a list.
    package func drop(_ list: List) {
        guard let card else { return }
        test_card_begin(card)
        test_card_drop(card, test_card_list(list.rawValue))
        test_card_announce(card)
    }

    private func fill(_ list: List, of card: OpaquePointer) {
        let kind = test_card_list(list.rawValue)
        test_card_clear(card, kind)
        if damagedLists.contains(list) {
            for damage in 0..<TEST_CARD_DAMAGE_COUNT.rawValue {
                test_card_add_damage(card, kind, test_card_damage(damage))
            }
        }
        switch list {
        case .routes, .possibleRoutes:
            for route in list == .routes ? routes : possibleRoutes { add(route, to: kind, of: card) }
        case .profiles, .possibleProfiles:
            for profile in list == .profiles ? profiles : possibleProfiles { add(profile, to: kind, of: card) }
        }
    }

    private func add(_ route: Route, to list: test_card_list, of card: OpaquePointer) {
        withStrings([route.name, route.portType ?? ""]) { texts in
            var value = test_card_route()
            value.index = route.index
            value.name = texts[0]
            value.port_type = route.portType == nil ? nil : texts[1]
            value.is_output = route.isOutput
            value.device = route.device
            value.profile = route.profile
            value.availability = route.availability.rawValue
            test_card_add_route(card, list, &value)
        }
    }

    private func add(_ profile: Profile, to list: test_card_list, of card: OpaquePointer) {
        withStrings([profile.name]) { texts in
            var value = test_card_profile()
            value.index = profile.index
            value.name = texts[0]
            value.priority = profile.priority
            value.availability = Availability.yes.rawValue
            value.sink = profile.sink ?? -1
            value.source = profile.source ?? -1
            test_card_add_profile(card, list, &value)
        }
    }
}

extension ExportedCard {
    /// Lets the card not answer until `false` is set.
    package func hold(_ holds: Bool) { if let card { test_card_hold(card, holds) } }

    /// The number of requests for lists that the card has not answered.
    package var heldCount: Int { card.map { test_card_held_count($0) } ?? 0 }

    /// The requests so far; only the first 64 are kept.
    package var requests: [Request] {
        guard let card else { return [] }
        var all = [test_card_request](repeating: test_card_request(), count: 64)
        let count = test_card_requests(card, &all, all.count)
        return all.prefix(count).compactMap { request in
            List(rawValue: request.list.rawValue).map { Request(list: $0, index: Int(request.index)) }
        }
    }

    /// Carries out the requests that have come since the last call, and announces the changes.
    package func obey() {
        let all = requests
        for request in all.dropFirst(obeyedCount) {
            switch request.list {
            case .routes, .possibleRoutes:
                guard let route = possibleRoutes.first(where: { $0.index == request.index }) else { continue }
                routes.removeAll { $0.isOutput == route.isOutput && $0.device == route.device }
                routes.append(route)
                announce(.routes)
            case .profiles, .possibleProfiles:
                profiles = possibleProfiles.filter { $0.index == request.index }
                announce(.profiles)
            }
        }
        obeyedCount = all.count
    }
}

/// Passes texts as C strings, which live until the closure returns.
private func withStrings<R>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { $0.map { UnsafePointer($0) } })
}
