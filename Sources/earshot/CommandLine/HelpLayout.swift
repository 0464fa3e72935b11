// SPDX-License-Identifier: Apache-2.0

/// Wraps help to the width of the terminal.
struct HelpLayout {
    let columns: Int
    let hasColour: Bool

    private static let labelWidth = 24
    private static let maximumColumns = 100

    init(columns: Int, hasColour: Bool) {
        self.columns = max(30, min(columns, Self.maximumColumns))
        self.hasColour = hasColour
    }

    func heading(_ title: String) -> String { hasColour ? "\u{1B}[1m\(title):\u{1B}[0m" : "\(title):" }

    /// Returns the usage line of a command. Continuation lines are indented to the column in which the command begins.
    func usage(_ line: String) -> String {
        let lines = wrapped(line, width: columns - 7)
        return heading("Usage") + " " + lines.joined(separator: "\n       ")
    }

    func paragraph(_ text: String, indent: Int = 0) -> String {
        wrapped(text, width: columns - indent).map { String(repeating: " ", count: indent) + $0 }.joined(
            separator: "\n")
    }

    /// Returns a heading and a row for each label. The text is beside its label; below the label if that is long or the terminal
    /// is narrow.
    func list(_ title: String, _ rows: [(label: String, text: String)]) -> String {
        ([heading(title)] + rows.map(row)).joined(separator: "\n")
    }

    private func row(_ label: String, _ text: String) -> String {
        let indent = columns < 60 ? 6 : Self.labelWidth + 4
        let lines = wrapped(text, width: columns - indent).map { String(repeating: " ", count: indent) + $0 }
        guard label.count + 4 <= indent, let first = lines.first else {
            return (["  \(label)"] + lines).joined(separator: "\n")
        }
        let head = "  " + label + first.dropFirst(2 + label.count)
        return ([head] + lines.dropFirst()).joined(separator: "\n")
    }

    private func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
