// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The master keys and salts of both directions (RFC 5764 §4.2). They are wiped from memory with this value, and no description
/// contains them.
@safe package struct SRTPKeys: ~Copyable, @unchecked Sendable {
    /// The profile that the keys are for.
    package let profile: SRTPProfile
    private let material: UnsafeMutableRawBufferPointer

    /// - Parameter fill: fills the buffer with the client's key, the server's key, the client's salt and the server's salt, as
    ///   DTLS exports them. If it returns false, the result is nil.
    package init?(profile: SRTPProfile, _ fill: (UnsafeMutableRawBufferPointer) -> Bool) {
        let size = 2 * (SRTPProfile.keySize + profile.saltSize)
        let material = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        guard unsafe fill(material) else {
            unsafe material.deallocate()
            return nil
        }
        self.profile = profile
        unsafe self.material = unsafe material
    }

    deinit {
        unsafe OPENSSL_cleanse(material.baseAddress, material.count)
        unsafe material.deallocate()
    }

    /// Passes a copy of a sender's key, followed by the sender's salt, to `body`, as libsrtp requires. Wipes the copy afterwards.
    func withMasterKey<R>(ofSender role: DTLSRole, _ body: (UnsafeMutablePointer<UInt8>) -> R) -> R {
        let (keySize, saltSize) = (SRTPProfile.keySize, profile.saltSize)
        let side = role == .client ? 0 : 1
        return unsafe withUnsafeTemporaryAllocation(byteCount: keySize + saltSize, alignment: 16) { buffer in
            defer { unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count) }
            var copy = unsafe buffer.mutableBytes
            unsafe copy.put(material.bytes.extracting(side * keySize..<(side + 1) * keySize), at: 0)
            let salt = 2 * keySize + side * saltSize
            unsafe copy.put(material.bytes.extracting(salt..<salt + saltSize), at: keySize)
            return unsafe body(buffer.baseAddress!.assumingMemoryBound(to: UInt8.self))
        }
    }

}
