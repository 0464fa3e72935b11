// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotAudioStreams

/// Streams on virtual time.
@Suite struct StreamCoreTests {
    @Test(arguments: [Sound.mp3, .opus, .vorbis, .wav], [1_000, 65_536])
    func `a streamed file gives exactly the frames of a file reader`(_ sound: Sound, piece: Int) throws {
        let expected = try reference(sound)
        let rate = sound == .opus ? 48_000.0 : 44_100
        let rig = try CoreRig(format: AudioFormat(sampleRate: rate, channelCount: 2))
        rig.answer()
        rig.send(try sound.bytes, piece: piece)
        rig.end()
        rig.advance(4)
        #expect(rig.states == [.buffering, .playing, .ended])
        #expect(rig.heard[0].count == expected.count)
        #expect(errorDecibels(expected, rig.heard[0]) < -70)
        #expect(rig.core.statistics.packetsConcealed == 0)
        #expect(rig.core.statistics.stalls == 0)
    }

    @Test func `a stream is converted to another rate and channel count`() throws {
        let rig = try CoreRig(format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        rig.answer()
        rig.send(try Sound.mp3.bytes)
        rig.end()
        rig.advance(4)
        #expect(rig.heard[0].count == 144_000)
        #expect(rig.states.last == .ended)
    }

    @Test func `AAC plays without concealed packets`() throws {
        let rig = try CoreRig()
        rig.answer()
        rig.send(try Sound.aac.bytes)
        rig.end()
        rig.advance(4)
        #expect(rig.heard[0].count >= Sound.frameCount && rig.heard[0].count % 1_024 == 0)
        #expect(rig.core.statistics.packetsConcealed == 0)
        let energy = rig.heard[0][20_000..<100_000].reduce(0) { $0 + $1 * $1 } / 80_000
        #expect(energy > 0.01)
    }

    @Test func `a stall gives silence and a state change, and no frame is lost`() throws {
        let bytes = try Sound.mp3.bytes
        let rig = try CoreRig()
        rig.answer()
        rig.send(bytes.prefix(24_000))
        rig.advance(3)  // half of it is sound
        #expect(rig.states == [.buffering, .playing, .buffering])
        rig.send(bytes.dropFirst(24_000))
        rig.end()
        rig.advance(4)
        #expect(rig.states == [.buffering, .playing, .buffering, .playing, .ended])
        #expect(rig.core.statistics.stalls == 1)
        let expected = try reference(.mp3)
        #expect(rig.heard[0].count == expected.count)
        // Except where it fades.
        let changed = zip(expected, rig.heard[0]).filter { abs($0 - $1) > 1e-3 }.count
        #expect(changed <= 2 * 220, "\(changed)")
    }

    @Test func `a lost station is reconnected with increasing delays and plays on`() throws {
        let bytes = try Sound.live.bytes
        let rig = try CoreRig()
        rig.answer(200, ["icy-name": "Radio"])
        rig.send(bytes.prefix(30_001))  // cut in the midst of a frame
        rig.end(.broken(reason: "reset"))
        var attempts = 0
        for _ in 0..<4 {
            guard case .reconnecting(let attempt, let delay)? = rig.states.last else {
                return #expect(Bool(false), "\(rig.states)")
            }
            attempts += 1
            #expect(attempt == attempts)
            #expect(delay <= 0.5 * Double(1 << (attempt - 1)) && delay >= 0.25 * Double(1 << (attempt - 1)))
            let before = rig.actions.count
            rig.advance(delay - 0.03)
            #expect(rig.actions.count == before)
            rig.advance(0.06)
            #expect(rig.actions.count == before + 1)
            if attempt < 4 { rig.end(.broken(reason: "refused")) }
        }
        rig.answer(200, ["icy-name": "Radio"])
        rig.send(bytes.dropFirst(10_000))
        rig.advance(2)
        #expect(rig.states.last == .playing)
        #expect(rig.core.statistics.reconnections == 4)
    }

    @Test func `the reconnect delay is reset after enough sound`() throws {
        let bytes = try Sound.live.bytes
        let rig = try CoreRig()
        for _ in 0..<3 {
            rig.answer(200, ["icy-name": "Radio"])
            for _ in 0..<4 { rig.send(bytes) }
            rig.end()
            guard case .reconnecting(1, _)? = rig.states.last else { return wrong("\(rig.states)") }
            rig.advance(1)
        }
    }

    @Test(arguments: [206, 200])
    func `an interrupted file resumes where it broke off`(_ status: Int) throws {
        let bytes = try Sound.mp3.bytes
        let rig = try CoreRig()
        rig.answer(200, ["content-length": "\(bytes.count)"])
        rig.send(bytes.prefix(20_000))
        rig.end(.broken(reason: "reset"))
        rig.advance(0.6)
        #expect(rig.actions.last == .connect(try StreamAddress("http://radio.example/live"), offset: 20_000))
        rig.answer(status)
        rig.send(status == 206 ? bytes.dropFirst(20_000) : bytes[...])
        rig.end()
        rig.advance(4)
        let expected = try reference(.mp3)
        #expect(rig.heard[0].count == expected.count)
        #expect(errorDecibels(expected, rig.heard[0]) < -70)
    }

    @Test func `an unreachable server is an error after three retries`() throws {
        let rig = try CoreRig()
        for _ in 0..<4 {
            rig.end(.broken(reason: "no route"))
            rig.advance(3)
        }
        #expect(
            rig.states.last
                == .failed(.unreachable(address: "http://radio.example/live", reason: "no route")))
    }

