// SPDX-License-Identifier: Apache-2.0
// The reference for measuring SRTP: AES-128-GCM of libcrypto, as in C.
#pragma once
#include <openssl/evp.h>

/// Encrypts in place and appends the tag. Returns 1 on success.
static inline int bench_seal(
    EVP_CIPHER_CTX *c, const unsigned char *nonce, const unsigned char *header, int headerSize, unsigned char *text, int size) {
    int n;
    return EVP_EncryptInit_ex(c, NULL, NULL, NULL, nonce) && EVP_EncryptUpdate(c, NULL, &n, header, headerSize)
        && EVP_EncryptUpdate(c, text, &n, text, size) && EVP_EncryptFinal_ex(c, text + n, &n)
        && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, text + size);
}
/// Decrypts in place; the tag follows the data. Returns 1 if the tag is right.
static inline int bench_open(
    EVP_CIPHER_CTX *c, const unsigned char *nonce, const unsigned char *header, int headerSize, unsigned char *text, int size) {
    int n;
    return EVP_DecryptInit_ex(c, NULL, NULL, NULL, nonce) && EVP_DecryptUpdate(c, NULL, &n, header, headerSize)
        && EVP_DecryptUpdate(c, text, &n, text, size) && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, text + size)
        && EVP_DecryptFinal_ex(c, text + n, &n);
}
