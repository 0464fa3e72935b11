// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotPlayout

@Suite struct BlockGridTests {
    /// A sender and a device on virtual time, both with blocks of 64 frames at 48 kHz, and the target delays.
    private struct Line {
        static let unit = 64 / 48_000.0
        var drift = 0.0
        var wanted: (Double) -> Double = { _ in 0.0020 }
        var position: (Int) -> Int = { $0 * 64 }
        var known = true
        var seconds = 60.0

        /// For each block, reports the target above a packet's end, and the least safe one there.
        func run(_ each: (_ time: Double, _ aim: BlockGrid.Aim, _ wanted: Double, _ least: Double) -> Void) {
            var grid = BlockGrid()
            for k in 0..<Int(seconds / Self.unit) {
                let now = Double(k) * Self.unit
                let position = position(k)
                grid.addPacket(position: position, frameCount: 64, at: now)
                grid.addBlock(sampleTime: Int64(k * 64), frameCount: 64, at: now)
                let wanted = wanted(now) - drift * now
                let aim = grid.aim(wanted: wanted, rate: 48_000, drift: drift, now: now, isKnown: known)
                let place = now - Double(position) / 48_000
                let units = ((wanted - place) / Self.unit).rounded(.down)
                each(now, aim, wanted, place + units * Self.unit)
            }
        }
    }