    @Test func `a connection without data is dropped`() throws {
        let rig = try CoreRig()
        rig.answer(200, ["icy-name": "x"])
        rig.send(try Sound.live.bytes)
        rig.advance(14)
        #expect(rig.states.last == .buffering)
        rig.advance(2)
        #expect(rig.states.contains { if case .reconnecting(1, _) = $0 { true } else { false } })
        #expect(rig.actions.contains(.disconnect))
    }

    @Test(arguments: [(404, false), (403, false), (503, true), (429, true)])
    func `an HTTP error status fails or is retried, without revealing credentials`(_ status: Int, mayTryAgain: Bool)
        throws
    {
        let rig = try CoreRig("http://me:secret@radio.example/live?key=secret")
        rig.answer(status)
        if mayTryAgain {
            guard case .reconnecting(1, _)? = rig.states.last else { return wrong("another state") }
        } else {
            #expect(rig.states.last == .failed(.refused(status: status, address: "http://radio.example/live")))
        }
        #expect(!"\(rig.states)".contains("secret"))
    }

    @Test func `a web page gives an error that says so`() throws {
        let rig = try CoreRig()
        rig.answer(200, ["content-type": "audio/mpeg"])
        rig.send(Array("<!DOCTYPE html><html><head><title>Off air</title></head><body></body></html>".utf8))
        rig.end()
        guard case .failed(let error)? = rig.states.last else { return wrong("\(rig.states)") }
        #expect(error.description.contains("web page"))
        #expect(error.description.contains("radio.example"))
    }

    @Test func `a playlist leads to its stream, and to the next entry if that is missing`() throws {
        let rig = try CoreRig("http://radio.example/a.pls")
        rig.answer(200)
        rig.send(Array("[playlist]\nFile1=http://one.example/\nFile2=http://two.example/live\n".utf8))
        rig.end()
        #expect(rig.actions.last == .connect(try StreamAddress("http://one.example/"), offset: 0))
        rig.answer(404)
        #expect(rig.actions.last == .connect(try StreamAddress("http://two.example/live"), offset: 0))
        rig.answer(200)
        rig.send(try Sound.mp3.bytes)
        rig.end()
        rig.advance(4)
        #expect(rig.states.last == .ended)
    }

    @Test func `data from a failed playlist entry is discarded for the next one`() throws {
        let rig = try CoreRig("http://radio.example/a.m3u")
        rig.answer(200)
        rig.send(Array("#EXTM3U\nhttp://one.example/\nhttp://two.example/\nhttp://three.example/\n".utf8))
        rig.end()
        for _ in 0..<2 {
            rig.answer(200)
            rig.send(Array("<!DOCTYPE html><html><head><title>Off air</title></head><body></body></html>".utf8))
            rig.end()
        }
        #expect(rig.actions.last == .connect(try StreamAddress("http://three.example/"), offset: 0))
        rig.answer(200)
        rig.send(try Sound.mp3.bytes)
        rig.end()
        rig.advance(4)
        #expect(rig.states == [.buffering, .playing, .ended])
        #expect(rig.heard[0].count == Sound.frameCount)
    }

