// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A room's address and key in 16 characters (IPv4, the default port) to 39 (IPv6, another port), to be read aloud.
///
/// A code is a sequence of bits in Crockford's base 32, followed by a check character. The first three bits are the version,
/// which is 0, and a flag each for IPv6 and for a port. Then follow the address, the port if it is not 47400, and the first 40 to
/// 44 bits of the host's key fingerprint, which fill the last character before the check. The check character detects one wrong
/// character, and two exchanged neighbours.
public struct JoinCode: Hashable, Sendable, CustomStringConvertible {
    /// The default port, which codes leave out.
    public static let usualPort: UInt16 = 47_400

    /// The host's address without a scope.
    public let address: IPAddress
    /// The host's port, the same for TCP and UDP.
    public let port: UInt16
    /// The first bits of the host's key fingerprint, right-aligned.
    let keyBits: UInt64

    /// Creates the code of a host.
    public init(address: IPAddress, port: UInt16 = usualPort, key: KeyFingerprint) throws(JoinCodeError) {
        let layout = Layout(isV6: address.isV6, hasPort: port != Self.usualPort)
        let prefix = key.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        try self.init(address, port, keyBits: prefix >> UInt64(64 - layout.keyBitCount))
    }

    private init(_ address: IPAddress, _ port: UInt16, keyBits: UInt64) throws(JoinCodeError) {
        switch address {
        case .v4(let bits):
            guard bits != 0, bits >> 28 < 14 else { throw .notAHost(address) }
        case .v6(let bits, let scope):
            guard scope == 0, bits >> 118 != 0x3FA else { throw .linkLocal(address) }
            guard bits != 0, bits >> 120 != 0xFF else { throw .notAHost(address) }
        }
        guard port != 0 else { throw .notACode }
        self.address = address
        self.port = port
        self.keyBits = keyBits
    }

    /// Reads a code in upper or lower case, with any blanks and hyphens; O is read as 0, I and L as 1.
    public init(_ text: String) throws(JoinCodeError) {
        let symbols = try Self.symbols(of: text)
        guard let first = symbols.first, let layout = Layout.all.first(where: { $0.symbolCount + 1 == symbols.count })
        else { throw .wrongLength(symbols.count) }
        guard Check.isRight(symbols) else { throw .wrongCheck }
        guard first >> 4 == 0 else { throw .otherVersion }
        var bits = BitString(symbols: symbols.dropLast())
        guard Layout(isV6: bits.readBits(2) == 1, hasPort: bits.readBits(1) == 1) == layout else { throw .notACode }
        let address: IPAddress =
            layout.isV6 ? .v6(bits.readBits(128), scope: 0) : .v4(UInt32(truncatingIfNeeded: bits.readBits(32)))
        let port = layout.hasPort ? UInt16(truncatingIfNeeded: bits.readBits(16)) : Self.usualPort
        guard !layout.hasPort || port != Self.usualPort else { throw .notACode }
        try self.init(address, port, keyBits: UInt64(truncatingIfNeeded: bits.readBits(layout.keyBitCount)))
    }

    /// Returns true if a host's verified key begins with the bits in the code.
    public func matches(_ key: KeyFingerprint) -> Bool {
        let prefix = key.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return prefix >> UInt64(64 - layout.keyBitCount) == keyBits
    }

    /// The code in groups of four characters with hyphens between them.
    public var description: String {
        var bits = BitString()
        bits.append(layout.isV6 ? 1 : 0, count: 2)
        bits.append(layout.hasPort ? 1 : 0, count: 1)
        switch address {
        case .v4(let value): bits.append(UInt128(value), count: 32)
        case .v6(let value, _): bits.append(value, count: 128)
        }
        if layout.hasPort { bits.append(UInt128(port), count: 16) }
        bits.append(UInt128(keyBits), count: layout.keyBitCount)
        let symbols = bits.symbols
        let characters = (symbols + [Check.symbol(of: symbols)]).map(Crockford.character)
        return stride(from: 0, to: characters.count, by: 4).map {
            String(characters[$0..<min($0 + 4, characters.count)])
        }.joined(separator: "-")
    }

    private var layout: Layout { Layout(isV6: address.isV6, hasPort: port != Self.usualPort) }

    private static func symbols(of text: String) throws(JoinCodeError) -> [UInt8] {
        guard text.utf8.count <= 256 else { throw .wrongLength(text.utf8.count) }
        var symbols: [UInt8] = []
        for character in text where !character.isWhitespace && !isHyphen(character) {
            guard let value = Crockford.value(character) else {
                throw .wrongCharacter(character, position: symbols.count + 1)
            }
            symbols.append(value)
        }
        return symbols
    }

    private static func isHyphen(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { $0 == "-" || (0x2010...0x2015).contains($0.value) }
    }

    /// The lengths of a variant of codes: IPv4 or IPv6, with or without a port.
    private struct Layout: Equatable {
        let isV6: Bool
        let hasPort: Bool

        static let all = [false, true].flatMap { v6 in [false, true].map { Layout(isV6: v6, hasPort: $0) } }

        private var fixedBitCount: Int { 3 + (isV6 ? 128 : 32) + (hasPort ? 16 : 0) }
        /// The number of characters without the check character: 15, 19, 35 or 38.
        var symbolCount: Int { (fixedBitCount + 40 + 4) / 5 }
        /// The bits of the key fingerprint, 40 to 44.
        var keyBitCount: Int { symbolCount * 5 - fixedBitCount }
    }

    /// The check character. A code's symbols are the coefficients of a polynomial over GF(32) with the modulus x⁵ + x² + 1. The
    /// check is the last coefficient, chosen so that the polynomial's value at the field element x is 0. A wrong symbol, or an
    /// exchange of two different neighbours, changes that value.
    private enum Check {
        static func symbol(of symbols: [UInt8]) -> UInt8 { timesX(symbols.reduce(0) { timesX($0) ^ $1 }) }
        static func isRight(_ symbols: [UInt8]) -> Bool { symbols.reduce(0) { timesX($0) ^ $1 } == 0 }
        private static func timesX(_ a: UInt8) -> UInt8 { a & 16 == 0 ? a << 1 : (a << 1 ^ 0b10_0101) & 31 }
    }
}
