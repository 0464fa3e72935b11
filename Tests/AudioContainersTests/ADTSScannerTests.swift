// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Testing

@testable import EarshotAudioContainers

@Suite struct ADTSScannerTests {
    /// The shortest possible frames: eight bytes, 48 kHz, mono.
    private func frames(_ count: Int) -> [UInt8] {
        Array(repeating: [0xFF, 0xF1, 0x4C, 0x40, 0x01, 0x1F, 0xFC, 0], count: count).flatMap { $0 }
    }

    @Test func `an ADTS file with more packets than the limit is rejected`() throws {
        let folder = try Folder()
        let path = try folder.file("a.aac", frames(1_000))
        let file = try ReadableFile(path)
        #expect(try ADTSScanner.scan(file).count == 1_000)
        #expect(try ADTSScanner.scan(file, limit: 1_000).count == 1_000)
        let reason = "it has more than 999 packets, at byte 7992"
        #expect(throws: AudioFileError.notAudio(path: path, reason: reason)) {
            try ADTSScanner.scan(file, limit: 999)
        }
        #expect(ADTSScanner.maximumPacketCount * (MemoryLayout<Int>.size + MemoryLayout<Int32>.size) < 256 << 20)
    }
}
