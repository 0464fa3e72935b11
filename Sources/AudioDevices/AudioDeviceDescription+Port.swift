// SPDX-License-Identifier: Apache-2.0

extension AudioDeviceDescription {
    /// A socket or a built-in converter of a device, such as a laptop's loudspeaker and its socket for headphones.
    package struct Port: Hashable, Sendable {
        /// The sound system's knowledge of a plug in the port.
        package enum Availability: String, Hashable, Sendable, CaseIterable {
            /// A plug is in the port.
            case available
            /// No plug is in the port.
            case unavailable
            /// The port does not tell. A loudspeaker and a socket without a sensor never do.
            case unknown
        }

        /// The port's name in its sound system, unique among the device's ports.
        package var name: String
        /// The physical form of the device behind the port.
        package var form: Form
        package var availability: Availability

        package init(name: String, form: Form, availability: Availability = .unknown) {
            self.name = name
            self.form = form
            self.availability = availability
        }
    }

    /// The profile of a Bluetooth headset: music or a call.
    package enum HeadsetProfile: Hashable, Sendable {
        /// A2DP: stereo output without a microphone. `hasCallProfile` is true if the headset can change to a profile with one.
        case music(hasCallProfile: Bool)
        /// HFP or HSP: mono in both directions. The sample rate is in hertz; nil if the codec is unknown.
        case call(codec: String, sampleRate: Double?)
    }

    /// The port that is in use; nil if the sound system names none.
    package var port: Port? { ports.first { $0.name == portName } }

    /// False if the device's port has no plug, so that sound on the device is not heard.
    package var isAvailable: Bool { port?.availability != .unavailable }
}
