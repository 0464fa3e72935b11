// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotTOMLReader

/// The meaning of texts by TOML 1.0 (toml.io/en/v1.0.0), section by section.
@Suite struct TOMLValueTests {
    @Test(arguments: [
        ("", "{}"), ("\u{FEFF}a = 1", "{a=1}"), ("# é\r\na=1 # b\n\n", "{a=1}"), ("a\t = \t1", "{a=1}"),
        ("1234 = 1\nb_-2 = 2", "{1234=1 b_-2=2}"), ("\"a b\" = 1\n'c\"d' = 2\n'' = 3", "{a b=1 c\"d=2 =3}"),
        ("a.b . \"c.d\" = 1\na.e = 2", "{a={b={c.d=1} e=2}}"), ("3.14 = 1", "{3={14=1}}"),
    ]) func `keys and comments are parsed`(text: String, meaning: String) { #expect(shown(text) == meaning) }

    @Test(arguments: [
        (#""\b\t\n\f\r\"\\ \u00e9 \U0001F3B5""#, "\"\u{8}\t\n\u{C}\r\"\\ é \u{1F3B5}\""),
        (#"'C:\b "x"'"#, #""C:\b "x"""#),
        ("\"\"\"\na\n b\"\"\"", "\"a\n b\""), ("\"\"\"\r\na\r\nb\"\"\"", "\"a\r\nb\""),
        ("\"\"\"a \\  \n\n   b\\\n\"\"\"", "\"a b\""), ("\"\"\"\"\"a\"\"\"\"\"", "\"\"\"a\"\"\""),
        ("\"\"\"a\"\"b\\\"\"\"\"", "\"a\"\"b\"\""), ("''''a'b'''''", "\"'a'b''\""), ("''", "\"\""),
        ("'''\n\n'''", "\"\n\""),
    ]) func strings(text: String, meaning: String) { #expect(shown("a=\(text)") == "{a=\(meaning)}") }

    @Test(arguments: [
        ("+99", "99"), ("-0", "0"), ("1_0_0", "100"), ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"), ("0xDEAD_beef", "3735928559"), ("0o755", "493"),
        ("0b11", "3"),
        ("0x00", "0"), ("+1.0", "1.0f"), ("-0.01", "-0.01f"), ("5e+2_2", "5e+22f"), ("1E06", "1000000.0f"),
        ("6.6_2e-3", "0.00662f"), ("-0.0", "-0.0f"), ("0e0", "0.0f"), ("1e-400", "0.0f"), ("inf", "inff"),
        ("-inf", "-inff"), ("+nan", "nanf"), ("true", "true"), ("false", "false"),
    ]) func `numbers and booleans are parsed`(text: String, meaning: String) {
        #expect(shown("a=\(text)") == "{a=\(meaning)}")
    }

    @Test(arguments: [
        "1979-05-27T07:32:00Z", "1979-05-27t00:32:00.999999-07:00", "1979-05-27 07:32:00z", "2000-02-29", "07:32:00",
        "00:32:00.5", "1979-05-27 07:32:00", "1990-12-31T23:59:60+01:30",
    ]) func `dates and times are parsed`(text: String) { #expect(shown("a = [ \(text) , 1]") == "{a=[@\(text) 1]}") }

    @Test(arguments: [
        ("a = [ 1, 'b' , [ ] #c\n, { d.e = 1, f = {} } ,\r\n ]", "{a=[1 \"b\" [] {d={e=1} f={}}]}"),
        ("[a.b]\nc=1\n[a]\nd=2", "{a={b={c=1} d=2}}"), ("[ a . 'b' ]", "{a={b={}}}"),
        ("[[a]]\n[[a.b]]\nc=1\n[[a.b]]\n[[a]]\n[a.d]", "{a=[{b=[{c=1} {}]} {d={}}]}"),
        ("[a]\nb.c=1\nb.d.e=2\n[a.b.f]\ng=3", "{a={b={c=1 d={e=2} f={g=3}}}}"),
        ("[a.b.c]\n[a]\nb.d=1", "{a={b={c={} d=1}}}"), ("\u{E9} = 1", "1:1 syntax"),
        ("\"\u{E9}\" = 1\n\"e\u{301}\" = 2", "{\u{E9}=1 e\u{301}=2}"),
    ]) func `arrays and tables are parsed`(text: String, meaning: String) {
        #expect(shown(text).unicodeScalars.elementsEqual(meaning.unicodeScalars), "\(shown(text))")
    }

    @Test func `positions are correct for every kind of key and value`() throws {
        let text =
            "a = 1 # [b]\n\"b.c\" . 'd' = [ 1,\n  \"]é\" , [2] ]\r\n[[e.f]]\nx = { y = '#é', z = 3 }\n[[e.f]]\n[e.f.g]\nh = \"\"\"\n[i]\"\"\"\nj = 2\n"
        let root = try TOMLValue(parsing: Array(text.utf8))
        func entry(_ value: TOMLValue?, _ key: String) throws -> TOMLValue.Entry {
            guard case .table(let entries)? = value?.content else { throw CancellationError() }
            return try #require(entries.first { $0.key == key })
        }
        func element(_ value: TOMLValue, _ index: Int) throws -> TOMLValue {
            guard case .array(let values) = value.content else { throw CancellationError() }
            return try #require(values.indices.contains(index) ? values[index] : nil)
        }
        #expect(try entry(root, "a").value.place == SourcePlace(line: 1, column: 5))
        let list = try entry(entry(root, "b.c").value, "d")
        #expect(list.place == SourcePlace(line: 2, column: 9) && list.value.place == SourcePlace(line: 2, column: 15))
        #expect(try element(list.value, 1).place == SourcePlace(line: 3, column: 3))
        #expect(try element(element(list.value, 2), 0).place == SourcePlace(line: 3, column: 11))
        let tables = try entry(entry(root, "e").value, "f")
        #expect(tables.place == SourcePlace(line: 4, column: 5))
        let first = try entry(element(tables.value, 0), "x").value
        #expect(try entry(first, "z").place == SourcePlace(line: 5, column: 17))
        #expect(try entry(first, "z").value.place == SourcePlace(line: 5, column: 21))
        let second = try element(tables.value, 1)
        #expect(second.place == SourcePlace(line: 6, column: 5))
        #expect(try entry(second, "g").place == SourcePlace(line: 7, column: 6))
        #expect(try entry(entry(second, "g").value, "j").value.place == SourcePlace(line: 10, column: 5))
    }
}
