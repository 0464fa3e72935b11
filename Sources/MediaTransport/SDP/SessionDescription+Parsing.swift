// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// Reads a description. Lines end in LF or CR LF; unknown lines are skipped, unknown attributes kept.
    public init(parsing text: String) throws(SDPError) { try self.init(parsing: Array(text.utf8)) }

    /// Reads a description from any bytes.
    public init(parsing bytes: [UInt8]) throws(SDPError) {
        guard bytes.count <= Self.maximumSize else { throw SDPError(.tooLarge(bytes.count)) }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { throw SDPError(.notText) }
        var parser = SDPParser()
        var lineNumber = 0
        for line in text.utf8.split(separator: 10, omittingEmptySubsequences: false) {
            lineNumber += 1
            let content = line.last == 13 ? line.dropLast() : line
            if content.isEmpty { continue }
            try parser.parseLine(Substring(content), line: lineNumber)
        }
        self = try parser.finish()
    }
}

/// Parses a description line by line.
private struct SDPParser {
    private var hasVersion = false
    private var origin: SessionDescription.Origin?
    private var name = "-"
    private var sessionAddress: IPAddress?
    private var mediaAddress: IPAddress?
    private var media: (port: UInt16, payloadTypes: [UInt8], line: Int)?
    private var profile = SessionDescription.Profile.avp
    /// Media other than the audio stream, in the order written; the first `othersBeforeStream` precede the stream.
    private var others: [SessionDescription.OtherMedia] = []
    private var othersBeforeStream = 0
    private var firstOtherLine = 0
    private var isInOtherMedia = false
    private var mediaID: String?
    private var bundle: [String] = []
    private var mappedFormats: [UInt8: MediaFormat] = [:]
    private var parameters: [UInt8: [MediaFormat.Parameter]] = [:]
    private var direction: SessionDescription.Direction?
    private var packetTime: Double?
    private var maximumPacketTime: Double?
    private var blockTime: Double?
    private var multiplexesRTCP = false
    private var extendedReports: [String] = []
    private var sendTimeID: UInt8?
    /// The payload types in the lines `a=rtcp-fb:TYPE nack`; nil stands for all types, `*`.
    private var nacks: [UInt8?] = []
    /// The payload types in the lines `a=rtcp-fb:TYPE ccm tmmbr`; nil stands for all types, `*`.
    private var rateRequests: [UInt8?] = []
    private var ice = ICEAttributes()
    private var otherSession: [String] = []
    private var otherMedia: [String] = []

    mutating func parseLine(_ line: Substring, line lineNumber: Int) throws(SDPError) {
        let bytes = line.utf8
        guard bytes.count >= 2, let type = bytes.first, (97...122).contains(type), bytes.dropFirst().first == 61 else {
            throw SDPError(.notALine, line: lineNumber)
        }
        let value = Substring(bytes.dropFirst(2))
        guard hasVersion || type == UInt8(ascii: "v") else { throw SDPError(.wrongVersion, line: lineNumber) }
        switch type {
        case UInt8(ascii: "v"):
            guard value == "0", !hasVersion else { throw SDPError(.wrongVersion, line: lineNumber) }
            hasVersion = true
        case UInt8(ascii: "o"): try takeOrigin(value, lineNumber)
        case UInt8(ascii: "s"): name = value.utf8.allSatisfy { $0 == 32 } ? "-" : String(value)
        case UInt8(ascii: "c") where !isInOtherMedia: try takeConnection(value, lineNumber)
        case UInt8(ascii: "t"):
            let times = value.words
            guard times.count == 2, times.allSatisfy({ $0.isDigits }) else {
                throw SDPError(.badValue("'t=START STOP'"), line: lineNumber)
            }
        case UInt8(ascii: "m"): try takeMedia(value, lineNumber)
        case UInt8(ascii: "a"): if isInOtherMedia { takeName(value) } else { try takeAttribute(value, lineNumber) }
        default: break
        }
    }

