// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

/// Blocks that end or begin at inaccessible memory: an access outside them ends the process.
@Suite struct BlockEndTests {
    /// Two pages between two inaccessible ones.
    private final class Pages {
        private let page = sysconf(CInt(_SC_PAGESIZE))
        private let start: UnsafeMutableRawPointer

        init() throws {
            let all = mmap(nil, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            start = try #require(all == MAP_FAILED ? nil : all)
            #expect(mprotect(start, page, PROT_NONE) == 0 && mprotect(start + 3 * page, page, PROT_NONE) == 0)
        }

        deinit { munmap(start, 4 * page) }

        func bytes(_ count: Int, atEnd: Bool) -> UnsafeMutableRawPointer {
            atEnd ? start + 3 * page - count : start + page
        }

        func samples(_ count: Int, atEnd: Bool) -> UnsafeMutablePointer<Float> {
            bytes(4 * count, atEnd: atEnd).bindMemory(to: Float.self, capacity: max(1, count))
        }
    }

    @Test(arguments: [true, false]) func `mixing and metering never access memory outside their blocks`(atEnd: Bool)
        throws
    {
        let (from, to) = (try Pages(), try Pages())
        for count in 0...70 {
            let (x, y) = (from.samples(count, atEnd: atEnd), to.samples(count, atEnd: atEnd))
            for i in 0..<count { (x[i], y[i]) = (0.5, 0) }
            addSamples(y, x, count, gain: 1)
            addSamples(y, x, count, gain: 1, step: 0)
            withUnsafePointer(to: x) { mixSamples(y, $0, [2], inputCount: 1, count) }
            #expect((0..<count).allSatisfy { y[$0] == 2 }, "\(count) samples")
            scaleSamples(y, x, count, gain: 2)
            scaleSamples(y, y, count, gain: 2, step: 0)
            #expect(peakOfSamples(y, count) == (count > 0 ? 2 : 0))
            #expect(energyOfSamples(y, count) == Float(4 * count))
            #expect(peakAndEnergyOfSamples(y, count) == (count > 0 ? 2 : 0, Float(4 * count)))
            withUnsafePointer(to: y) { #expect(areSamplesFinite(Channels($0, count: 1), count)) }
            #expect(copyFiniteSamples(y, x, count) == 0)
            clearSamples(y, count)
            copySamples(y, x, count)
            #expect((0..<count).allSatisfy { y[$0] == 0.5 })
        }
    }

    @Test(arguments: SampleType.allCases, [true, false])
    func `sample conversions never access memory outside their blocks`(type: SampleType, atEnd: Bool) throws {
        let (left, right, coded) = (try Pages(), try Pages(), try Pages())
        for channelCount in 1...2 {
            for count in 0...40 {
                let channels = [left.samples(count, atEnd: atEnd), right.samples(count, atEnd: atEnd)]
                let bytes = coded.bytes(count * channelCount * type.byteCount, atEnd: atEnd)
                for channel in channels { for i in 0..<count { channel[i] = 0.25 } }
                channels.withUnsafeBufferPointer {
                    let view = Channels($0.baseAddress!, count: channelCount)
                    type.write(view, frameCount: count, into: bytes, channelCount: channelCount)
                    for c in 0..<channelCount { clearSamples(view[c], count) }
                    type.read(bytes, channelCount: channelCount, frameCount: count, into: view)
                }
                for c in 0..<channelCount { #expect((0..<count).allSatisfy { channels[c][$0] == 0.25 }) }
            }
        }
    }
}
