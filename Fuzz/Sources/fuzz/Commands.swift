// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import CallSocketParsing

/// Lines must be the same however their bytes are divided. A command that was read must survive writing and reading.
func fuzzCommands(_ input: UnsafeRawBufferPointer) -> CInt {
    let bytes = Array(input)
    let limit = 512
    func read(_ size: Int) -> (lines: [[UInt8]], isTooLong: Bool) {
        var buffer = LineBuffer(limit: limit)
        var lines: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            lines += buffer.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return (lines, buffer.isTooLong)
    }
    let whole = read(.max)
    precondition(whole == read(1) && whole == read(7))
    for line in whole.lines {
        precondition((1...limit).contains(line.count) && !line.contains(UInt8(ascii: "\n")))
        guard let command = try? JSONDecoder().decode(CommandDocument.self, from: Data(line)) else { continue }
        let again = try? JSONDecoder().decode(CommandDocument.self, from: JSONEncoder().encode(command))
        precondition(again == command)
    }
    return 0
}

/// Returns lines with each field of a command.
func commandSeeds() -> [[UInt8]] {
    [
        "{\"command\":\"setVolume\",\"participant\":2,\"volume\":0.5,\"protocol\":1}\r\n\n{\"command\":\"watch\",\"after\":17}\n",
        "{\"command\":\"rename\",\"name\":\"a\",\"admission\":\"all\",\"isMuted\":true,\"dial\":\"0.5\"}\n",
        "{\"command\":\"say\",\"text\":\"\\u00e9\\n\",\"mode\":\"on\",\"folder\":null,\"isAllowed\":true,\"path\":\"/\",\"request\":9}\n",
    ].map { Array($0.utf8) }
}
