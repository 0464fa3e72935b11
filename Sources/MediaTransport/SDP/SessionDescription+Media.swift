// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// The transport of a stream: the `proto` of its `m=` line.
    public enum Profile: String, Hashable, Sendable, CaseIterable {
        /// Plain RTP (RFC 3551): for programs without encryption, in a trusted network.
        case avp = "RTP/AVP"
        /// SRTP with keys from DTLS and immediate feedback (RFC 5764 §8): offered by browsers and Earshot.
        case dtlsSAVPF = "UDP/TLS/RTP/SAVPF"
        /// SRTP with keys from DTLS.
        case dtlsSAVP = "UDP/TLS/RTP/SAVP"
        /// WebRTC's earlier name for ``dtlsSAVPF``; treated alike (RFC 8829 §5.1.2).
        case savpf = "RTP/SAVPF"

        /// Returns true if media is encrypted; then a description needs `a=fingerprint`.
        public var isSecure: Bool { self != .avp }
    }

    /// The name of the attribute with ``blockTime``.
    static let blockAttribute = "x-earshot-block"
    /// The values of ``blockTime`` that are read.
    package static let blockTimes = 0.1...200.0

    /// Media other than the call's, with the parts that an answer must repeat.
    package struct OtherMedia: Hashable, Sendable {
        /// The kind: `video`, `application`, or further `audio`.
        package let kind: String
        /// The port; 0 if it is refused.
        package let port: UInt16
        /// The words after the port on the `m=` line, unchanged.
        let rest: [String]
        /// The name of the media, from `a=mid`; nil for none.
        package internal(set) var mediaID: String?

        /// The same media, refused (RFC 3264 §6).
        var refused: OtherMedia { OtherMedia(kind: kind, port: 0, rest: rest, mediaID: mediaID) }

        var lines: [String] {
            [(["m=\(kind) \(port)"] + rest).joined(separator: " ")] + (mediaID.map { ["a=mid:\($0)"] } ?? [])
        }
    }
}
