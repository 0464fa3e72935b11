import AudioBase
import AudioDevices
import AudioFiles
import Foundation

/// The sound card of a call, with the files that a simulated one hears and speaks through.
final class SoundCard {
    let device: any AudioDevice
    private let kind: DeviceKind
    private let connects: Bool
    private let simulated: SimulatedDevice?
    private let source: AudioRing?
    private let sink: AudioRing?
    private let feeder: FileFeeder?
    private var recorder: FileRecorder?  // from `prepare()` on
    private var isPrepared = false
    private let spokenPath: String?
    private let heardPath: String?

    init(_ options: CallOptions) throws {
        kind = options.device
        connects = options.connect
        // The report outlives the folder it was made in.
        spokenPath = options.speak.map { URL(fileURLWithPath: $0).path }
        heardPath = options.hear.map { URL(fileURLWithPath: $0).path }
        switch options.device {
        case .simulated:
            let rate = options.rate ?? (options.codec == .aac ? 44_100 : 48_000)
            let ring = { AudioRing(channelCount: options.channels, capacity: Int(rate)) }
            let source = options.speak == nil ? nil : ring()
            let sink = options.hear == nil ? nil : ring()
            var feeder: FileFeeder?
            if let path = options.speak, let source {
                feeder = try FileFeeder(path: path, into: source, sampleRate: rate)
            }
            if let path = options.hear { try Self.checkWritable(path) }
            let card = try SimulatedDevice(
                SimulatedCard.Configuration(
                    sampleRate: rate, blockFrameCount: options.block ?? 256, inputChannelCount: options.channels,
                    outputChannelCount: options.channels, driftPPM: options.drift, source: source?.reader,
                    sink: sink?.writer))
            (self.source, self.sink, self.feeder) = (source, sink, feeder)
            simulated = card
            device = card
        case .jack:
            let jack = try JACKDevice(
                name: options.jackName, serverName: options.jackServer, inputChannelCount: options.channels,
                outputChannelCount: max(2, options.channels))
            try Self.check(options, against: jack)
            (simulated, source, sink, feeder) = (nil, nil, nil, nil)
            device = jack
        }
    }

    /// JACK's server has one rate and block for all its clients; what was asked for must be what is.
    private static func check(_ options: CallOptions, against jack: JACKDevice) throws {
        if let rate = options.rate, rate != jack.sampleRate {
            throw Failure(
                "JACK runs at \(Int(jack.sampleRate)) Hz, not \(Int(rate)): leave --rate out, or restart jackd with -r \(Int(rate))",
                status: Failure.unavailable)
        }
        if let block = options.block, block != jack.blockFrameCount {
            throw Failure(
                "JACK runs with blocks of \(jack.blockFrameCount) frames, not \(block): leave --block out, or run `jack_bufsize \(block)`",
                status: Failure.unavailable)
        }
    }

    /// Whether a file can be written, without touching one that is there: it holds the last call until there is another.
    private static func checkWritable(_ path: String) throws {
        let isThere = access(path, F_OK) == 0
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor >= 0 {
            Foundation.close(descriptor)
            if !isThere { unlink(path) }
            return
        }
        _ = try Failure.creating {
            try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        }
    }

    /// Starts the files' threads, so that the first block finds sound and the last one a place. A file that is there
    /// already is overwritten now. Again does nothing.
    func prepare() throws {
        if isPrepared { return }
        isPrepared = true
        if let heardPath, let sink {
            recorder = try Failure.creating {
                try FileRecorder(path: heardPath, from: sink, sampleRate: device.sampleRate)
            }
        }
        feeder?.prime()
        try feeder?.start()
        try recorder?.start()
    }

    /// After the device has started.
    func connect() throws {
        guard connects, let jack = device as? JACKDevice else { return }
        try jack.connectToSystemPorts()
    }

    /// After the device has stopped: what was heard is written out and closed.
    func close() {
        feeder?.stop()
        recorder?.stop()
    }

    /// Why a file is no longer read or written, as far as anybody should know.
    var fileError: AudioFileError? { feeder?.error ?? recorder?.error }

    var report: CallReport.Device {
        CallReport.Device(
            kind: kind.rawValue, name: device.name, rate: device.sampleRate, block: device.blockFrameCount,
            inputLatencyMs: device.inputLatency * 1e3, outputLatencyMs: device.outputLatency * 1e3,
            realTimePriority: device.realTimePriority)
    }

    var spoken: CallReport.Tape? {
        guard let spokenPath, let feeder, let time = simulated?.card.firstInputFrameTime else { return nil }
        return CallReport.Tape(
            file: spokenPath, rate: trueRate, firstFrameMonotonicNanoseconds: time.nanoseconds,
            frames: feeder.framesFed,
            lostFrames: 0)
    }

    var heard: CallReport.Tape? {
        guard let heardPath, let recorder, let time = simulated?.card.firstOutputFrameTime else { return nil }
        return CallReport.Tape(
            file: heardPath, rate: trueRate, firstFrameMonotonicNanoseconds: time.nanoseconds,
            frames: recorder.frameCount, lostFrames: recorder.lostFrameCount)
    }

    private var trueRate: Double { simulated?.card.configuration.trueSampleRate ?? device.sampleRate }
}
