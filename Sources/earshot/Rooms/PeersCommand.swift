// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct PeersCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers", abstract: "List, forget, block or unblock known peers.",
        discussion: """
            A peer is identified by its key. A name belongs to the first key that was admitted under it; another key with this name is refused.
            Standing: known (admitted by you, or host of a room you joined), seen (admitted by --accept all) or blocked.
            """,
        subcommands: [ListPeers.self, ForgetPeer.self, BlockPeer.self, UnblockPeer.self],
        defaultSubcommand: ListPeers.self)

    static let examples = [
        CommandExample("List known peers", "earshot peers"),
        CommandExample("Forget a peer whose key has changed", "earshot peers forget Bob"),
    ]
}

struct ListPeers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List your own key and the known peers.")

    @Flag(name: .lettered("json"), help: "Print one JSON document.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    private struct Document: Encodable {
        var key: String
        var peers: [Entry]
    }

    private struct Entry: Encodable {
        var key: String
        var names: [String]
        var firstSeen: String
        var lastSeen: String
        var accepted: Bool
        var blocked: Bool
    }

    func run() throws {
        try Failure.reporting {
            let store = NearbyStore.standard
            let ownKey = try store.identity().fingerprint
            let peers = try store.knownPeers().peers.sorted {
                ($1.value.lastSeen, $0.key.hex) < ($0.value.lastSeen, $1.key.hex)
            }
            if json {
                let entries = peers.map { key, peer in
                    Entry(
                        key: key.hex, names: peer.names.map(\.text), firstSeen: Self.date(peer.firstSeen),
                        lastSeen: Self.date(peer.lastSeen), accepted: peer.isAccepted, blocked: peer.isBlocked)
                }
                return try Terminal.output(Document(key: ownKey.hex, peers: entries).json())
            }
            var text = "Your key: \(ownKey)\n"
            if peers.isEmpty {
                text += "No known peers. Guests that you admit and hosts that you join are listed here.\n"
            } else {
                let rows = peers.map { key, peer in
                    [
                        peer.names.map(\.text).joined(separator: ", "), key.description, Self.standing(peer),
                        String(Self.date(peer.lastSeen).prefix(10)),
                    ]
                }
                text += TextTable(["NAMES", "KEY", "STANDING", "LAST SEEN"], rows).text(
                    hasColour: Terminal.outputHasColour)
            }
            try Terminal.output(text)
        }
    }

    private static func standing(_ peer: KnownPeers.Peer) -> String {
        peer.isBlocked ? "blocked" : peer.isAccepted ? "known" : "seen"
    }

    private static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}

/// A known peer on the command line.
struct PeerArgument: ParsableArguments {
    @Argument(help: "A peer's name, or the first digits of its key, at least four.")
    var who: String

    /// Returns the key of the peer that the user names. Throws unless exactly one known peer has that name or key.
    func key(in peers: KnownPeers) throws(Failure) -> KeyFingerprint {
        let keys = peers.keys(matching: who)
        if keys.count == 1 { return keys[0] }
        if keys.isEmpty {
            throw Failure("No known peer has the name or key '\(who)'. List them: earshot peers", status: Failure.data)
        }
        let list = keys.prefix(8).map { key in
            "\(key.hex.prefix(16)) (\(peers.peers[key]?.names.first?.text ?? ""))"
        }
        throw Failure(
            "\(keys.count) peers have the name or key '\(who)': \(list.joined(separator: ", ")). Use the first digits of the key.",
            status: Failure.data)
    }

    /// Changes the store's entry of the peer, and prints the change.
    /// - Parameter words: returns the sentence to print from the peer's name and its entry before the change.
    /// - Returns: the peer's key.
    @discardableResult
    func change(
        _ words: (String, KnownPeers.Peer?) -> String, _ body: (inout KnownPeers, KeyFingerprint) -> Void
    ) throws -> KeyFingerprint {
        let store = NearbyStore.standard
        let known = try store.knownPeers()
        let key = try self.key(in: known)
        try store.update { body(&$0, key) }
        let name = known.peers[key]?.names.first?.text ?? "\(key)"
        Terminal.say(words("\(name) (\(key))", known.peers[key]))
        return key
    }
}

struct ForgetPeer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Forget a peer and free its names for another key.",
        discussion: "Forgetting a blocked peer also unblocks it.")

    @Argument(help: "A peer's name, or the first digits of its key, at least four.")
    var who: String?

    @Flag(help: "Forget all peers that you neither admitted nor blocked.")
    var seen = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            guard let who else { return try forgetSeen() }
            let key = try PeerArgument.parse(["--", who]).change(
                { name, was in
                    "Forgot \(name). Another key may use the name now."
                        + (was?.isBlocked == true ? " It is no longer blocked." : "")
                }, { $0.forget($1) })
            try NearbyStore.standard.updateVolumes { $0[key] = nil }
        }
    }

    private func forgetSeen() throws {
        var count = 0
        let known = try NearbyStore.standard.update { known in
            let keys = known.peers.filter { !$0.value.isAccepted && !$0.value.isBlocked }.keys
            for key in keys { known.forget(key) }
            count = keys.count
        }
        // Guests of other hosts are no known peers, but may have a volume.
        try NearbyStore.standard.updateVolumes { volumes in
            for entry in volumes.entries where known.peers[entry.key] == nil { volumes[entry.key] = nil }
        }
        Terminal.say("Forgot \(count == 1 ? "1 peer" : "\(count) peers").")
    }

    func validate() throws {
        guard (who == nil) == seen else { throw ValidationError("Name a peer, or use --seen") }
    }
}

struct BlockPeer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "block", abstract: "Refuse a peer from now on without asking.",
        discussion: "An unknown key must be complete: 64 hexadecimal digits.")

    @OptionGroup var peer: PeerArgument
    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            let store = NearbyStore.standard
            let known = try store.knownPeers()
            let key: KeyFingerprint
            if let completeKey = KeyFingerprint(hex: peer.who.lowercased().filter { !$0.isWhitespace }) {
                key = completeKey
            } else {
                key = try peer.key(in: known)
            }
            let name = try known.peers[key]?.names.first ?? PeerName("somebody")
            try store.update { $0.block(key, as: name, date: NearbyStore.now) }
            Terminal.say("\(name) (\(key)) is blocked. To unblock: earshot peers unblock \(key.hex.prefix(16))")
        }
    }
}

struct UnblockPeer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock", abstract: "Let a blocked peer ask to join again.")

    @OptionGroup var peer: PeerArgument
    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting { try peer.change({ name, _ in "\(name) may ask to join again." }) { $0.unblock($1) } }
    }
}
