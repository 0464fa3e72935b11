// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotVoiceProcessing
import Foundation

/// The files of `earshot process-voice`: one or two inputs, read in blocks of 10 ms, and one output.
struct VoiceFiles {
    private let processor: VoiceProcessor
    private let microphone: ConvertedFileReader
    private let reference: ConvertedFileReader?
    private let writer: any SoundFileWriter
    private let command: ProcessVoiceCommand

    init(_ command: ProcessVoiceCommand) throws {
        self.command = command
        let file = try SoundFiles.open(command.mic)
        processor = try VoiceProcessor(
            sampleRate: VoiceProcessor.nearestRate(to: file.processingFormat.sampleRate), options: command.options)
        let format = AudioFormat(sampleRate: Double(processor.sampleRate), channelCount: 1)
        microphone = ConvertedFileReader(file, as: format)
        reference = try command.reference.map { ConvertedFileReader(try SoundFiles.open($0), as: format) }
        for path in [command.mic, command.reference].compactMap(\.self)
        where SoundFileOutput.isSame(path, command.output) {
            throw Failure("\(command.output) is also an input. Choose another --output.", status: Failure.usage)
        }
        guard microphone.frameCount > 0 || reference?.frameCount ?? 0 > 0 else {
            throw Failure("\(command.mic) contains no audio. Use another file.", status: Failure.data)
        }
        try command.existing.check(command.output)
        writer = try SoundFileOutput.create(command.output, format: format)
    }

    func process() throws -> ProcessVoiceReport {
        let blockFrameCount = processor.frameCount
        let frames = AudioBuffer(channelCount: 3, frameCapacity: blockFrameCount)
        let cleaned = AudioBuffer(channelCount: 1, frameCapacity: blockFrameCount)
        var monitor = VoiceProcessingMonitor(options: processor.options)
        var finding: VoiceProcessingFinding?
        var counts = (microphone: 0, reference: 0)
        let total = max(1, microphone.frameCount, reference?.frameCount ?? 0)
        var progress = ProgressLine()
        var skippedFrameCount = 0  // frames of the processor's delay
        while !Interrupt.isRequested {
            let gotMicrophone = try read(microphone, into: frames.channels[0])
            let gotReference = try reference.map { try read($0, into: frames.channels[1]) } ?? 0
            counts.microphone += gotMicrophone
            counts.reference += gotReference
            let inputFrameCount = max(counts.microphone, counts.reference)
            if gotMicrophone == 0, gotReference == 0, writer.frameCount >= inputFrameCount { break }
            try processor.process(
                microphone: frames.channels[0], reference: frames.channels[1], into: cleaned.channels[0])
            finding =
                finding
                ?? monitor.observe(
                    microphone: frames.channels[0], reference: frames.channels[1], cleaned: cleaned.channels[0],
                    frameCount: blockFrameCount)
            let skip = min(blockFrameCount, processor.delay - skippedFrameCount)
            skippedFrameCount += skip
            let count = min(blockFrameCount - skip, inputFrameCount - writer.frameCount)
            try writer.write(cleaned.channels, frameCount: count, offset: skip)
            progress.show { _ in "process-voice \(min(100, 100 * writer.frameCount / total)) %" }
        }
        try writer.close()
        progress.clear()
        if let finding { Terminal.warn("a call would turn voice processing off \(finding)") }
        return report(counts.microphone, counts.reference, finding)
    }

    private func read(_ reader: ConvertedFileReader, into samples: UnsafeMutablePointer<Float>) throws -> Int {
        var pointer = samples
        let readCount = try withUnsafeMutablePointer(to: &pointer) {
            try reader.read(into: Channels($0, count: 1), frameCount: processor.frameCount)
        }
        clearSamples(samples + readCount, processor.frameCount - readCount)
        return readCount
    }

    private func report(_ microphone: Int, _ reference: Int, _ finding: VoiceProcessingFinding?) -> ProcessVoiceReport {
        let statistics = processor.statistics
        let rate = Double(processor.sampleRate)
        let hasReference = self.reference != nil
        return ProcessVoiceReport(
            output: URL(fileURLWithPath: command.output).path, rate: processor.sampleRate,
            seconds: Double(writer.frameCount) / rate, ended: Interrupt.isRequested ? "interrupted" : "end of files",
            micPaddingSeconds: Double(max(0, reference - microphone)) / rate,
            referencePaddingSeconds: hasReference ? Double(max(0, microphone - reference)) / rate : 0,
            echoCancellation: processor.options.echo != nil,
            enhancementDb: processor.options.echo == nil ? nil : statistics.enhancement,
            echoReturnLossDb: statistics.echoReturnLoss, echoDelayMs: statistics.echoDelay,
            delayMs: processor.delayMilliseconds, costMs: statistics.cost, worstCostMs: statistics.worst,
            faultSamples: self.microphone.faultCount + (self.reference?.faultCount ?? 0),
            finding: finding?.description)
    }
}
