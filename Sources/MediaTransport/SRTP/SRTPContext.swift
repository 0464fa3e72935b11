// SPDX-License-Identifier: Apache-2.0

import CEarshotSRTP

/// An `srtp_t` of libsrtp with one key, for all packets of one direction from any source.
@safe final class SRTPContext {
    /// The maximum packets by which a packet may be overtaken.
    static let replayWindow: UInt = 1_024

    private let pointer: srtp_t

    /// True if libsrtp could be initialized, which is tried once in the process.
    private static let isReady = srtp_init() == srtp_err_status_ok

    /// - Parameter sender: the DTLS role of the side that sends the packets.
    init(keys: borrowing SRTPKeys, sender: DTLSRole, isOutbound: Bool) throws(SRTPError) {
        guard Self.isReady else { throw SRTPError(srtp_err_status_init_fail) }
        var policy = unsafe srtp_policy_t()
        switch keys.profile {
        case .aeadAES128GCM:
            unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aes128CMSHA180:
            unsafe srtp_crypto_policy_set_rtp_default(&policy.rtp)  // AES-CM 128, HMAC-SHA1 80
            unsafe srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        }
        unsafe policy.ssrc.type = isOutbound ? ssrc_any_outbound : ssrc_any_inbound
        unsafe policy.window_size = Self.replayWindow
        var pointer: srtp_t?
        let status = unsafe keys.withMasterKey(ofSender: sender) { key in
            unsafe policy.key = unsafe key
            return unsafe srtp_create(&pointer, &policy)
        }
        guard status == srtp_err_status_ok, let pointer = unsafe pointer else { throw SRTPError(status) }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe srtp_dealloc(pointer) }

    /// Calls a function of libsrtp that protects or unprotects a packet, on the first `count` bytes of a buffer.
    /// - Returns: the packet's new size in bytes.
    func apply(
        _ function: (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<CInt>?) -> srtp_err_status_t,
        _ packet: UnsafeMutableRawBufferPointer, count: Int
    ) throws(SRTPError) -> Int {
        var size = CInt(count)
        let status = unsafe function(pointer, packet.baseAddress, &size)
        guard status == srtp_err_status_ok else { throw SRTPError(status, size: count) }
        return Int(size)
    }
}

extension SRTPError {
    fileprivate init(_ status: srtp_err_status_t, size: Int = 0) {
        switch status {
        case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: self = .authentication
        case srtp_err_status_replay_fail: self = .replay
        case srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: self = .tooOld
        case srtp_err_status_bad_param, srtp_err_status_parse_err, srtp_err_status_cant_check: self = .malformed(size)
        case srtp_err_status_key_expired: self = .keyExpired
        default: self = .system(status.rawValue)
        }
    }
}
