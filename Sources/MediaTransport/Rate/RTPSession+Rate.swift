// SPDX-License-Identifier: Apache-2.0

/// Requests for a lower bit rate, in both directions (RFC 5104).
extension RTPSession {
    /// The maximum bytes of a datagram with a request.
    package static let maximumRateRequestSize = maximumReportSize + 12 + RateRequest.entrySize

    /// Writes a request to the peer for a maximum bit rate, in the smallest report that RTCP allows (RFC 4585 §3.1).
    /// - Parameter datagram: has room for ``maximumRateRequestSize`` bytes.
    /// - Returns: the datagram's size in bytes; 0 if the peer has sent no media, or does not support requests.
    package func writeRateRequest(_ request: RateRequest, into datagram: inout MutableRawSpan) -> Int {
        precondition(datagram.byteCount >= Self.maximumRateRequestSize)
        guard let peer, source != nil, repair.takesRateRequests else { return 0 }
        datagram.putReportHeader(RTCPCompound.Kind.receiverReport, count: 0, size: 8, at: 0)
        datagram.put(ssrc, at: 4)
        let start = writeDescription(into: &datagram, at: 8)
        datagram.put(ssrc, at: start + 4)
        datagram.put(0 as UInt32, at: start + 8)  // no media source: the entry names it (§4.2.1.2)
        datagram.put(peer, at: start + 12)
        datagram.put(request.word, at: start + 16)
        datagram.putReportHeader(
            RTCPCompound.Kind.transportFeedback, count: RateRequest.format, size: 20, at: start)
        return start + 20
    }

    mutating func takeRateRequest(_ datagram: RawSpan, _ body: Range<Int>) {
        guard repair.takesRateRequests else { return }
        guard let request = RateRequest.read(of: ssrc, datagram, at: body.lowerBound + 8..<body.upperBound) else {
            return
        }
        rateRequest = request
    }

    /// Returns the peer's newest request since the last call; nil for none.
    package mutating func takeRateRequest() -> RateRequest? {
        defer { rateRequest = nil }
        return rateRequest
    }
}
