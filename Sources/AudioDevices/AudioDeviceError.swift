// SPDX-License-Identifier: Apache-2.0

/// A failure of a sound device.
public enum AudioDeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No sound system of this kind is running. `server` is the requested server's name, nil for the default server; `onPipeWire`
    /// is true if PipeWire was found instead.
    case noServer(AudioBackend, server: String?, onPipeWire: Bool)
    /// The server's socket belongs to another user; `owner` is that user's name, nil if unknown.
    case otherUsersServer(AudioBackend, socket: String, owner: String?)
    /// No sound server is running, and the machine has no sound card.
    case noSystem
    /// The server refused the client; `status` is the server's code.
    case refused(AudioBackend, status: Int)
    /// The sound system has no single device of this name; `near` has similar or matching names.
    case noDevice(name: String, near: [String])
    /// The sound system has no default device in this direction.
    case noDefaultDevice(AudioDirection)
    /// The device is in use already and cannot be shared.
    case busy(device: String)
    /// The user has no permission to open the device.
    case notPermitted(device: String)
    /// The device does not support a requested value, such as the rate, block or channel count; `detail` names the value.
    case unsupportedFormat(detail: String)
    /// The JACK server's only sample rate is not the requested one; both are in hertz.
    case otherSampleRate(server: Double, asked: Double)
    /// The JACK server's only block length is not the requested one; both are in frames.
    case otherBlock(server: Int, asked: Int)
    /// A port could not be registered or connected.
    case portFailed(name: String)
    /// This process already has clients on another JACK server; libjack supports only one server in a process.
    case otherServer(open: String, asked: String)
    /// A call to the server or the driver failed with an error code.
    case callFailed(AudioBackend, call: String, code: Int)
    /// The sound server ended, or removed this client.
    case serverGone(AudioBackend, reason: String)
    /// The device was unplugged, or its server removed it.
    case deviceGone(name: String)
    /// The device stopped its callbacks, or its server does not answer, without an error; `seconds` is the time waited.
    case stalled(device: String, seconds: Double)
    /// The server changed its sample rate while the device was open; both rates are in hertz.
    case sampleRateChanged(from: Double, to: Double)
    /// The device is already running.
    case alreadyRunning
    /// The device's thread could not be created; `code` is an errno.
    case noThread(code: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noSystem: "no sound system is running"
        case .noServer(.jack, let server, onPipeWire: true):
            "no JACK server\(Self.quoted(server)) is running, but PipeWire is"
        case .noServer(.jack, let server, _): "no JACK server\(Self.quoted(server)) is running"
        case .noServer(.pipewire, let server, _): "no PipeWire server\(Self.quoted(server)) is running"
        case .noServer(let backend, let server, _): "no \(backend) sound system\(Self.quoted(server)) is running"
        case .otherUsersServer(let backend, let socket, let owner):
            "the \(backend) server at \(socket) is \(owner.map { "\($0)'s" } ?? "another user's")"
        case .refused(let backend, let status): "the \(backend) server refused this client (status \(status))"
        case .noDevice(let name, let near) where near.isEmpty: "no device is called \"\(name)\""
        case .noDevice(let name, _): "no single device is called \"\(name)\""
        case .noDefaultDevice(let direction): "there is no \(direction == .input ? "microphone" : "loudspeaker")"
        case .busy(let device): "another program is using \(device)"
        case .notPermitted(let device): "this user has no permission to use \(device)"
        case .unsupportedFormat(let detail): "the device does not support this format: \(detail)"
        case .otherSampleRate(let server, let asked):
            "the JACK server runs at \(Int(server)) Hz, not \(Int(asked))"
        case .otherBlock(let server, let asked): "the JACK server's blocks have \(server) frames, not \(asked)"
        case .portFailed(let name): "the port \(name) cannot be registered or connected"
        case .otherServer(let open, _):
            "this process is on the JACK server \"\(open)\" and libjack supports only one"
        case .callFailed(let backend, let call, let code): "\(backend)'s \(call) failed with code \(code)"
        case .serverGone(let backend, let reason):
            "the \(backend) server is gone\(reason.isEmpty ? "" : " (\(reason))")"
        case .deviceGone(let name): "\(name) is gone"
        case .stalled(let device, let seconds): "\(device) has not called back for \(Int(seconds.rounded())) s"
        case .sampleRateChanged(let from, let to): "the server changed from \(Int(from)) to \(Int(to)) Hz"
        case .alreadyRunning: "the device is already running"
        case .noThread(let code): "the system cannot create a thread for the device (error \(code))"
        }
    }

    private static func quoted(_ server: String?) -> String { server.map { " \"\($0)\"" } ?? "" }
}
