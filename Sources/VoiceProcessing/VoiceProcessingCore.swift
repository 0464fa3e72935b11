// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The worker without its thread: it reads the render callback's sound, processes whole frames of 10 ms at the library's sample
/// rate, and returns them at the device's.
struct VoiceProcessingCore: ~Copyable {
    private let processor: VoiceProcessor
    private let input: AudioRing.Reader
    private let output: AudioRing.Writer
    private let converts: Bool  // else the two below are never used
    private var toLibrary: Resampler
    private var toDevice: Resampler
    private let taken: AudioBuffer  // microphone and reference at the device's rate
    private let frame: AudioBuffer  // the same at the library's, 10 ms
    private let cleaned: AudioBuffer
    private let given: AudioBuffer
    private var filled = 0  // frames of `frame`
    private var monitor: VoiceProcessingMonitor
    private static let chunk = 480

    init(
        processor: VoiceProcessor, deviceRate: Double, input: AudioRing.Reader, output: AudioRing.Writer
    ) {
        self.processor = processor
        self.input = input
        self.output = output
        let rate = Double(processor.sampleRate)
        converts = rate != deviceRate
        toLibrary = Self.converter(from: deviceRate, to: rate, channelCount: 2)
        toDevice = Self.converter(from: rate, to: deviceRate, channelCount: 1)
        taken = AudioBuffer(channelCount: 2, frameCapacity: Self.chunk)
        frame = AudioBuffer(channelCount: 2, frameCapacity: processor.frameCount)
        cleaned = AudioBuffer(channelCount: 1, frameCapacity: processor.frameCount)
        given = AudioBuffer(channelCount: 1, frameCapacity: Self.chunk * 8)
        monitor = VoiceProcessingMonitor(options: processor.options)
    }

    static func converter(from: Double, to: Double, channelCount: Int) -> Resampler {
        Resampler(from: from, to: to, channelCount: channelCount, halfLength: 32, maximumFrameCount: chunk * 8)
    }

    /// Returns the delay of the sample rate converters in frames at the device's sample rate.
    static func conversionFrames(deviceRate: Double, rate: Double) -> Int {
        guard rate != deviceRate else { return 0 }
        let up = converter(from: deviceRate, to: rate, channelCount: 1)
        let down = converter(from: rate, to: deviceRate, channelCount: 1)
        return up.halfLength + Int((Double(down.halfLength) * deviceRate / rate).rounded(.up)) + 4
    }

    var statistics: VoiceStatistics { processor.statistics }
    /// True if there is sound to read.
    var hasInput: Bool { input.heldFrames > 0 }

    /// Processes all available sound.
    /// - Returns: the monitor's finding, if any.
    mutating func run() throws(VoiceProcessingError) -> VoiceProcessingFinding? {
        while true {
            let room = converts ? Self.chunk : processor.frameCount - filled
            let got = input.read(taken.channels, frameCount: min(room, Self.chunk)).frameCount
            if got == 0 { return nil }
            if let finding = try enqueueFrames(got) { return finding }
        }
    }

    /// Reports the frames that the callback requested, and the late ones, to the monitor.
    mutating func observe(wanted: Int, late: Int, sampleRate: Double) -> VoiceProcessingFinding? {
        monitor.observe(wanted: wanted, late: late, sampleRate: sampleRate)
    }

    private mutating func enqueueFrames(_ count: Int) throws(VoiceProcessingError) -> VoiceProcessingFinding? {
        guard converts else {
            for c in 0..<2 { copySamples(frame.channels[c] + filled, taken.channels[c], count) }
            filled += count
            return filled == processor.frameCount ? try clean() : nil
        }
        let at = toLibrary.inputOffset
        for c in 0..<2 { copySamples(toLibrary.input[c] + at, taken.channels[c], count) }
        var added = count
        while true {
            let most = min(toLibrary.outputAvailable(afterAdding: added), processor.frameCount - filled)
            toLibrary.render(frame.channels, frameCount: most, offset: filled, adding: added)
            added = 0
            filled += most
            guard filled == processor.frameCount else { return nil }
            if let finding = try clean() { return finding }
        }
    }

    private mutating func clean() throws(VoiceProcessingError) -> VoiceProcessingFinding? {
        filled = 0
        let count = processor.frameCount
        try processor.process(
            microphone: frame.channels[0], reference: frame.channels[1], into: cleaned.channels[0])
        if let finding = monitor.observe(
            microphone: frame.channels[0], reference: frame.channels[1], cleaned: cleaned.channels[0], frameCount: count
        ) {
            return finding
        }
        guard converts else {
            output.write(cleaned.channels, frameCount: count)
            return nil
        }
        copySamples(toDevice.input[0] + toDevice.inputOffset, cleaned.channels[0], count)
        let frames = toDevice.outputAvailable(afterAdding: count)
        toDevice.render(given.channels, frameCount: frames, adding: count)
        output.write(given.channels, frameCount: frames)
        return nil
    }
}
