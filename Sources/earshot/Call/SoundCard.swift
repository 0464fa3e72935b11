import AudioBase
import AudioContainers
import AudioDevices
import AudioFiles
import AudioSession
import Foundation

/// The sound card of a call, on a session that follows what becomes of it, with the files that a simulated one hears and
/// speaks through.
final class SoundCard {
    let session: AudioSession
    /// Stays while the hardware behind it changes.
    let device: any AudioDevice
    /// The microphone's own session and device; nil where `device` captures.
    let input: (session: AudioSession, device: any AudioDevice)?
    let watchdog: CallbackWatchdog
    /// Of ``input``.
    let inputWatchdog: CallbackWatchdog?
    private let asked: DeviceOptions
    private let source: AudioRing?
    private let sink: AudioRing?
    private let feeder: FileFeeder?
    private var recorder: FileRecorder?  // from `prepare()` on
    private var isPrepared = false
    private let spokenPath: String?
    private let heardPath: String?
    private let simulated: Simulated?
    private var news: [Task<Void, Never>] = []

    /// The first simulated card that ran: its converters' times are the files'.
    private struct Simulated {
        let configuration: SimulatedCard.Configuration
        let card: SimulatedCard
    }

    init(_ options: CallOptions) throws {
        asked = options.card
        // The report outlives the folder it was made in.
        spokenPath = options.speak.map { URL(fileURLWithPath: $0).path }
        heardPath = options.hear.map { URL(fileURLWithPath: $0).path }
        let system: any AudioSystem
        var configuration: SimulatedCard.Configuration?
        var feeder: FileFeeder?
        if options.card.device == .simulated {
            let rate = options.card.rate ?? (options.coding.codec == .aac ? 44_100 : 48_000)
            let ring = { AudioRing(channelCount: options.channels, capacity: Int(rate)) }
            let source = options.speak == nil ? nil : ring()
            let sink = options.hear == nil ? nil : ring()
            if let path = options.speak, let source {
                feeder = FileFeeder(try SoundFiles.open(path), into: source, sampleRate: rate)
            }
            // It holds the last call until there is another.
            if let path = options.hear { try Failure.creating { try OutputPath.check(path) } }
            var card = SimulatedCard.Configuration(
                sampleRate: rate, blockFrameCount: options.card.block ?? 256, inputChannelCount: options.channels,
                outputChannelCount: options.channels, driftPPM: options.drift, source: source,
                sink: sink)
            card.script = options.cardScript?.events ?? []
            (self.source, self.sink, configuration) = (source, sink, card)
            system = SimulatedSystem.standard(card)
        } else {
            (source, sink) = (nil, nil)
            system = try options.card.makeSystem()
        }
        self.feeder = feeder
        var wanted = try options.card.configuration(
            inputChannelCount: options.channels,
            outputChannelCount: options.card.device == .simulated ? options.channels : 2, on: system)
        wanted.preferredBlockFrameCount = options.card.block ?? configuration?.blockFrameCount
        wanted.preferredSampleRate = options.card.rate ?? configuration?.sampleRate
        var apart = wanted
        if options.separateInput {
            wanted.category = .playback
            wanted.pausesWhenHeadphonesLeave = false
        }
        session = AudioSession(system, wanted)
        let told = Self.tellNews(session, asked)
        device = try session.activate()
        if options.separateInput {
            apart.category = .record
            apart.clientName += "-in"
            apart.otherAudio = .mix
            apart.preferredSampleRate = device.sampleRate
            let capture = AudioSession(system, apart)
            news = [told, Self.tellNews(capture, asked)]
            let microphone = try capture.activate()
            guard microphone.sampleRate == device.sampleRate else {
                throw Failure(
                    "the microphone has \(Int(microphone.sampleRate)) Hz and the loudspeaker \(Int(device.sampleRate)); "
                        + "leave out --separate-input", status: Failure.unavailable)
            }
            input = (capture, microphone)
        } else {
            news = [told]
            input = nil
        }
        watchdog = CallbackWatchdog(monitor: device.monitor)
        inputWatchdog = input.map { CallbackWatchdog(monitor: $0.device.monitor) }
        let card = (session.hardware as? SimulatedDevice)?.card
        simulated = card.flatMap { card in configuration.map { Simulated(configuration: $0, card: card) } }
    }

    /// Says where sound goes, also while a guest is awaited; the first route when the call begins.
    private static func tellNews(_ session: AudioSession, _ asked: DeviceOptions) -> Task<Void, Never> {
        Task {
            for await event in session.events() {
                guard case .routeChanged(let change) = event else {
                    Terminal.say(event.description)
                    continue
                }
                guard change.reason != .activated, let device = session.device else { continue }
                Terminal.say(event.description)
                Terminal.say(CallReport.Device(session, device, asked).summary(change.current))
            }
        }
    }

    /// Starts the files' threads, so that the first block finds sound and the last one a place. A file that is there
    /// already is overwritten now. Again does nothing.
    func prepare() throws {
        if isPrepared { return }
        isPrepared = true
        if let heardPath, let sink {
            let format = AudioFormat(sampleRate: device.sampleRate, channelCount: sink.channelCount)
            recorder = FileRecorder(try SoundFileOutput.create(heardPath, format: format), from: sink)
        }
        feeder?.prime()
        try feeder?.start()
        try recorder?.start()
    }

    /// After the call: the devices go, what was heard is written out and closed.
    func close() {
        for task in news { task.cancel() }
        input?.session.deactivate()
        session.deactivate()
        feeder?.stop()
        recorder?.stop()
    }

    /// Why a file is no longer read or written, as far as anybody should know.
    var fileError: AudioFileError? { feeder?.error ?? recorder?.error }

    /// Where sound comes from and goes to, from one session or two.
    var route: AudioRoute {
        guard let input else { return session.currentRoute }
        return AudioRoute(input: input.session.currentRoute.input, output: session.currentRoute.output)
    }

    /// What keeps a side from calling, and since when; or nil.
    var interruption: (kind: Interruption, since: HostTime)? {
        session.interruption ?? input?.session.interruption
    }

    private var sessions: [AudioSession] { [session] + (input.map { [$0.session] } ?? []) }
    var routeChanges: [CallReport.RouteChanged] {
        sessions.flatMap(\.routeChanges).sorted { $0.monotonicNanoseconds < $1.monotonicNanoseconds }
    }
    var interruptions: [CallReport.Interrupted] { sessions.flatMap(\.interruptions) }
    var lostFrameCount: Int { sessions.map(\.lostFrameCount).reduce(0, +) }

    var report: CallReport.Device {
        var report = CallReport.Device(session, device, asked)
        guard let input else { return report }
        report.inputLatencyMs = input.device.inputLatency * 1e3
        report.input = input.session.currentRoute.input.map { CallReport.Port($0) }
        return report
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

    private var trueRate: Double { simulated?.configuration.trueSampleRate ?? device.sampleRate }
}
