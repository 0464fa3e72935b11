// SPDX-License-Identifier: Apache-2.0

/// Rules in nftables' language, from `nft list ruleset` or `/etc/nftables.conf`, as far as they concern incoming packets.
struct PacketRules {
    /// A chain with its rules.
    struct Chain {
        var place: Firewall.Chain
        var hook: String?
        var dropsByDefault = false
        var rules: [[String]] = []  // words of each rule

        /// True if the chain rejects all packets to this machine except those to named ports.
        var isClosed: Bool {
            guard hook == "input", ["inet", "ip", "ip6"].contains(place.family) else { return false }
            return dropsByDefault || (rules.last.map { Self.isRefusal($0) } ?? false)
        }

        /// Returns true if a rule drops or rejects all packets: at most a counter precedes its verdict.
        private static func isRefusal(_ rule: [String]) -> Bool {
            let rest = PacketRules.withoutCounter(rule)
            return rest.first == "drop" || rest.first == "reject"
        }
    }

    private(set) var chains: [Chain] = []

    init(_ text: String) {
        var reader = Reader()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            for character in line.prefix(while: { $0 != "#" }) { reader.readCharacter(character) }
            reader.readCharacter("\n")
        }
        chains = reader.chains
    }

    /// Returns the ports that at least one of the chains opens.
    static func openings(_ chains: [Chain]) -> [Firewall.TransportProtocol: PortSet] {
        var openings: [Firewall.TransportProtocol: PortSet] = [:]
        for chain in chains {
            for (transport, ports) in self.openings(chain) {
                openings[transport, default: PortSet()].formUnion(ports)
            }
        }
        return openings
    }

    /// Returns the ports that packets may use if they must pass each of `chains`. nil for more than one chain, since each may be
    /// for another address family.
    static func commonOpenings(_ chains: [Chain]) -> [Firewall.TransportProtocol: PortSet]? {
        guard let chain = chains.first, chains.count == 1 else { return nil }
        return openings(chain)
    }

    private static func openings(_ chain: Chain) -> [Firewall.TransportProtocol: PortSet] {
        var openings: [Firewall.TransportProtocol: PortSet] = [:]
        for rule in chain.rules where rule.contains("accept") {
            if withoutCounter(rule).first == "accept" {
                return [.tcp: .all, .udp: .all]
            }
            for (word, following) in zip(rule, rule.indices.dropFirst()) where rule[following] == "dport" {
                guard following + 1 < rule.count else { continue }
                let transports = Firewall.TransportProtocol.allCases.filter { $0.rawValue == word || word == "th" }
                for transport in transports {
                    openings[transport, default: PortSet()].formUnion(PortSet(rule[following + 1]))
                }
            }
        }
        return openings
    }

    private static func withoutCounter(_ rule: [String]) -> ArraySlice<String> {
        guard rule.first == "counter" else { return rule[...] }
        let rest = rule.dropFirst()
        return rest.first == "packets" ? rest.dropFirst(4) : rest
    }
}

extension PacketRules {
    /// Reads the text character by character: blocks in braces, statements that end with a line or a semicolon, and sets, whose
    /// braces belong to a statement.
    private struct Reader {
        var chains: [Chain] = []
        private var tokens: [String] = []
        private var word = ""
        private var set: String?  // text of the set that is being read
        private var table: (family: String, name: String)?
        private var isInChain = false
        /// The number of open blocks.
        private var depth = 0

        mutating func readCharacter(_ character: Character) {
            if set != nil { return takeInSet(character) }
            switch character {
            case "{":
                endWord()
                if depth >= 2 { set = "" } else { open() }
            case "}":
                endStatement()
                close()
            case ";", "\n": endStatement()
            case " ", "\t": endWord()
            default: word.append(character)
            }
        }

        private mutating func takeInSet(_ character: Character) {
            switch character {
            case "}":
                tokens.append(set ?? "")
                set = nil
            case "\n", "\t": set?.append(" ")
            default: set?.append(character)
            }
        }

        private mutating func endWord() {
            if !word.isEmpty { tokens.append(word) }
            word = ""
        }

        private mutating func open() {
            if tokens.first == "add" { tokens.removeFirst() }
            if depth == 0, tokens.first == "table", tokens.count >= 2 {
                table = tokens.count == 2 ? ("ip", tokens[1]) : (tokens[1], tokens[2])
            } else if depth == 1, tokens.first == "chain", tokens.count == 2, let table {
                chains.append(Chain(place: .init(family: table.family, table: table.name, name: tokens[1])))
                isInChain = true
            }
            depth += 1
            tokens = []
        }

        private mutating func close() {
            depth = max(0, depth - 1)
            if depth < 2 { isInChain = false }
            if depth == 0 { table = nil }
        }

        private mutating func endStatement() {
            endWord()
            defer { tokens = [] }
            guard isInChain, let first = tokens.first, let last = chains.indices.last else { return }
            switch first {
            case "type":
                if let at = tokens.firstIndex(of: "hook"), at + 1 < tokens.count { chains[last].hook = tokens[at + 1] }
            case "policy": chains[last].dropsByDefault = tokens.dropFirst().first == "drop"
            case "comment", "devices": break
            default: chains[last].rules.append(tokens)
            }
        }
    }
}
