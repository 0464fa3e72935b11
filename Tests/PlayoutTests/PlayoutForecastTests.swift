// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotPlayout

@Suite struct PlayoutForecastTests {
    @Test func `a run of late packets is one glitch at each depth that it exceeds`() {
        var forecast = PlayoutForecast()
        // Two minutes; every 6 s a stall of 50 ms, every second a packet 5 ms late.
        for n in 0..<48_000 {
            let t = Double(n) * 0.0025
            let stall = max(0, 0.050 - t.truncatingRemainder(dividingBy: 6))
            forecast.add(delay: max(stall, n % 400 == 200 ? 0.005 : 0), at: t)
        }
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.004) - 70) < 1.5)
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.008) - 10) < 0.6)
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.040) - 10) < 0.6)
        #expect(forecast.glitchesPerMinute(atDepth: 0.060) == 0)
        // 4 ms of 50, and a stall every 6 s.
        #expect(abs(forecast.lateShare(atDepth: 0.010) - 0.040 / 6) < 0.000_5)
        #expect(forecast.observedSeconds > 100 && forecast.observedSeconds < 121)
        let text = forecast.text(forDepths: [0.008, 0.060])
        #expect(text.hasPrefix("8 ms: ") && text.contains(" glitches a minute; 60 ms: "), "\(text)")
        // Twenty stalls of 50 ms say little about 60, but certainly not a third as many.
        #expect(forecast.glitchRate(atDepth: 0.060).perMinute < 3)
    }

    @Test func `the glitch rate of a forecast without data is unknown`() {
        let forecast = PlayoutForecast()
        #expect("\(forecast.glitchRate(atDepth: 0.008))" == "unknown")
        #expect(forecast.text(forDepths: [0.008]) == "too little is known yet")
    }

    @Test func `one packet is enough for a late share`() {
        var forecast = PlayoutForecast()
        forecast.add(delay: 0.005, at: 0)
        #expect(forecast.lateShare(atDepth: 0.004) == 1 && forecast.lateShare(atDepth: 0.006) == 0)
    }

    @Test func `an untested depth is never forecast too optimistically`() {
        var forecast = PlayoutForecast()
        for n in 0..<4_000 { forecast.add(delay: n % 2 == 0 ? 0.011 : 0, at: Double(n) * 0.0025) }
        #expect(forecast.glitchesPerMinute(atDepth: 0.0115) > 0)
        #expect(forecast.glitchesPerMinute(atDepth: 0.012) == 0)
        #expect(forecast.depth(for: .talk) == 0.012)
        #expect(forecast.depth(for: .sing) == 0.012)
    }

    @Test(arguments: [(500, 0.006, 0.006), (111, 0.018, 0.000_12)])
    func `the depth for a low-latency profile is the knee, but not beyond its ceiling`(
        every: Int, delay: Double, right: Double
    ) {
        var forecast = PlayoutForecast()
        for n in 0..<60_000 { forecast.add(delay: n % every == 0 ? delay : 0, at: Double(n) * 0.001) }
        #expect(abs(forecast.depth(for: .sing) - right) < 0.1 * right, "\(forecast.depth(for: .sing))")
    }

    @Test func `the text of a forecast without data says that too little is known`() {
        #expect(PlayoutForecast().text(forDepths: [0.008]) == "too little is known yet")
        #expect(PlayoutForecast().glitchesPerMinute(atDepth: 0.01) == 0)
    }

    @Test(arguments: [LatencyProfile.talk, .sing])
    func `the forecast for a latency profile matches a later measurement`(profile: LatencyProfile) throws {
        var network = NetworkProfile.wifiCongested
        network.loss = 0
        var rig = PlayoutRig(configuration: .decoded(frames: 480, latencyProfile: .listen), seconds: 120)
        rig.delay = network.delays(seed: 1)
        rig.keepsOutput = false
        rig.historyInterval = 1
        let listened = try rig.run()
        rig.configuration.latencyProfile = profile
        rig.delay = network.delays(seed: 2)
        let talked = try rig.run()
        let depth =
            talked.history.filter { $0.time > 30 }.map(\.statistics.depth).reduce(0, +)
            / Double(talked.history.count { $0.time > 30 })
        let seen = Double(talked.since(30, \.glitches)) / 90 * 60
        let foretold = listened.forecast.glitchesPerMinute(atDepth: depth)
        // The network stalls twelve times a minute. One stall more or less in 90 s is 0.7 per minute, one in the two minutes of
        // the forecast is 0.5. Random lateness averages out: there are hundreds of such packets.
        #expect(abs(seen - foretold) < 0.03 * foretold + 1.2, "\(foretold) foretold, \(seen) seen at \(depth)")
        if printsFigures {
            print(listened.forecast.text(forDepths: [0.008, 0.015, 0.030, 0.040, 0.060, 0.080, 0.160]))
        }
    }

    @Test func `half a second is enough for a rate, and a second for the text of a forecast`() {
        var forecast = PlayoutForecast()
        for n in 0...10 { forecast.add(delay: n == 5 ? 0.005 : 0, at: 30 + Double(n) * 0.05) }
        #expect(abs(forecast.observedSeconds - 0.5) < 1e-9 && forecast.packetCount == 11)
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.004) - 120) < 1e-6)
        #expect(forecast.text(forDepths: [0.004]) == "too little is known yet")
        forecast.add(delay: 0, at: 31)
        #expect(forecast.text(forDepths: [0.004]) != "too little is known yet")
    }

    @Test func `an hour of observation weighs no more than ten minutes`() {
        var forecast = PlayoutForecast()
        for n in 0..<36_000 { forecast.add(delay: n % 100 == 0 ? 0.005 : 0, at: Double(n) * 0.1) }
        #expect((570...610).contains(forecast.observedSeconds), "\(forecast.observedSeconds)")
        #expect(abs(forecast.packetCount / forecast.observedSeconds - 10) < 0.1)
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.004) - 6) < 0.1)
        #expect(abs(forecast.lateShare(atDepth: 0.004) - 0.01) < 0.000_2)
        // A glitch per second in ten more minutes: two thirds of what is known by then are of these.
        for n in 36_000..<42_000 { forecast.add(delay: n % 10 == 0 ? 0.005 : 0, at: Double(n) * 0.1) }
        let share = (forecast.glitchesPerMinute(atDepth: 0.004) - 6) / 54
        #expect(abs(share - 0.64) < 0.02, "\(share)")
    }

    @Test func `a gap without packets counts as one second of observation at most`() {
        var forecast = PlayoutForecast()
        for n in 0..<3 { forecast.add(delay: 0, at: Double(n) * 4) }
        #expect(abs(forecast.observedSeconds - 2) < 1e-9, "each gap counts as a second")
        forecast.add(delay: 0, at: 8)
        forecast.add(delay: 0, at: 7)
        #expect(abs(forecast.observedSeconds - 2) < 1e-9, "packets that overtake each other pass no time")
        forecast.add(delay: 0, at: 8.5)
        #expect(abs(forecast.observedSeconds - 2.5) < 1e-9)
    }

    @Test func `a packet is late at exactly the depths that it exceeds`() {
        let depths = PlayoutForecast().knownDepths
        #expect(depths.count == 22 && depths == depths.sorted() && depths.first == 0.000_12 && depths.last == 0.5)
        for (at, depth) in depths.enumerated() {
            var forecast = PlayoutForecast()
            forecast.add(delay: depth, at: 0)
            #expect(forecast.lateShare(atDepth: depth) == 0)
            if at > 0 { #expect(forecast.lateShare(atDepth: depths[at - 1]) == 1) }
            forecast.add(delay: depth * 1.001, at: 1)
            #expect(forecast.lateShare(atDepth: depth) == 0.5)
            // A depth between two is reported as the smaller.
            #expect(forecast.lateShare(atDepth: depth * 1.01) == 0.5)
        }
        var forecast = PlayoutForecast()
        forecast.add(delay: 1, at: 0)
        #expect(forecast.lateShare(atDepth: 0) == 1 && forecast.lateShare(atDepth: 2) == 1)
    }

    @Test func `late packets in a row are one glitch, or two if a punctual packet lies between`() {
        var forecast = PlayoutForecast()
        let delays = [0, 0.005, 0.005, 0.012, 0.005, 0, 0.005, 0, 0.012, 0.003, 0.012]
        for (n, delay) in delays.enumerated() { forecast.add(delay: delay, at: Double(n)) }
        let minutes = forecast.observedSeconds / 60
        for (depth, glitches) in [(0.004, 4.0), (0.010, 3), (0.015, 0)] {
            #expect(abs(forecast.glitchesPerMinute(atDepth: depth) * minutes - glitches) < 1e-9, "at \(depth)")
        }
        // At a lower depth runs merge, but are just as audible.
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.002) * minutes - 4) < 1e-9)
    }

    @Test func `the smallest depth is chosen while no delay is known`() {
        #expect(PlayoutForecast().depth(for: .sing) == 0.000_12)
        #expect(PlayoutForecast().depth(for: .listen) == 0.000_12)
        var forecast = PlayoutForecast()
        for n in 0..<1_000 { forecast.add(delay: 0.3, at: Double(n) * 0.01) }
        #expect(forecast.depth(for: .sing) == 0.015 && forecast.depth(for: .talk) == 0.080)
        #expect(forecast.depth(for: .listen) == 0.320)
    }
}
