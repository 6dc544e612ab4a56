#ifndef SEGUE_PEER_H
#define SEGUE_PEER_H

#include "CJetStreamPeer.h"

#include <nats/nats.h>
#include <pthread.h>

/// The time within which the server must answer, in milliseconds.
#define JS_TIMEOUT 10000

struct js_peer {
    natsConnection *connection;
    char producer[64];
    /// The number of the last message.
    uint64_t last_number;
};

/// Notes the reason of a failure. Returns -1.
int js_fail(const char *what, const char *reason);

/// Makes a message with the headers of a stored batch. Returns NULL after a failure.
natsMsg *js_message(js_peer *peer, const js_batch *batch, const char *reply);

/// Checks an acknowledgement of JetStream. Returns 0, or -1 if the message is not stored.
int js_check(natsMsg *acknowledgement);

#endif
