// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

extension Codec: ExpressibleByArgument {}
extension LatencyProfile: ExpressibleByArgument {}

/// The codec options that `host`, `join` and `simulate` share.
struct CodecOptions: ParsableArguments {
    @Option(
        name: .lettered("codec"),
        help:
            "Codec: opus (lowest bit rate), pcm (lowest delay), opus-custom (half of PCM's bit rate, 1.3 ms more delay), aac. [default: opus]"
    )
    var codec: Codec?

    @Option(help: ArgumentHelp("Channels to send, 1 or 2.", valueName: "count"))
    var channels = 1

    @Option(
        help: ArgumentHelp(
            "Opus packet length in ms: 2.5, 5, 10 or 20. [default: the remote peer's choice, or 10]", valueName: "ms"))
    var frame: Double?

    @Option(
        name: .lettered("bitrate"),
        help: ArgumentHelp(
            "Bit rate in kb/s: 64 or 64k. [default per channel: opus 48, 64 with --frame 10 and 128 with 2.5; aac 64; opus-custom 192]",
            valueName: "kb/s"),
        transform: { argument in
            guard let kilobits = BitRateArgument.kilobits(argument), (6...510).contains(kilobits) else {
                throw ValidationError("use 6 to 510 kb/s")
            }
            return kilobits * 1_000
        })
    var bitrate: Int?

    @Option(
        help: ArgumentHelp(
            "Jitter-buffer limit: sing (15 ms), talk (80 ms), listen (500 ms), or 0 (shortest) to 1 (safest). [default: talk]",
            valueName: "dial"),
        transform: DialArgument.profile)
    var dial: LatencyProfile?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Lower the bit rate on slow links and raise it again (Opus; PCM at 48 kHz)."))
    var adapt = true

    var latencyProfile: LatencyProfile { dial ?? .talk }

    func validate() throws {
        guard (1...2).contains(channels) else { throw ValidationError("--channels must be 1 or 2") }
        if let frame, !CallPreferences.opusPacketTimes.contains(frame) {
            throw ValidationError("--frame must be 2.5, 5, 10 or 20 (ms)")
        }
        if frame != nil, codec == .pcm || codec == .aac { throw ValidationError("--frame needs --codec opus") }
    }
}
