// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotDiagnostics
import Foundation

/// Two people with a laptop each, in one room or in two, in a call: what their microphones capture. All numbers are random.
struct SameRoomScene {
    /// The way to listen.
    enum Listening: String, CaseIterable {
        case headphones
        /// Voice processing lowers the echo by 15 to 30 dB.
        case loudspeakers
        /// The echo has its full level.
        case unprocessed
    }
    /// The sound that the two make.
    enum Sound: String, CaseIterable { case talk, singing }

    static let rate = SameRoomDetector.sampleRate
    /// Sizes from a small living room to a rehearsal room, each with four times of reverberation.
    private static let rooms = [(5.0, 3.4, 2.4), (5.6, 4.3, 2.7), (6.4, 4.9, 2.9)].flatMap { x, y, z in
        [0.2, 0.4, 0.6, 0.8].map { SimulatedRoom(size: SimulatedRoom.Point(x, y, z), reverberationTime: $0) }
    }
    var isSameRoom: Bool
    var listening = Listening.headphones
    var sound = Sound.talk
    var seconds = 8.0

    /// The two microphones' sounds at the times of capture.
    struct Capture {
        var microphone: [Float]
        var voice: [Float]
        /// The delay of the network in seconds, from the remote microphone to the local loudspeaker.
        var delay: Double
    }

    /// The paths to one microphone.
    private struct Paths {
        var own: [Float] = []
        var other: [Float] = []
        var ownSpeaker: [Float] = []
        var otherSpeaker: [Float] = []
    }

    func capture(seed: UInt64, _ sentences: [[Float]]) -> Capture {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9 &+ 17)
        let count = Int(seconds * Self.rate)
        let paths = makePaths(&random)
        let voices = (0..<2).map { _ in makeVoice(&random, count, sentences) }
        // From microphone to loudspeaker.
        let delays = { [$0, $0 * (0.8 + 0.4 * random.unit())] }(0.018 + 0.042 * random.unit())
        let residue = listening == .loudspeakers ? Float(pow(10, -(15 + 15 * random.unit()) / 20)) : 1
        let direct = (0..<2).map { i in
            var sound = Self.convolve(voices[i], paths[i].own)
            if isSameRoom { sound = zip(sound, Self.convolve(voices[1 - i], paths[i].other)).map(+) }
            let noise = SameRoomVoices.noise(
                &random, count: count, gain: 0.2 * Float(pow(10, -(25 + 15 * random.unit()) / 20)))
            return zip(sound, noise).map(+)
        }
        var captured = direct
        // Each turn adds an echo of an echo.
        for _ in 0..<(listening == .headphones ? 0 : 2) {
            let voice = (0..<2).map { Self.delayed(captured[1 - $0], seconds: delays[$0]) }
            captured = (0..<2).map { i in
                // The processing knows the local playback, and no other loudspeaker's voice.
                let known = Self.convolve(voice[i], paths[i].ownSpeaker)
                let foreign = isSameRoom ? Self.convolve(voice[1 - i], paths[i].otherSpeaker) : []
                return direct[i].indices.map { direct[i][$0] + residue * known[$0] + (isSameRoom ? foreign[$0] : 0) }
            }
        }
        return Capture(microphone: captured[0], voice: captured[1], delay: delays[0])
    }

    /// Returns the second at which the detector decides that the room is the same; nil if it does not.
    func decision(seed: UInt64, _ sentences: [[Float]]) -> Double? {
        let capture = capture(seed: seed, sentences)
        var detector = SameRoomDetector()
        for first in stride(from: 0, to: capture.voice.count, by: 400) {
            let range = first..<min(first + 400, capture.voice.count)
            detector.add(
                microphone: capture.microphone[range], voice: capture.voice[range], reach: capture.delay - 0.004)
            if detector.isSameRoom { return Double(range.upperBound) / Self.rate }
        }
        return nil
    }

    private func makeVoice(_ random: inout SeededRandom, _ count: Int, _ sentences: [[Float]]) -> [Float] {
        switch sound {
        case .talk: SameRoomVoices.talk(&random, count: count, sentences)
        case .singing: SameRoomVoices.sing(&random, count: count)
        }
    }

    /// Returns the paths to both microphones, 1 to 4 m apart if they are in one room.
    private func makePaths(_ random: inout SeededRandom) -> [Paths] {
        typealias Point = SimulatedRoom.Point
        func makeRoom() -> SimulatedRoom { Self.rooms[Int(random.unit() * Double(Self.rooms.count))] }
        let first = makeRoom()
        let rooms = [first, isSameRoom ? first : makeRoom()]
        let distance = 1 + 3 * random.unit()
        let left = Point(0.45 + 0.1 * random.unit(), 1 + random.unit(), 0.8)
        let microphones = [left, Point(left.x + distance * 0.97, left.y + distance * 0.24, left.z)]
        // Each sits 0.35 to 0.7 m from the microphone; the loudspeaker is 0.15 to 0.3 m from it.
        let mouths = microphones.map {
            Point($0.x, $0.y - (0.3 + 0.35 * random.unit()), $0.z + 0.2 + 0.1 * random.unit())
        }
        let speakers = microphones.map { Point($0.x + 0.15 + 0.15 * random.unit(), $0.y, $0.z - 0.05) }
        return (0..<2).map { i in
            func response(_ source: Point, gain: Float = 1) -> [Float] {
                rooms[i].impulseResponse(
                    from: source, to: microphones[i], sampleRate: Self.rate,
                    duration: min(0.25, rooms[i].reverberationTime)
                ).map { $0 * gain }
            }
            var paths = Paths(own: response(mouths[i]), ownSpeaker: response(speakers[i], gain: 0.3))
            guard isSameRoom else { return paths }
            paths.other = response(mouths[1 - i])
            paths.otherSpeaker = response(speakers[1 - i], gain: 0.3)
            return paths
        }
    }

    private static func convolve(_ sound: [Float], _ response: [Float]) -> [Float] {
        let correlator = Correlator(window: response.count, lags: sound.count)
        return correlator.correlate(Array(response.reversed())[...], sound, 1 - response.count)
    }

    private static func delayed(_ sound: [Float], seconds: Double) -> [Float] {
        let frames = Int((seconds * rate).rounded())
        return [Float](repeating: 0, count: frames) + sound.dropLast(frames)
    }
}
