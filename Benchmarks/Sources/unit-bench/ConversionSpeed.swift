// SPDX-License-Identifier: Apache-2.0

import CKernels
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioDSP
@testable import UnitMeasures

extension KernelSpeed {
    static func conversions() -> [Figure] {
        [1, 2].flatMap { channels in
            conversion(.int16, 16, channels) + conversion(.int24, 24, channels) + conversion(.int32, 32, channels)
        }
    }

    private static func conversion(_ type: SampleType, _ bits: Int32, _ channels: Int) -> [Figure] {
        let (frames, channels) = (opaque(256), opaque(channels))
        let rig = Rig(inputs: channels, outputs: channels, frames: frames)
        let size = type.byteCount * channels * frames
        // Half a page away from the samples, so that aliasing of addresses does not differ between runs.
        func place() -> (memory: UnsafeMutableRawPointer, start: UnsafeMutableRawPointer) {
            let memory = UnsafeMutableRawPointer.allocate(byteCount: size + 8_192, alignment: 4_096)
            let place = (Int(bitPattern: rig.ours.channels[0]) + 2_048) & 4_095
            return (memory, memory + place)
        }
        let ((ours, a), (theirs, b)) = (place(), place())
        defer {
            ours.deallocate()
            theirs.deallocate()
        }
        type.write(rig.from.channels, frameCount: frames, into: a, channelCount: channels)
        ck_write(bits, rig.from.channels.pointers, frames, b, channels)
        require(
            (0..<size).allSatisfy {
                a.load(fromByteOffset: $0, as: UInt8.self) == b.load(fromByteOffset: $0, as: UInt8.self)
            }, "\(type) written")
        type.read(a, channelCount: channels, frameCount: frames, into: rig.ours.channels)
        ck_read(bits, b, channels, frames, rig.theirs.channels.pointers)
        require(rig.difference == 0, "\(type) read")
        let name = "\(type), \(channels) channel\(channels == 1 ? "" : "s"), 256 frames"
        return [
            figure("\(name) to float") {
                type.read(a, channelCount: channels, frameCount: frames, into: rig.ours.channels)
            } theirs: {
                ck_read(bits, a, channels, frames, rig.ours.channels.pointers)
            },
            figure("float to \(name)") {
                type.write(rig.from.channels, frameCount: frames, into: a, channelCount: channels)
            } theirs: {
                ck_write(bits, rig.from.channels.pointers, frames, a, channels)
            },
        ]
    }

    /// Measures the equalizer as an engine calls it, compared with its cascade in C and a textbook's.
    static func cascades() -> [Figure] { [5, 8].flatMap(cascade) }

    private static func cascade(_ sections: Int) -> [Figure] {
        let frames = opaque(64)
        let rig = Rig(inputs: 2, outputs: 2, frames: frames)
        let unit = UnitType.equalizer.makeUnit(sampleRate: 48_000, channelCount: 2)
        let (svf, biquad) = (ck_cascade_new(sections), ck_cascade_new(sections))
        defer {
            ck_cascade_free(svf)
            ck_cascade_free(biquad)
        }
        var changes: [String: Float] = [:]
        for n in 1...sections {
            let frequency = 100 * Float(1 << n) / 2
            changes["band\(n).type"] = 0
            changes["band\(n).frequency"] = frequency
            changes["band\(n).gain"] = 3
            changes["band\(n).q"] = 2
            for cascade in [svf, biquad] { ck_cascade_peak(cascade, n - 1, Double(frequency), 3, 2, 48_000) }
        }
        unit.set(EqualizerMeasure.values("flat", changes))
        let (input, output) = (rig.from.channels.pointers, rig.theirs.channels.pointers)
        let same = rig.ours.channels.pointers
        let (ours, from) = (rig.ours.channels, rig.from.channels)
        for cascade in [svf, biquad] {
            unit.reset()
            for _ in 0..<20 {
                unit.process(from, ours, frameCount: frames)
                if cascade == svf {
                    ck_cascade_svf(cascade, input, output, frames)
                } else {
                    ck_cascade_biquad(cascade, input, output, frames)
                }
            }
            require(rig.difference < 1e-5, "cascade of \(sections)")
        }
        let name = "equalizer of \(sections) bands, 2 channels, 64 frames"
        return [
            figure(name, operations: 200) {
                unit.process(from, ours, frameCount: frames)
            } theirs: {
                ck_cascade_svf(svf, input, same, frames)
            },
            figure(name, against: "a textbook's biquads in C, clang -O3", operations: 200) {
                unit.process(from, ours, frameCount: frames)
            } theirs: {
                ck_cascade_biquad(biquad, input, same, frames)
            },
        ]
    }
}
