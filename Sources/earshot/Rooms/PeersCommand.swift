// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct PeersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers", abstract: "List whom this machine knows; forget, block or unblock somebody.",
        discussion: """
            Somebody is known by the key, under the names that came with it. A name belongs to the first key that was let in
            under it: another key under the same name is refused. WHO is a name, or the first digits of a key, four or more.
            Standing: known, whom you let in when you were asked, or whose room you entered; seen, who came in by --accept
            all, which is no answer of yours, so that --accept known refuses them; blocked.
            """,
        subcommands: [ListPeers.self, ForgetPeer.self, BlockPeer.self, UnblockPeer.self],
        defaultSubcommand: ListPeers.self)
}

struct ListPeers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List one's own key, and whom this machine knows.")

    @Flag(help: "Print one JSON document.")
    var json = false

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
            let own = try store.identity().fingerprint
            let peers = try store.knownPeers().peers.sorted {
                ($1.value.lastSeen, $0.key.hex) < ($0.value.lastSeen, $1.key.hex)
            }
            if json {
                let entries = peers.map { key, peer in
                    Entry(
                        key: key.hex, names: peer.names.map(\.text), firstSeen: Self.date(peer.firstSeen),
                        lastSeen: Self.date(peer.lastSeen), accepted: peer.isAccepted, blocked: peer.isBlocked)
                }
                return try Terminal.output(Document(key: own.hex, peers: entries).json())
            }
            var text = "your key: \(own)\n"
            if peers.isEmpty {
                text += "nobody is known yet: who is let in, or joined, will be here\n"
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

/// Which of those that this machine knows.
struct PeerArgument: ParsableArguments {
    @Argument(help: "A name, or the first digits of a key, four or more.")
    var who: String

    /// The one that is meant.
    func key(in peers: KnownPeers) throws(Failure) -> KeyFingerprint {
        let keys = peers.keys(matching: who)
        if keys.count == 1 { return keys[0] }
        if keys.isEmpty {
            throw Failure("nobody known has '\(who)' as name or key; see who is: earshot peers", status: Failure.data)
        }
        let list = keys.prefix(8).map { key in
            "\(key.hex.prefix(16)) (\(peers.peers[key]?.names.first?.text ?? ""))"
        }
        throw Failure(
            "\(keys.count) have '\(who)' as name or key: \(list.joined(separator: ", ")); give the first digits of the key",
            status: Failure.data)
    }

    /// Changes what is known of the one that is meant.
    /// - Parameter words: what was done, of its name and what was known of it.
    func change(
        _ words: (String, KnownPeers.Peer?) -> String, _ body: (inout KnownPeers, KeyFingerprint) -> Void
    ) throws {
        let store = NearbyStore.standard
        let known = try store.knownPeers()
        let key = try self.key(in: known)
        try store.update { body(&$0, key) }
        let name = known.peers[key]?.names.first?.text ?? "\(key)"
        Terminal.say(words("\(name) (\(key))", known.peers[key]))
    }
}

struct ForgetPeer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Know no more of somebody; the names are free for another key.",
        discussion: "Where they were blocked, the block is lifted with it.")

    @OptionGroup var peer: PeerArgument

    func run() throws {
        try Failure.reporting {
            try peer.change(
                { name, was in
                    let block = was?.isBlocked == true ? "; the block is lifted with it" : ""
                    return "\(name) is forgotten: whoever comes under the name is asked about anew\(block)"
                }, { $0.forget($1) })
        }
    }
}

struct BlockPeer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "block", abstract: "Never let somebody in, nor be asked about it.",
        discussion: "A key that is not known yet is given whole, as 64 hexadecimal digits.")

    @OptionGroup var peer: PeerArgument

    func run() throws {
        try Failure.reporting {
            let store = NearbyStore.standard
            let known = try store.knownPeers()
            let key: KeyFingerprint
            if let whole = KeyFingerprint(hex: peer.who.lowercased().filter { !$0.isWhitespace }) {
                key = whole
            } else {
                key = try peer.key(in: known)
            }
            let name = try known.peers[key]?.names.first ?? PeerName("somebody")
            try store.update { $0.block(key, as: name, date: NearbyStore.now) }
            Terminal.say("\(name) (\(key)) is blocked; to lift that: earshot peers unblock \(key.hex.prefix(16))")
        }
    }
}

struct UnblockPeer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock", abstract: "Let somebody ask again; they are not let in by that.")

    @OptionGroup var peer: PeerArgument

    func run() throws {
        try Failure.reporting { try peer.change({ name, _ in "\(name) may ask again" }) { $0.unblock($1) } }
    }
}
