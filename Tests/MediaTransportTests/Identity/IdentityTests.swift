// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// 22 November 2026.
let today: Int64 = 1_795_305_600

@Suite struct IdentityTests {
    private let anna: Identity
    private let bert: Identity

    init() throws {
        anna = try Identity.generate(hostNames: ["anna.local"], addresses: [.loopback], at: today)
        bert = try Identity.generate(at: today)
    }

    @Test func `an identity survives writing and reading`() throws {
        let again = try Identity(privateKeyPEM: anna.privateKeyPEM, certificatePEM: anna.certificatePEM)
        #expect(again.fingerprint == anna.fingerprint && again.certificateFingerprint == anna.certificateFingerprint)
        #expect(again.certificateDER == anna.certificateDER && again.privateKeyPEM == anna.privateKeyPEM)
        #expect(anna.publicKey.isValid(signature: again.sign([1, 2, 3]), for: [1, 2, 3]))
        #expect(anna.fingerprint != bert.fingerprint)
    }

    @Test func `a reissued certificate is different but has the same key`() throws {
        let later = try anna.reissued(hostNames: ["b.local"], addresses: [.loopbackV6], at: today + 86_400 * 390)
        #expect(later.fingerprint == anna.fingerprint && later.publicKey == anna.publicKey)
        #expect(later.certificateFingerprint != anna.certificateFingerprint)
        #expect(later.privateKeyPEM == anna.privateKeyPEM)
        let again = try anna.reissued(at: today)
        let twice = try anna.reissued(at: today)
        #expect(again.certificateFingerprint != twice.certificateFingerprint, "serial numbers are random")
    }

    @Test func `a signature is valid only for its key and its exact message`() {
        let message = Array("room, epoch, offer".utf8)
        let signature = anna.sign(message)
        let key = anna.publicKey
        #expect(key.isValid(signature: signature, for: message))
        #expect(!bert.publicKey.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature, for: message + [0]))
        #expect(!key.isValid(signature: signature, for: []))
        #expect(!key.isValid(signature: [], for: message))
        #expect(!key.isValid(signature: signature + [0], for: message))
        for n in signature.indices {
            var changed = signature
            changed[n] ^= 1
            #expect(!key.isValid(signature: changed, for: message))
            #expect(!key.isValid(signature: Array(signature.prefix(n)), for: message))
        }
        #expect(key.isValid(signature: anna.sign([]), for: []))
        #expect(ERR_peek_error() == 0, "nothing is left for whoever calls OpenSSL next")
    }

