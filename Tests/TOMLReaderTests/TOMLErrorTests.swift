// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotTOMLReader

/// Invalid TOML, and texts beyond the limits.
@Suite struct TOMLErrorTests {
    @Test(arguments: [
        ("a", "1:2 syntax"), ("a b = 1", "1:3 syntax"), ("a = ", "1:5 syntax"), ("= 1", "1:1 syntax"),
        ("a = 1 b = 2", "1:7 syntax"), ("a. = 1", "1:4 syntax"), (".a = 1", "1:1 syntax"),
        ("\"\"\"a\"\"\" = 1", "1:1 syntax"),
        ("[a", "1:3 syntax"), ("[a]]", "1:4 syntax"), ("[[a]", "1:4 syntax"), ("[[a] ]", "1:4 syntax"),
        ("[]", "1:2 syntax"), ("[a] b = 1", "1:5 syntax"), ("a = 1\r", "1:6 syntax"), ("# a\u{7F}", "1:4 syntax"),
        ("# \0", "1:3 syntax"), ("é = 1", "1:1 syntax"), ("a = 'é' é", "1:9 syntax"), ("\n\u{FEFF}a = 1", "2:1 syntax"),
    ]) func lines(text: String, error: String) { #expect(shown(text) == error) }

    @Test(arguments: [
        ("\"a", "1:3 syntax"), ("\"a\n\"", "1:3 syntax"), ("'a\n'", "1:3 syntax"), ("\"\"\"a\"\"", "1:3 syntax"),
        ("'''''''''", "1:11 syntax"), ("\"\\e\"", "1:4 syntax"), ("\"\\u12\"", "1:4 syntax"), ("\"\\", "1:3 syntax"),
        ("\"\\uD800\"", "1:4 range"), ("\"\\U00110000\"", "1:4 range"), ("\"\"\"a\\ b\"\"\"", "1:7 syntax"),
        ("\"\t\u{1}\"", "1:5 syntax"), ("\"\"\"\r\"\"\"", "1:6 syntax"),
    ]) func strings(text: String, error: String) { #expect(shown("a=\(text)") == error) }

    @Test(arguments: [
        "01", "+01", "1_", "_1", "1__0", "1.", ".1", "1.e2", "1e", "1e+", "1._0", "00.1", "0x", "0X1", "+0x1", "0b2",
        "0o8",
        "0xg", "Inf", "+-1", "1a", "True", "truefalse", "-", "+", "12:30", "1979-5-27", "1979-05-27T",
        "1979-05-27T07:32",
        "1979-05-27T07:32:00.", "1979-05-27T07:32:00+1", "1979-05-27T07:32:00ZZ", "07:32:00Z", "hello", "٠", "1é",
    ]) func `invalid numbers, booleans and times are rejected`(text: String) {
        #expect(shown("a=\(text)") == "1:3 syntax")
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "0x8000000000000000", "1e400", "-1e400", "1979-02-29",
        "1900-02-29",
        "1979-13-01", "1979-00-01", "1979-04-31", "1979-04-00", "24:00:00", "00:60:00", "00:00:61",
        "1979-05-27T07:32:00+24:00",
    ]) func `numbers and dates out of range are rejected`(text: String) { #expect(shown("a=\(text)") == "1:3 range") }

    @Test(arguments: [
        ("a = [1 2]", "1:8 syntax"), ("a = [,1]", "1:6 syntax"), ("a = [1,,2]", "1:8 syntax"),
        ("a = [1\n", "1:5 syntax"),
        ("a = {b=1,}", "1:10 syntax"), ("a = {b=1\n}", "1:9 syntax"), ("a = {\n}", "1:6 syntax"),
        ("a = {b}", "1:7 syntax"),
        ("a = {b=1 c=2}", "1:10 syntax"), ("a = {b=1,b=2}", "1:10 duplicate"), ("a = {b.c=1,b={}}", "1:12 duplicate"),
    ]) func `malformed arrays and inline tables are rejected`(text: String, error: String) {
        #expect(shown(text) == error)
    }

    @Test(arguments: [
        ("a = 1\na = 2", "2:1 duplicate"), ("a = 1\n\"\\u0061\" = 2", "2:1 duplicate"),
        ("a = 1\na.b = 2", "2:1 duplicate"),
        ("[a]\n[a]", "2:2 duplicate"), ("a = 1\n[a.b]", "2:2 duplicate"), ("a.b = 1\n[a]", "2:2 duplicate"),
        ("a = {}\n[a.b]", "2:2 duplicate"), ("a = {}\na.b = 1", "2:1 duplicate"), ("a = []\n[[a]]", "2:3 duplicate"),
        ("a = [{}]\n[a.b]", "2:2 duplicate"), ("[a]\n[[a]]", "2:3 duplicate"), ("[[a]]\n[a]", "2:2 duplicate"),
        ("[a.b]\n[a]\nb.c = 1", "3:1 duplicate"), ("[[a.b]]\n[a]\nb.c = 1", "3:1 duplicate"),
        ("[a]\nb.c = 1\n[a.b]", "3:4 duplicate"),
    ]) func `duplicate keys and tables are rejected`(text: String, error: String) { #expect(shown(text) == error) }

    @Test(
        arguments: [
            ([0x61, 0x3D, 0x27, 0xC3, 0xA9, 0xFF], 5), ([0x61, 0xC3], 2), ([0xED, 0xA0, 0x80], 1), ([0xC0, 0x80], 1),
            ([0xFF, 0xFE, 0x61, 0x00], 1), ([0x0A, 0x80], 1),
        ] as [([UInt8], Int)]) func `invalid UTF-8 is rejected with its position`(bytes: [UInt8], column: Int) throws
    {
        let error = try #require(throws: TOMLError.self) { try TOMLValue(parsing: bytes) }
        #expect(error.reason == .encoding && error.place.column == column)
        #expect(error.place.line == (bytes[0] == 0x0A ? 2 : 1))
    }

    @Test(arguments: ["[", "{a=", "[{a=", "a."]) func `deep nesting never overflows the stack`(piece: String) throws {
        let prefix = piece == "a." ? "" : "a = "
        let deep = prefix + String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        #expect(shown(deep).hasSuffix(" limit"))
        #expect(shown("[[x]]\n" + deep).hasSuffix(" limit"))
        #expect(shown("[" + String(repeating: "a.", count: 100_000) + "a]") == "1:202 limit")
    }

    @Test func `nesting is parsed up to the maximum depth and no further`() {
        let depth = TOMLValue.maximumDepth
        func lists(_ count: Int) -> String {
            "a = " + String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        #expect(!shown(lists(depth)).hasSuffix("limit"))
        #expect(shown(lists(depth + 1)).hasSuffix("limit"))
        let header = "[" + Array(repeating: "a", count: depth - 1).joined(separator: ".") + "]\n"
        #expect(!shown(header + "b = 1").hasSuffix("limit"))
        #expect(shown(header + "b.c = 1") == "2:3 limit")
        #expect(shown(header + "b = [1]") == "2:6 limit")
    }

    @Test func `only the length of the whole document is limited`() throws {
        let digits = String(repeating: "9", count: 1 << 20)
        #expect(shown("a = \(digits)") == "1:5 range")
        #expect(shown("a = 0.\(digits)") == "1:5 range")
        #expect(shown("a = 1e\(digits)") == "1:5 range")
        #expect(shown("\(digits) = '\(digits)'") == "{\(digits)=\"\(digits)\"}")
        // No text here may take quadratic time.
        let many = (0..<20_000).map { "k\($0) = \($0)\n[[t]]\n" }.joined()
        #expect(shown(many).hasPrefix("{k0=0 t=[{k1=1} {k2=2}") && shown(many).hasSuffix(" {k19999=19999} {}]}"))
        let error = try #require(throws: TOMLError.self) {
            try TOMLValue(parsing: [UInt8](repeating: 0x20, count: TOMLValue.maximumByteCount + 1))
        }
        #expect(error.reason == .limit)
    }

    @Test func `error messages are one short line that suggests a correction`() throws {
        for (text, words) in [
            ("a = .5", "'.5' is not a number; write it as 3, -0.5 or 1e3"), ("type = player", "needs quotes"),
            ("a = 1\na = 2", "'a' is a number already (line 1)"),
            ("gain 3", "unexpected '3'; write = and a value after the key"),
            ("a = \u{1}", "U+0001"), ("a = " + String(repeating: "x", count: 1_000), "xxx…'"),
        ] {
            let error = try #require(throws: TOMLError.self) { try TOMLValue(parsing: Array(text.utf8)) }
            #expect(error.description.contains(words) && error.description.count < 140, "\(error)")
        }
    }
}
