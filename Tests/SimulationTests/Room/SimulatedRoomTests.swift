// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

@testable import EarshotSimulation

@Suite(.optimized) struct SimulatedRoomTests {
    typealias Point = SimulatedRoom.Point
    static let rate = 48_000.0
    static let sizes = [Point(3.2, 2.9, 2.4), Point(5.1, 4.2, 2.7), Point(8.3, 5.7, 3.1)]

    @Test(arguments: [0.1, 0.37, 1, 2.5]) func `the first arrival comes after the distance`(distance: Double) {
        let room = SimulatedRoom(size: Self.sizes[1], reverberationTime: 0.4)
        let source = Point(1.3, 1.7, 1.2)
        let response = room.impulseResponse(
            from: source, to: Point(source.x + distance, source.y, source.z), sampleRate: Self.rate, duration: 0.05)
        // The sinc is symmetric: its highest sample is at most half a frame off.
        let expected = distance / 343 * Self.rate
        let direct = response.prefix(Int(expected) + 25)
        let peak = direct.indices.max { direct[$0].magnitude < direct[$1].magnitude } ?? 0
        #expect(abs(Double(peak) - expected) <= 0.5)
        #expect(response.prefix(max(0, Int(expected) - 20)).allSatisfy { $0.magnitude < 1e-6 })
    }

    @Test func `the direct sound has a quarter of the energy at twice the distance`() {
        let room = SimulatedRoom(size: Self.sizes[2], reverberationTime: 0.5)
        let energies = [0.5, 1, 2].map { distance in
            // The first reflection comes 4 ms after the direct sound or later.
            let response = room.impulseResponse(
                from: Point(3, 2.8, 1.5), to: Point(3 + distance, 2.8, 1.5), sampleRate: Self.rate, duration: 0.05)
            let arrival = Int(distance / 343 * Self.rate)
            return response[max(0, arrival - 20)..<arrival + 60].reduce(0) { $0 + Double($1 * $1) }
        }
        #expect(abs(energies[1] - 1) < 0.02)
        #expect(abs(energies[0] / energies[1] - 4) < 0.08 && abs(energies[1] / energies[2] - 4) < 0.08)
    }

    @Test(arguments: [0.2, 0.3, 0.5, 0.8]) func `the sound decays in the reverberation time`(time: Double) {
        for size in Self.sizes {
            let room = SimulatedRoom(size: size, reverberationTime: time)
            let response = room.impulseResponse(
                from: Point(0.3 * size.x, 0.4 * size.y, 1.2), to: Point(0.7 * size.x, 0.55 * size.y, 1.5),
                sampleRate: Self.rate)
            let measured = Self.reverberationTime(response)
            #expect(abs(measured / time - 1) < 0.1, "\(size): \(measured)")
        }
    }

    @Test func `the absorption is near that of Eyring's formula`() {
        for size in Self.sizes {
            for time in [0.3, 0.5, 0.8] {
                let room = SimulatedRoom(size: size, reverberationTime: time)
                let absorption = 1 - room.reflection * room.reflection
                #expect((0.7...1.4).contains(absorption / room.eyringAbsorption), "\(size), \(time) s: \(absorption)")
            }
        }
    }

    @Test func `a direct sound that is turned away leaves the reflections as they are`() {
        let room = SimulatedRoom(size: Self.sizes[1], reverberationTime: 0.3)
        let (source, microphone) = (Point(1.5, 2, 1.2), Point(2.5, 2, 1.2))
        let full = room.impulseResponse(from: source, to: microphone, sampleRate: Self.rate)
        let weak = room.impulseResponse(from: source, to: microphone, sampleRate: Self.rate, directGain: 0.25)
        let arrival = Int((Self.rate / 343).rounded())
        #expect(abs(weak[arrival] / full[arrival] - 0.25) < 0.02)
        #expect(zip(full, weak).dropFirst(arrival + 60).allSatisfy { abs($0 - $1) < 0.01 })
    }

    /// Returns the time of a decay by 60 dB, from the decay between −5 and −35 dB by Schroeder's backward integration.
    private static func reverberationTime(_ response: [Float]) -> Double {
        var left = response.reduce(0) { $0 + Double($1 * $1) }
        let whole = left
        var times: [Double] = []
        for (i, sample) in response.enumerated() {
            left -= Double(sample * sample)
            if times.isEmpty, left < whole * pow(10, -0.5) { times.append(Double(i) / rate) }
            if times.count == 1, left < whole * pow(10, -3.5) { return 2 * (Double(i) / rate - times[0]) }
        }
        return .infinity
    }
}

extension SimulatedRoom {
    /// The share of the energy that a wall takes by Eyring's formula.
    fileprivate var eyringAbsorption: Double {
        let surface = 2 * (size.x * size.y + size.y * size.z + size.z * size.x)
        return 1 - exp(-0.161 * size.x * size.y * size.z / (surface * reverberationTime))
    }
}
