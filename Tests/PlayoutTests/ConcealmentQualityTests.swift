// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@testable import EarshotPlayout

/// Conceals losses in the sounds of a folder, for Tests/Quality/concealment.py to score: set EARSHOT_CONCEALMENT_FOLDER, as
/// scripts/scenarios does. `NAME.sound` contains raw 32-bit floats at 48 kHz, one channel after the other, and `NAME.lost` a byte
/// for each packet of 120 frames, 1 if it is lost; the output is written to `NAME.heard`.
@Suite struct ConcealmentQualityTests {
    static let folder = ProcessInfo.processInfo.environment["EARSHOT_CONCEALMENT_FOLDER"]
    private static let packet = 120

    @Test(.enabled(if: folder != nil, "EARSHOT_CONCEALMENT_FOLDER is not set"))
    func `sound files are rendered with their losses concealed`() throws {
        let folder = URL(fileURLWithPath: try #require(Self.folder))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".lost") }
        try #require(!names.isEmpty)
        for name in names {
            let lost = folder.appendingPathComponent(name)
            let sound = lost.deletingPathExtension().appendingPathExtension("sound")
            var samples = try Data(contentsOf: sound).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            try conceal(&samples, lost: Array(Data(contentsOf: lost)))
            let heard = lost.deletingPathExtension().appendingPathExtension("heard")
            try samples.withUnsafeBytes { Data($0) }.write(to: heard)
        }
    }

    private func conceal(_ samples: inout [Float], lost: [UInt8]) throws {
        let frames = lost.count * Self.packet
        let channelCount = samples.count / frames
        try #require(samples.count == frames * channelCount)
        var concealer = Concealer(channelCount: channelCount, sampleRate: 48_000)
        let block = AudioBuffer(channelCount: channelCount, frameCapacity: Self.packet)
        for packet in lost.indices {
            let at = packet * Self.packet
            for c in 0..<channelCount {
                for i in 0..<Self.packet { block.channels[c][i] = samples[c * frames + at + i] }
            }
            if lost[packet] != 0 {
                concealer.conceal(block.channels, offset: 0, frameCount: Self.packet)
            } else {
                concealer.pass(block.channels, offset: 0, frameCount: Self.packet)
            }
            for c in 0..<channelCount {
                for i in 0..<Self.packet { samples[c * frames + at + i] = block.channels[c][i] }
            }
        }
    }
}
