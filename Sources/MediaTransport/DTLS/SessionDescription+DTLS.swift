// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// `a=setup`, the media's or else the session's (RFC 8842 §5); nil if there is none that is understood.
    public var setup: DTLSSetup? {
        get { values(of: "setup").first.flatMap { DTLSSetup(rawValue: String($0)) } }
        set { replace("setup", newValue?.rawValue) }
    }

    /// The SHA-256 of the describing side's certificate, from `a=fingerprint`, the media's or else the session's
    /// (RFC 8122 §5). Other hash functions are passed over.
    /// nil if there is none, and where several differ: each would let another certificate in.
    public var certificateFingerprint: CertificateFingerprint? {
        get {
            let all = values(of: "fingerprint").compactMap { CertificateFingerprint(attribute: $0) }
            return all.allSatisfy { $0 == all.first } ? all.first : nil
        }
        set { replace("fingerprint", newValue?.attribute) }
    }

    /// Returns the values of the media's attributes of this name, or of the session's if the media has none.
    private func values(of name: String) -> [Substring] {
        func found(_ attributes: [String]) -> [Substring] {
            attributes.filter { $0.utf8.starts(with: "\(name):".utf8) }.map { $0.dropFirst(name.count + 1) }
        }
        let media = found(otherMediaAttributes)
        return media.isEmpty ? found(otherSessionAttributes) : media
    }

    /// Leaves this one attribute of the name, the media's, or none.
    private mutating func replace(_ name: String, _ value: String?) {
        otherSessionAttributes.removeAll { $0.utf8.starts(with: "\(name):".utf8) }
        otherMediaAttributes.removeAll { $0.utf8.starts(with: "\(name):".utf8) }
        if let value { otherMediaAttributes.append("\(name):\(value)") }
    }
}
