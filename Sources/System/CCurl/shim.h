// SPDX-License-Identifier: Apache-2.0
// libcurl. Its options are set by variadic macros; a value from Swift has one of these four types.
#pragma once
#include <curl/curl.h>

typedef size_t (*earshot_curl_sink)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode earshot_curl_set_long(CURL *c, CURLoption o, long v) { return curl_easy_setopt(c, o, v); }
static inline CURLcode earshot_curl_set_text(CURL *c, CURLoption o, const char *v) { return curl_easy_setopt(c, o, v); }
static inline CURLcode earshot_curl_set_list(CURL *c, CURLoption o, struct curl_slist *v) { return curl_easy_setopt(c, o, v); }
/// The protocols that a transfer and its redirects may use.
static inline CURLcode earshot_curl_set_protocols(CURL *c, int leads_to_http) {
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    return code ? code : curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, leads_to_http ? "http,https" : "https");
#else
    CURLcode code = curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    long leads = leads_to_http ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS;
    return code ? code : curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS, leads);
#endif
}
static inline CURLcode earshot_curl_set_body(CURL *c, earshot_curl_sink f, void *context) {
    CURLcode code = curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, f);
    return code ? code : curl_easy_setopt(c, CURLOPT_WRITEDATA, context);
}
static inline CURLcode earshot_curl_set_header(CURL *c, earshot_curl_sink f, void *context) {
    CURLcode code = curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, f);
    return code ? code : curl_easy_setopt(c, CURLOPT_HEADERDATA, context);
}
static inline long earshot_curl_status(CURL *c) {
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
static inline const char *earshot_curl_address(CURL *c) {
    char *address = NULL;
    curl_easy_getinfo(c, CURLINFO_EFFECTIVE_URL, &address);
    return address;
}
/// The result of a transfer that has ended; -1 if none has.
static inline int earshot_curl_result(CURLM *m) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(m, &left)))
        if (message->msg == CURLMSG_DONE) return (int)message->data.result;
    return -1;
}
static const size_t earshot_curl_pause = CURL_WRITEFUNC_PAUSE;
