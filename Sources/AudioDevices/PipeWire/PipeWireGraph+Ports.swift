// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    /// The ports of a node, as its device object reports them.
    struct NodePorts {
        var all: [AudioDeviceDescription.Port] = []
        /// The name of the port in use; nil if unknown.
        var activeName: String?
        /// The kind of the port in use, such as "hdmi"; nil if unknown.
        var activeType: String?

        var active: AudioDeviceDescription.Port? { all.first { $0.name == activeName } }
    }

    /// Returns a node's ports of one direction. A node whose card does not use it now has no route in use; then its only possible
    /// route is its port.
    func ports(ofNode node: [String: String], isOutput: Bool) -> NodePorts {
        guard let card = Self.card(of: node).flatMap({ cards[$0] }),
            let number = node["card.profile.device"].flatMap({ Int($0) })
        else { return NodePorts() }
        var routes = card.possibleRoutes.filter { $0.isOutput == isOutput && $0.devices.contains(number) }
        let inUse = card.routes.first { $0.isOutput == isOutput && $0.device == number }
        if let inUse, !routes.contains(where: { $0.name == inUse.name }) { routes.append(inUse) }
        let active = inUse ?? (routes.count == 1 ? routes.first : nil)
        let ports = routes.map {
            AudioDeviceDescription.Port(name: $0.name, form: Self.form($0) ?? .unknown, availability: $0.availability)
        }
        return NodePorts(
            all: ports, activeName: active?.name,
            activeType: routes.first { $0.name == active?.name }?.portType)
    }

    /// Returns the form that a route's kind or name tells; nil if they tell none. A computer's line output counts as a
    /// loudspeaker, which is usually connected to it.
    static func form(_ route: Route) -> AudioDeviceDescription.Form? {
        switch route.portType {
        case "headphones": return .headphones
        case "headset", "handsfree", "handset", "earpiece", "phone": return .headset
        case "speaker", "car", "hifi", "portable", "radio", "tv", "hdmi", "spdif": return .speaker
        case "mic": return .microphone
        case "line", "aux": return route.isOutput ? .speaker : .line
        default: break
        }
        let name = route.name.lowercased()
        if name.contains("headphone") { return .headphones }
        if ["headset", "handsfree", "hands-free", "earpiece"].contains(where: { name.contains($0) }) {
            return .headset
        }
        if name.contains("speaker") || name.contains("hdmi") { return .speaker }
        if name.contains("line") { return route.isOutput ? .speaker : .line }
        return name.contains("mic") ? .microphone : nil
    }

    /// Returns a device's form. Its port tells more than `device.form-factor`, which is `internal` for all cards on the internal
    /// bus. But a USB headset calls its port a speaker, so a form factor that is worn has priority over that.
    static func form(
        _ properties: [String: String], _ port: AudioDeviceDescription.Port?, isOutput: Bool
    ) -> AudioDeviceDescription.Form {
        let factor: AudioDeviceDescription.Form? =
            switch properties[PW_KEY_DEVICE_FORM_FACTOR] {
            case "headset", "hands-free", "handset": .headset
            case "headphone": .headphones
            case "speaker", "tv", "car", "hifi", "portable": .speaker
            case "microphone", "webcam": .microphone
            default: nil
            }
        let form = port.map(\.form).flatMap { $0 == .unknown ? nil : $0 }
        if let factor, factor == .headset || factor == .headphones, form == .speaker || form == .microphone {
            return factor
        }
        if let form = form ?? factor { return form }
        switch properties[PW_KEY_DEVICE_FORM_FACTOR] {
        case "internal", "computer": return isOutput ? .speaker : .microphone
        default: return .unknown
        }
    }

    /// Returns the profile of a Bluetooth node; nil for other nodes.
    func headsetProfile(ofNode node: [String: String]) -> AudioDeviceDescription.HeadsetProfile? {
        guard node[PW_KEY_DEVICE_API] == "bluez5", let profile = node["api.bluez5.profile"] else { return nil }
        guard profile.hasPrefix("headset-head-unit") else {
            guard profile.hasPrefix("a2dp-sink") else { return nil }
            let card = Self.card(of: node).flatMap { cards[$0] }
            return .music(hasCallProfile: card?.callProfile != nil)
        }
        let codec = node["api.bluez5.codec"] ?? ""
        let sampleRate: Double? =
            switch codec {
            case "cvsd": 8_000
            case "msbc": 16_000
            case "lc3_swb": 32_000
            default: nil
            }
        return .call(codec: codec, sampleRate: sampleRate)
    }
}

