// SPDX-License-Identifier: Apache-2.0

extension ExportedCard {
    /// A laptop's card with a loudspeaker and a socket for headphones, on one node.
    package static func laptop() -> ExportedCard {
        let card = ExportedCard(["device.name": "laptop", "device.api": "alsa", "device.bus": "pci"])
        card.possibleRoutes = [
            Route(0, "speaker", portType: "speaker"),
            Route(1, "headphones", portType: "headphones", availability: .no),
        ]
        card.routes = [card.possibleRoutes[0]]
        card.possibleProfiles = [Profile(0, "off", priority: 0), Profile(1, "analog", priority: 10, sink: 0)]
        card.profiles = [card.possibleProfiles[1]]
        return card
    }

    /// A Bluetooth headset in its profile for music. Wireplumber changes the profile only if a route tells of a microphone.
    package static func headset(hasMicrophoneRoute: Bool) -> ExportedCard {
        let card = ExportedCard([
            "device.name": "bluez_card.1", "device.api": "bluez5", "device.bus": "bluetooth",
            "device.form-factor": "headset", "device.description": "My Headset",
        ])
        card.possibleRoutes = [Route(0, "headset-output", portType: "headset", profile: 1)]
        if hasMicrophoneRoute {
            card.possibleRoutes.append(
                Route(1, "headset-input", portType: "headset", isOutput: false, device: 1, profile: 2))
        }
        card.possibleProfiles = [
            Profile(0, "off", priority: 0), Profile(1, "a2dp-sink", priority: 16, sink: 0),
            Profile(2, "headset-head-unit", priority: 1, sink: 0, source: 1),
        ]
        card.profiles = [card.possibleProfiles[1]]
        return card
    }
}
