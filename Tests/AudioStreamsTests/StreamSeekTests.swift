// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioStreams

/// Seeks in files, on virtual time.
@Suite(.optimized) struct StreamSeekTests {
    private static let second = 44_100

    /// A file of which the beginning was received and partly played.
    private func begun(
        _ bytes: [UInt8], _ format: AudioFormat = .cd, hasRanges: Bool = true, seconds: Double = 1
    ) throws -> CoreRig {
        let rig = try CoreRig(format: format)
        rig.serve(bytes, hasRanges: hasRanges, atMost: bytes.count / 5)
        rig.advance(seconds)
        return rig
    }

    /// Returns the sound after a seek: a second from the target on, by the reported position.
    private func listen(_ rig: CoreRig, at frame: Int, _ serve: () -> Void) throws -> [Float] {
        let before = rig.heard[0].count
        serve()
        rig.advance(1.1)
        let from = try #require(rig.places[before...].firstIndex(of: frame), "\(rig.places.last ?? -1)")
        let end = from + Int(rig.format.sampleRate)
        try #require(rig.places.count >= end && Array(rig.places[from..<end]) == Array(frame..<frame + end - from))
        return Array(rig.heard[0][from..<end])
    }

    /// Seeks to a frame and expects the frames after it to be those of the whole sound.
    private func expect(
        _ rig: CoreRig, at frame: Int, of whole: [Float], _ bytes: [UInt8], error: Double = -60
    ) throws {
        let heard = try listen(rig, at: frame) { rig.serve(bytes, atMost: bytes.count / 4) }
        let steady = 300  // behind the fade
        let expected = Array(whole[(frame + steady)..<(frame + heard.count)])
        let level = errorDecibels(expected, Array(heard[steady...]))
        #expect(level < error, "\(level) dB at \(frame)")
    }

    @Test(arguments: [
        (LongSound.constant, 44_100.0), (.constant, 48_000), (.untagged, 44_100), (.low, 44_100), (.opus, 44_100),
        (.opus, 48_000), (.vorbis, 44_100), (.wav, 48_000),
    ])
    func `a seek is exact to the frame`(_ sound: LongSound, _ rate: Double) throws {
        let (bytes, format) = (try sound.bytes, AudioFormat(sampleRate: rate, channelCount: 2))
        let whole = try sound.heard(format)
        let rig = try begun(bytes, format)
        let start = rig.actions.count
        for seconds in [30, 5, 33.3, 0, 12.345, 12.4] {
            let frame = Int(seconds * rate)
            rig.seek(to: frame)
            #expect(rig.playout.framePosition == frame)
            // The decoder of Opus forgets earlier sound gradually.
            try expect(rig, at: frame, of: whole, bytes, error: sound == .opus ? -40 : -60)
        }
        #expect(rig.core.statistics.packetsConcealed == 0 && rig.core.statistics.bytesSkipped == 0)
        #expect(rig.core.statistics.stalls == 0 && rig.refusals.isEmpty)
        // One request each; in Ogg some more.
        let requests = rig.actions.count - start
        #expect(sound == .opus || sound == .vorbis ? requests <= 24 : requests == 6, "\(requests) requests")
    }

    @Test func `a seek in WAVE gives identical samples`() throws {
        let bytes = try LongSound.wav.bytes
        let whole = try LongSound.wav.heard(.cd)
        let rig = try begun(bytes)
        rig.seek(to: 1_234_567)
        let heard = try listen(rig, at: 1_234_567) { rig.serve(bytes, atMost: 2_000_000) }
        #expect(Array(heard[220...]) == Array(whole[(1_234_567 + 220)..<(1_234_567 + heard.count)]))
    }