    @Test func `a public key is read from a certificate or from its own encoding`() throws {
        #expect(try PublicKey(ofCertificateDER: anna.certificateDER) == anna.publicKey)
        #expect(try PublicKey(spki: anna.publicKey.spki) == anna.publicKey)
        #expect(anna.publicKey.fingerprint == anna.fingerprint)
        for count in 0..<anna.publicKey.spki.count {
            #expect(throws: IdentityError.notAPublicKey) {
                try PublicKey(spki: Array(anna.publicKey.spki.prefix(count)))
            }
        }
        #expect(throws: IdentityError.notAPublicKey) { try PublicKey(spki: anna.publicKey.spki + [0]) }
        #expect(throws: IdentityError.notACertificate) { try PublicKey(ofCertificateDER: anna.certificateDER + [0]) }
        #expect(throws: IdentityError.notACertificate) { try PublicKey(ofCertificateDER: []) }
    }

    @Test func `a certificate of another key and a modified certificate are rejected`() throws {
        #expect(throws: IdentityError.otherKeysCertificate) {
            try Identity(privateKeyPEM: anna.privateKeyPEM, certificatePEM: bert.certificatePEM)
        }
        #expect(throws: IdentityError.notACertificate) {
            try Identity(privateKeyPEM: anna.privateKeyPEM, certificatePEM: anna.privateKeyPEM)
        }
        #expect(throws: IdentityError.notAPrivateKey) {
            try Identity(privateKeyPEM: anna.certificatePEM, certificatePEM: anna.certificatePEM)
        }
        // The certificate with another host's name of the same length.
        var der = anna.certificateDER
        let at = try #require(der.indices.first { der[$0...].starts(with: Array("anna".utf8)) })
        der.replaceSubrange(at..<at + 4, with: Array("anne".utf8))
        let pem = try CertificateHandle(der: der).pem
        #expect(throws: IdentityError.badSignature) {
            try Identity(privateKeyPEM: anna.privateKeyPEM, certificatePEM: pem)
        }
    }

    @Test func `keys of another type, with a passphrase or damaged are rejected`() throws {
        let tool = try OpenSSLTool()
        func refusal(_ pem: String) -> IdentityError? {
            do throws(IdentityError) {
                _ = try Identity(privateKeyPEM: pem, certificatePEM: anna.certificatePEM)
                return nil
            } catch { return error }
        }
        #expect(
            refusal(try tool.text("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out OUT")) == .wrongKind("RSA")
        )
        #expect(
            refusal(try tool.text("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out OUT"))
                == .wrongKind("elliptic on secp384r1"))
        #expect(refusal(try tool.text("genpkey -algorithm ED25519 -out OUT")) == .wrongKind("ED25519"))
        #expect(
            refusal(
                try tool.text(
                    "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-256-cbc -pass pass:x -out OUT"))
                == .encryptedKey)
        #expect(
            refusal(try tool.text("ecparam -name prime256v1 -genkey -noout -out OUT")) == .otherKeysCertificate,
            "SEC 1 is read as well")
        #expect(refusal("") == .notAPrivateKey)
        #expect(refusal("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n") == .notAPrivateKey)
        // The private number is a run of 32 bytes. Changing one bit gives another key, whose public half is not this one.
        let lines = anna.privateKeyPEM.split(separator: "\n").map(String.init)
        var changed = lines
        changed[1] = String(lines[1].dropLast(1)) + (lines[1].hasSuffix("A") ? "B" : "A")
        #expect([.damagedKey, .notAPrivateKey].contains(refusal(changed.joined(separator: "\n") + "\n")))
    }

    @Test func `a damaged identity is an error or reads as the original`() throws {
        var random = SeededRandom(seed: 7)
        var survived = 0
        for n in 0..<500 {
            var key = Array(anna.privateKeyPEM.utf8)
            var certificate = Array(anna.certificatePEM.utf8)
            if n.isMultiple(of: 2) {
                key = random.damaged(key, pieces: ["-----BEGIN", "MII", "==", "\n"])
            } else {
                certificate = random.damaged(certificate, pieces: ["-----END CERTIFICATE-----", "MII", "==", "\n"])
            }
            let read = try? Identity(
                privateKeyPEM: String(decoding: key, as: UTF8.self),
                certificatePEM: String(decoding: certificate, as: UTF8.self))
            if let read {
                survived += 1
                #expect(read.fingerprint == anna.fingerprint && read.certificateDER == anna.certificateDER)
            }
        }
        #expect(survived < 400)
        for _ in 0..<2_000 {
            let bytes = mutated(anna.certificateDER, &random)
            if let key = try? PublicKey(ofCertificateDER: bytes) { #expect(key.spki.count == 91) }
        }
    }

    @Test func `no textual description contains the private key`() throws {
        let secrets = anna.privateKeyPEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        #expect(secrets.count >= 2)
        var dumped = ""
        dump(anna, to: &dumped)
        dump([anna], to: &dumped)
        let words = [
            dumped, "\(anna)", String(reflecting: anna), "\(Optional(anna) as Any)", "\(Mirror(reflecting: anna))",
        ]
        for text in words { for secret in secrets { #expect(!text.contains(secret)) } }
        #expect(dumped.contains(anna.fingerprint.hex))
        var damaged = anna.privateKeyPEM
        damaged.removeLast(40)
        #expect {
            try Identity(privateKeyPEM: damaged, certificatePEM: anna.certificatePEM)
        } throws: { error in
            secrets.allSatisfy { !"\(error)".contains($0) && !String(reflecting: error).contains($0) }
        }
    }

    @Test func `host names and dates that a certificate cannot contain are rejected`() throws {
        for name in ["", "two words", "a,IP:1.2.3.4", "a\n", "ä.local", String(repeating: "a", count: 254)] {
            #expect(throws: IdentityError.badHostName(name)) { try Identity.generate(hostNames: [name], at: today) }
        }
        let many = (0..<65).map { "h\($0)" }
        #expect(throws: IdentityError.tooManyNames(65)) { try Identity.generate(hostNames: many, at: today) }
        for date in [Int64.max, .min, 1 << 40, -(1 << 40)] {
            #expect(throws: IdentityError.badDate(date)) { try anna.reissued(at: date) }
        }
        #expect(try anna.reissued(at: 0).fingerprint == anna.fingerprint, "a clock that was never set")
        #expect(try anna.reissued(at: 4_102_444_800).fingerprint == anna.fingerprint, "the year 2100")
    }
}

@Suite struct IdentityJudgeTests {
    @Test func `openssl verifies the certificate with its names, dates and key`() throws {
        let tool = try OpenSSLTool()
        let identity = try Identity.generate(
            hostNames: ["studio.local", "studio.local", "a-b.example"],
            addresses: [.v4(0xC0A8_0107), try #require(IPAddress("fe80::1:2%1")), .loopbackV6, .loopbackV6], at: today)
        let certificate = try tool.file("certificate.pem", identity.certificatePEM.utf8)
        let key = try tool.file("key.pem", identity.privateKeyPEM.utf8)

        let verified = try tool.run(
            "verify -x509_strict -check_ss_sig -purpose sslserver -attime \(today) -CAfile \(certificate) \(certificate)"
        )
        #expect(verified.status == 0, "\(verified.output)")
        for (seconds, good) in [(-86_400 - 60, false), (-86_000, true), (396 * 86_400, true), (398 * 86_400, false)] {
            let result = try tool.run("verify -attime \(Int(today) + seconds) -CAfile \(certificate) \(certificate)")
            #expect((result.status == 0) == good, "\(seconds) s")
        }

        let text = try tool.run("x509 -in \(certificate) -noout -text -nameopt RFC2253").output
        for line in [
            "Version: 3 (0x2)", "Subject: CN=Earshot", "Issuer: CN=Earshot", "NIST CURVE: P-256", "ecdsa-with-SHA256",
            "DNS:studio.local, DNS:a-b.example, IP Address:192.168.1.7, ",
            "IP Address:FE80:0:0:0:0:0:1:2, IP Address:0:0:0:0:0:0:0:1\n",
            "CA:FALSE", "TLS Web Server Authentication, TLS Web Client Authentication",
        ] { #expect(text.contains(line), "\(line) in \(text)") }

        let fingerprint = try tool.run("x509 -in \(certificate) -noout -fingerprint -sha256").output
        #expect(fingerprint.contains(identity.certificateFingerprint.attribute.dropFirst(8)))
        #expect(try tool.made("pkey -in \(key) -pubout -outform DER -out OUT") == identity.publicKey.spki)
        let digest = try tool.run("dgst -sha256 \(tool.file("spki", identity.publicKey.spki))").output
        #expect(digest.contains(identity.fingerprint.hex))
    }

    @Test func `signatures are valid in openssl, and openssl's are valid here`() throws {
        let tool = try OpenSSLTool()
        let identity = try Identity.generate(at: today)
        let message = Array("the very bytes".utf8)
        let file = try tool.file("message", message)
        let key = try tool.file("key.pem", identity.privateKeyPEM.utf8)
        let publicKey = try tool.file("public.pem", tool.made("pkey -in \(key) -pubout -out OUT"))
        let signature = try tool.file("signature", identity.sign(message))
        let judged = try tool.run("dgst -sha256 -verify \(publicKey) -signature \(signature) \(file)")
        #expect(judged.status == 0 && judged.output.contains("Verified OK"))
        let other = try tool.run("dgst -sha256 -verify \(publicKey) -signature \(signature) \(publicKey)")
        #expect(other.status != 0)

        let hex = try tool.run("dgst -sha256 -sign \(key) -hex \(file)").output
        let digits = try #require(hex.split(separator: " ").last).filter { !$0.isWhitespace }
        #expect(identity.publicKey.isValid(signature: bytes(String(digits)), for: message))
    }
}

/// Returns the bytes of hexadecimal digits; white space is ignored.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter(\.isHexDigit)
    return stride(from: 0, to: digits.count, by: 2).map {
        let start = digits.index(digits.startIndex, offsetBy: $0)
        return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
    }
}
