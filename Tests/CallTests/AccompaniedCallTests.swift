// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotSimulation
import Testing

@testable import EarshotCall

/// An accompaniment in a call of two, on virtual time.
@Suite struct AccompaniedCallTests {
    /// Returns what Bob hears of Ann's song while effects delay her voice by some frames.
    private static func heard(delay: Int) throws -> ArraySlice<Float> {
        let call = try VirtualCall()
        let song = try #require(call.a.session.startAccompaniment())
        call.a.session.effects = TestInsert.make(delay: delay).insert
        call.a.session.followDevice()
        (song.isPlaying, song.isForAll) = (true, true)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 4_096)
        call.run(until: 2) { _ in
            while song.room > song.capacity - 24_000 {
                for i in 0..<4_096 { block.channels[0][i] = 0.3 * speechLikeNoise(song.writtenCount + i) }
                song.write(block.channels, frameCount: 4_096)
            }
        }
        return call.b.heard(1..<1.9)
    }

    @Test func `effects that delay the voice delay the song that others hear as much`() throws {
        let (plain, delayed) = (try Self.heard(delay: 0), try Self.heard(delay: 960))
        // The share of the delayed song that is not the plain one, this many frames earlier.
        func error(_ shift: Int) -> Float {
            let pairs = zip(plain.prefix(9_600), delayed.dropFirst(shift)).map { (($0 - $1) * ($0 - $1), $0 * $0) }
            return pairs.reduce(0) { $0 + $1.0 } / pairs.reduce(0) { $0 + $1.1 }
        }
        // Both playouts are steered by resampling, which moves the sound by some frames.
        let errors = (940...980).map { error($0) }
        #expect(errors.min().map { $0 < 0.2 } ?? false, "\(errors)")
        #expect(error(0) > 0.5)
    }
}