    @Test(arguments: LongSound.allCases.filter { !$0.isExact })
    func `a seek is approximate in formats without an index, and exact in parts already played`(_ sound: LongSound)
        throws
    {
        let bytes = try sound.bytes
        let whole = try sound.heard(.cd)
        let rig = try begun(bytes, seconds: 3)
        let frame = 30 * Self.second
        rig.seek(to: frame)
        let heard = try listen(rig, at: frame) { rig.serve(bytes, atMost: bytes.count / 4) }
        let found = try #require(find(heard[2_000..<2_400], in: whole, around: frame + 2_000))
        let error = Double(abs(found - frame - 2_000)) / 44_100
        print("figure stream: seek in 40 s of \(sound), off by: \(error) s (at most 1.5)")
        #expect(error < 1.5)
        for seconds in [2.5, 6.2] {
            rig.seek(to: Int(seconds * 44_100))
            // The noise of AAC differs each time.
            try expect(rig, at: Int(seconds * 44_100), of: whole, bytes, error: sound == .aac ? -30 : -60)
        }
    }

    /// Returns the position of some frames in the whole, at most three seconds away.
    private func find(_ part: ArraySlice<Float>, in whole: [Float], around: Int) -> Int? {
        let part = Array(part)
        var best = (at: -1, error: Float.infinity)
        for at in max(0, around - 3 * Self.second)..<min(whole.count - part.count, around + 3 * Self.second) {
            var error: Float = 0
            for i in 0..<part.count where error < best.error { error += abs(whole[at + i] - part[i]) }
            if error < best.error { best = (at, error) }
        }
        let energy = part.reduce(0) { $0 + abs($1) }
        return best.error < energy / 10 ? best.at : nil
    }

    @Test func `a seek without range support is an error that says so, and playback continues`() throws {
        let bytes = try LongSound.constant.bytes
        let whole = try LongSound.constant.heard(.cd)
        let rig = try begun(bytes, hasRanges: false)
        let asked = rig.actions
        #expect(rig.core.source?.isSeekable == false)
        rig.seek(to: 20 * Self.second)
        rig.advance(3)
        guard case .notSeekable(let address, let reason)? = rig.refusals.first else { return wrong("\(rig.refusals)") }
        #expect(address == "http://radio.example/live" && reason.contains("as a whole"))
        #expect(rig.actions == asked && rig.states.last == .playing && rig.refusals.count == 1)
        #expect(rig.heard[0].count == rig.output.count && rig.heard[0] == Array(whole.prefix(rig.output.count)))
    }

    @Test func `a seek while connecting is carried out once possible`() throws {
        let bytes = try LongSound.constant.bytes
        let whole = try LongSound.constant.heard(.cd)
        let rig = try CoreRig()
        rig.seek(to: 17 * Self.second)
        rig.advance(0.5)
        rig.seek(to: 20 * Self.second)
        try expect(rig, at: 20 * Self.second, of: whole, bytes)
        #expect(rig.places.first == 20 * Self.second && rig.refusals.isEmpty)  // nothing of the beginning
    }

    @Test func `a seek in a stream that turns out to be a station is rejected, and playback continues`() throws {
        let rig = try CoreRig()
        rig.seek(to: 20 * Self.second)
        rig.answer(200, ["icy-name": "Radio"])
        rig.send(try Sound.live.bytes)
        rig.advance(1)
        guard case .notSeekable(_, let reason)? = rig.refusals.first else { return wrong("\(rig.refusals)") }
        #expect(reason.contains("station") && rig.states.last == .playing && rig.heard[0].count == rig.output.count)
    }

    @Test func `a seek works during a stall and while reconnecting`() throws {
        let bytes = try LongSound.constant.bytes
        let whole = try LongSound.constant.heard(.cd)
        let rig = try begun(bytes, seconds: 12)
        #expect(rig.states.last == .buffering && rig.core.statistics.stalls == 1)
        rig.seek(to: 25 * Self.second)
        try expect(rig, at: 25 * Self.second, of: whole, bytes)
        rig.end(.broken(reason: "reset"))
        guard case .reconnecting? = rig.states.last else { return wrong("\(rig.states)") }
        rig.seek(to: 8 * Self.second)
        rig.advance(1)
        guard case .connect(_, let offset)? = rig.actions.last else { return wrong("\(rig.actions)") }
        #expect(abs(offset - 8 * 16_000) < 16_000)
        try expect(rig, at: 8 * Self.second, of: whole, bytes)
        #expect(rig.core.statistics.stalls == 1)
    }

