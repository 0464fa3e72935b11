// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// A ``VoiceProcessingWorker`` without its thread: it reads the render callback's sound, processes whole frames of 10 ms at the
/// library's sample rate, and returns them at the device's sample rate.
struct VoiceProcessingCore: ~Copyable {
    private let processor: VoiceProcessor
    private let input: AudioRing.Reader
    private let output: AudioRing.Writer
    private let converts: Bool  // if false, neither resampler is used
    private var toLibrary: Resampler
    private var toDevice: Resampler
    private let deviceInput: AudioBuffer  // microphone and reference at the device's rate
    private let frame: AudioBuffer  // 10 ms of microphone and reference at the library's rate
    private let cleaned: AudioBuffer  // 10 ms of output at the library's rate
    private let deviceOutput: AudioBuffer  // output at the device's rate
    private var filledCount = 0  // samples in each channel of `frame`
    private var monitor: VoiceProcessingMonitor
    private static let chunkFrames = 480

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
        deviceInput = AudioBuffer(channelCount: 2, frameCapacity: Self.chunkFrames)
        frame = AudioBuffer(channelCount: 2, frameCapacity: processor.frameCount)
        cleaned = AudioBuffer(channelCount: 1, frameCapacity: processor.frameCount)
        deviceOutput = AudioBuffer(channelCount: 1, frameCapacity: Self.chunkFrames * 8)
        monitor = VoiceProcessingMonitor(options: processor.options)
    }

    static func converter(from: Double, to: Double, channelCount: Int) -> Resampler {
        Resampler(from: from, to: to, channelCount: channelCount, halfLength: 32, maximumFrameCount: chunkFrames * 8)
    }

    /// Returns the delay of the sample rate converters in frames at the device's sample rate.
    static func conversionFrames(deviceRate: Double, rate: Double) -> Int {
        guard rate != deviceRate else { return 0 }
        let up = converter(from: deviceRate, to: rate, channelCount: 1)
        let down = converter(from: rate, to: deviceRate, channelCount: 1)
        return up.halfLength + Int((Double(down.halfLength) * deviceRate / rate).rounded(.up)) + 4
    }

    var statistics: VoiceStatistics { processor.statistics }
    /// True if the render callback has written sound that was not read yet.
    var hasInput: Bool { input.heldFrames > 0 }

    /// Processes all available sound.
    /// - Returns: the monitor's finding, if any.
    mutating func run() throws(VoiceProcessingError) -> VoiceProcessingFinding? {
        while true {
            let room = converts ? Self.chunkFrames : processor.frameCount - filledCount
            let readCount = input.read(deviceInput.channels, frameCount: min(room, Self.chunkFrames)).frameCount
            if readCount == 0 { return nil }
            if let finding = try enqueueFrames(readCount) { return finding }
        }
    }

    /// Reports the callback's requested frames and late frames to the monitor.
    /// - Returns: the monitor's finding, if any.
    mutating func observe(wanted: Int, late: Int, sampleRate: Double) -> VoiceProcessingFinding? {
        monitor.observe(wanted: wanted, late: late, sampleRate: sampleRate)
    }

    private mutating func enqueueFrames(_ count: Int) throws(VoiceProcessingError) -> VoiceProcessingFinding? {
        guard converts else {
            for c in 0..<2 { copySamples(frame.channels[c] + filledCount, deviceInput.channels[c], count) }
            filledCount += count
            return filledCount == processor.frameCount ? try clean() : nil
        }
        let inputOffset = toLibrary.inputOffset
        for c in 0..<2 { copySamples(toLibrary.input[c] + inputOffset, deviceInput.channels[c], count) }
        var added = count
        while true {
            let renderCount = min(toLibrary.outputAvailable(afterAdding: added), processor.frameCount - filledCount)
            toLibrary.render(frame.channels, frameCount: renderCount, offset: filledCount, adding: added)
            added = 0
            filledCount += renderCount
            guard filledCount == processor.frameCount else { return nil }
            if let finding = try clean() { return finding }
        }
    }

    private mutating func clean() throws(VoiceProcessingError) -> VoiceProcessingFinding? {
        filledCount = 0
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
        toDevice.render(deviceOutput.channels, frameCount: frames, adding: count)
        output.write(deviceOutput.channels, frameCount: frames)
        return nil
    }
}
