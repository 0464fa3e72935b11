// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioStreams

/// A live stream that plays for a long time: an hour of virtual time, or EARSHOT_STREAM_HOURS.
@Suite struct StreamDayTests {
    private static let hours =
        ProcessInfo.processInfo.environment["EARSHOT_STREAM_HOURS"].flatMap { Int($0) } ?? 1

    /// A station's behaviour, from a seed.
    private struct Station {
        let interval = 8_192
        private let sound: [UInt8]
        private var at = 0
        private var untilTitle = 8_192
        private var random: SeededRandom
        private(set) var titles = 0

        init(_ sound: [UInt8], seed: UInt64) {
            self.sound = sound
            random = SeededRandom(seed: seed)
        }

        mutating func chance(_ one: Double, in times: Double) -> Bool { random.unit() < one / times }
        mutating func seconds(_ range: ClosedRange<Double>) -> Double {
            range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
        }

        /// Connects a listener, who gets the current sound from the middle of a frame on.
        mutating func welcome() {
            at = Int(random.next() % UInt64(sound.count))
            untilTitle = interval
        }

        /// Returns the next bytes, with titles in between.
        mutating func bytes(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                let piece = min(count - bytes.count, untilTitle, sound.count - at)
                bytes += sound[at..<at + piece]
                at = (at + piece) % sound.count
                untilTitle -= piece
                guard untilTitle == 0 else { continue }
                untilTitle = interval
                guard chance(1, in: 40) else {
                    bytes.append(0)
                    continue
                }
                titles += 1
                let text = "StreamTitle='Song \(titles)';"
                let blocks = (text.utf8.count + 15) / 16
                bytes += [UInt8(blocks)] + text.utf8 + [UInt8](repeating: 0, count: blocks * 16 - text.utf8.count)
            }
            return bytes
        }
    }

    /// MP3 with 32 kb/s at 22.05 kHz, as a station sends it.
    private func sound() throws -> [UInt8] {
        let folder = try Sound.folder.get()
        try Sound.shell("cd \(folder) && lame --quiet -t -b 32 -m m --resample 22.05 from.wav day")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/day")))
    }

    @Test(.separate) func `titles, stalls and lost connections do not leak memory`() throws {
        let format = AudioFormat(sampleRate: 22_050, channelCount: 1)
        var station = Station(try sound(), seed: 24)
        let playout = StreamPlayout(
            ring: AudioRing(channelCount: 1, capacity: StreamDecoder.leastCapacity(format) + 220_500),
            sampleRate: format.sampleRate)
        var core = StreamCore(
            try StreamAddress("http://radio.example/live"), format: format, playout: playout,
            options: AudioStreamOptions(), random: SeededRandom(seed: 1))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 4_096)
        let step = 0.1
        var time = HostTime(nanoseconds: 0)
        var (titles, lost, stalledUntil, owed) = (0, 0, HostTime(nanoseconds: 0), 0.0)
        var footprints: [Int] = []
        core.start(at: time)
        // The time before the first inspection equals that between the last two.
        let looks = max(4, Self.hours)
        let total = Double(Self.hours) * 3_600
        while footprints.count < looks {
            for action in core.takeActions() {
                guard case .connect = action else { continue }
                if station.chance(1, in: 4) {
                    core.end(.broken(reason: "refused"), at: time)
                } else {
                    station.welcome()
                    var head = HTTPHead(address: "x")
                    head.status = 200
                    head.fields = ["icy-metaint": "\(station.interval)", "icy-name": "Radio"]
                    core.receive(head, at: time)
                }
            }
            // A stall every five minutes, which may exceed the timeout, and a broken connection every ten.
            if station.chance(1, in: 3_000) { stalledUntil = time.advanced(bySeconds: station.seconds(1...20)) }
            if station.chance(1, in: 6_000) {
                lost += 1
                core.end(.broken(reason: "reset"), at: time)
            }
            if time >= stalledUntil {
                // Slightly faster than playback, to catch up.
                owed = min(owed + step * 5_000, 20_000)
                let bytes = station.bytes(Int(owed))
                if core.wantsBytes, bytes.withUnsafeBytes({ core.receive($0, at: time) }) { owed = 0 }
            }
            time = time.advanced(bySeconds: step)
            _ = playout.renderer.render(block.channels, frameCount: Int(step * format.sampleRate))
            core.tick(at: time)
            titles += core.takeTitles().count
            _ = core.takeStates()
            if time.seconds(since: HostTime(nanoseconds: 0)) >= total * Double(footprints.count + 1) / Double(looks) {
                footprints.append(ProcessFootprint.now().anonymousBytes)
            }
        }
        let grown = (footprints.last ?? 0) - (footprints.first ?? 0)
        let played = Double(playout.framesPlayed) / format.sampleRate
        let statistics = core.statistics
        print(
            "figure stream: \(Self.hours) h of an MP3 station, \(titles) titles, \(statistics.stalls) stalls, "
                + "\(statistics.reconnections) reconnections; memory of its own "
                + "\((footprints.first ?? 0) >> 10) kB after 1/\(looks) of the time, \((footprints.last ?? 0) >> 10) kB at the end; "
                + "grown by: \(grown >> 10) kB (at most 1024; against the first look)")
        #expect(grown < 1 << 20, "\(footprints)")
        #expect(played > 0.8 * total, "\(played) of \(total) s played")
        #expect(titles > 5 * Self.hours && statistics.stalls >= 3 * Self.hours)
        #expect(statistics.reconnections >= lost && lost >= 2 * Self.hours)
    }
}
