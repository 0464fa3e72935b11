import ArgumentParser
import Call
import Foundation
import MediaTransport

/// What both ends of the simple signalling say and draw.
enum Signalling {
    static let defaultPort: UInt16 = 47400
    static let notEncrypted = "NOT ENCRYPTED: anybody on the way can listen to this call."

    static func newSessionID() -> UInt64 { .random(in: 1...(1 << 62)) }

    /// Random, as RFC 7022 wants: it names this end of this call and nothing else.
    static func newCanonicalName() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

    /// A host's name and port out of NAME, ADDRESS, ADDRESS:PORT or [IPv6]:PORT.
    static func parse(_ text: String) -> (name: String, port: UInt16)? {
        if text.isEmpty || text.hasPrefix("-") { return nil }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let name = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (name, defaultPort) }
            guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
            return (name, port)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return (text, defaultPort)
        case 2:
            guard !parts[0].isEmpty, let port = UInt16(parts[1]), port > 0 else { return nil }
            return (String(parts[0]), port)
        default: return (text, defaultPort)  // an IPv6 address without brackets
        }
    }

    /// What a guest types to come here.
    static func hint(_ listening: SocketAddress) -> String {
        let shown =
            listening.address.isUnspecified
            ? ownAddresses().first ?? "THIS-MACHINE" : listening.address.description
        if listening.port == defaultPort { return shown }
        return listening.address.isV6 ? "[\(shown)]:\(listening.port)" : "\(shown):\(listening.port)"
    }

    /// This machine's IPv4 addresses on networks that are up, loopback left out.
    private static func ownAddresses() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        guard let first = list else { return [] }
        let items: UnfoldFirstSequence<UnsafeMutablePointer<ifaddrs>> = sequence(first: first) { $0.pointee.ifa_next }
        return items.compactMap { item in
            let entry = item.pointee
            guard let address = entry.ifa_addr, address.pointee.sa_family == AF_INET,
                entry.ifa_flags & UInt32(IFF_UP) != 0, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { return nil }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                return nil
            }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    static func describe(_ call: CallConfiguration) -> String {
        let kilohertz = call.streamRate / 1000
        let rate = kilohertz == kilohertz.rounded() ? String(Int(kilohertz)) : String(kilohertz)
        let packet = Double(call.framesPerPacket) / call.streamRate * 1e3
        let length = (packet * 10).rounded() / 10
        return "\(call.codec) \(rate) kHz \(call.channelCount == 1 ? "mono" : "stereo"), \(length) ms a packet"
    }
}

enum ExitCodes {
    static var interrupted: ExitCode { ExitCode(Interrupt.exitStatus) }
    /// Of what was told already.
    static func failed(_ failure: Failure) -> ExitCode { ExitCode(failure.status) }
}
