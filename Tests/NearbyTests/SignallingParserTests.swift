import Nearby
import TestSupport
import Testing

@Suite struct SignallingParserTests {
    @Test(arguments: [1, 2, 3, 7, 1_000_000])
    func messageComesInAnyPieces(piece: Int) throws {
        for kind in SignallingMessage.Kind.allCases {
            for size in [0, 1, 1_000, 65_536] {
                let message = SignallingMessage(kind, body: (0..<size).map { UInt8(truncatingIfNeeded: $0) })
                #expect(try parse(message.bytes, pieces: { piece }) == message)
            }
        }
    }

    @Test func carriageReturnAndTrailingBytesAreTolerated() throws {
        let bytes = Array("EARSHOT/1 REFUSED 4\r\nbusymore".utf8)
        #expect(try parse(bytes, pieces: { 100 }) == SignallingMessage(.refused, body: Array("busy".utf8)))
        #expect(try parse(bytes, pieces: { 1 }) == SignallingMessage(.refused, body: Array("busy".utf8)))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n", SignallingParserError.notEarshot),
        ("\n", .notEarshot),
        (String(repeating: "a", count: 65), .notEarshot),
        ("EARSHOT/1 OFFER 1\u{1}\n", .notEarshot),
        ("EARSHOT/2 OFFER 1\n", .otherVersion("EARSHOT/2")),
        ("EARSHOT/1 OFFER\n", .badLine),
        ("EARSHOT/1  OFFER 1\n", .badLine),
        ("EARSHOT/1 OFFER 1 \n", .badLine),
        ("EARSHOT/1 HELLO 1\n", .badLine),
        ("EARSHOT/1 OFFER -1\n", .badLine),
        ("EARSHOT/1 OFFER 99999999999999999999\n", .badLine),
        ("EARSHOT/1 OFFER 65537\n", .tooLarge(65_537)),
    ])
    func garbageIsAnErrorHoweverCut(text: String, error: SignallingParserError) {
        for piece in [1, 5, 1_000] {
            #expect(throws: error) { try parse(Array(text.utf8), pieces: { piece }) }
        }
    }

    @Test func anyBytesInAnyPiecesGiveTheSameResult() {
        var random = SeededRandom(seed: 4)
        let base = SignallingMessage(.offer, body: [1, 2, 3, 4, 5, 6, 7, 8]).bytes
        for _ in 0..<100_000 {
            var bytes = base
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count + 5, using: &random)))
            let whole = Result { try parse(bytes, pieces: { 1_000 }) }
            let cut = Result { try parse(bytes, pieces: { Int.random(in: 1...9, using: &random) }) }
            #expect(whole.description == cut.description)
        }
    }

    @Test func reasonIsFitForATerminal() {
        let message = SignallingMessage(.refused, body: Array("no\u{1B}[2J\nway".utf8))
        #expect(message.text == "no [2J way")
        #expect(SignallingMessage(.refused, body: [UInt8](repeating: 65, count: 5_000)).text.count == 400)
    }

    private func parse(_ bytes: [UInt8], pieces: () -> Int) throws -> SignallingMessage? {
        var parser = SignallingParser()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces()))
            rest = rest.dropFirst(piece.count)
            if let message = try piece.withUnsafeBytes({ try parser.take($0) }) { return message }
        }
        return nil
    }
}

extension Result {
    fileprivate var description: String { "\(self)" }
}
