// SPDX-License-Identifier: Apache-2.0

/// Asking the remote peer to send less (RFC 5104), and being asked.
extension RTPSession {
    /// The largest size of a request in bytes.
    package static let maximumRateRequestSize = maximumReportSize + 12 + RateRequest.entrySize

    /// Asks the peer to send no more than a bit rate, in the least report that RTCP allows (RFC 4585 §3.1).
    /// - Parameter datagram: room for ``maximumRateRequestSize`` bytes.
    /// - Returns: the datagram's size in bytes; 0 if nothing of the peer's has come, or it takes none.
    package func writeRateRequest(_ request: RateRequest, into datagram: inout MutableRawSpan) -> Int {
        precondition(datagram.byteCount >= Self.maximumRateRequestSize)
        guard let peer, source != nil, repair.takesRateRequests else { return 0 }
        datagram.putReportHeader(RTCPCompound.Kind.receiverReport, count: 0, size: 8, at: 0)
        datagram.put(ssrc, at: 4)
        let start = writeDescription(into: &datagram, at: 8)
        datagram.put(ssrc, at: start + 4)
        datagram.put(0 as UInt32, at: start + 8)  // the entry says whom it is for (§4.2.1.2)
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

    /// Returns the peer's latest request since the last call; nil for none. Of several the newest.
    package mutating func takeRateRequest() -> RateRequest? {
        defer { rateRequest = nil }
        return rateRequest
    }
}