    @Test(arguments: 0..<20) func `the delay is just enough to reach the callback before the latest packet`(
        step: Int
    ) {
        let over = (Double(step) + 0.5) / 20 * Line.unit
        var line = Line()
        line.wanted = { _ in 2 * Line.unit + over }
        var last = (aim: 0.0, wanted: 0.0, least: 0.0)
        line.run { _, aim, wanted, least in last = (aim.offset, wanted, least) }
        #expect(last.aim >= last.least && last.aim <= last.wanted)
        // Three frames of reserve; on the last tenth before the next callback the whole delay is kept.
        if over < 0.9 * Line.unit { #expect(last.aim - last.least < 0.000_06) }
    }

    @Test(arguments: [-150e-6, -100e-6, -20e-6, -5e-6, 5e-6, 20e-6, 100e-6, 150e-6])
    func `the delay stays sufficient at any drift, changes inaudibly, and is lower on average`(
        drift: Double
    ) {
        var line = Line(drift: drift)
        line.seconds = 600
        var (short, steep, jumps, saved, count) = (0, 0, 0, 0.0, 0)
        var (astray, farthest) = (0.0, 0.0)  // of a delay that goes by the slopes, and errs two thirds less after 2 s
        var before: Double?
        line.run { time, aim, wanted, least in
            if aim.offset < least - 1e-12 { short += 1 }
            // Relative to a delay that follows the drift.
            if abs(aim.slope + drift) > 577.8e-6 { steep += 1 }
            if let before, abs(aim.offset - before) > 577.8e-6 * Line.unit + 1e-12 { jumps += 1 }
            astray += (before ?? aim.offset) - aim.offset + aim.slope * Line.unit - astray * Line.unit / 2
            farthest = max(farthest, abs(astray))
            before = aim.offset
            saved += wanted - aim.offset
            count += 1
        }
        #expect(short == 0 && steep == 0 && jumps == 0)
        #expect(farthest < 0.000_02, "\(farthest * 1e3) ms")
        let share = saved / Double(count) / Line.unit
        #expect(share > (abs(drift) < 50e-6 ? 0.25 : 0.1), "\(share)")
    }

    @Test func `increased jitter is followed at once`() {
        var line = Line()
        line.wanted = { $0 < 30 ? 0.0020 : 0.0071 }
        line.run { time, aim, _, least in #expect(aim.offset >= least - 1e-12, "at \(time)") }
    }

    @Test func `an unsteady target delay leaves the resulting delay steady`() {
        var random = SeededRandom(seed: 4)
        var line = Line()
        line.wanted = { _ in 2.5 * Line.unit + 0.0003 * random.unit() - 0.000_15 }
        var moved = 0
        var before: Double?
        line.run { time, aim, _, _ in
            if time > 10, let before, before != aim.offset { moved += 1 }
            before = aim.offset
        }
        #expect(moved < 100, "\(moved)")
    }

    @Test func `the delay equals its target if positions jump or too little is known`() {
        var line = Line()
        line.known = false
        line.run { _, aim, wanted, _ in #expect(aim.offset == wanted) }
        line.known = true
        line.position = { $0 * 64 + $0 / 500 * 10 }  // a gap each 0.67 s
        line.run { _, aim, wanted, _ in #expect(aim.offset == wanted) }
        line.position = { $0 * 64 + ($0 > 30_000 ? 10 : 0) }  // one, after 40 s
        line.run { time, aim, _, least in #expect(aim.offset >= least - 1e-12, "at \(time)") }
    }

    /// The block and packet lengths from 10 s on.
    enum Change: CaseIterable {
        case shorterBlocks, longerBlocks, skippedFrames, shorterPackets, longerPackets
    }

    @Test(arguments: Change.allCases)
    func `the delay equals its target for two seconds after blocks or packets change`(change: Change) {
        var grid = BlockGrid()
        var (packets, blocks) = (128, 128)
        var (position, sampleTime) = (0, 0)
        var (before, later) = (0.0, 0.0)
        var isChanged = false
        while sampleTime < 20 * 48_000 {
            let now = Double(sampleTime) / 48_000
            if now >= 10, !isChanged {
                isChanged = true
                switch change {
                case .shorterBlocks: blocks = 64
                case .longerBlocks: blocks = 256
                case .skippedFrames: sampleTime += 10
                case .shorterPackets: packets = 64
                case .longerPackets: packets = 256
                }
            }
            grid.addBlock(sampleTime: Int64(sampleTime), frameCount: blocks, at: now)
            while position < sampleTime {
                grid.addPacket(position: position, frameCount: packets, at: now)
                position += packets
            }
            // 0.6 ms above a position, so that a lower delay is always sufficient.
            let wanted = 4 * 128 / 48_000.0 + 0.000_6
            let saved = wanted - grid.aim(wanted: wanted, rate: 48_000, drift: 0, now: now, isKnown: true).offset
            if now > 9, now < 10 { before = max(before, saved) }
            if now >= 10, now < 11.99 { #expect(saved == 0, "at \(now)") }
            if now > 18 { later = max(later, saved) }
            sampleTime += blocks
        }
        #expect(before > 0.000_3, "\(before)")
        #expect(later > 0.000_3, "\(later)")
    }

    @Test(arguments: [(64, 120), (480, 480), (16, 16), (64, 63)])
    func `blocks and packets that are too short, too long or unequal are not followed`(block: Int, packet: Int) {
        var grid = BlockGrid()
        for k in 0..<20_000 {
            let now = Double(k * block) / 48_000
            grid.addPacket(position: k * packet, frameCount: packet, at: now)
            grid.addBlock(sampleTime: Int64(k * block), frameCount: block, at: now)
            let aim = grid.aim(wanted: now + 0.002, rate: 48_000, drift: 0, now: now, isKnown: true)
            #expect(aim.offset == now + 0.002)
        }
    }

    /// Runs blocks and packets of one length at 48 kHz. The requested delay is half a unit above a position.
    private func run(
        unit frames: Int, drift: Double = 0, seconds: Double = 10, first: (position: Int, sampleTime: Int) = (0, 0),
        packetsEach: Int = 1,
        _ each: (_ time: Double, _ grid: inout BlockGrid, _ saved: Double, _ slope: Double) -> Void
    ) {
        var grid = BlockGrid()
        let unit = Double(frames) / 48_000
        for k in 0..<Int(seconds / unit) {
            let now = Double(k * frames + first.sampleTime) / 48_000
            if k % packetsEach == 0 {
                grid.addPacket(position: first.position + k * frames, frameCount: frames, at: now)
            }
            grid.addBlock(sampleTime: Int64(first.sampleTime + k * frames), frameCount: frames, at: now)
            let origin = Double(first.sampleTime - first.position) / 48_000
            let wanted = origin + 2.5 * unit - drift * Double(k) * unit
            let aim = grid.aim(wanted: wanted, rate: 48_000, drift: drift, now: now, isKnown: true)
            each(Double(k) * unit, &grid, wanted - aim.offset, aim.slope)
        }
    }

    private func saved(unit frames: Int, drift: Double = 0, first: (position: Int, sampleTime: Int) = (0, 0)) -> Double
    {
        var last = 0.0
        run(unit: frames, drift: drift, first: first) { _, _, saved, _ in last = saved }
        return last
    }

    @Test(arguments: [(23, false), (24, true), (144, true), (145, false)])
    func `blocks from half a millisecond to three milliseconds are followed`(frames: Int, isFollowed: Bool) {
        #expect((saved(unit: frames) > 0) == isFollowed)
    }

    @Test(arguments: [-149e-6, 149e-6, -151e-6, 151e-6])
    func `clocks more than 150 ppm apart keep the target delay`(drift: Double) {
        var (least, most) = (0.0, 0.0)
        run(unit: 64, drift: drift, seconds: 60) { _, _, saved, _ in
            (least, most) = (min(least, saved), max(most, saved))
        }
        #expect(least >= -1e-12)
        #expect(abs(drift) < 150e-6 ? most > 0.000_2 : most < 1e-6, "\(most)")
    }

    @Test(arguments: [(10, 0), (0, 7), (-300, 1_000_003), (64 * 3 + 5, 64 * 5 + 9)])
    func `the initial position and sample time make no difference to the delay`(position: Int, sampleTime: Int) {
        // Half a unit, minus two and a half frames.
        #expect(abs(saved(unit: 64, first: (position, sampleTime)) - 29.5 / 48_000) < 1e-9)
    }

    @Test(arguments: [2, 3, 8]) func `missing packets do not change the delay`(each: Int) {
        var whole: [Double] = []
        run(unit: 64) { _, _, saved, _ in whole.append(saved) }
        var farthest = 0.0
        var at = 0
        run(unit: 64, packetsEach: each) { _, _, saved, _ in
            farthest = max(farthest, abs(saved - whole[at]))
            at += 1
        }
        #expect(farthest < 1e-9, "\(farthest)")
    }

    @Test func `the delay is reduced after four seconds of regular packets, at the grid's own slew rate`() {
        var first: Double?
        var (before, steps) = (0.0, [Double]())
        run(unit: 64) { time, _, saved, slope in
            if saved > 0, first == nil { first = time }
            if saved > before {
                steps.append((saved - before) / (64 / 48_000.0))
                if saved < 29 / 48_000.0 { #expect(slope == -BlockGrid.slew) }
            }
            before = saved
        }
        #expect((3.99...4.02).contains(first ?? 0), "\(first ?? 0)")
        #expect(steps.dropLast().allSatisfy { abs($0 - 400e-6) < 1e-9 })
    }

    @Test
    func `a released grid reduces the delay again after two seconds, and a reset one after four`() {
        for (isReset, wait) in [(false, 2.0), (true, 4.0)] {
            var first: Double?
            run(unit: 64, seconds: 20) { time, grid, saved, _ in
                if time < 9.999_5 { return }
                if time < 10.000_5 {
                    #expect(saved > 0)
                    if isReset { grid.reset() } else { grid.release() }
                } else if saved > 0, first == nil {
                    first = time - 10
                }
            }
            #expect(abs((first ?? 0) - wait) < 0.02, "\(first ?? 0)")
        }
    }
}
