import ArgumentParser
import Call
import Foundation
import MediaTransport
import Nearby

struct JoinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join the call that a host waits with.",
        discussion:
            "ADDRESS is a name or an IP address, with :PORT behind it where the host uses another than \(Signalling.defaultPort)."
    )

    @Argument(help: "The host: NAME, ADDRESS, ADDRESS:PORT or [IPv6]:PORT.")
    var address: String

    @OptionGroup var call: CallOptions

    func validate() throws {
        if Signalling.parse(address) == nil {
            throw ValidationError("'\(address)' is no address; give NAME, ADDRESS, ADDRESS:PORT or [IPv6]:PORT")
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            guard let host = Signalling.parse(address) else { return }
            let card = try SoundCard(call)
            let voice = try call.voice.makeVoice(card, channelCount: call.channels)
            let client = try SignallingClient(
                connectingTo: host.name, port: host.port, isCancelled: { Interrupt.isRequested })
            let local = client.localAddress ?? .any
            var socket = try UDPSocket(address: local, port: 0)
            let preferences = call.preferences(
                deviceRate: card.device.sampleRate, deviceBlock: card.device.blockFrameCount)
            let offer = try preferences.offer(
                address: local, port: socket.localAddress.port, sessionID: Signalling.newSessionID())
            let answer = try client.exchange(offer, isCancelled: { Interrupt.isRequested })
            let chosen = try offer.format(chosenBy: answer)
            guard let mine = offer.formats.first(where: { $0.payloadType == chosen.payloadType }) else {
                throw NegotiationError.noAudio
            }
            try socket.connect(to: SocketAddress(client.peerAddress.address, port: answer.port))
            let configuration = try preferences.configuration(mine: mine, remote: answer, format: chosen)
            let session = try CallSession(
                configuration, device: card.device, socket: socket, cname: Signalling.newCanonicalName(),
                voice: voice)
            let peer = client.peerAddress.address.description
            try card.prepare()
            Terminal.say("in a call with \(peer), \(Signalling.describe(configuration))")
            Terminal.warn(Signalling.notEncrypted)
            try CallRunner(options: call, role: "guest", peer: peer, card: card, session: session).run()
        }
    }
}
