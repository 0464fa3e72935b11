import AudioBase
import AudioFiles

/// Writes what a node gives into a file, its kind by the ending, while the graph plays.
///
/// ```swift
/// let recorder = try AudioRecorder(path: "take.mp3", format: AudioFormat(sampleRate: 48_000, channelCount: 2))
/// try engine.installTap(on: engine.mainMixerNode, recorder: recorder)
/// ```
/// Encoding and writing happen on the engine's own thread, or in manual rendering on the caller's. Frames that were lost on the
/// way are silence in the file, so that it keeps time. Any thread.
public final class AudioRecorder: @unchecked Sendable {  // the writer is under the lock
    private struct State {
        var writer: any SoundFileWriter
        var expected: Int64?
        var lost = 0
        var error: AudioFileError?
    }

    /// What is written.
    public let format: AudioFormat
    private let state: Guarded<State>

    /// Creates or empties a file.
    /// - Parameters:
    ///   - format: what the node gives, ``AudioEngine/outputFormat(of:)``; of more channels the first are taken.
    ///   - sampleFormat: of a file without loss.
    ///   - bitRate: of one with loss; nil is what suits the kind.
    /// - Throws: what creating a file can.
    public init(
        path: String, format: AudioFormat, sampleFormat: AudioFileWriter.SampleFormat = .float32,
        bitRate: MP3Encoder.BitRate? = nil
    ) throws(AudioFileError) {
        self.format = format
        let writer = try SoundFileWriters.make(
            path: path, format: format, sampleFormat: sampleFormat, bitRate: bitRate)
        state = Guarded(State(writer: writer))
    }

    /// Appends what a tap hands over. Not after ``close()``.
    public func write(_ samples: Channels, frameCount: Int, sampleTime: Int64) {
        let block = UncheckedBlock(samples: samples)
        state.withLock { state in
            guard state.error == nil else { return }
            let gap = state.expected.map { max(0, Int(sampleTime - $0)) } ?? 0
            state.expected = sampleTime + Int64(frameCount)
            do throws(AudioFileError) {
                guard block.samples.count >= format.channelCount else {
                    throw .unsupportedFormat(
                        path: "recording",
                        detail: "\(block.samples.count) channels came where \(format.channelCount) were said to")
                }
                if gap > 0 { try state.writer.writeSilence(frameCount: gap) }
                state.lost += gap
                try state.writer.write(block.samples, frameCount: frameCount, offset: 0)
            } catch { state.error = error }
        }
    }

    /// Ends the recording where another rate comes than is written.
    func check(_ given: AudioFormat) {
        guard given.sampleRate != format.sampleRate else { return }
        state.withLock { state in
            state.error =
                state.error
                ?? .unsupportedFormat(
                    path: "recording", detail: "\(given.sampleRate) Hz came where \(format.sampleRate) were said to")
        }
    }

    /// A view of a block for the time of one call.
    private struct UncheckedBlock: @unchecked Sendable { var samples: Channels }

    /// Frames in the file.
    public var frameCount: Int { state.withLock { $0.writer.frameCount } }
    /// Frames that were lost, and are silence.
    public var lostFrameCount: Int { state.withLock { $0.lost } }
    /// What ended the recording early, such as a full disk.
    public var error: AudioFileError? { state.withLock { $0.error } }

    /// Finishes the file. Remove the tap, or stop the engine, before it, so that nothing is left on the way.
    /// - Throws: what ended the recording early, or keeps it from being finished.
    public func close() throws(AudioFileError) {
        try state.withLock { state throws(AudioFileError) in
            if let error = state.error { throw error }
            try state.writer.close()
        }
    }
}

extension AudioEngine {
    /// Records what a node gives from now on.
    ///
    /// The tap is the node's only one; ``removeTap(from:)`` ends it.
    /// - Throws: ``AudioEngineError/notAttached(_:)``; ``AudioEngineError/formatMismatch(from:to:given:wanted:)`` where the
    ///   engine runs and the node gives another rate than the recorder writes; where it turns out later the recording ends
    ///   with an error.
    public func installTap(
        on node: AudioNode, bufferSize: Int = 4096, recorder: AudioRecorder
    ) throws(AudioEngineError) {
        if let given = outputFormat(of: node), given.sampleRate != recorder.format.sampleRate {
            throw .formatMismatch(from: node.name, to: "recorder", given: given, wanted: recorder.format)
        }
        try installTap(on: node, bufferSize: bufferSize) { [weak self, weak node] samples, count, time in
            if let node, let given = self?.outputFormat(of: node) { recorder.check(given) }
            recorder.write(samples, frameCount: count, sampleTime: time)
        }
    }

    /// What a node gives, as the graph renders (`AVAudioNode.outputFormat(forBus:)`); nil while the engine is stopped or the
    /// node is not on the way to an output.
    public func outputFormat(of node: AudioNode) -> AudioFormat? {
        state.withLock { state in
            node.numberOfOutputs > 0 ? state.rendering?.formats[node.id]?.output : nil
        }
    }
}
