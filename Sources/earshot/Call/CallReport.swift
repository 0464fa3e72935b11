// SPDX-License-Identifier: Apache-2.0

/// The report that `--json` prints when a call has ended; `earshot analyze` reads two of them. Times named Monotonic are
/// nanoseconds of CLOCK_MONOTONIC on the machine of this side.
struct CallReport: Codable {
    /// The sound card: what was granted, and what was asked where anything was.
    struct Device: Codable {
        /// The sound system.
        var kind: String
        var name: String
        var rate: Double
        var block: Int
        var inputLatencyMs: Double
        var outputLatencyMs: Double
        var realTimePriority: Int?
        /// `SCHED_FIFO` and its priority, or why the callback is scheduled normally.
        var scheduling: String
        /// The converters' samples, such as `int16`.
        var sampleType: String
        var askedRate: Double?
        var askedBlock: Int?
        var input: Port?
        var output: Port?
    }

    /// One side of the route.
    struct Port: Codable {
        var id: String
        var name: String
        /// Such as `Bluetooth headset`.
        var kind: String
    }

    /// The route changed while the call ran.
    struct RouteChanged: Codable {
        var reason: String
        var previous: String
        var current: String
        var monotonicNanoseconds: Int64
        /// Without a callback in between.
        var gapMs: Double
    }

    /// Time without a callback.
    struct Interrupted: Codable {
        var why: String
        var seconds: Double?
    }

    /// A file at the simulated card, and when its first frame was at the converter.
    struct Tape: Codable {
        var file: String
        var rate: Double
        var firstFrameMonotonicNanoseconds: Int64
        var frames: Int
        /// Frames of silence that stand for what the disk did not keep up with.
        var lostFrames: Int
    }

    /// The room that the call was in.
    struct Room: Codable {
        var name: String
        /// Its identity, which stays while hosts change.
        var id: String
        /// The room's epoch: 1, and one more with each handover to another host.
        var epoch: Int
    }

    /// One of the others: what was agreed on with it, and what went to and fro.
    struct Peer: Codable {
        var name: String
        /// The fingerprint of its key; nil for a browser.
        var key: String?
        /// The address of its sound, with the port; nil if none ever arrived.
        var address: String?
        /// The time at which it left or was given up: seconds from the beginning of the call.
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

    /// The encrypted way to one of the others.
    struct Transport: Codable {
        /// Packets refused since they were not its own, or were changed.
        var unauthentic: Int
        /// Packets refused since they had come before.
        var replayed: Int
        /// Times that sound went another way from then on.
        var moves: Int
    }

    struct Sent: Codable {
        var packets: Int
        var bytes: Int
        var lostBeforeEncoding: Int
        /// Packets that went out once more: unasked, mostly within others, and because they were asked for.
        var repeated: Int
        var retransmitted: Int
        /// Steps down and up the ladder of a slow link, and true if the link is too slow even for the lowest rung.
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
        /// Packets that playout had no room for, its callback having stopped.
        var rejected: Int
        var restarts: Int
        /// Lost packets that came after all; copies that were not needed; reports that asked for packets.
        var recovered: Int
        /// Packets of those that were recovered in time for playout.
        var recoveredInTime: Int
        var redundant: Int
        var nacks: Int
        var concealedFrames: Int
        var concealedMs: Double
        /// Sound made longer or shorter unheard.
        var stretchedFrames: Int
        var stretchedMs: Double
        /// Runs of made-up sound or skips, each once however long; a minute of the time in which there was sound.
        var glitches: Int
        var glitchesPerMinute: Double
        var skips: Int
        var droppedFrames: Int
        var insertedFrames: Int
    }

    struct Delay: Codable {
        /// From the remote peer's microphone to this loudspeaker, as this end estimates it.
        var mouthToEarEstimateMs: Double?
        var playoutMs: Double
        var depthMs: Double
        /// The depth as it should be, and the dial that it follows.
        var targetDepthMs: Double
        var dial: String
        var roundTripMs: Double?
        var jitterMs: Double
        var driftPPM: Double
    }

    /// The processing of the local voice.
    struct Voice: Codable {
        /// Names, in order.
        var effects: [String]
        /// Delay that the effects add for the remote peer.
        var effectsMs: Double
        /// At the end: `on`, `off` or `left`.
        var processing: String
        /// Why.
        var reason: String?
        /// Delay that voice processing added at the end.
        var processingMs: Double
        /// Frames that voice processing gave too late.
        var lateFrames: Int
        /// Milliseconds of a processor for 10 ms of sound.
        var costPer10Ms: Double?
        /// The reduction of the echo, if there was one.
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
    /// `host` or `guest`, as this end began.
    var role: String
    /// One's own name.
    var name: String
    /// The fingerprint of one's own key.
    var key: String
    var room: Room?
    var seconds: Double
    var ended: String
    var device: Device
    var routeChanges: [RouteChanged]
    var interruptions: [Interrupted]
    /// Frames that no callback came for, between two routes.
    var routeLostFrames: Int
    /// `fine`, `silent`, `digitalSilence` or `clipping`.
    var microphone: String?
    /// Nil if it went out as it was.
    var voice: Voice?
    var spoken: Tape?
    var heard: Tape?
    /// Everybody that was agreed with, in the order of their coming.
    var peers: [Peer]
    var callback: Callback
    /// The microphone's own, with `--separate-input`.
    var microphoneCallback: Callback?
    var memoryAnonymousKiB: Int?

    static let version = "0.1.0"
}

extension CallReport.Voice {
    /// One line, or nil if nothing was done.
    var summary: String? {
        var parts: [String] = []
        if !effects.isEmpty { parts.append("effects added \(Self.tenths(effectsMs)) ms") }
        if processingMs > 0 { parts.append("voice processing added \(Self.tenths(processingMs)) ms") }
        if let echoReductionDb { parts.append("echo lowered by \(Self.tenths(echoReductionDb)) dB") }
        return parts.isEmpty ? nil : "Your voice: \(parts.joined(separator: ", "))"
    }

    private static func tenths(_ x: Double) -> Double { (x * 10).rounded() / 10 }
}
