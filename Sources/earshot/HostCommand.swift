import ArgumentParser
import Call
import Foundation
import MediaTransport
import Nearby

struct HostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Wait for one guest and hold a call with it.",
        discussion: """
            Listens on the loopback address, for a guest on this machine, unless --insecure-lan is given: the call is not
            encrypted yet. One port is used, TCP to set up the call and UDP for its sound.
            """)

    @OptionGroup var call: CallOptions

    @Option(help: "The port to listen on, TCP and UDP.")
    var port = Signalling.defaultPort

    @Option(
        help: ArgumentHelp(
            "The address to listen on; default 127.0.0.1, with --insecure-lan all.", valueName: "address"))
    var address: String?

    @Flag(help: "Let machines on the network in. Not encrypted: anybody on the way can listen, anybody can join.")
    var insecureLan = false

    func validate() throws {
        guard let address else { return }
        guard let parsed = IPAddress(address) else {
            throw ValidationError("--address takes an IP address of this machine")
        }
        guard parsed.isLoopback || insecureLan else {
            throw ValidationError(
                "--address \(address) can be reached from the network and the call is not encrypted; add --insecure-lan to do so all the same"
            )
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let card = try SoundCard(call)
            let voice = try call.voice.makeVoice(card, channelCount: call.channels)
            let listening = address.flatMap { IPAddress($0) } ?? (insecureLan ? .any : .loopback)
            let server = try SignallingServer(address: listening, port: port)
            Terminal.say("waiting for a guest: earshot join \(Signalling.hint(server.localAddress))")
            Terminal.warn(Signalling.notEncrypted)
            // The sound's port, taken when a guest comes: whether it is free is known now.
            _ = try UDPSocket(address: listening, port: port)
            while true {
                guard let incoming = try server.accept(timeout: 1e9, isCancelled: { Interrupt.isRequested }) else {
                    throw ExitCodes.interrupted
                }
                let peer = incoming.peerAddress.address
                guard let session = try admit(incoming, card: card, voice: voice) else { continue }
                Terminal.say("in a call with \(peer), \(Signalling.describe(session.configuration))")
                try CallRunner(
                    options: call, role: "host", peer: peer.description, card: card, session: session
                ).run()
                return
            }
        }
    }

    /// Answers an offer; nil where no call comes of it. Nothing a guest says or does ends the host: what cannot be is refused,
    /// one that hangs up is forgotten, and the host waits on. Only this side's own files end it.
    private func admit(
        _ incoming: consuming IncomingOffer, card: SoundCard, voice: CallVoice?
    ) throws -> CallSession? {
        let (answer, session): (SessionDescription, CallSession)
        do {
            (answer, session) = try prepare(for: incoming, card: card, voice: voice)
        } catch {
            let failure = Failure(error)
            incoming.refuse(failure.line)
            Terminal.say("refused a guest: \(failure.line)")
            return nil
        }
        do {
            try card.prepare()
        } catch {
            let failure = Failure(error)
            incoming.refuse(failure.line)
            throw failure
        }
        do throws(SignallingError) {
            try incoming.answer(answer)
        } catch {
            Terminal.say("lost a guest before the call began: \(error)")
            return nil
        }
        return session
    }

    private func prepare(
        for incoming: borrowing IncomingOffer, card: SoundCard, voice: CallVoice?
    ) throws -> (SessionDescription, CallSession) {
        let offer = incoming.offer
        let local = incoming.localAddress ?? .loopback
        var socket = try UDPSocket(address: local, port: port)
        // Sound goes to the machine that asked, whatever address its offer names.
        try socket.connect(to: SocketAddress(incoming.peerAddress.address, port: offer.port))
        let preferences = call.preferences(
            deviceRate: card.device.sampleRate, deviceBlock: card.device.blockFrameCount)
        let answer = try preferences.answer(
            to: offer, address: local, port: socket.localAddress.port, sessionID: Signalling.newSessionID())
        guard let mine = answer.formats.first,
            let theirs = offer.formats.first(where: { $0.payloadType == mine.payloadType })
        else { throw NegotiationError.noAudio }
        let configuration = try preferences.configuration(mine: mine, remote: offer, format: theirs)
        let session = try CallSession(
            configuration, device: card.device, socket: socket, cname: Signalling.newCanonicalName(),
            voice: voice)
        return (answer, session)
    }
}
