// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

/// Another program that sends and receives plain RTP.
enum OtherProgram: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case gstreamer
    case ffmpeg

    var testDescription: String { rawValue }

    /// Starts to listen as described by a session description in a file.
    /// - Parameter output: receives the sound as 32-bit floats at 48 kHz, mono.
    func listener(_ description: String, output: String) throws -> ChildProcess {
        switch self {
        case .ffmpeg:
            try ChildProcess([
                "ffmpeg", "-nostdin", "-y", "-loglevel", "warning", "-protocol_whitelist", "file,udp,rtp", "-i",
                description,
                "-ar", "48000", "-ac", "1", "-f", "f32le", "-flush_packets", "1", output,
            ])
        case .gstreamer:
            try ChildProcess([
                "gst-launch-1.0", "-q", "filesrc", "location=\(description)", "!", "sdpdemux", "latency=100", "!",
                "decodebin", "!", "audioconvert", "!", "audioresample", "!",
                "audio/x-raw,format=F32LE,rate=48000,channels=1", "!", "filesink", "location=\(output)",
                "buffer-mode=unbuffered", "sync=false",
            ])
        }
    }

    /// Starts to send a file of 32-bit floats at 48 kHz, mono, in real time.
    func speaker(_ sound: String, as codec: Codec, to port: UInt16, description: String) throws -> ChildProcess {
        switch self {
        case .ffmpeg:
            let encoder =
                switch codec {
                case .aac: ["-ar", "44100", "-c:a", "aac", "-b:a", "96k"]
                case .opus, .opusCustom: ["-c:a", "libopus", "-b:a", "64k"]  // it has no other
                case .pcm: ["-ar", "44100", "-c:a", "pcm_s16be"]
                }
            return try ChildProcess(
                [
                    "ffmpeg", "-nostdin", "-y", "-loglevel", "warning", "-re", "-f", "f32le", "-ar", "48000", "-ac",
                    "1",
                    "-i", sound,
                ] + encoder + [
                    "-f", "rtp", "-sdp_file", description, "rtp://127.0.0.1:\(port)?rtcpport=\(port)&pkt_size=1200",
                ])
        case .gstreamer:
            let encoder =
                switch codec {
                case .aac:
                    "audioresample ! audio/x-raw,rate=44100 ! avenc_aac bitrate=96000 ! rtpmp4gpay pt=96"
                case .opus, .opusCustom: "opusenc bitrate=64000 ! rtpopuspay pt=97"
                case .pcm: "audio/x-raw,format=S16BE,rate=48000,channels=1 ! rtpL16pay pt=98 mtu=1200"
                }
            let pipeline =
                "filesrc location=\(sound) blocksize=3840 ! rawaudioparse use-sink-caps=false format=pcm pcm-format=f32le "
                + "sample-rate=48000 num-channels=1 ! audioconvert ! \(encoder) ! "
                + "udpsink host=127.0.0.1 port=\(port) sync=true"
            return try ChildProcess(["gst-launch-1.0", "-v"] + pipeline.split(separator: " ").map(String.init))
        }
    }

    /// Returns a speaker's description of its stream; nil until there is one.
    func description(from speaker: ChildProcess, _ file: String) -> SessionDescription? {
        switch self {
        case .ffmpeg:
            guard let text = try? String(contentsOfFile: file, encoding: .utf8), text.contains("m=audio") else {
                return nil
            }
            return try? SessionDescription(parsing: text)
        case .gstreamer: return Self.description(ofCapabilities: speaker.output)
        }
    }

    /// GStreamer describes a payloader's stream by capabilities, whose fields are those of SDP.
    private static func description(ofCapabilities output: String) -> SessionDescription? {
        guard
            let line = output.split(separator: "\n").first(where: {
                $0.contains("GstUDPSink") && $0.contains("application/x-rtp") && $0.contains("payload=")
            })
        else { return nil }
        var fields: [String: String] = [:]
        for field in line.split(separator: ",") {
            let sides = field.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard sides.count == 2 else { continue }
            fields[sides[0]] = sides[1].replacing(/^\((string|int|uint)\)/, with: "").replacing("\"", with: "")
        }
        guard let type = fields["payload"], let name = fields["encoding-name"], let rate = fields["clock-rate"] else {
            return nil
        }
        let channels = fields["encoding-params"] ?? fields["channels"] ?? (name == "OPUS" ? "2" : "1")
        let own = ["media", "payload", "encoding-name", "clock-rate", "encoding-params", "channels"]
        let others = fields.filter { !own.contains($0.key) && !$0.key.contains(" ") }
            .map { "\($0.key)=\($0.value)" }.joined(separator: ";")
        return try? SessionDescription(
            parsing:
                "v=0\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP \(type)\na=rtpmap:\(type) \(name)/\(rate)/\(channels)\n"
                + (others.isEmpty ? "" : "a=fmtp:\(type) \(others)\n"))
    }
}
