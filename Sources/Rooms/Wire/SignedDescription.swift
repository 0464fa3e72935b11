// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// An offer or an answer as the host passes it on, with its maker's signature. Browsers and the host do not sign.
package struct SignedDescription: Hashable, Sendable {
    /// The id of the offer, or of the answered offer.
    package var offer: OfferID
    /// The description as `application/sdp`.
    package var sdp: String
    /// The ECDSA signature of ``SignedContent``, in DER; nil if unsigned.
    package var signature: [UInt8]?
    /// The signer's public key (SubjectPublicKeyInfo, DER), whose fingerprint must be the one in the roster.
    package var publicKey: [UInt8]?

    /// Creates a description.
    package init(offer: OfferID, sdp: String, signature: [UInt8]? = nil, publicKey: [UInt8]? = nil) {
        self.offer = offer
        self.sdp = sdp
        self.signature = signature
        self.publicKey = publicKey
    }
}

/// The signed bytes, so that the host, through which descriptions pass, cannot replace them.
///
/// In this order, each after its length in four bytes, big-endian: `earshot signature 1`, the room's 16 bytes, the epoch, the
/// maker's key fingerprint, the receiver's (empty for a browser), the offerer's member number, the offer's number, `offer` or
/// `answer`, and the SHA-256 of the description. Numbers are eight bytes, big-endian.
package struct SignedContent: Hashable, Sendable {
    /// The kind of a description.
    package enum Kind: String, Hashable, Sendable {
        /// An offer.
        case offer
        /// An answer.
        case answer
    }

    /// The room.
    package var room: RoomID
    /// The room's epoch.
    package var epoch: Epoch
    /// The maker's key.
    package var from: KeyFingerprint
    /// The receiver's key; nil for a browser.
    package var to: KeyFingerprint?
    /// The id of the offer, or of the answered offer.
    package var offer: OfferID
    /// The kind: an offer or an answer.
    package var kind: Kind
    /// The description as `application/sdp`.
    package var sdp: String

    /// The bytes to sign.
    package var bytes: [UInt8] {
        func number(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
        let fields: [[UInt8]] = [
            Array("earshot signature 1".utf8), room.bytes, number(UInt64(epoch.number)), from.bytes, to?.bytes ?? [],
            number(UInt64(offer.from.number)), number(offer.number), Array(kind.rawValue.utf8),
            Digest.sha256(Array(sdp.utf8)),
        ]
        return fields.flatMap { field in
            (0..<4).map { UInt8(truncatingIfNeeded: field.count >> (24 - 8 * $0)) } + field
        }
    }
}

/// Signs and verifies descriptions. The owner of the key provides the algorithm; Rooms has none.
package struct Signer: Sendable {
    /// The fingerprint of the local key.
    package let key: KeyFingerprint
    /// The local public key (SubjectPublicKeyInfo, DER).
    package let publicKey: [UInt8]
    /// Returns an ECDSA signature by the local key, in DER.
    package let sign: @Sendable (_ bytes: [UInt8]) -> [UInt8]
    /// Returns the fingerprint of a public key if the signature is valid for it; else nil.
    package let verify: @Sendable (_ signature: [UInt8], _ bytes: [UInt8], _ publicKey: [UInt8]) -> KeyFingerprint?

    /// Creates a signer from functions that sign and verify.
    package init(
        key: KeyFingerprint, publicKey: [UInt8], sign: @escaping @Sendable ([UInt8]) -> [UInt8],
        verify: @escaping @Sendable (_ signature: [UInt8], _ bytes: [UInt8], _ publicKey: [UInt8]) -> KeyFingerprint?
    ) {
        self.key = key
        self.publicKey = publicKey
        self.sign = sign
        self.verify = verify
    }

    /// Returns a local description, signed for a member.
    func signed(_ sdp: String, as kind: SignedContent.Kind, of offer: OfferID, in roster: Roster, for receiver: Member)
        -> SignedDescription
    {
        let content = SignedContent(
            room: roster.room, epoch: roster.epoch, from: key, to: receiver.key, offer: offer, kind: kind, sdp: sdp)
        return SignedDescription(offer: offer, sdp: sdp, signature: sign(content.bytes), publicKey: publicKey)
    }

    /// Returns true if a description is from the member and made for the local peer; always true for a browser, which cannot
    /// sign.
    func isGenuine(
        _ description: SignedDescription, as kind: SignedContent.Kind, in roster: Roster, from maker: Member
    ) -> Bool {
        guard let expected = maker.key else { return true }
        guard let signature = description.signature, let publicKey = description.publicKey else { return false }
        let content = SignedContent(
            room: roster.room, epoch: roster.epoch, from: expected, to: key, offer: description.offer, kind: kind,
            sdp: description.sdp)
        return verify(signature, content.bytes, publicKey) == expected
    }
}
