import Testing
import TestSupport

@testable import Playout

@Suite struct PlayoutForecastTests {
    @Test func `a run of late packets is one glitch at each depth below it`() {
        var forecast = PlayoutForecast()
        // Two minutes; every 6 s a stall of 50 ms, every second one packet 5 ms late.
        for n in 0..<48_000 {
            let t = Double(n) * 0.0025
            let stall = max(0, 0.050 - t.truncatingRemainder(dividingBy: 6))
            forecast.add(delay: max(stall, n % 400 == 200 ? 0.005 : 0), at: t)
        }
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.004) - 70) < 1.5)
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.008) - 10) < 0.6)
        #expect(abs(forecast.glitchesPerMinute(atDepth: 0.040) - 10) < 0.6)
        #expect(forecast.glitchesPerMinute(atDepth: 0.060) == 0)
        // 4 ms of 50 and more of 6 s.
        #expect(abs(forecast.lateShare(atDepth: 0.010) - 0.040 / 6) < 0.000_5)
        #expect(forecast.observedSeconds > 100 && forecast.observedSeconds < 121)
        let text = forecast.text(forDepths: [0.008, 0.060])
        #expect(text.hasPrefix("8 ms: ") && text.contains(" glitches a minute; 60 ms: "), "\(text)")
        // Twenty stalls of 50 ms say little of 60, but surely not a third as many.
        #expect(forecast.glitchRate(atDepth: 0.060).perMinute < 3)
    }

    @Test func `before anything was seen it says that it knows nothing`() {
        let forecast = PlayoutForecast()
        #expect("\(forecast.glitchRate(atDepth: 0.008))" == "unknown")
        #expect(forecast.text(forDepths: [0.008]) == "too little is known yet")
    }

    @Test func `one packet is enough for a share`() {
        var forecast = PlayoutForecast()
        forecast.add(delay: 0.005, at: 0)
        #expect(forecast.lateShare(atDepth: 0.004) == 1 && forecast.lateShare(atDepth: 0.006) == 0)
    }

    @Test func `a depth that nobody tried is never told too good`() {
        var forecast = PlayoutForecast()
        for n in 0..<4_000 { forecast.add(delay: n % 2 == 0 ? 0.011 : 0, at: Double(n) * 0.0025) }
        #expect(forecast.glitchesPerMinute(atDepth: 0.0115) > 0)
        #expect(forecast.glitchesPerMinute(atDepth: 0.012) == 0)
        #expect(forecast.depth(for: .talk) == 0.012)
        #expect(forecast.depth(for: .sing) == 0.012)
    }

    @Test(arguments: [(500, 0.006, 0.006), (111, 0.018, 0.000_12)])
    func `a quick dial's depth is the knee, but none beyond its ceiling`(every: Int, delay: Double, right: Double) {
        var forecast = PlayoutForecast()
        for n in 0..<60_000 { forecast.add(delay: n % every == 0 ? delay : 0, at: Double(n) * 0.001) }
        #expect(abs(forecast.depth(for: .sing) - right) < 0.1 * right, "\(forecast.depth(for: .sing))")
    }

    @Test func `before anything is known it says so`() {
        #expect(PlayoutForecast().text(forDepths: [0.008]) == "too little is known yet")
        #expect(PlayoutForecast().glitchesPerMinute(atDepth: 0.01) == 0)
    }

    @Test(arguments: [PlayoutDial.talk, .sing])
    func `what was forecast for a dial is what comes of it`(dial: PlayoutDial) throws {
        var network = NetworkProfile.wifiCongested
        network.loss = 0
        var rig = PlayoutRig(configuration: .decoded(frames: 480, dial: .listen), seconds: 120)
        rig.delay = network.delays(seed: 1)
        rig.keepsOutput = false
        rig.historyInterval = 1
        let listened = try rig.run()
        rig.configuration.dial = dial
        rig.delay = network.delays(seed: 2)
        let talked = try rig.run()
        let depth =
            talked.history.filter { $0.time > 30 }.map(\.statistics.depth).reduce(0, +)
            / Double(talked.history.count { $0.time > 30 })
        let seen = Double(talked.since(30, \.glitches)) / 90 * 60
        let foretold = listened.forecast.glitchesPerMinute(atDepth: depth)
        // The network stalls twelve times a minute. One stall more or less in 90 s is 0.7 a minute, one in the two minutes
        // of which the forecast is made is 0.5. What is late by chance averages out: there are hundreds of it.
        #expect(abs(seen - foretold) < 0.03 * foretold + 1.2, "\(foretold) foretold, \(seen) seen at \(depth)")
        if printsFigures {
            print(listened.forecast.text(forDepths: [0.008, 0.015, 0.030, 0.040, 0.060, 0.080, 0.160]))
        }
    }
}