    @Test func `the second of two successive seeks wins`() throws {
        let bytes = try LongSound.vorbis.bytes
        let whole = try LongSound.vorbis.heard(.cd)
        let rig = try begun(bytes)
        rig.seek(to: 30 * Self.second)
        rig.seek(to: 20 * Self.second)
        try expect(rig, at: 20 * Self.second, of: whole, bytes)
        rig.seek(to: 35 * Self.second)
        rig.serve(bytes, atMost: 5_000)  // some of it has come
        rig.seek(to: 3 * Self.second)
        try expect(rig, at: 3 * Self.second, of: whole, bytes)
    }

    @Test(arguments: LongSound.allCases)
    func `a seek is clamped to the beginning and the end of the sound`(_ sound: LongSound) throws {
        let bytes = try sound.bytes
        let whole = try sound.heard(.cd, isShort: true)
        let rig = try begun(bytes)
        let before = rig.heard[0].count
        rig.seek(to: .max)
        rig.serve(bytes)
        rig.advance(2)
        #expect(rig.states.last == .ended, "\(rig.states)")
        #expect(rig.heard[0].count - before < Self.second / 10)
        // Back from the end.
        rig.seek(to: -5)
        try expect(rig, at: 0, of: whole, bytes)
        rig.seek(to: .min)
        try expect(rig, at: 0, of: whole, bytes)
    }

    @Test func `a seek into the last second plays exactly to the end`() throws {
        let bytes = try LongSound.constant.bytes
        let whole = try LongSound.constant.heard(.cd)
        let rig = try begun(bytes)
        let frame = whole.count - Self.second / 2
        rig.seek(to: frame)
        rig.serve(bytes)
        rig.advance(2)
        #expect(rig.states.last == .ended)
        let from = try #require(rig.places.firstIndex(of: frame))
        let heard = Array(rig.heard[0][from...])
        #expect(heard.count == whole.count - frame)
        #expect(errorDecibels(Array(whole[(frame + 300)...]), Array(heard[300...])) < -60)
    }

    @Test func `a file that has already ended can seek and play again`() throws {
        let bytes = try Sound.wav.bytes
        let rig = try CoreRig()
        rig.serve(bytes)
        rig.advance(4)
        #expect(rig.states.last == .ended)
        rig.seek(to: Self.second)
        rig.serve(bytes)
        rig.advance(3)
        #expect(rig.heard[0].count == Sound.frameCount * 2 - Self.second)
        #expect(rig.states == [.buffering, .playing, .ended, .playing, .ended] || rig.states.last == .ended)
    }

    @Test func `a full response to a range request is read up to the seek target`() throws {
        let bytes = try LongSound.wav.bytes
        let whole = try LongSound.wav.heard(.cd)
        let rig = try begun(bytes)
        rig.seek(to: 20 * Self.second)
        rig.answer(200, ["content-length": "\(bytes.count)"])
        let place = 20 * Self.second
        let heard = try listen(rig, at: place) { rig.send(bytes.prefix(25 * Self.second * 4)) }
        #expect(Array(heard[220...]) == Array(whole[(place + 220)..<(place + heard.count)]))
    }

    @Test func `a range that starts too early is read up to the target, a later one is rejected`() throws {
        let bytes = try LongSound.wav.bytes
        let whole = try LongSound.wav.heard(.cd)
        let rig = try begun(bytes)
        rig.seek(to: 20 * Self.second)
        rig.answer(206, ["content-range": "bytes 3000000-\(bytes.count - 1)/\(bytes.count)", "content-length": "1"])
        let place = 20 * Self.second
        let heard = try listen(rig, at: place) { rig.send(bytes[3_000_000..<4_500_000]) }
        #expect(Array(heard[220...]) == Array(whole[(place + 220)..<(place + heard.count)]))
        rig.seek(to: 10 * Self.second)
        rig.answer(206, ["content-range": "bytes 3000000-\(bytes.count - 1)/\(bytes.count)"])
        guard case .reconnecting? = rig.states.last else { return wrong("\(rig.states)") }
    }
}
