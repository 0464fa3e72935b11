/// What a sound device could not do.
public enum AudioDeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No JACK server answers. `server` is the name asked for, nil for the default one; `onPipeWire` tells whether this
    /// session has PipeWire, which answers in JACK's place.
    case noServer(server: String?, onPipeWire: Bool)
    /// The server refused the client; `status` is libjack's.
    case refused(status: UInt32)
    /// A port could not be registered or connected.
    case portFailed(name: String)
    /// This process already has clients on another server; libjack keeps one server's state a process.
    case otherServer(open: String, asked: String)
    /// The server answered a call with an error code.
    case callFailed(call: String, code: Int)
    /// The server ended or threw the client out while it was open.
    case serverGone(reason: String)
    /// The server now runs at another rate, in hertz.
    case sampleRateChanged(from: Double, to: Double)
    /// A rate, block, channel count or drift that the device does not have.
    case unsupportedFormat(detail: String)
    /// `start` on a running device.
    case alreadyRunning
    /// The thread could not be made; `code` is an errno.
    case noThread(code: Int)

    /// One line: what is wrong, and what to do next.
    public var description: String {
        switch self {
        case .noServer(let server, onPipeWire: true):
            "no JACK server\(Self.quoted(server)) is running, but PipeWire is: run it as `pw-jack earshot …`"
        case .noServer(let server, onPipeWire: false):
            "no JACK server\(Self.quoted(server)) is running: start one with `jackd\(Self.option(server)) -d alsa`, or "
                + "without a sound card `jackd\(Self.option(server)) -d dummy`, or use --device simulated"
        case .refused(let status):
            "the JACK server refused this client (status \(status)): see that it runs as this user and is not full"
        case .portFailed(let name):
            "the JACK port \(name) cannot be registered or connected: look at the server's ports with `jack_lsp -c`"
        case .otherServer(let open, let asked):
            "this process is on the JACK server \"\(open)\" and libjack takes no second one: use \"\(asked)\" from "
                + "another process"
        case .callFailed(let call, let code):
            "JACK's \(call) failed with code \(code): restart the server and try again"
        case .serverGone(let reason):
            "the JACK server is gone\(reason.isEmpty ? "" : " (\(reason))"): start it and this program again"
        case .sampleRateChanged(let from, let to):
            "the JACK server went from \(Int(from)) to \(Int(to)) Hz: start this program again"
        case .unsupportedFormat(let detail):
            "the device cannot do this format: \(detail)"
        case .alreadyRunning:
            "the device is already running: stop it first"
        case .noThread(let code):
            "no thread for the device (errno \(code)): end other programs or raise `ulimit -u`"
        }
    }

    private static func quoted(_ server: String?) -> String { server.map { " \"\($0)\"" } ?? "" }
    private static func option(_ server: String?) -> String { server.map { " -n \($0)" } ?? "" }
}