    @Test func `relative playlist entries are resolved against the redirected address`() throws {
        let rig = try CoreRig("http://short.example/x")
        rig.answer(200, at: "http://radio.example/list/a.m3u")
        rig.send(Array("#EXTM3U\nlive.mp3\n".utf8))
        rig.end()
        #expect(rig.actions.last == .connect(try StreamAddress("http://radio.example/list/live.mp3"), offset: 0))
        let downgrade = try CoreRig("http://short.example/x")
        downgrade.answer(200, at: "https://radio.example/a.m3u")
        downgrade.send(Array("#EXTM3U\nhttp://radio.example/1\n".utf8))
        downgrade.end()
        #expect(downgrade.states.last == .failed(.redirectRefused(address: "http://short.example/x")))
    }

    /// RF64 whose header declares 2^63 − 1 bytes of one-byte samples.
    @Test func `an impossible length is ignored`() throws {
        func number(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        var bytes = Array("RF64".utf8) + number(0xFFFF_FFFF, 4) + Array("WAVEds64".utf8) + number(28, 4)
        bytes +=
            number(UInt64(Int64.max), 8) + number(UInt64(Int64.max), 8) + number(UInt64(Int64.max), 8) + number(0, 4)
        bytes += Array("fmt ".utf8) + number(16, 4) + number(1, 2) + number(1, 2) + number(8_000, 4) + number(8_000, 4)
        bytes += number(1, 2) + number(8, 2) + Array("data".utf8) + number(0xFFFF_FFFF, 4)
        bytes += [UInt8](repeating: 200, count: 8_000)
        for rate in [8_000.0, 48_000] {
            let rig = try CoreRig(format: AudioFormat(sampleRate: rate, channelCount: 1))
            rig.answer(200)
            rig.send(bytes)
            #expect(rig.core.source?.frameCount == nil)
            rig.end()
            rig.advance(2)
            #expect(abs(rig.heard[0].count - Int(rate)) < 10)
        }
    }

    @Test func `recursive and endless playlists are errors`() throws {
        let rig = try CoreRig("http://radio.example/a.m3u")
        for _ in 0..<4 {
            rig.answer(200)
            rig.send(Array("#EXTM3U\nhttp://radio.example/a.m3u\n".utf8))
            rig.end()
        }
        guard case .failed(.badPlaylist)? = rig.states.last else { return wrong("\(rig.states)") }
        let endless = try CoreRig("http://radio.example/a.m3u")
        endless.answer(200)
        endless.send(Array("#EXTM3U\n".utf8))
        endless.send([UInt8](repeating: 10, count: 100_000))
        guard case .failed(.badPlaylist)? = endless.states.last else { return wrong("another state") }
        let downgrade = try CoreRig("https://radio.example/a.m3u")
        downgrade.answer(200)
        downgrade.send(Array("#EXTM3U\nhttp://radio.example/1\n".utf8))
        downgrade.end()
        #expect(downgrade.states.last == .failed(.redirectRefused(address: "https://radio.example/a.m3u")))
    }

    @Test func `titles are reported with the frame at which they start`() throws {
        let sound = try Sound.live.bytes
        let bytes = LoopbackServer.interleave(
            sound, interval: 8_000,
            texts: [0: Array("StreamTitle='One';".utf8), 2: Array("StreamTitle='Two';".utf8)])
        let rig = try CoreRig()
        rig.answer(200, ["icy-metaint": "8000"])
        rig.send(bytes)
        rig.advance(4)
        #expect(rig.titles.map(\.text) == ["One", "Two"])
        // At 128 kb/s a byte is 2.75625 frames; a title begins at a frame of MPEG audio.
        for (title, byte) in zip(rig.titles, [8_000, 24_000]) {
            #expect(abs(Double(title.frame) - Double(byte) * 2.75625) <= 1_152 && title.frame % 1_152 == 0)
        }
    }

    @Test func `buffered data is bounded, and no more is accepted beyond that`() throws {
        let bytes = try Sound.live.bytes
        var options = AudioStreamOptions()
        options.buffer = 4
        let rig = try CoreRig(options: options)
        rig.answer(200, ["icy-name": "x"])
        var taken = 0
        for _ in 0..<100 where bytes.withUnsafeBytes({ rig.core.receive($0, at: rig.time) }) {
            taken += bytes.count
            rig.core.tick(at: rig.time)
        }
        // 16 kB per second: the ring, rounded up to a power of two, and one delivery.
        #expect(taken < 16_000 * 7 + 2 * bytes.count)
        #expect(!rig.core.wantsBytes)
        rig.advance(4)
        #expect(rig.core.wantsBytes)
    }
}
