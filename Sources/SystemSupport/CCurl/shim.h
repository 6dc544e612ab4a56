#ifndef SEGUE_CCURL_SHIM_H
#define SEGUE_CCURL_SHIM_H

#include <curl/curl.h>

/* Swift cannot call variadic functions. curl.h also defines macros with these names, which need a literal option. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

typedef size_t (*segue_curl_receive)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode segue_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode segue_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode segue_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode segue_curl_set_receiver(CURL *easy, CURLoption option, segue_curl_receive receive) {
    return curl_easy_setopt(easy, option, receive);
}

static inline CURLcode segue_curl_get_number(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

#endif
