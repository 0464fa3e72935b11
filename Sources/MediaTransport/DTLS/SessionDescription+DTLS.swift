// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// The `a=setup` of the media or else of the session (RFC 8842 §5); nil if there is none that is supported.
    public var setup: DTLSSetup? {
        get { values(of: "setup").first.flatMap { DTLSSetup(rawValue: String($0)) } }
        set { replace("setup", newValue?.rawValue) }
    }

    /// The SHA-256 of the describing side's certificate: the `a=fingerprint` of the media or else of the session (RFC 8122 §5).
    /// Other hash functions are ignored. Nil if there is none or several differ, as each would admit another certificate.
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

    /// Removes all attributes of this name from session and media, and adds one with this value to the media unless it is nil.
    private mutating func replace(_ name: String, _ value: String?) {
        otherSessionAttributes.removeAll { $0.utf8.starts(with: "\(name):".utf8) }
        otherMediaAttributes.removeAll { $0.utf8.starts(with: "\(name):".utf8) }
        if let value { otherMediaAttributes.append("\(name):\(value)") }
    }
}
