// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotNearby

/// Names and numbers chosen by others on the network.
@Suite(.timeLimit(.minutes(10))) struct FileNameTests {
    @Test(arguments: [
        ("song.wav", "song.wav"), ("../../etc/passwd", "_.._etc_passwd"), ("/etc/passwd", "_etc_passwd"),
        ("..", "file"), (".", "file"), ("", "file"), ("...", "file"), (".bashrc", "bashrc"), (" . .x", "x"),
        ("a\\b\\c", "a_b_c"), ("a\u{0}b", "a\u{FFFD}b"), ("a\nb", "a\u{FFFD}b"), ("\u{1B}[31mred", "\u{FFFD}[31mred"),
        ("gpj.\u{202E}exe", "gpj.\u{FFFD}exe"), ("Übung 1.m4a", "Übung 1.m4a"), ("x  ", "x"), ("   ", "file"),
    ]) func `a hostile file name is replaced by a harmless one`(given: String, safe: String) {
        #expect(FileName.safe(given) == safe)
        #expect(FileName.safe(safe) == safe)
    }

    @Test func `a long file name keeps its extension, and leaves room for a number and the hash`() {
        for stem in [
            String(repeating: "x", count: 300), String(repeating: "ä", count: 300), String(repeating: "👩‍👩‍👧", count: 99),
        ] {
            let name = FileName.safe("\(stem).flac")
            #expect(name.utf8.count <= FileName.maximumSize && name.hasSuffix(".flac"))
            #expect(FileName.numbered(name, 9_999).utf8.count <= 255)
            #expect(".\(name).\(String(repeating: "0", count: 64)).part".utf8.count <= 255)
        }
        #expect(FileName.safe(String(repeating: "x.", count: 1_000_000)).utf8.count <= FileName.maximumSize)
        let blanks = FileName.safe(String(repeating: "x", count: 150) + String(repeating: " ", count: 20) + "y")
        #expect(blanks == String(repeating: "x", count: 150))
        #expect(FileName.safe("x." + String(repeating: "y", count: 300)).utf8.count <= FileName.maximumSize)
    }

    @Test func `a number is inserted before the file extension`() {
        #expect(FileName.numbered("a.wav", 1) == "a.wav")
        #expect(FileName.numbered("a.wav", 2) == "a (2).wav")
        #expect(FileName.numbered("a", 3) == "a (3)")
        #expect(FileName.numbered("a.b.c", 12) == "a.b (12).c")
    }

    @Test func `a transfer number is parsed from its own format only`() {
        for number in [TransferNumber(epoch: 0, number: 0), .init(epoch: (1 << 53) - 1, number: 7)] {
            #expect(TransferNumber("\(number)") == number)
        }
        for text in [
            "", "-", "1", "1-", "-1", "1-2-3", "1--2", "1-9007199254740992", "9007199254740992-1",
            "1-00000000000000001", "٣-1", "1 -2", "0x1-2",
        ] {
            #expect(TransferNumber(text) == nil)
        }
    }

    @Test func `byte counts are printed in readable units`() {
        for (bytes, text) in [
            (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (1_049, "1.0 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"), (200_000_000, "200.0 MB"), (3_210_000_000, "3.2 GB"),
            (9_007_199_254_740_991, "9007.2 TB"),
        ] as [(Int64, String)] {
            #expect(ByteCount(bytes).description == text)
        }
    }
}
