// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// Calls over links that are too slow for the stream: less is sent, and more again when there is room.
@Suite(.optimized) struct SlowLinkTests {
    static let codecs: [Codec] = [.pcm, .opus]
    private static let makesFigures = ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil

    /// A call of two over a link of this many bits per second; `events` change that.
    private func call(
        _ codec: Codec, _ network: NetworkProfile, seed: UInt64 = 1, changesRate: Bool = true
    ) throws -> CallSimulation {
        var configuration = CallSimulation.Configuration()
        configuration.codec = codec
        configuration.network = network
        configuration.seed = seed
        configuration.changesRate = changesRate
        configuration.keepsHistory = true
        return try CallSimulation(configuration)
    }

    private func link(_ bitRate: Double?, _ events: [NetworkEvent] = []) -> NetworkProfile {
        var network = NetworkProfile(delay: .constant(0.010))
        network.capacity = LinkCapacity(bitsPerSecond: bitRate)
        network.events = events
        return network
    }

    /// Returns the share of concealed sound of a peer in a part of the call.
    private func concealed(_ call: CallSimulation, _ peer: Int, _ seconds: Range<Double>) -> Double {
        let part = call.peers[peer].history.filter { seconds.contains($0.elapsed) }
        guard let first = part.first, let last = part.last else { return 1 }
        let frames = last.statistics.concealedFrames - first.statistics.concealedFrames
        return Double(frames) / 48_000 / (last.elapsed - first.elapsed)
    }

    /// Returns the mean mouth-to-ear delay in a part of the call, in ms.
    private func delay(_ call: CallSimulation, _ stream: Int, _ seconds: Range<Double>) -> Double {
        let points = call.report.streams[stream].series.filter { seconds.contains($0.seconds) }.map(\.mouthToEarMs)
        return points.isEmpty ? .infinity : points.reduce(0, +) / Double(points.count)
    }

    private func rate(_ call: CallSimulation, _ peer: Int) throws -> RateState {
        try #require(call.peers[peer].statistics.rate)
    }

