// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// The describing side's ICE parameters (RFC 8839).
    public struct ICE: Hashable, Sendable {
        /// `ice-ufrag` and `ice-pwd` of the media, or else of the session.
        public var credentials: ICECredentials
        /// `ice-lite`: true if the describing side answers checks and sends none.
        package var isLite: Bool
        /// `ice-options`, in the order written; `trickle` means that more candidates may follow.
        package var options: [String]
        /// The host candidates, in the order written. Other kinds are in ``SessionDescription/otherMediaAttributes``.
        public var candidates: [ICECandidate]
        /// `end-of-candidates` (RFC 8840 §8.2): true if no more candidates will follow.
        package var hasAllCandidates: Bool

        /// Creates the parameters of a side that describes all candidates at once.
        public init(
            credentials: ICECredentials, candidates: [ICECandidate] = [], isLite: Bool = false, options: [String] = [],
            hasAllCandidates: Bool = true
        ) {
            self.credentials = credentials
            self.isLite = isLite
            self.options = options
            self.candidates = candidates
            self.hasAllCandidates = hasAllCandidates
        }

        /// The ICE attributes of the session, without `a=`.
        var sessionAttributes: [String] {
            (isLite ? ["ice-lite"] : []) + (options.isEmpty ? [] : ["ice-options:" + options.joined(separator: " ")])
        }

        /// The ICE attributes of the media, without `a=`.
        var mediaAttributes: [String] {
            ["ice-ufrag:\(credentials.usernameFragment)", "ice-pwd:\(credentials.password)"]
                + candidates.map { "candidate:\($0)" } + (hasAllCandidates ? ["end-of-candidates"] : [])
        }
    }
}

/// Collects the attributes of ``SessionDescription/ICE`` while a description is parsed.
struct ICEAttributes {
    private struct CredentialTexts {
        var fragment: String?
        var password: String?
    }
    private var session = CredentialTexts()
    private var media = CredentialTexts()
    private var isLite = false
    private var options: [String] = []
    private var candidates: [ICECandidate] = []
    private var hasAllCandidates = false

    /// - Returns: true if the attribute belongs to ICE and is valid.
    mutating func parseAttribute(_ name: Substring, _ argument: Substring?, isMedia: Bool) -> Bool {
        switch (name, argument) {
        case ("ice-ufrag", let text?):
            let text = String(text)
            if isMedia { media.fragment = text } else { session.fragment = text }
        case ("ice-pwd", let text?):
            let text = String(text)
            if isMedia { media.password = text } else { session.password = text }
        case ("ice-lite", nil) where !isMedia: isLite = true
        case ("ice-options", let text?):
            let words = text.utf8.split(separator: 32).map { String(Substring($0)) }
            options += words.filter { ICECredentials.isValid($0) }
        case ("candidate", let text?) where isMedia:
            guard let candidate = ICECandidate(parsing: text) else { return false }
            candidates.append(candidate)
        case ("end-of-candidates", nil): hasAllCandidates = true
        default: return false
        }
        return true
    }

    /// Returns the collected ICE parameters; nil if the description has no ICE credentials.
    func finish() throws(SDPError) -> SessionDescription.ICE? {
        guard let fragment = media.fragment ?? session.fragment else {
            guard media.password == nil, session.password == nil else { throw SDPError(.missing("a=ice-ufrag")) }
            return nil
        }
        guard let password = media.password ?? session.password else { throw SDPError(.missing("a=ice-pwd")) }
        guard let credentials = ICECredentials(usernameFragment: fragment, password: password) else {
            throw SDPError(.badValue("ICE's credentials: letters, digits, '+' and '/', 4 and 22 of them or more"))
        }
        return SessionDescription.ICE(
            credentials: credentials, candidates: candidates, isLite: isLite, options: options,
            hasAllCandidates: hasAllCandidates)
    }
}
