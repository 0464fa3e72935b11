// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotCall

@Suite struct CongestionMeterTests {
    /// Packets of a steady sender with the delays of a network path.
    private struct Sender {
        var meter = CongestionDetector()
        var sequence = 0
        var findings: [(at: Double, finding: CongestionDetector.Finding)] = []
        var reliefs: [Double] = []
        var arrived = 0.0

        /// Sends for some seconds.
        /// - Parameter delay: the seconds of delay for a packet sent at this time; nil if it is lost.
        mutating func send(
            every interval: Double, bytes: Int, _ seconds: Range<Double>, delay: (Double) -> Double?
        ) {
            let count = Int((seconds.upperBound - seconds.lowerBound) / interval)
            for n in 0..<count {
                let sent = seconds.lowerBound + Double(n) * interval
                sequence += 1
                guard let delay = delay(sent) else { continue }
                arrived = max(arrived + 1e-9, sent + delay)
                if let finding = meter.add(
                    sequence: sequence, end: sent, duration: interval, byteCount: bytes, at: arrived)
                {
                    findings.append((arrived, finding))
                }
                if meter.takeCleared() { reliefs.append(arrived) }
            }
        }
    }

    /// A queue before a link of this many bits per second.
    private func queue(_ bitRate: Double, bytes: Int, limit: Double = 0.2) -> (Double) -> Double? {
        var free = 0.0
        return { sent in
            if free - sent > limit { return nil }
            free = max(free, sent) + Double(8 * bytes) / bitRate
            return free - sent + 0.010
        }
    }

    @Test(arguments: [93_000.0, 256_000, 500_000, 800_000])
    func `a link slower than the stream is detected soon, with its bit rate`(bitRate: Double) throws {
        var sender = Sender()
        sender.send(every: 0.00267, bytes: 296, 0..<5) { _ in 0.010 }
        #expect(sender.findings.isEmpty)
        sender.send(every: 0.00267, bytes: 296, 5..<8, delay: queue(bitRate, bytes: 296))
        let first = try #require(sender.findings.first)
        // A queue of 50 ms, and three slots, or ten, of which the last must end.
        let growth = 888_000 / bitRate - 1
        #expect(first.at < 5 + 0.2 + 0.050 / growth + (growth < 0.3 ? 0.4 : 0.1), "\(first)")
        #expect(abs(first.finding.bitRate / bitRate - 1) < 0.1, "\(first)")
        #expect(first.finding.isSevere == (bitRate < 300_000))
        #expect(sender.findings.count <= 16)
    }

    /// A card that claims 48 kHz and runs at 44.1.
    @Test func `a sender's slow clock is not taken for a slow link once its drift is known`() {
        var sender = Sender()
        let slow: (Double) -> Double? = { sent in 0.010 + sent * (48_000 / 44_100 - 1) }
        sender.send(every: 0.00267, bytes: 296, 0..<15, delay: slow)
        #expect(!sender.findings.isEmpty, "it cannot be told from a queue that grows")
        sender.meter.follow(drift: 44_100 / 48_000 - 1)
        let before = sender.findings.count
        sender.send(every: 0.00267, bytes: 296, 15..<40, delay: slow)
        #expect(sender.findings.count == before)
        // A link that becomes too slow is still detected.
        var free = 0.0
        sender.send(every: 0.00267, bytes: 296, 40..<43) { sent in
            let at = sent * 48_000 / 44_100
            free = max(free, at) + 8 * 296 / 400_000
            return free - at + 0.010 + at - sent
        }
        #expect(sender.findings.count > before)
    }

    /// No slot is open when the next packet of 60 ms arrives.
    @Test func `a timeline that falls back restarts the detector, however long the packets are`() {
        var sender = Sender()
        sender.send(every: 0.06, bytes: 160, 0..<10) { _ in 0.010 }
        sender.sequence += 1
        // The card was stopped for 3 s; then packets arrive with the jitter of Wi-Fi.
        var random = SeededRandom(seed: 3)
        for n in 0..<200 {
            sender.sequence += 1
            let at = 13 + Double(n) * 0.06 + 0.02 * random.unit()
            if let finding = sender.meter.tick(at: at) { sender.findings.append((at, finding)) }
            if let finding = sender.meter.add(
                sequence: sender.sequence, end: 10 + Double(n) * 0.06, duration: 0.06, byteCount: 160, at: at)
            {
                sender.findings.append((at, finding))
            }
            if let finding = sender.meter.tick(at: at + 0.045) { sender.findings.append((at, finding)) }
        }
        #expect(sender.findings.isEmpty, "\(sender.findings)")
    }

