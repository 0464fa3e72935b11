// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotRooms

@Suite struct SignatureTests {
    private func content() -> SignedContent {
        SignedContent(
            room: RoomID("00000000000000000000000008")!, epoch: Epoch(2)!, from: TestKey(1).fingerprint,
            to: TestKey(2).fingerprint, offer: OfferID(from: MemberID(3)!, number: 5), kind: .offer, sdp: "v=0\r\n")
    }

    @Test func `each field of the signed content changes the signed bytes`() {
        let base = content()
        let changes: [(inout SignedContent) -> Void] = [
            { $0.room = RoomID("0000000000000000000000000G")! }, { $0.epoch = Epoch(3)! },
            { $0.from = TestKey(2).fingerprint },
            { $0.to = TestKey(1).fingerprint }, { $0.to = nil }, { $0.offer = OfferID(from: MemberID(4)!, number: 5) },
            { $0.offer = OfferID(from: MemberID(3)!, number: 6) }, { $0.kind = .answer }, { $0.sdp = "v=0\n" },
        ]
        var seen: Set<[UInt8]> = [base.bytes]
        for change in changes {
            var other = base
            change(&other)
            #expect(seen.insert(other.bytes).inserted)
        }
        #expect(base.bytes.count == 9 * 4 + 19 + 16 + 8 + 32 + 32 + 8 + 8 + 5 + 32)
    }

    @Test func `only the member itself can sign its descriptions`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let roster = test.host.roster
        let (one, two) = (roster.members[1], roster.members[2])
        let offer = OfferID(from: one.id, number: 5)
        let good = TestKey(1).signer.signed("v=0", as: .offer, of: offer, in: roster, for: two)
        let receiver = TestKey(2).signer
        #expect(receiver.isGenuine(good, as: .offer, in: roster, from: one))
        #expect(!receiver.isGenuine(good, as: .answer, in: roster, from: one))
        #expect(!receiver.isGenuine(good, as: .offer, in: roster, from: roster.members[0]))
        #expect(!TestKey(3).signer.isGenuine(good, as: .offer, in: roster, from: one))
        var other = good
        other.sdp = "v=1"
        #expect(!receiver.isGenuine(other, as: .offer, in: roster, from: one))
        other = good
        other.signature = nil
        #expect(!receiver.isGenuine(other, as: .offer, in: roster, from: one))
        // The host's own signature for it, with the host's key.
        let forged = TestKey(0).signer.signed("v=1", as: .offer, of: offer, in: roster, for: two)
        #expect(!receiver.isGenuine(forged, as: .offer, in: roster, from: one))
    }

    @Test func `a browser has no key, so its description needs no signature`() {
        let test = TestHost()
        func member(_ key: KeyFingerprint?) -> Member {
            Member(id: MemberID(9)!, name: name("Browser"), key: key, addresses: [], port: 1)
        }
        let browser = member(nil)
        let offer = OfferID(from: browser.id, number: 1)
        let receiver = TestKey(2).signer
        let unsigned = SignedDescription(offer: offer, sdp: "v=0")
        #expect(receiver.isGenuine(unsigned, as: .offer, in: test.host.roster, from: browser))
        let keyed = member(TestKey(1).fingerprint)
        #expect(!receiver.isGenuine(unsigned, as: .offer, in: test.host.roster, from: keyed))
    }

    @Test func `a real key's signature is accepted only from its owner`() throws {
        let makers = try (0..<2).map { _ in
            Signer(try Identity.generate(hostNames: [], addresses: [], at: 1_800_000_000))
        }
        let members = zip(makers, [MemberID.first, MemberID.first.next]).map {
            Member(id: $1, name: name("Peer \($1)"), key: $0.key, addresses: [], port: 1)
        }
        var roster = TestHost().host.roster
        roster.members = members
        let offer = OfferID(from: members[1].id, number: 5)
        let good = makers[1].signed("v=0", as: .offer, of: offer, in: roster, for: members[0])
        #expect(makers[0].isGenuine(good, as: .offer, in: roster, from: members[1]))
        var other = good
        other.sdp = "v=1"
        #expect(!makers[0].isGenuine(other, as: .offer, in: roster, from: members[1]))
        let forged = makers[0].signed("v=0", as: .offer, of: offer, in: roster, for: members[0])
        #expect(!makers[0].isGenuine(forged, as: .offer, in: roster, from: members[1]))
        other = good
        other.publicKey = [1, 2, 3]
        #expect(!makers[0].isGenuine(other, as: .offer, in: roster, from: members[1]))
    }
}
