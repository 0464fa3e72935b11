/// What a sound device could not do.
public enum AudioDeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No server of this kind answers. `server` is the name asked for, nil for the default one; `onPipeWire` tells whether
    /// this session has PipeWire.
    case noServer(AudioBackend, server: String?, onPipeWire: Bool)
    /// The server's socket is not this user's; `owner` is whose it is, where that can be seen.
    case otherUsersServer(AudioBackend, socket: String, owner: String?)
    /// Neither a sound server runs here nor has the machine a card.
    case noSystem
    /// The server refused the client; `status` is its own code.
    case refused(AudioBackend, status: Int)
    /// The system has no device with this name; `near` are names that may have been meant.
    case noDevice(name: String, near: [String])
    /// The system has no device at all that could be taken without a name.
    case noDefaultDevice(AudioDirection)
    /// Another program has the device for itself.
    case busy(device: String)
    /// This user may not open the device or make the connection.
    case notPermitted(device: String)
    /// A rate, block, channel count, sample type or drift that the device does not have.
    case unsupportedFormat(detail: String)
    /// A port could not be registered or connected.
    case portFailed(name: String)
    /// This process already has clients on another server; libjack keeps one server's state a process.
    case otherServer(open: String, asked: String)
    /// A call to the server or the driver failed with an error code.
    case callFailed(AudioBackend, call: String, code: Int)
    /// The server ended or threw the client out while it was open.
    case serverGone(AudioBackend, reason: String)
    /// The device was unplugged, or its server removed it.
    case deviceGone(name: String)
    /// The device calls no longer, and says nothing; seconds since its last call.
    case stalled(device: String, seconds: Double)
    /// The server now runs at another rate, in hertz.
    case sampleRateChanged(from: Double, to: Double)
    /// `start` on a running device.
    case alreadyRunning
    /// The thread could not be made; `code` is an errno.
    case noThread(code: Int)

    /// One line: what is wrong, and what to do next.
    public var description: String {
        switch self {
        case .noSystem:
            "no sound system runs here: start PipeWire (`systemctl --user start pipewire wireplumber`) or jackd, or plug in "
                + "a sound card; --device simulated needs none"
        case .noServer(.jack, let server, onPipeWire: true):
            "no JACK server\(Self.quoted(server)) is running, but PipeWire is: use --device pipewire"
        case .noServer(.jack, let server, _):
            "no JACK server\(Self.quoted(server)) is running: start one with `jackd\(Self.option(server)) -d alsa`, or "
                + "without a sound card `jackd\(Self.option(server)) -d dummy`, or use --device simulated"
        case .noServer(.pipewire, let server, _):
            "no PipeWire server\(Self.quoted(server)) is running: start it with `systemctl --user start pipewire "
                + "wireplumber`, or use --device jack, alsa or simulated"
        case .noServer(let backend, let server, _):
            "no \(backend) sound system\(Self.quoted(server)) is here: use another with --device"
        case .otherUsersServer(let backend, let socket, let owner):
            "the \(backend) server at \(socket) is \(owner.map { "\($0)'s" } ?? "another user's"): run this program as "
                + (owner ?? "that user")
        case .refused(let backend, let status):
            "the \(backend) server refused this client (status \(status)): see that it runs as this user and is not full"
        case .noDevice(let name, let near) where near.isEmpty:
            "no device is called \"\(name)\": `earshot devices` lists those that are here"
        case .noDevice(let name, let near):
            "no single device is called \"\(name)\"; did you mean \(Self.list(near))? `earshot devices` lists all"
        case .noDefaultDevice(let direction):
            "there is no \(direction == .input ? "microphone" : "loudspeaker"): plug one in, or see with `earshot devices` "
                + "what is here"
        case .busy(let device):
            "another program has \(device) for itself: end it (`fuser -v /dev/snd/*` names it), or choose another with "
                + "--device"
        case .notPermitted(let device):
            "this user may not use \(device): join the group audio (`sudo usermod -aG audio $USER`) and log in again"
        case .unsupportedFormat(let detail):
            "the device cannot do this format: \(detail)"
        case .portFailed(let name):
            "the port \(name) cannot be registered or connected: see that the server has it (`jack_lsp -c`, `pw-link -io`)"
        case .otherServer(let open, let asked):
            "this process is on the JACK server \"\(open)\" and libjack takes no second one: use \"\(asked)\" from "
                + "another process"
        case .callFailed(let backend, let call, let code):
            "\(backend)'s \(call) failed with code \(code): restart the sound system and try again"
        case .serverGone(let backend, let reason):
            "the \(backend) server is gone\(reason.isEmpty ? "" : " (\(reason))"): start it again"
        case .deviceGone(let name):
            "\(name) is gone: plug it in again, or choose another with --device"
        case .stalled(let device, let seconds):
            "\(device) has not called for \(Int(seconds.rounded())) s: restart the sound system, or choose another with "
                + "--device"
        case .sampleRateChanged(let from, let to):
            "the server went from \(Int(from)) to \(Int(to)) Hz: start this program again"
        case .alreadyRunning:
            "the device is already running: stop it first"
        case .noThread(let code):
            "no thread for the device (errno \(code)): end other programs or raise `ulimit -u`"
        }
    }

    private static func quoted(_ server: String?) -> String { server.map { " \"\($0)\"" } ?? "" }
    private static func option(_ server: String?) -> String { server.map { " -n \($0)" } ?? "" }
    private static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: names.count == 2 ? " or " : ", ")
    }
}
