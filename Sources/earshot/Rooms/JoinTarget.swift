// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotMediaTransport
import EarshotRooms
import Foundation

/// The room that the user's text means.
enum JoinTarget: Equatable {
    /// The requested interpretation of the text.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case name, address, code
    }

    case code(JoinCode)
    case address(SocketAddress)
    /// A machine's name.
    case host(String, port: UInt16)
    /// A room's name; if no such room is found, a machine's.
    case name(PeerName)

    /// Interprets a text as `form`. If `form` is nil, the text itself decides: an IP address is an address; a join code has the
    /// right length and check character; a machine's name has a dot or a port, or is `localhost`; any other text is a room's
    /// name.
    init(_ text: String, as form: Form? = nil) throws(Failure) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if form == nil || form == .address, let failure = Self.wrongNumber(text) { throw failure }
        switch form {
        case .name: self = try .name(Self.name(text))
        case .code: self = try .code(Self.code(text))
        case .address:
            guard let place = Self.place(text) else { throw Self.noAddress(text) }
            self = place
        case nil: self = try Self.guess(text)
        }
    }

    private static func guess(_ text: String) throws(Failure) -> JoinTarget {
        if case .address(let address)? = place(text) { return .address(address) }
        if let code = try? JoinCode(text) { return .code(code) }
        if looksLikeCode(text) {
            do throws(JoinCodeError) {
                return .code(try JoinCode(text))
            } catch {
                throw Failure("'\(text)': \(error). If it is a room's name, add: --by name", status: Failure.usage)
            }
        }
        if let place = place(text), case .host(let name, _) = place,
            name != text || name.contains(".") || name.lowercased() == "localhost"
        {
            return place
        }
        if text.hasPrefix("[") { throw noAddress(text) }
        return .name(try name(text))
    }

    private static func name(_ text: String) throws(Failure) -> PeerName {
        do throws(TextError) {
            return try PeerName(text)
        } catch {
            throw Failure("not a room name: \(ErrorText.text(error))", status: Failure.usage)
        }
    }

    private static func code(_ text: String) throws(Failure) -> JoinCode {
        do throws(JoinCodeError) {
            return try JoinCode(text)
        } catch {
            throw Failure(error, Failure.usage)
        }
    }

    private static func noAddress(_ text: String) -> Failure {
        Failure(
            "'\(text)' is not an address. Use ADDRESS, ADDRESS:PORT, [IPv6]:PORT or HOST:PORT.", status: Failure.usage)
    }

    /// Returns the failure for an IP address or a port with an impossible number, such as `300.1.1.1`; nil for any other text.
    private static func wrongNumber(_ text: String) -> Failure? {
        guard place(text) == nil else { return nil }
        let colon = text.lastIndex(of: ":") ?? text.endIndex
        let (front, digits) = (String(text[..<colon]), text[colon...].dropFirst())
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        if place(front) != nil, !digits.isEmpty {
            return Failure(
                "'\(text)': the port must be 1 to 65535. If it is a room's name, add: --by name", status: Failure.usage
            )
        }
        let numbers = front.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 4, numbers.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return nil }
        return Failure(
            "'\(text)' is not an address: its numbers go from 0 to 255. If it is a room's name, add: --by name",
            status: Failure.usage)
    }

    /// Returns true if a text resembles a join code: groups of four characters, with digits. The last group may be shorter.
    private static func looksLikeCode(_ text: String) -> Bool {
        let groups = text.split(whereSeparator: { $0 == "-" || $0 == " " }).map(String.init)
        guard groups.count >= 3, groups.dropLast().allSatisfy({ $0.count == 4 }),
            (1...4).contains(groups.last?.count ?? 0)
        else { return false }
        let characters = groups.joined()
        return characters.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            && characters.contains(where: \.isNumber)
    }

    /// Reads ADDRESS, ADDRESS:PORT, [IPv6], [IPv6]:PORT, HOST or HOST:PORT. Returns nil for any other text.
    static func place(_ text: String) -> JoinTarget? {
        if let address = IPAddress(text) { return .address(SocketAddress(address, port: JoinCode.usualPort)) }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), let address = IPAddress(String(text[..<end].dropFirst())),
                address.isV6
            else { return nil }
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return .address(SocketAddress(address, port: JoinCode.usualPort)) }
            guard rest.hasPrefix(":"), let port = port(rest.dropFirst()) else { return nil }
            return .address(SocketAddress(address, port: port))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first else { return nil }
        var requestedPort = JoinCode.usualPort
        if parts.count == 2 {
            guard let given = port(parts[1]) else { return nil }
            requestedPort = given
        }
        if let address = IPAddress(String(first)) { return .address(SocketAddress(address, port: requestedPort)) }
        return isHostName(first) ? .host(String(first), port: requestedPort) : nil
    }

    private static func port(_ text: some StringProtocol) -> UInt16? {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(text), port > 0 else { return nil }
        return port
    }

    /// Returns true for labels of letters, digits, hyphens and underscores, the last one not a number (RFC 1123 §2.1).
    private static func isHostName(_ text: some StringProtocol) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...253).contains(text.utf8.count), let last = labels.last, !last.allSatisfy(\.isNumber) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-"
                && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        }
    }
}
