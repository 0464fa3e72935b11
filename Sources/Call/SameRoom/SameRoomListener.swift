// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// Finds the remote peers who are in the same room as the local one: compares the microphone with each voice at the times of
/// capture. For one thread at a time.
package struct SameRoomListener {
    /// The seconds of the microphone that are kept: more than the delay of a voice.
    private static let memory = 1.0
    /// The seconds by which the time of a voice may be wrong before it is set anew, which costs the sound so far.
    private static let tolerance = 0.006
    /// The part of a voice's delay that the window of lags leaves out, in seconds, and the least window.
    private static let (margin, leastReach) = (0.004, 0.003)

    /// The way of a remote peer's voice.
    package struct Path: Sendable {
        package var peer: PeerID
        /// The seconds from the remote microphone to the local loudspeaker.
        package var mouthToEar: Double
        /// The seconds from the capture of a voice to the cycle that plays it, less those from the local microphone to its cycle.
        package var delay: Double
        /// The rate of the stream in hertz.
        package var streamRate: Double
        /// The drift of the sender's device relative to the local one, in ppm.
        package var driftPPM: Double

        /// - Parameters:
        ///   - captureDelay: the seconds from the remote microphone to its cycle, with the processing of the voice.
        ///   - inputLatency: the seconds from the local microphone to its cycle.
        ///   - outputLatency: the seconds from the local cycle to the loudspeaker.
        package init(
            peer: PeerID, mouthToEar: Double, captureDelay: Double, inputLatency: Double, outputLatency: Double,
            streamRate: Double, driftPPM: Double
        ) {
            self.peer = peer
            self.streamRate = streamRate
            self.mouthToEar = mouthToEar + captureDelay
            self.driftPPM = driftPPM
            delay = mouthToEar - outputLatency + captureDelay - inputLatency
        }
    }

    private struct Voice {
        var timeline: VoiceTimeline
        var track: SlowTrack?
        /// The seconds from mouth to ear for which the track's time was set: an echo has this lag, also if the estimate was wrong.
        var mouthToEar = 0.0
        var detector = SameRoomDetector()
    }

    private let sampleRate: Double
    private var microphone: SlowTrack?
    private var voices: [PeerID: Voice] = [:]

    /// - Parameter sampleRate: of the device, in hertz.
    package init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// The peers in the same room.
    package var nearbyPeers: Set<PeerID> { Set(voices.filter { $0.value.detector.isSameRoom }.keys) }

    /// Discards the sound so far, as at the beginning of a song. Keeps the decisions.
    package mutating func pause() {
        microphone = nil
        for peer in voices.keys { restart(peer) }
    }

    /// Forgets all peers but these.
    package mutating func keep(_ peers: Set<PeerID>) { voices = voices.filter { peers.contains($0.key) } }

    /// Adds a block of the microphone.
    /// - Parameter frame: of the device.
    package mutating func addMicrophone(_ samples: [Float], at frame: Int64) {
        if let microphone, microphone.origin + Double(microphone.frameCount) != Double(frame) { pause() }
        let track = microphone ?? SlowTrack(origin: Double(frame), sampleRate: sampleRate)
        track.append(samples)
        track.discard(before: track.endIndex - Int(Self.memory * SameRoomDetector.sampleRate))
        microphone = track
    }

    /// Adds a block of a voice. The microphone of that time was added before.
    /// - Parameters:
    ///   - frame: of the device.
    ///   - position: the frame of the stream at which the block begins.
    package mutating func addVoice(_ samples: [Float], at frame: Int64, position: Double, path: Path) {
        var voice = voices[path.peer] ?? Voice(timeline: VoiceTimeline(sampleRate: sampleRate))
        defer { voices[path.peer] = voice }
        let stream = voice.timeline.add(
            samples, at: position * sampleRate / path.streamRate, drift: path.driftPPM * 1e-6)
        voice.track?.append(stream)
        // The microphone's frame that was captured with the beginning of the block.
        let due = Double(frame) - path.delay * sampleRate
        let next = voice.track.map { $0.origin + Double($0.frameCount) }
        guard let track = voice.track, let next, abs(next - due) <= Self.tolerance * sampleRate else {
            (voice.track, voice.mouthToEar) = (SlowTrack(origin: due, sampleRate: sampleRate), path.mouthToEar)
            return voice.detector.restart()
        }
        let echo = min(voice.mouthToEar, path.mouthToEar)
        compare(track, &voice.detector, reach: max(Self.leastReach, echo - Self.margin))
    }

    private func compare(_ track: SlowTrack, _ detector: inout SameRoomDetector, reach: Double) {
        guard let microphone else { return }
        let ratio = sampleRate / SameRoomDetector.sampleRate
        let shift = Int(((track.origin - microphone.origin) / ratio).rounded())
        let first = max(track.firstIndex, microphone.firstIndex - shift)
        let end = min(track.endIndex, microphone.endIndex - shift)
        guard first < end else { return }
        detector.add(
            microphone: microphone.slice(first + shift..<end + shift), voice: track.slice(first..<end), reach: reach)
        track.discard(before: end)
    }

    private mutating func restart(_ peer: PeerID) {
        voices[peer]?.timeline = VoiceTimeline(sampleRate: sampleRate)
        voices[peer]?.track = nil
        voices[peer]?.detector.restart()
    }
}