    /// PCM packets that arrive one at a time, as on a link that is far too slow.
    @Test func `a link that is far too slow is detected after two packets`() throws {
        var sender = Sender()
        sender.send(every: 0.00267, bytes: 296, 0..<0.006, delay: queue(32_000, bytes: 296, limit: 0.75))
        var findings = sender.findings
        var at = sender.arrived
        while findings.isEmpty, at < sender.arrived + 0.1 {
            at += 0.001
            if let finding = sender.meter.tick(at: at) { findings.append((at, finding)) }
        }
        let first = try #require(findings.first)
        #expect(first.at < 0.21 && first.finding.isSevere && abs(first.finding.bitRate - 32_000) < 1_000, "\(first)")
    }

    @Test func `relief is reported once, when the queue has emptied`() {
        var sender = Sender()
        sender.send(every: 0.01, bytes: 228, 0..<3) { _ in 0.010 }
        let slow = queue(90_000, bytes: 228)
        sender.send(every: 0.01, bytes: 228, 3..<4, delay: slow)
        #expect(!sender.findings.isEmpty && sender.reliefs.isEmpty)
        sender.send(every: 0.02, bytes: 100, 4..<8) { _ in 0.012 }
        #expect(sender.reliefs.count == 1)
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `jitter, loss, stalls and a change of path are not taken for a slow link`(seed: UInt64) {
        for (interval, bytes) in [(0.00267, 296), (0.01, 120), (0.02, 200)] {
            var random = SeededRandom(seed: seed)
            var sender = Sender()
            var released = 0.0
            sender.send(every: interval, bytes: bytes, 0..<120) { sent in
                if random.unit() < 0.10 { return nil }
                // Every five seconds nothing arrives for 150 ms, then everything at once; after half a minute another path takes
                // 80 ms more.
                let phase = sent.truncatingRemainder(dividingBy: 5)
                let jitter = (sent > 28 ? 0.02 : 0.04) * random.unit() * random.unit()
                var delay = 0.020 + jitter + (sent > 30 ? 0.08 : 0)
                if sent > 1, phase < 0.15 { delay = max(delay, 0.15 - phase) }
                released = max(released, sent + delay)
                return released - sent
            }
            #expect(sender.findings.isEmpty, "\(interval): \(sender.findings)")
        }
    }

    @Test(arguments: [0.020, 0.060, 0.120]) func `reordered packets are not taken for lost ones`(jitter: Double) {
        var random = SeededRandom(seed: 7)
        let packets = (0..<22_500).compactMap { n -> (sequence: Int, end: Double, arrival: Double)? in
            let end = Double(n) * 0.002_67
            return random.unit() < 0.05 ? nil : (n, end, end + 0.005 + jitter * random.unit())
        }
        var meter = CongestionDetector()
        var findings: [CongestionDetector.Finding] = []
        for packet in packets.sorted(by: { $0.arrival < $1.arrival }) {
            let finding = meter.add(
                sequence: packet.sequence, end: packet.end, duration: 0.002_67, byteCount: 296, at: packet.arrival)
            if let finding { findings.append(finding) }
        }
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `an outage of half a second is not taken for a slow link`() {
        var sender = Sender()
        sender.send(every: 0.01, bytes: 200, 0..<20) { (5..<5.5).contains($0) ? nil : 0.01 }
        #expect(sender.findings.isEmpty)
    }

    /// A policer drops the excess, and nothing is queued.
    @Test func `a link that drops packets without queueing them is detected by its loss`() throws {
        var sender = Sender()
        var count = 0
        sender.send(every: 0.01, bytes: 200, 0..<5) { _ in
            count += 1
            return count % 2 == 0 ? nil : 0.01
        }
        #expect(sender.findings.first.map { $0.at < 1.5 } == true)
    }

    @Test func `clock drift is not taken for a queue`() {
        for drift in [300e-6, -300e-6] {
            var sender = Sender()
            sender.send(every: 0.02, bytes: 200, 0..<3_600) { 0.01 + drift * $0 }
            #expect(sender.findings.isEmpty && sender.reliefs.isEmpty)
        }
    }
}
