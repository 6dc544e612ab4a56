#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char failure[512];

const char *js_error(void) {
    return failure;
}

int js_fail(const char *what, const char *reason) {
    snprintf(failure, sizeof failure, "libnats: %s: %s", what, reason);
    return -1;
}

static natsStatus connect_to(const char *url, bool sends_at_once, natsConnection **connection) {
    natsOptions *options = NULL;
    natsStatus status = natsOptions_Create(&options);
    if (status == NATS_OK) status = natsOptions_SetURL(options, url);
    if (status == NATS_OK) status = natsOptions_SetSendAsap(options, sends_at_once);
    if (status == NATS_OK) status = natsOptions_SetAllowReconnect(options, false);
    if (status == NATS_OK) status = natsConnection_Connect(connection, options);
    natsOptions_Destroy(options);
    return status;
}

js_peer *js_open(const char *url, const char *producer, bool sends_at_once) {
    js_peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL) {
        js_fail("the connection", "no memory");
        return NULL;
    }
    snprintf(peer->producer, sizeof peer->producer, "%s", producer);
    natsStatus status = connect_to(url, sends_at_once, &peer->connection);
    if (status == NATS_OK) return peer;
    js_fail(url, natsStatus_GetText(status));
    free(peer);
    return NULL;
}

void js_close(js_peer *peer) {
    natsConnection_Close(peer->connection);
    natsConnection_Destroy(peer->connection);
    free(peer);
}

natsMsg *js_message(js_peer *peer, const js_batch *batch, const char *reply) {
    natsMsg *message = NULL;
    char text[128];
    natsStatus status = natsMsg_Create(&message, batch->subject, reply, batch->body, batch->size);
    if (status == NATS_OK) {
        snprintf(text, sizeof text, "%s-%llu", peer->producer, (unsigned long long)++peer->last_number);
        status = natsMsgHeader_Set(message, "Nats-Msg-Id", text);
    }
    if (status == NATS_OK) {
        snprintf(text, sizeof text, "%d", batch->count);
        status = natsMsgHeader_Set(message, "Segue-Batch", text);
    }
    if (status == NATS_OK) return message;
    js_fail("a message", natsStatus_GetText(status));
    natsMsg_Destroy(message);
    return NULL;
}

int js_check(natsMsg *acknowledgement) {
    if (natsMsg_IsNoResponders(acknowledgement)) return js_fail("publishing", "no stream stores the subject");
    // The text is followed by a zero byte.
    const char *text = natsMsg_GetData(acknowledgement);
    if (strstr(text, "\"error\"") == NULL && strstr(text, "\"seq\"") != NULL) return 0;
    return js_fail("publishing", text);
}
