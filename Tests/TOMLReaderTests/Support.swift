// SPDX-License-Identifier: Apache-2.0

import EarshotTOMLReader

/// Returns the value of a text, or the error, with strings in quotes and keys in order.
func shown(_ text: String) -> String {
    do throws(TOMLError) {
        return shown(try TOMLValue(parsing: Array(text.utf8)))
    } catch { return "\(error.place.line):\(error.place.column) \(error.reason)" }
}

func shown(_ value: TOMLValue) -> String {
    switch value.content {
    case .table(let entries): "{" + entries.map { "\($0.key)=\(shown($0.value))" }.joined(separator: " ") + "}"
    case .array(let values): "[" + values.map(shown).joined(separator: " ") + "]"
    case .string(let text): "\"\(text)\""
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)f"
    case .boolean(let flag): "\(flag)"
    case .time(let text): "@\(text)"
    }
}

/// Pieces of the grammar to insert in wrong places.
let pieces = [
    "[", "]", "\"", "'", "=", ".", "{", "}", "\n", "#", ",", "\r", "nan", "-1e400", "0x", "1_0", "1979-05-27", "\\u",
    "\\UFFFFFFFF", "é", "\u{1F3B5}", "\"\"\"", "'''", "[[", "]]", "[a.b]\n", "a = 1\n", "{ a = 1 }", "\\\n",
]
