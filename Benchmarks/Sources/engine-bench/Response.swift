// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import EarshotAudioBase
import EarshotAudioEngine
import Foundation
import PairedTimes

/// The time from an edit until it is heard.
enum Response {
    static func figures() throws -> [Report] { [try manual()] + [try live()] + (try compiling()) }

    /// Measures the frames until the first sample that differs, if edits are applied before each block.
    private static func manual() throws -> Report {
        let engine = AudioEngine()
        let source = Graphs.tone(0)
        try engine.attach(source)
        try engine.enableManualRendering(
            format: AudioFormat(sampleRate: 48_000, channelCount: 2), maximumFrameCount: 64)
        let output = AudioBuffer(channelCount: 2, frameCapacity: 64)
        var frames: [Double] = []
        for _ in 0..<100 {
            for _ in 0..<50 { try engine.renderOffline(output.channels, frameCount: 64) }
            try engine.connect(source, to: engine.mainMixerNode, bus: 0)
            var at = 0
            while true {
                try engine.renderOffline(output.channels, frameCount: 64)
                if let first = (0..<64).first(where: { output.channels[0][$0] != 0 }) {
                    frames.append(Double(at + first))
                    break
                }
                at += 64
            }
            try engine.disconnectNodeInput(engine.mainMixerNode, bus: 0)
        }
        return Report(
            "connect() to the first changed sample, rendered into memory in blocks of 64, most of 100",
            frames.max() ?? 0, "frames", .atMost(64), against: "the block after it")
    }

    /// Measures the blocks in real time until it is heard, if the engine's own thread compiles.
    private static func live() throws -> Report {
        let engine = AudioEngine()
        let source = Graphs.tone(0)
        try engine.attach(source)
        let run = try EngineRun(engine)
        var blocks: [Double] = []
        let start = HostTime.now()
        var due = 0.0
        func paced() {
            due += 64.0 / 48_000
            let wait = due - HostTime.now().seconds(since: start)
            if wait > 0 { usleep(useconds_t(wait * 1e6)) }
            run.block()
        }
        for _ in 0..<40 {
            for _ in 0..<30 { paced() }
            try engine.connect(source, to: engine.mainMixerNode, bus: 0)
            for number in 1...1_000 {
                paced()
                if (0..<64).contains(where: { run.output.channels[0][$0] != 0 }) {
                    blocks.append(Double(number))
                    break
                }
            }
            try engine.disconnectNodeInput(engine.mainMixerNode, bus: 0)
        }
        return Report(
            "connect() to the first block that sounds otherwise, in real time at 64 frames (1.333 ms), median of 40 (most "
                + "\(Int(blocks.max() ?? 0)))", median(blocks), least: blocks.min() ?? 0, "blocks", .atMost(2),
            against: "the block after it")
    }

    /// Measures the control thread's time for a large graph.
    private static func compiling() throws -> [Report] {
        var (first, edits, accepted): ([Double], [Double], [Double]) = ([], [], [])
        let output = AudioBuffer(channelCount: 2, frameCapacity: 64)
        for _ in 0..<5 {
            let engine = try Concert().engine
            let start = HostTime.now()
            try engine.enableManualRendering(
                format: AudioFormat(sampleRate: 48_000, channelCount: 2), inputChannelCount: 2, maximumFrameCount: 64)
            first.append(HostTime.now().seconds(since: start) * 1e3)
            let source = Graphs.tone(0)
            try engine.attach(source)
            for number in 0..<20 {
                for _ in 0..<20 { try engine.renderOffline(output.channels, frameCount: 64) }
                let start = HostTime.now()
                if number.isMultiple(of: 2) {
                    try engine.connect(source, to: engine.mainMixerNode, bus: 40)
                } else {
                    try engine.disconnectNodeInput(engine.mainMixerNode, bus: 40)
                }
                accepted.append(HostTime.now().seconds(since: start) * 1e3)
                try engine.renderOffline(output.channels, frameCount: 64)
                edits.append(HostTime.now().seconds(since: start) * 1e3)
            }
        }
        let words = "\(LargeGraph.nodeCount) nodes with 16 × 7 ways into mixers"
        return [
            Report(
                "\(words), compiled for the first time with all their units", median(first), "ms", against: "nothing"),
            Report(
                "\(words), one connection changed: connect() itself \(decimal(median(accepted), 2)) ms; with what the engine's "
                    + "own thread compiles", median(edits), least: edits.min() ?? 0, "ms", .atMost(20),
                against: "the fade of 20 ms"),
        ]
    }
}
