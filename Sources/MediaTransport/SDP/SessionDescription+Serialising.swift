// SPDX-License-Identifier: Apache-2.0

extension SessionDescription: CustomStringConvertible {
    /// The description as SDP, with lines ended by CR LF.
    public var description: String {
        var lines = ["v=0"]
        lines.append(
            "o=\(origin.username) \(origin.sessionID) \(origin.version) IN \(connection(origin.address))")
        lines.append("s=\(name.isEmpty ? "-" : name)")
        lines.append("c=IN \(connection(address))")
        lines.append("t=0 0")
        if !bundle.isEmpty { lines.append("a=group:BUNDLE \(bundle.joined(separator: " "))") }
        lines += (ice?.sessionAttributes ?? []).map { "a=\($0)" }
        lines += otherSessionAttributes.map { "a=\($0)" }
        lines += mediaBefore.flatMap(\.lines)
        lines.append("m=audio \(port) \(profile.rawValue)" + formats.map { " \($0.payloadType)" }.joined())
        if let mediaID { lines.append("a=mid:\(mediaID)") }
        for format in formats {
            lines.append("a=rtpmap:\(format.payloadType) \(format)")
            if !format.parameters.isEmpty {
                let list = format.parameters.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
                lines.append("a=fmtp:\(format.payloadType) \(list.joined(separator: "; "))")
            }
            if format.takesNACK { lines.append("a=rtcp-fb:\(format.payloadType) nack") }
            if format.takesRateRequests { lines.append("a=rtcp-fb:\(format.payloadType) ccm tmmbr") }
        }
        if let packetTime { lines.append("a=ptime:\(decimal(packetTime))") }
        if let maximumPacketTime { lines.append("a=maxptime:\(decimal(maximumPacketTime))") }
        if let blockTime { lines.append("a=\(Self.blockAttribute):\(decimal(blockTime))") }
        if multiplexesRTCP { lines.append("a=rtcp-mux") }
        if !extendedReports.isEmpty { lines.append("a=rtcp-xr:\(extendedReports.joined(separator: " "))") }
        if let sendTimeID { lines.append("a=extmap:\(sendTimeID) \(SendTimeExtension.uri)") }
        lines.append("a=\(direction.rawValue)")
        lines += (ice?.mediaAttributes ?? []).map { "a=\($0)" }
        lines += otherMediaAttributes.map { "a=\($0)" }
        lines += mediaBehind.flatMap(\.lines)
        // A line break in a text from the caller, such as the name, must not begin a new line of the description.
        return lines.map { String(decoding: $0.utf8.map { $0 == 10 || $0 == 0 ? 32 : $0 }, as: UTF8.self) + "\r\n" }
            .joined()
    }

    /// Returns an address as in SDP, without its scope: the reader uses the interface by which the description came.
    private func connection(_ address: IPAddress) -> String {
        switch address {
        case .v4: "IP4 \(address)"
        case .v6(let bits, _): "IP6 \(IPAddress.v6(bits, scope: 0))"
        }
    }

    private func decimal(_ milliseconds: Double) -> String {
        milliseconds == milliseconds.rounded() ? String(Int(milliseconds)) : String(milliseconds)
    }
}
