// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

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
        /// The scheduling of the callback's thread: `SCHED_FIFO` and its priority, or the reason for normal scheduling.
        var scheduling: String
        /// The converters' sample type, such as `int16`.
        var sampleType: String
        var askedRate: Double?
        var askedBlock: Int?
        var input: Port?
        var output: Port?
    }

    /// The input or the output device of the route.
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

    /// A sound file that the simulated card read or wrote, and the time at which the file's first frame was at the converter.
    struct Tape: Codable {
        var file: String
        var rate: Double
        var firstFrameMonotonicNanoseconds: Int64
        var frames: Int
        /// The number of frames that are silence in the file because the disk was too slow.
        var lostFrames: Int
    }

    /// The room of the call.
    struct Room: Codable {
        var name: String
        /// The room's id, which stays when hosts change.
        var id: String
        /// The room's epoch: 1 at first, incremented whenever another participant becomes the host.
        var epoch: Int
    }

    /// A remote participant: the negotiated media, and the counts of packets and frames.
    struct Peer: Codable {
        var name: String
        /// The fingerprint of the participant's key; nil for a browser.
        var key: String?
        /// The participant's address and port on the network path that was used last; nil if there never was a path.
        var address: String?
        /// The seconds from the start of the sound until the participant left or was given up; nil for a participant who stayed.
        var leftAfterSeconds: Double?
        var codec: String
        var rate: Double
        var channels: Int
        var packetFrames: Int
        var bitRate: Int?
        var sent: Sent
        var received: Received
        var delay: Delay
        /// The forecast of glitches for other depths of the jitter buffer; nil if too little is known.
        var forecast: LinkForecast?
        var transport: Transport?
    }

    /// The encrypted transport to a remote participant.
    struct Transport: Codable {
        /// The number of packets dropped because they were modified or forged.
        var unauthentic: Int
        /// The number of packets dropped because they were repeated.
        var replayed: Int
        /// The number of changes of the network path.
        var moves: Int
    }

    struct Sent: Codable {
        var packets: Int
        var bytes: Int
        var lostBeforeEncoding: Int
        /// The number of packets sent again without a request (``repeated``) and on request (``retransmitted``).
        var repeated: Int
        var retransmitted: Int
        /// The number of steps to lower and to higher bit rates, because of a slow link. ``isLinkTooSlow`` is true if the link is
        /// too slow even for the lowest bit rate.
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
        /// The number of packets rejected because the callback had stopped.
        var rejected: Int
        var restarts: Int
        /// The number of lost packets that were recovered.
        var recovered: Int
        /// The number of recovered packets that were in time for playout.
        var recoveredInTime: Int
        /// The number of needless copies of packets, and (``nacks``) of requests for lost packets.
        var redundant: Int
        var nacks: Int
        var concealedFrames: Int
        var concealedMs: Double
        /// The number of frames by which sound was stretched or shortened inaudibly.
        var stretchedFrames: Int
        var stretchedMs: Double
        /// The number of runs of concealed or skipped frames, and (``glitchesPerMinute``) their number per minute of sound.
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
        /// The target depth of the jitter buffer, and (``dial``) the latency profile that the user chose for it.
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
        /// The state of voice processing at the end of the call: `on`, `off` or `left`.
        var processing: String
        /// The reason for this state of voice processing.
        var reason: String?
        /// The delay of voice processing at the end.
        var processingMs: Double
        /// The number of frames that voice processing returned too late.
        var lateFrames: Int
        /// The milliseconds of processor time for 10 ms of sound.
        var costPer10Ms: Double?
        /// The reduction of the echo in dB; nil if it was not measured.
        var echoReductionDb: Double?
    }

    /// A recording that the local participant made.
    struct Recording: Codable, Equatable {
        var folder: String
        var seconds: Double
        /// The path of the mix; nil if there is none.
        var mix: String?
        /// The paths of the voices' files; of a divided file, all parts.
        var files: [String]
        /// The seconds of silence in place of sound that is missing.
        var gapSeconds: Double
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
    /// The local participant's role at the beginning of the call: `host` or `guest`.
    var role: String
    /// The name of the local participant.
    var name: String
    /// The fingerprint of the local participant's key.
    var key: String
    var room: Room?
    var seconds: Double
    var ended: String
    var device: Device
    var routeChanges: [RouteChanged]
    var interruptions: [Interrupted]
    /// The number of frames lost while the route changed.
    var routeLostFrames: Int
    /// The state of the microphone: `fine`, `silent`, `digitalSilence` or `clipping`.
    var microphone: String?
    /// The processing of the local voice; nil for none.
    var voice: Voice?
    var spoken: Tape?
    var heard: Tape?
    /// The last recording of the call; nil for none.
    var recording: Recording?
    /// The takes of the call's duet, in order; nil for none.
    var takes: [DuetTakeReport]?
    /// All remote participants, in the order of their arrival.
    var peers: [Peer]
    var callback: Callback
    /// The microphone's own callback, with `--separate-input`; otherwise nil.
    var microphoneCallback: Callback?
    var memoryAnonymousKiB: Int?

    static let version = "0.1.0"
}

extension CallReport.Voice {
    /// The delays and the echo reduction in one line of text; nil if nothing was processed.
    var summary: String? {
        var parts: [String] = []
        if !effects.isEmpty { parts.append("effects added \(Self.tenths(effectsMs)) ms") }
        if processingMs > 0 { parts.append("voice processing added \(Self.tenths(processingMs)) ms") }
        if let echoReductionDb { parts.append("echo lowered by \(Self.tenths(echoReductionDb)) dB") }
        return parts.isEmpty ? nil : "Your voice: \(parts.joined(separator: ", "))"
    }

    private static func tenths(_ x: Double) -> Double { (x * 10).rounded() / 10 }
}
