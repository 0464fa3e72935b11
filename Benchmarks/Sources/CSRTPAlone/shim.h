// SPDX-License-Identifier: Apache-2.0
// libsrtp2 as in C, for comparison with ours.
#pragma once
#include <srtp2/srtp.h>
#include <string.h>

/// A session for one direction with a fixed key, SRTP_AEAD_AES_128_GCM; NULL after a failure.
static inline srtp_t bench_srtp(int outbound) {
    static unsigned char key[28] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
    srtp_policy_t policy;
    srtp_t session = NULL;
    memset(&policy, 0, sizeof policy);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
    policy.ssrc.type = outbound ? ssrc_any_outbound : ssrc_any_inbound;
    policy.window_size = 1024;
    policy.key = key;
    return srtp_create(&session, &policy) == srtp_err_status_ok ? session : NULL;
}