extension PipeWireGraph.Card {
    /// The best profile with a microphone that a headset has; nil if there is none.
    var callProfile: PipeWireGraph.Profile? {
        possibleProfiles.filter { $0.name.hasPrefix("headset-head-unit") && $0.availability != .unavailable }
            .max { $0.priority < $1.priority }
    }
}

extension PipeWireGraph.CardParameter {
    /// The parameter's number in the server's protocol.
    var id: UInt32 {
        switch self {
        case .routes: SPA_PARAM_Route.rawValue
        case .possibleRoutes: SPA_PARAM_EnumRoute.rawValue
        case .profiles: SPA_PARAM_Profile.rawValue
        case .possibleProfiles: SPA_PARAM_EnumProfile.rawValue
        }
    }

    /// Returns a value of the server as an update; nil if it is invalid.
    func update(_ value: UnsafePointer<spa_pod>) -> PipeWireGraph.CardUpdate? {
        switch self {
        case .routes, .possibleRoutes: PipeWireGraph.Route(value).map { .route($0, self) }
        case .profiles, .possibleProfiles: PipeWireGraph.Profile(value).map { .profile($0, self) }
        }
    }
}

extension PipeWireGraph.Route {
    /// Reads a route; nil if it has no name.
    init?(_ value: UnsafePointer<spa_pod>) {
        guard let name = earshot_pw_text(value, SPA_PARAM_ROUTE_name.rawValue) else { return nil }
        self.name = String(cString: name)
        let output = SPA_DIRECTION_OUTPUT.rawValue
        isOutput = earshot_pw_id(value, SPA_PARAM_ROUTE_direction.rawValue, output) == output
        let number = earshot_pw_int(value, SPA_PARAM_ROUTE_device.rawValue, -1)
        device = number >= 0 ? Int(number) : nil
        devices = [Int32](unsafeUninitializedCapacity: 64) { buffer, count in
            count = Int(
                earshot_pw_ints(
                    value, SPA_PARAM_ROUTE_devices.rawValue, buffer.baseAddress, UInt32(buffer.count)))
        }.map { Int($0) }
        portType = earshot_pw_entry(value, SPA_PARAM_ROUTE_info.rawValue, "port.type").map { String(cString: $0) }
        availability = .init(earshot_pw_id(value, SPA_PARAM_ROUTE_available.rawValue, 0))
    }
}

extension PipeWireGraph.Profile {
    /// Reads a profile; nil if it has no number or no name.
    init?(_ value: UnsafePointer<spa_pod>) {
        let index = earshot_pw_int(value, SPA_PARAM_PROFILE_index.rawValue, -1)
        guard index >= 0, let name = earshot_pw_text(value, SPA_PARAM_PROFILE_name.rawValue) else { return nil }
        self.index = Int(index)
        self.name = String(cString: name)
        priority = Int(earshot_pw_int(value, SPA_PARAM_PROFILE_priority.rawValue, 0))
        availability = .init(earshot_pw_id(value, SPA_PARAM_PROFILE_available.rawValue, 0))
    }
}

extension AudioDeviceDescription.Port.Availability {
    /// Creates the server's availability, a number of `spa_param_availability`.
    init(_ number: UInt32) {
        switch number {
        case SPA_PARAM_AVAILABILITY_yes.rawValue: self = .available
        case SPA_PARAM_AVAILABILITY_no.rawValue: self = .unavailable
        default: self = .unknown
        }
    }
}