    /// When a link falls from PCM's 888 kb/s to 32, the queue alone, 3,000 bytes, takes three quarters of the first second.
    @Test(arguments: codecs, [1_000_000.0, 256_000, 64_000, 32_000])
    func `a call over a slow link stays audible, with the delay of the suitable bit-rate step`(
        codec: Codec, capacity: Double
    ) throws {
        var call = try call(codec, link(capacity))
        try call.run(until: 4.9)
        for peer in 0..<2 {
            // Speech continues within a second, and after three the delay is constant.
            let share = concealed(call, peer, 1..<3)
            #expect(share < (capacity > 32_000 ? 0.03 : 0.08), "\(share)")
            #expect(concealed(call, peer, 3..<4.9) < 0.03, "\(concealed(call, peer, 3..<4.9))")
            let frame = try Double(rate(call, peer).rung.framesPerPacket) / 48
            #expect(delay(call, peer, 3..<4.5) < 30 + 2 * frame + 30, "\(delay(call, peer, 3..<4.5))")
        }
        try call.run(until: 20)
        for peer in 0..<2 {
            let rate = try rate(call, peer)
            #expect(!rate.isTooSlow && rate.rung.wireBitRate < capacity)
            if codec == .pcm, capacity == 1_000_000 { #expect(rate.index == 0 && rate.stepsDown == 0) }
        }
    }

    @Test(arguments: codecs, [1_000_000.0, 640_000, 320_000])
    func `a tenfold drop in capacity interrupts speech for less than 1 s, delay for less than 3 s`(
        codec: Codec, capacity: Double
    ) throws {
        var call = try call(codec, link(capacity, [.capacity(bitsPerSecond: capacity / 10, at: 10)]))
        try call.run(until: 14.9)
        for peer in 0..<2 {
            let rate = try rate(call, peer)
            #expect(rate.rung.wireBitRate < capacity / 10 && !rate.isTooSlow)
            // Each step to longer packets, or to Opus, conceals its length once.
            #expect(concealed(call, peer, 11..<13) < 0.04, "\(concealed(call, peer, 11..<13))")
            let frame = Double(rate.rung.framesPerPacket) / 48
            #expect(delay(call, peer, 13..<14.5) < 30 + 2 * frame + 30, "\(delay(call, peer, 13..<14.5))")
        }
    }

    @Test(arguments: codecs) func `the bit rate rises again without a gap once the capacity returns`(codec: Codec)
        throws
    {
        let events: [NetworkEvent] = [
            .capacity(bitsPerSecond: 40_000, at: 5), .capacity(bitsPerSecond: 5_000_000, at: 9),
        ]
        var call = try call(codec, link(5_000_000, events))
        try call.run(until: 8)
        #expect(try rate(call, 0).index > 0)
        try call.run(until: 40)
        for peer in 0..<2 {
            let rate = try rate(call, peer)
            #expect(rate.index == 0 && rate.stepsUp >= 3, "\(rate)")
            #expect(concealed(call, peer, 10..<40) < 0.0005, "\(concealed(call, peer, 10..<40) * 30 * 48_000) frames")
            #expect(delay(call, peer, 35..<40) < delay(call, peer, 3..<5) + 3)
        }
    }

    /// The opposite direction is free: only the end that sends too much sends less.
    @Test func `only the congested direction reduces its bit rate`() throws {
        var call = try call(.pcm, link(nil))
        call.links[0][1].profile = link(nil, [.capacity(bitsPerSecond: 100_000, at: 5)])
        try call.run(until: 12)
        #expect(try rate(call, 0).index >= 3 && rate(call, 1).requestsSent > 0)
        #expect(try rate(call, 1).index == 0 && rate(call, 0).requestsSent == 0)
        #expect(concealed(call, 0, 3..<12) < 0.02)
        #expect(concealed(call, 1, 6..<12) < 0.05)
    }

    @Test(arguments: [
        NetworkProfile.Name.lan, .wifiGood, .wifiCongested, .netEQBurst, .independent2, .independent5, .independent10,
    ])
    func `jitter and loss are not mistaken for a slow link`(name: NetworkProfile.Name) throws {
        for codec in Self.codecs {
            for seed in [1, 2] as [UInt64] {
                var call = try call(codec, NetworkProfile(name), seed: seed)
                try call.run(until: 60)
                for peer in 0..<2 {
                    let rate = try rate(call, peer)
                    #expect(rate.stepsDown == 0 && rate.requestsSent == 0, "\(codec): \(rate)")
                }
            }
        }
    }

    @Test func `a capacity below the lowest bit rate is reported as a link that is too slow`() throws {
        var call = try call(.pcm, link(1_000_000, [.capacity(bitsPerSecond: 12_000, at: 3)]))
        try call.run(until: 10)
        let rate = try rate(call, 0)
        #expect(call.report.streams[0].isLinkTooSlow && call.report.streams[0].stepsDown == rate.stepsDown)
        #expect(rate.isTooSlow, "\(rate)")
    }

    /// AAC, Opus Custom, and PCM at a sample rate that Opus does not support have only one form.
    @Test(
        arguments: [(.aac, nil, 40_000), (.opusCustom, nil, 60_000), (.pcm, 44_100, 300_000)]
            as [(Codec, Double?, Double)])
    func `a peer that cannot send less reports a slow link, and clears the report afterwards`(
        codec: Codec, rate: Double?, capacity: Double
    ) throws {
        var configuration = CallSimulation.Configuration()
        configuration.codec = codec
        if let rate { for peer in configuration.peers.indices { configuration.peers[peer].sampleRate = rate } }
        let events: [NetworkEvent] = [
            .capacity(bitsPerSecond: capacity, at: 5), .capacity(bitsPerSecond: 5_000_000, at: 15),
        ]
        configuration.network = link(5_000_000)
        var call = try CallSimulation(configuration)
        call.links[0][1].profile = link(5_000_000, events)
        try call.run(until: 4.9)
        #expect(try !self.rate(call, 0).isTooSlow)
        try call.run(until: 14.9)
        let state = try self.rate(call, 0)
        #expect(state.isTooSlow && state.index == 0, "\(state)")
        #expect(call.report.streams.map(\.isLinkTooSlow) == [true, false])
        #expect(call.report.streams.map(\.stepsDown) == [0, 0])
        try call.run(until: 40)
        #expect(try !self.rate(call, 0).isTooSlow)
        #expect(call.report.streams.allSatisfy { !$0.isLinkTooSlow })
    }

    @Test func `a call without bit-rate adaptation breaks up on a slow link`() throws {
        var call = try call(.pcm, link(256_000), changesRate: false)
        try call.run(until: 10)
        #expect(try rate(call, 0).index == 0)
        #expect(concealed(call, 1, 5..<10) > 0.3)
    }

    /// A tone over every step up and down: the received sound stays a tone, at its level, without a click.
    @Test func `bit-rate steps do not click`() throws {
        var configuration = CallSimulation.Configuration()
        configuration.codec = .pcm
        configuration.network = link(
            nil, [.capacity(bitsPerSecond: 200_000, at: 3), .capacity(bitsPerSecond: nil, at: 5)])
        configuration.changesRate = true
        configuration.keepsFrom = 0
        for index in 0..<2 {
            configuration.peers[index].sound = SimulatedSound { frame, _ in sine(frame, frequency: 440, rate: 48_000) }
        }
        var call = try CallSimulation(configuration)
        try call.run(until: 24)
        let rate = try #require(call.peers[0].statistics.rate)
        #expect(rate.index == 0 && rate.stepsDown >= 1 && rate.stepsUp >= 1)
        let heard = call.peers[1].heard(4.5..<23.8).samples
        // A sine of 0.5 changes by at most 0.0288 per frame.
        var steepest: Float = 0
        for i in 1..<heard.count { steepest = max(steepest, abs(heard[i] - heard[i - 1])) }
        let amplitude = heard.map(abs).max() ?? 0
        #expect(steepest < 1.6 * 2 * .pi * 440 / 48_000 * amplitude, "\(steepest) of \(amplitude)")
        #expect(amplitude < 1.2 * (call.peers[1].heard(1..<2).samples.map(abs).max() ?? 0))
    }

    /// The queue drops most of what is sent to it, also requests. A sender that got none would send as much again when it no longer
    /// suspects its link, after two seconds; one that got a request waits for five. `EARSHOT_FIGURES` tries many capacities.
    @Test(arguments: codecs, [false, true])
    func `a request that the queue of a link that is slow both ways drops is repeated`(
        codec: Codec, isSlowLater: Bool
    ) throws {
        var capacities: [Double] = codec == .pcm ? [240_000, 260_000, 280_000, 340_000, 420_000] : [30_000, 45_000]
        if Self.makesFigures {
            let range: ClosedRange<Double> = codec == .pcm ? 60_000...700_000 : 20_000...60_000
            capacities = Array(stride(from: range.lowerBound, through: range.upperBound, by: 10_000))
        }
        var streamCount = 0
        var steps: [String] = []
        for capacity in capacities {
            for seed: UInt64 in 1...3 {
                var network = link(capacity)
                if isSlowLater { network = link(5_000_000, [.capacity(bitsPerSecond: capacity, at: 3)]) }
                var call = try call(codec, network, seed: seed)
                try call.run(until: isSlowLater ? 7.9 : 4.9)
                for peer in 0..<2 {
                    streamCount += 1
                    let stepsUp = try rate(call, peer).stepsUp
                    if codec == .pcm { #expect(try rate(call, peer).stepsDown > 0) }
                    if stepsUp > 0 { steps.append("\(capacity) b/s, seed \(seed), peer \(peer)") }
                }
            }
        }
        if Self.makesFigures { print("slow link figure: \(codec), \(isSlowLater): \(steps.count) of \(streamCount)") }
        #expect(steps.isEmpty, "\(steps.count) of \(streamCount) streams, the first: \(steps.first ?? "")")
    }

    @Test func `the same seed gives the same bytes`() throws {
        let digests = try (0..<2).map { _ in
            var call = try call(.pcm, link(640_000, [.capacity(bitsPerSecond: 64_000, at: 2)]), seed: 7)
            try call.run(until: 6)
            return call.report.digest
        }
        #expect(digests[0] == digests[1])
    }
}