    private mutating func takeOrigin(_ value: Substring, _ lineNumber: Int) throws(SDPError) {
        let words = value.words
        guard words.count == 6, words[3] == "IN", let id = UInt64(words[1]), let version = UInt64(words[2]),
            words[1].isDigits, words[2].isDigits, let address = origin(type: words[4], words[5])
        else { throw SDPError(.badValue("'o=NAME ID VERSION IN IP4|IP6 ADDRESS'"), line: lineNumber) }
        origin = .init(username: String(words[0]), sessionID: id, version: version, address: address)
    }

    private mutating func takeConnection(_ value: Substring, _ lineNumber: Int) throws(SDPError) {
        let words = value.words
        guard words.count == 3, words[0] == "IN",
            let address = address(type: words[1], words[2].prefix { $0 != "/" })
        else { throw SDPError(.badValue("'c=IN IP4|IP6 ADDRESS', the address a number"), line: lineNumber) }
        if media == nil { sessionAddress = address } else { mediaAddress = address }
    }

    /// Reads the address of the `o=` line. A host name is allowed (RFC 8866 §5.2), as nothing is sent there; it becomes an
    /// unspecified address.
    private func origin(type: Substring, _ text: Substring) -> IPAddress? {
        if let address = address(type: type, text) { return address }
        guard text.utf8.allSatisfy({ $0 == 45 || $0 == 46 || $0 == 95 || Self.isLetterOrDigit($0) }),
            IPAddress(String(text)) == nil, !text.utf8.allSatisfy({ $0 == 46 || (48...57).contains($0) })
        else { return nil }
        return type == "IP4" ? .any : type == "IP6" ? .v6(0, scope: 0) : nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    private func address(type: Substring, _ text: Substring) -> IPAddress? {
        // An address with a scope (`%`) is refused: SDP has none, as a scope has a meaning only on its own machine.
        guard !text.utf8.contains(37), let address = IPAddress(String(text)),
            type == (address.isV6 ? "IP6" : "IP4")
        else { return nil }
        return address
    }

    private mutating func takeMedia(_ value: Substring, _ lineNumber: Int) throws(SDPError) {
        let words = value.words
        guard words.count >= 4 else { throw SDPError(.badValue("'m=audio PORT RTP/AVP TYPE…'"), line: lineNumber) }
        let portWord = words[1].halves(at: 47).0  // '/' and how many ports, which RTP has no use for
        guard portWord.isDigits, let port = UInt16(portWord) else {
            throw SDPError(.badValue("a port of 0 to 65535"), line: lineNumber)
        }
        isInOtherMedia = words[0] != "audio" || media != nil
        if isInOtherMedia {
            if others.isEmpty { firstOtherLine = lineNumber }
            return others.append(.init(kind: String(words[0]), port: port, rest: words.dropFirst(2).map { String($0) }))
        }
        guard let profile = SessionDescription.Profile(rawValue: String(words[2])) else {
            throw SDPError(.unsupportedTransport(String(words[2].prefix(40))), line: lineNumber)
        }
        self.profile = profile
        othersBeforeStream = others.count
        var types: [UInt8] = []
        for word in words.dropFirst(3) {
            guard let type = payloadType(word), !types.contains(type) else {
                throw SDPError(.badValue("payload types of 0 to 127, each once"), line: lineNumber)
            }
            // Packets of the types 64 to 95 would be taken for RTCP on the same port (RFC 5761 §4).
            if !(64...95).contains(type) { types.append(type) }
        }
        media = (port, types, lineNumber)
    }

    private func payloadType(_ word: Substring) -> UInt8? {
        guard word.isDigits, let type = UInt8(word), type < 128 else { return nil }
        return type
    }

    private mutating func takeAttribute(_ value: Substring, _ lineNumber: Int) throws(SDPError) {
        let (name, argument) = value.halves(at: 58)
        switch (name, argument) {
        case ("rtpmap", let text?) where media != nil: try takeMap(text, lineNumber)
        case ("fmtp", let text?) where media != nil: try takeParameters(text, lineNumber)
        case ("ptime", let text?) where media != nil: packetTime = try milliseconds(text, lineNumber)
        case ("maxptime", let text?) where media != nil: maximumPacketTime = try milliseconds(text, lineNumber)
        case (Substring(SessionDescription.blockAttribute), let text?) where media != nil && takeBlockTime(text): break
        case ("rtcp-mux", nil) where media != nil: multiplexesRTCP = true
        case ("rtcp-xr", let text?) where media != nil: extendedReports += text.words.map { String($0) }
        case ("rtcp-fb", let text?) where media != nil && takeFeedback(text.words): break
        case ("extmap", let text?) where media != nil && takeExtension(text.words): break
        case ("mid", let text?) where media != nil && mediaID == nil && text.isName: mediaID = String(text)
        case ("group", let text?) where media == nil && bundle.isEmpty && text.utf8.starts(with: "BUNDLE ".utf8):
            bundle = text.words.dropFirst().map { String($0) }
        case (let name, nil) where SessionDescription.Direction(rawValue: String(name)) != nil:
            direction = SessionDescription.Direction(rawValue: String(name))
        default:
            if ice.parseAttribute(name, argument, isMedia: media != nil) { break }
            if media == nil { otherSession.append(String(value)) } else { otherMedia.append(String(value)) }
        }
    }

    /// Reads the support of generic NACKs or of rate requests. Returns false for other feedback, which may begin with the same
    /// words.
    private mutating func takeFeedback(_ words: [Substring]) -> Bool {
        guard let first = words.first else { return false }
        let type = payloadType(first)
        guard type != nil || first == "*" else { return false }
        switch words.dropFirst().map({ String($0) }) {
        case ["nack"]: nacks.append(type)
        case ["ccm", "tmmbr"]: rateRequests.append(type)
        default: return false
        }
        return true
    }

    /// Reads the identifier of send times, in both directions. Returns false for other header extensions.
    private mutating func takeExtension(_ words: [Substring]) -> Bool {
        guard words.count == 2, words[1] == SendTimeExtension.uri, words[0].isDigits, let id = UInt8(words[0]),
            SendTimeExtension.identifiers.contains(id), sendTimeID == nil
        else { return false }
        sendTimeID = id
        return true
    }

    /// Reads the time of a device's block. Returns false for another time, which is ignored like an unknown attribute.
    private mutating func takeBlockTime(_ text: Substring) -> Bool {
        guard blockTime == nil, text.utf8.count <= 12, let time = try? milliseconds(text, 0),
            SessionDescription.blockTimes.contains(time)
        else { return false }
        blockTime = time
        return true
    }

    /// Reads the name of media other than the stream, which an answer must repeat.
    private mutating func takeName(_ value: Substring) {
        let (name, argument) = value.halves(at: 58)
        if name == "mid", let argument, argument.isName, others[others.count - 1].mediaID == nil {
            others[others.count - 1].mediaID = String(argument)
        }
    }

    private mutating func takeMap(_ text: Substring, _ lineNumber: Int) throws(SDPError) {
        let words = text.words
        let parts = words.count == 2 ? words[1].split(separator: "/", omittingEmptySubsequences: false) : []
        guard parts.count == 2 || parts.count == 3, let type = payloadType(words[0]), !parts[0].isEmpty,
            parts.dropFirst().allSatisfy({ $0.isDigits }), let rate = Int(parts[1]), (1...10_000_000).contains(rate),
            let channels = parts.count == 3 ? Int(parts[2]) : 1, (1...255).contains(channels)
        else { throw SDPError(.badValue("'a=rtpmap:TYPE NAME/RATE[/CHANNELS]'"), line: lineNumber) }
        mappedFormats[type] = MediaFormat(
            payloadType: type, encodingName: String(parts[0]), clockRate: rate, channelCount: channels)
    }

    private mutating func takeParameters(_ text: Substring, _ lineNumber: Int) throws(SDPError) {
        let (word, list) = text.halves(at: 32)
        guard let type = payloadType(word), let list else {
            throw SDPError(.badValue("'a=fmtp:TYPE NAME=VALUE; …'"), line: lineNumber)
        }
        parameters[type] = list.split(separator: ";").compactMap { item in
            let (name, value) = item.trimmed.halves(at: 61)
            return name.trimmed.isEmpty ? nil : .init(String(name.trimmed), String((value ?? "").trimmed))
        }
    }

    private func milliseconds(_ text: Substring, _ lineNumber: Int) throws(SDPError) -> Double {
        guard text.utf8.allSatisfy({ $0 == 46 || (48...57).contains($0) }), let value = Double(text),
            (0.001...60_000).contains(value)
        else { throw SDPError(.badValue("milliseconds"), line: lineNumber) }
        return value
    }

    func finish() throws(SDPError) -> SessionDescription {
        guard hasVersion else { throw SDPError(.missing("v=0")) }
        guard let media else {
            guard let first = others.first else { throw SDPError(.missing("m=audio")) }
            throw SDPError(.notAudio(String(first.kind.prefix(40))), line: firstOtherLine)
        }
        guard let address = mediaAddress ?? sessionAddress else { throw SDPError(.missing("c=")) }
        let formats = media.payloadTypes.compactMap { type in
            (mappedFormats[type] ?? Self.assigned[type]).map { format in
                var format = format
                format.parameters = parameters[type] ?? []
                format.takesNACK = nacks.contains { $0 == nil || $0 == type }
                format.takesRateRequests = rateRequests.contains { $0 == nil || $0 == type }
                return format
            }
        }
        guard !formats.isEmpty else { throw SDPError(.noFormat, line: media.line) }
        var description = SessionDescription(
            formats: formats, address: address, port: media.port, packetTime: packetTime, sessionID: 0, name: name,
            profile: profile)
        description.origin =
            origin ?? .init(username: "-", sessionID: 0, version: 0, address: address)
        description.direction = direction ?? .sendReceive
        description.maximumPacketTime = maximumPacketTime
        description.blockTime = blockTime
        description.multiplexesRTCP = multiplexesRTCP
        description.extendedReports = extendedReports
        description.sendTimeID = sendTimeID
        description.mediaID = mediaID
        description.bundle = bundle
        description.mediaBefore = Array(others[..<othersBeforeStream])
        description.mediaBehind = Array(others[othersBeforeStream...])
        description.ice = try ice.finish()
        description.otherSessionAttributes = otherSession
        description.otherMediaAttributes = otherMedia
        return description
    }

    /// The formats of payload types that need no rtpmap line (RFC 3551 §6, table 4); of these only L16 is supported.
    private static let assigned: [UInt8: MediaFormat] = [
        0: MediaFormat(payloadType: 0, encodingName: "PCMU", clockRate: 8_000, channelCount: 1),
        8: MediaFormat(payloadType: 8, encodingName: "PCMA", clockRate: 8_000, channelCount: 1),
        10: MediaFormat(payloadType: 10, encodingName: "L16", clockRate: 44_100, channelCount: 2),
        11: MediaFormat(payloadType: 11, encodingName: "L16", clockRate: 44_100, channelCount: 1),
    ]
}

/// Splits text by bytes, so that no carriage return or combining mark merges with its neighbour into one Character.
extension Substring {
    fileprivate var words: [Substring] { utf8.split(separator: 32).map { Substring($0) } }

    fileprivate var isDigits: Bool { !isEmpty && utf8.allSatisfy { (48...57).contains($0) } }

    /// Returns true if the text is one word: not empty, and without spaces and control characters.
    fileprivate var isName: Bool { !isEmpty && utf8.allSatisfy { $0 > 32 && $0 != 127 } }

    fileprivate var trimmed: Substring {
        let head = utf8.drop { $0 == 32 || $0 == 9 }
        guard let last = head.lastIndex(where: { $0 != 32 && $0 != 9 }) else { return "" }
        return Substring(head[...last])
    }

    fileprivate func halves(at separator: UInt8) -> (Substring, Substring?) {
        guard let separatorIndex = utf8.firstIndex(of: separator) else { return (self, nil) }
        return (Substring(utf8[..<separatorIndex]), Substring(utf8[utf8.index(after: separatorIndex)...]))
    }
}
