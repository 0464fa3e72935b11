// SPDX-License-Identifier: Apache-2.0

/// A recording of a real network's packets. Each line is a packet's one-way delay in milliseconds, or `lost`. Empty lines and
/// text after a `#` are ignored. After its last line, the recording starts again.
///
/// Packets overtake each other if their delays require it. Lines are used only for packets of sound. A report has the delay of
/// the last packet that was not lost; the recording loses no report.
package struct NetworkTrace: Hashable, Sendable {
    /// The maximum delay of a line in milliseconds.
    package static let longestDelay = 10_000.0
    /// The maximum packets in a trace: eleven hours of packets of 2.5 ms.
    package static let longestCount = 16_000_000

    /// The delays in milliseconds, negative for lost packets.
    let delays: [Float]

    /// The number of packets.
    package var count: Int { delays.count }
    /// The number of lost packets.
    package var lostCount: Int { delays.reduce(0) { $0 + ($1 < 0 ? 1 : 0) } }

    /// Reads a trace.
    /// - Throws: ``NetworkTraceError`` with the number of the first invalid line.
    package init(_ text: some Sequence<UInt8>) throws(NetworkTraceError) {
        var delays: [Float] = []
        var line: [UInt8] = []
        var lineNumber = 1
        for byte in text {
            if byte == UInt8(ascii: "\n") {
                try Self.parseLine(line, lineNumber, into: &delays)
                line.removeAll(keepingCapacity: true)
                lineNumber += 1
            } else if line.count <= Self.longestLine {
                line.append(byte)
            }
        }
        try Self.parseLine(line, lineNumber, into: &delays)
        guard !delays.isEmpty else { throw .empty }
        self.delays = delays
    }

    /// The maximum bytes of a line without its comment.
    private static let longestLine = 200

    private static func parseLine(
        _ line: [UInt8], _ lineNumber: Int, into delays: inout [Float]
    ) throws(NetworkTraceError) {
        guard line.count <= longestLine || line.contains(UInt8(ascii: "#")) else {
            throw .badLine(lineNumber, String(decoding: line, as: UTF8.self))
        }
        let text = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let word = words.first else { return }
        guard delays.count < longestCount else { throw .tooLong }
        guard words.count == 1 else { throw .badLine(lineNumber, text) }
        if word.lowercased() == "lost" { return delays.append(-1) }
        // Double also accepts words and hexadecimal numbers.
        guard word.allSatisfy({ "0123456789.+-eE".contains($0) }), let delay = Double(word),
            (0...longestDelay).contains(delay)
        else { throw .badLine(lineNumber, text) }
        delays.append(Float(delay))
    }
}

/// The reason that a text is not a network trace.
package enum NetworkTraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of this number, from 1, is invalid; the second value is its text.
    case badLine(Int, String)
    /// The trace has no packets.
    case empty
    /// The trace has more than ``NetworkTrace/longestCount`` packets.
    case tooLong

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .badLine(let number, let text): "line \(number) says '\(text.prefix(40))', which is not a delay"
        case .empty: "it contains no packet"
        case .tooLong: "it has more than \(NetworkTrace.longestCount) packets"
        }
    }
}
