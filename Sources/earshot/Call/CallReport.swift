// SPDX-License-Identifier: Apache-2.0

/// The report that `--json` prints when a call has ended; `earshot analyze` reads two of them. Times named Monotonic are
/// nanoseconds of CLOCK_MONOTONIC on the local machine.
struct CallReport: Codable {
    /// The sound card, with actual values and the requested ones if any.
    struct Device: Codable {
        /// The sound system.
        var kind: String
        var name: String
        var rate: Double
        var block: Int
        var inputLatencyMs: Double
        var outputLatencyMs: Double
        var realTimePriority: Int?
        /// `SCHED_FIFO` and its priority, or the reason for normal scheduling.
        var scheduling: String
        /// The converters' sample type, such as `int16`.
        var sampleType: String
        var askedRate: Double?
        var askedBlock: Int?
        var input: Port?
        var output: Port?
    }

    /// One direction of the route.
    struct Port: Codable {
        var id: String
        var name: String
        /// The kind, such as `Bluetooth headset`.
        var kind: String
    }

    /// A change of the route during the call.
    struct RouteChanged: Codable {
        var reason: String
        var previous: String
        var current: String
        var monotonicNanoseconds: Int64
        /// The milliseconds without a callback.
        var gapMs: Double
    }

    /// An interruption of the callback.
    struct Interrupted: Codable {
        var why: String
        var seconds: Double?
    }

    /// A file of the simulated card, and the time at which its first frame was at the converter.
    struct Tape: Codable {
        var file: String
        var rate: Double
        var firstFrameMonotonicNanoseconds: Int64
        var frames: Int
        /// The frames of silence that replaced frames for which the disk was too slow.
        var lostFrames: Int
    }

    /// The room of the call.
    struct Room: Codable {
        var name: String
        /// The room's id, which stays when hosts change.
        var id: String
        /// The room's epoch: 1, incremented by each handover to another host.
        var epoch: Int
    }

    /// A remote participant: the negotiated media, and its counts.
    struct Peer: Codable {
        var name: String
        /// The fingerprint of its key; nil for a browser.
        var key: String?
        /// The address and port of its sound; nil if none arrived.
        var address: String?
        /// The seconds from the call's beginning until it left or was given up.
        var leftAfterSeconds: Double?
        var codec: String
        var rate: Double
        var channels: Int
        var packetFrames: Int
        var bitRate: Int?
        var sent: Sent
        var received: Received
        var delay: Delay
        /// The forecast for other depths; nil if too little is known.
        var forecast: LinkForecast?
        var transport: Transport?
    }

    /// The encrypted transport to a remote participant.
    struct Transport: Codable {
        /// The packets dropped because they were modified or forged.
        var unauthentic: Int
        /// The packets dropped because they were repeated.
        var replayed: Int
        /// The changes of the path of sound.
        var moves: Int
    }

    struct Sent: Codable {
        var packets: Int
        var bytes: Int
        var lostBeforeEncoding: Int
        /// The packets repeated unasked, mostly within others, and those retransmitted on request.
        var repeated: Int
        var retransmitted: Int
        /// The steps down and up the ladder of a slow link, and true if the link is too slow even for the lowest rung.
        var stepsDown: Int
        var stepsUp: Int
        var isLinkTooSlow: Bool
    }

    struct Received: Codable {
        var packets: Int
        var bytes: Int
        var lost: Int
        var late: Int
        var missing: Int
        var duplicates: Int
        var reordered: Int
        var corrupt: Int
        /// The packets rejected because the callback had stopped.
        var rejected: Int
        var restarts: Int
        /// The lost packets that were recovered; the needless copies; the requests for packets.
        var recovered: Int
        /// The recovered packets that were in time for playout.
        var recoveredInTime: Int
        var redundant: Int
        var nacks: Int
        var concealedFrames: Int
        var concealedMs: Double
        /// The frames by which sound was stretched or shortened inaudibly.
        var stretchedFrames: Int
        var stretchedMs: Double
        /// The runs of concealment or skips, each counted once; and their number for each minute of sound.
        var glitches: Int
        var glitchesPerMinute: Double
        var skips: Int
        var droppedFrames: Int
        var insertedFrames: Int
    }

    struct Delay: Codable {
        /// The estimated delay from the remote microphone to the local loudspeaker.
        var mouthToEarEstimateMs: Double?
        var playoutMs: Double
        var depthMs: Double
        /// The target depth, and the dial that determines it.
        var targetDepthMs: Double
        var dial: String
        var roundTripMs: Double?
        var jitterMs: Double
        var driftPPM: Double
    }

    /// The processing of the local voice.
    struct Voice: Codable {
        /// The names of the effects, in order.
        var effects: [String]
        /// The delay that the effects add for remote participants.
        var effectsMs: Double
        /// The state at the end: `on`, `off` or `left`.
        var processing: String
        /// The reason of the state.
        var reason: String?
        /// The delay of voice processing at the end.
        var processingMs: Double
        /// The frames that voice processing returned too late.
        var lateFrames: Int
        /// The milliseconds of processor time for 10 ms of sound.
        var costPer10Ms: Double?
        /// The reduction of the echo; nil without one.
        var echoReductionDb: Double?
    }

    struct Callback: Codable {
        var calls: Int
        var p50Microseconds: Double
        var p99Microseconds: Double
        var maxMicroseconds: Double
        var latenessP50Microseconds: Double
        var latenessP99Microseconds: Double
        var latenessMaxMicroseconds: Double
        var overBudget: Int
        var xruns: Int
        var skippedFrames: Int
        var xrunMonotonicNanoseconds: [Int64]
    }

    var earshot = CallReport.version
    /// The role at the beginning: `host` or `guest`.
    var role: String
    /// The local name.
    var name: String
    /// The fingerprint of the local key.
    var key: String
    var room: Room?
    var seconds: Double
    var ended: String
    var device: Device
    var routeChanges: [RouteChanged]
    var interruptions: [Interrupted]
    /// The frames without a callback between two routes.
    var routeLostFrames: Int
    /// The state of the microphone: `fine`, `silent`, `digitalSilence` or `clipping`.
    var microphone: String?
    /// The processing of the local voice; nil for none.
    var voice: Voice?
    var spoken: Tape?
    var heard: Tape?
    /// All remote participants, in the order of their arrival.
    var peers: [Peer]
    var callback: Callback
    /// The callback of the microphone, with `--separate-input`.
    var microphoneCallback: Callback?
    var memoryAnonymousKiB: Int?

    static let version = "0.1.0"
}

extension CallReport.Voice {
    /// One line; nil if nothing was processed.
    var summary: String? {
        var parts: [String] = []
        if !effects.isEmpty { parts.append("effects added \(Self.tenths(effectsMs)) ms") }
        if processingMs > 0 { parts.append("voice processing added \(Self.tenths(processingMs)) ms") }
        if let echoReductionDb { parts.append("echo lowered by \(Self.tenths(echoReductionDb)) dB") }
        return parts.isEmpty ? nil : "Your voice: \(parts.joined(separator: ", "))"
    }

    private static func tenths(_ x: Double) -> Double { (x * 10).rounded() / 10 }
}
