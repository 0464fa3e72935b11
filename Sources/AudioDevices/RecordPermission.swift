// SPDX-License-Identifier: Apache-2.0

/// The permission to record from a microphone, with AVAudioSession's name. Linux has no permission for each program: a microphone
/// is silent or closed for one of the reasons here.
public enum RecordPermission: Hashable, Sendable {
    /// No reason was found for which recording would fail or be silent.
    case granted
    /// Recording would certainly fail or be silent.
    case denied(Reason)
    /// Recording may fail or be silent; only an attempt tells.
    case unknown(Reason)

    /// A reason for which a microphone may be closed or silent.
    public enum Reason: Hashable, Sendable {
        /// The user has no access to the device or to the sound server's socket at this path.
        case noAccess(path: String)
        /// No plug is in the device's socket.
        case notPluggedIn
        /// A switch or a key of the machine turns the microphone off.
        case hardwareSwitch
        /// The microphone is muted in the sound system.
        case muted
        /// The microphone's volume is 0 in the sound system.
        case zeroVolume
        /// The program runs in a sandbox without access to sound.
        case sandbox
        /// The sound system lists no such microphone. A server may hide it from this program.
        case noMicrophone
        /// The sound system does not run.
        case noServer
    }

    /// The reason for which recording would or may fail; nil if permission is granted.
    public var reason: Reason? {
        switch self {
        case .granted: nil
        case .denied(let reason), .unknown(let reason): reason
        }
    }
}

/// A sound system that knows its microphones' mute, volume or access.
package protocol RecordPermissionSource: AudioSystem {
    /// Returns the permission to record from a listed device; `granted` if the system knows of no obstacle.
    func recordPermission(ofListed device: AudioDeviceDescription) -> RecordPermission
    /// Returns the permission if no microphone is listed; nil if the system knows no reason.
    func recordPermissionWithoutDevice() -> RecordPermission?
}

extension AudioSystem {
    /// Returns the permission to record, without opening a device. Reads a few small files, and may take some milliseconds.
    /// - Parameter id: the ``AudioDeviceDescription/id`` of an input; nil for the system's default input.
    public func recordPermission(ofInput id: String? = nil) -> RecordPermission {
        recordPermission(ofInput: id, switches: MicrophoneSwitches(), sandbox: AudioSandbox())
    }

    package func recordPermission(
        ofInput id: String?, switches: MicrophoneSwitches, sandbox: AudioSandbox
    ) -> RecordPermission {
        switch failure {
        case .otherUsersServer(_, let socket, _)?: return .denied(.noAccess(path: socket))
        case .notPermitted(let device)?: return .denied(.noAccess(path: device))
        case .some: return .unknown(sandbox.hidesSound ? .sandbox : .noServer)
        case nil: break
        }
        let source = self as? any RecordPermissionSource
        let inputs = devices.filter { $0.has(.input) }
        guard let device = inputs.first(where: { id == nil ? $0.isDefaultInput : $0.id == id }) else {
            return source?.recordPermissionWithoutDevice() ?? .unknown(sandbox.hidesSound ? .sandbox : .noMicrophone)
        }
        let isBuiltIn = device.transport == .builtIn
        if isBuiltIn, switches.isMicrophoneOff == true { return .denied(.hardwareSwitch) }
        if let known = source?.recordPermission(ofListed: device), known != .granted { return known }
        // The ports of a device with both directions are its output's.
        if !device.has(.output), !device.ports.isEmpty,
            device.ports.allSatisfy({ $0.availability == .unavailable })
        {
            return .unknown(.notPluggedIn)  // some sensors are wrong
        }
        return isBuiltIn && switches.isMuteLightOn ? .unknown(.hardwareSwitch) : .granted
    }
}
