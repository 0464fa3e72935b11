// SPDX-License-Identifier: Apache-2.0
// OpenSSL's libssl and libcrypto, 3.0 and newer. Macros with casts, variadic functions and typed stacks are not imported.
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline EVP_PKEY *earshot_new_p256_key(void) { return EVP_EC_gen("P-256"); }
static inline int earshot_add_name(GENERAL_NAMES *names, GENERAL_NAME *name) { return sk_GENERAL_NAME_push(names, name); }
static const uint64_t earshot_dtls_options =
    SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_QUERY_MTU | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
    | SSL_OP_CLEANSE_PLAINTEXT;

// HTTPS: our only protocol (ALPN, RFC 7301), offered by the client and chosen by the server.
static const uint64_t earshot_tls_options = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CLEANSE_PLAINTEXT;
static const unsigned char earshot_http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
static inline int earshot_offer_http11(SSL_CTX *context) {
    return SSL_CTX_set_alpn_protos(context, earshot_http11, sizeof earshot_http11);
}
static inline int earshot_select_http11(
    SSL *ssl, const unsigned char **out, unsigned char *size, const unsigned char *offered, unsigned count, void *unused) {
    return SSL_select_next_proto((unsigned char **)out, size, earshot_http11, sizeof earshot_http11, offered, count)
            == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}
