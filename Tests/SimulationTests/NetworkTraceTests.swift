// SPDX-License-Identifier: Apache-2.0

import EarshotSimulation
import TestSupport
import Testing

@Suite struct NetworkTraceTests {
    @Test func `comments, empty lines, spaces and both kinds of line endings are accepted`() throws {
        let trace = try NetworkTrace("# a walk\n\n 12.5 # here\r\nLOST\r\n0\n1e2".utf8)
        #expect(trace.count == 4 && trace.lostCount == 1)
    }

    @Test(arguments: [
        "nan", "inf", "-1", "-0.001", "10000.1", "1e99", "0x10", "1,5", "1 2", "gone", "lost 3", "1e", "--1", "١",
        String(repeating: "9", count: 100_000), String(repeating: "0", count: 201) + "5",
    ]) func `an invalid line is reported with its number`(line: String) {
        #expect {
            try NetworkTrace("1\n# two\n\(line)\n4\n".utf8)
        } throws: { error in
            guard case NetworkTraceError.badLine(3, _) = error else { return false }
            let words = "\(error)"
            return words.hasPrefix("line 3 says ") && words.hasSuffix("which is not a delay") && words.count < 200
        }
    }

    @Test(arguments: ["", "\n\n", "# only words\n"]) func `a trace without packets is an error`(text: String) {
        #expect(throws: NetworkTraceError.empty) { try NetworkTrace(text.utf8) }
    }

    @Test func `arbitrary bytes give a valid trace or an error`() {
        var random = SeededRandom(seed: 5)
        var traces = 0
        for _ in 0..<2_000 {
            // Half of them use a trace's own bytes, since random ones are hardly ever a trace.
            let own = Array("0123456789.-\n lost#".utf8)
            let isOwn = Bool.random(using: &random)
            let bytes = (0..<Int(random.next() % 40)).map { _ in
                isOwn ? own[Int(random.next() % UInt64(own.count))] : UInt8(truncatingIfNeeded: random.next())
            }
            guard let trace = try? NetworkTrace(bytes) else { continue }
            traces += 1
            #expect(trace.count > 0 && trace.lostCount <= trace.count)
        }
        #expect(traces > 20)
    }
}
