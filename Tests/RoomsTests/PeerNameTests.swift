// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct PeerNameTests {
    @Test func `a name is trimmed and normalized to composed characters`() throws {
        #expect(try PeerName("  Zoe\u{308} \n").text.utf8.elementsEqual("Zo\u{EB}".utf8))
        #expect(try PeerName("Anna's laptop 👩‍🎤").text == "Anna's laptop 👩‍🎤")
    }

    @Test func `a name of 63 bytes is accepted, and one of 64 bytes is refused`() throws {
        #expect(try PeerName(String(repeating: "é", count: 31) + "a").text.utf8.count == 63)
        let long = String(repeating: "é", count: 32)
        #expect(throws: TextError(.name, .tooLong(size: 64, limit: 63))) { try PeerName(long) }
        #expect(throws: TextError.self) { try PeerName(String(repeating: "a", count: 10_000_000)) }
        #expect(try Purpose(String(repeating: "a", count: 200)).text.count == 200)
        #expect(throws: TextError(.purpose, .tooLong(size: 201, limit: 200))) {
            try Purpose(String(repeating: "a", count: 201))
        }
    }

    @Test(arguments: ["", " ", "\u{200D}", "\u{FE0F}\u{301}", "\n\t"])
    func `a name without visible characters is refused`(text: String) {
        #expect(throws: TextError(.name, .empty)) { try PeerName(text) }
    }

    @Test(arguments: ["\u{1B}", "\u{7}", "\u{0}", "\u{9B}", "\u{202E}", "\u{2028}", "\u{200B}", "\u{2066}", "\u{FEFF}"])
    func `a control or formatting character is refused, with its position in the error`(text: String) {
        let scalar = text.unicodeScalars.first!
        #expect(throws: TextError(.name, .forbidden(scalar, position: 3))) { try PeerName("ab\(text)c") }
        #expect(BoundedText.printable("ab\(text)c", limit: 10) == "ab c")
    }

    @Test func `each error in a name has a readable description`() {
        let bell = TextError(.name, .forbidden("\u{7}", position: 3)).description
        #expect(bell == "character 3 of the name, U+0007, is a control character")
        #expect(TextError(.name, .tooLong(size: 64, limit: 63)).description.contains("64 bytes"))
        #expect(TextError(.pin, .tooShort(count: 3, least: 4)).description.contains("3 characters"))
        #expect(TextError(.purpose, .empty).description.contains("purpose is empty"))
    }

    @Test func `a number makes a duplicate name unique, within the length limit`() throws {
        let anna = try PeerName("Anna")
        #expect(anna.distinct(from: []) == anna)
        #expect(anna.distinct(from: [try PeerName("ANNA")]).text == "Anna (2)")
        #expect(anna.distinct(from: [anna, try PeerName("anna (2)"), try PeerName("Anna (3)")]).text == "Anna (4)")
        let long = try PeerName(String(repeating: "é", count: 31) + "a")
        let second = long.distinct(from: [long])
        #expect(second.text.hasSuffix("é (2)") && second.text.utf8.count <= 63)
        #expect(try PeerName("An\u{200D}na").distinct(from: [anna]).text.hasSuffix(" (2)"))
    }

    @Test func `any text is either refused or a name that is safe for a terminal`() throws {
        var random = SeededRandom(seed: 1)
        var names = 0
        for _ in 0..<50_000 {
            let bytes = random.damaged(
                Array("Anna's räum 👩‍🎤".utf8), pieces: ["\u{1B}[2J", "\u{202E}", " ", "é", "\u{0}"])
            guard let name = try? PeerName(String(decoding: bytes, as: UTF8.self)) else { continue }
            names += 1
            #expect((1...63).contains(name.text.utf8.count))
            #expect(!name.text.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(try PeerName(name.text) == name)
            #expect(try JSONDecoder().decode(PeerName.self, from: JSONEncoder().encode(name)) == name)
        }
        #expect(names > 1_000)
    }

    @Test func `a PIN has at least four characters, and is not printed`() throws {
        #expect(throws: TextError(.pin, .tooShort(count: 3, least: 4))) { try PIN("123") }
        #expect(throws: TextError.self) { try PIN(String(repeating: "1", count: 33)) }
        #expect("\(try PIN("4711")) \(String(describing: try PIN(" 4711 ")))".contains("4711") == false)
        #expect(try PIN(" 4711 ") == PIN("4711"))
    }

    @Test func `a PIN has four to thirty-two characters`() throws {
        for count in [4, 32] { #expect(try PIN(String(repeating: "1", count: count)).text.count == count) }
        #expect(throws: TextError(.pin, .tooLong(size: 33, limit: 32))) { try PIN(String(repeating: "1", count: 33)) }
        #expect(throws: TextError(.pin, .tooLong(size: 132, limit: 128))) { try PIN(String(repeating: "😀", count: 33)) }
    }

    @Test func `invisible characters and direction overrides are refused up to the ends of their ranges`() throws {
        for range in [0x202A...0x202E, 0x2066...0x2069, 0x2060...0x2064, 0x200B...0x200B, 0xFEFF...0xFEFF] {
            for value in range {
                #expect(throws: TextError.self) { try PeerName("a\(Unicode.Scalar(UInt32(value))!)b") }
            }
        }
        for value: UInt32 in [0x200C, 0x202F, 0x2065, 0x206A, 0x2030] {
            #expect(try PeerName("a\(Unicode.Scalar(value)!)b").text.unicodeScalars.count == 3)
        }
        #expect(throws: TextError(.name, .tooLong(size: 1_009, limit: 63))) {
            try PeerName(String(repeating: " ", count: 1_008) + "a")
        }
        #expect(try PeerName(String(repeating: " ", count: 1_007) + "a").text == "a")
    }
}
