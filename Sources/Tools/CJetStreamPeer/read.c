#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// The number of messages that a consumer may deliver in advance. The settings of the bus.
#define WINDOW 512
#define MAXIMUM_SIZE (16 << 20)
/// The time after which the server ends a request, in milliseconds.
#define EXPIRY 30000

struct js_reader {
    js_peer *peer;
    natsInbox *inbox;
    natsSubscription *subscription;
    /// The subject of requests. Empty for a subject without a stream.
    char requests[256];
    /// The number of messages that were requested and have not arrived.
    int requested;
    /// The message whose body the caller uses.
    natsMsg *current;
};

static int request(js_reader *reader) {
    char body[160];
    snprintf(
        body, sizeof body, "{\"batch\":%d,\"max_bytes\":%d,\"expires\":%lld}", WINDOW - reader->requested,
        MAXIMUM_SIZE, EXPIRY * 1000000LL);
    natsStatus status = natsConnection_PublishRequestString(
        reader->peer->connection, reader->requests, reader->inbox, body);
    if (status != NATS_OK) return js_fail("requesting messages", natsStatus_GetText(status));
    reader->requested = WINDOW;
    return 0;
}

static js_reader *subscribe(js_peer *peer, const char *subject) {
    js_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL || natsInbox_Create(&reader->inbox) != NATS_OK) {
        free(reader);
        js_fail("reading", "no memory");
        return NULL;
    }
    reader->peer = peer;
    natsStatus status = natsConnection_SubscribeSync(
        &reader->subscription, peer->connection, subject != NULL ? subject : reader->inbox);
    if (status == NATS_OK) status = natsSubscription_SetPendingLimits(reader->subscription, -1, -1);
    if (status == NATS_OK) status = natsConnection_FlushTimeout(peer->connection, JS_TIMEOUT);
    if (status == NATS_OK) return reader;
    js_fail("subscribing", natsStatus_GetText(status));
    js_stop_reading(reader);
    return NULL;
}

static int create_consumer(
    js_reader *reader, const char *stream, const char *const *filters, int filter_count, bool from_beginning) {
    // The last part of an inbox is unique, and has only letters and digits.
    const char *name = strrchr(reader->inbox, '.') + 1;
    char list[2048] = "", settings[4096], subject[256];
    for (int index = 0; index < filter_count; index++) {
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s\"%s\"", index == 0 ? "" : ",", filters[index]);
    }
    snprintf(
        settings, sizeof settings,
        "{\"stream_name\":\"%s\",\"action\":\"create\",\"config\":{\"name\":\"%s\",\"ack_policy\":\"none\","
        "\"mem_storage\":true,\"num_replicas\":1,\"deliver_policy\":\"%s\",\"filter_subjects\":[%s],"
        "\"inactive_threshold\":60000000000}}",
        stream, name, from_beginning ? "all" : "new", list);
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.CREATE.%s.%s", stream, name);
    natsMsg *reply = NULL;
    natsStatus status = natsConnection_RequestString(
        &reply, reader->peer->connection, subject, settings, JS_TIMEOUT);
    if (status != NATS_OK) return js_fail("making a consumer", natsStatus_GetText(status));
    int result = strstr(natsMsg_GetData(reply), "\"error\"") == NULL
        ? 0 : js_fail("making a consumer", natsMsg_GetData(reply));
    natsMsg_Destroy(reply);
    snprintf(reader->requests, sizeof reader->requests, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream, name);
    return result;
}

js_reader *js_read_stream(
    js_peer *peer, const char *stream, const char *const *filters, int filter_count, bool from_beginning) {
    js_reader *reader = subscribe(peer, NULL);
    if (reader == NULL) return NULL;
    if (create_consumer(reader, stream, filters, filter_count, from_beginning) == 0 && request(reader) == 0)
        return reader;
    js_stop_reading(reader);
    return NULL;
}

js_reader *js_read_subject(js_peer *peer, const char *subject) {
    return subscribe(peer, subject);
}

void js_stop_reading(js_reader *reader) {
    natsConnection *connection = reader->peer->connection;
    // After the flush no message is on its way to the subscription: libnats 3.4.1 can crash if one arrives, such as
    // the server's message about the deleted consumer, while the subscription is destroyed.
    natsSubscription_Unsubscribe(reader->subscription);
    natsConnection_FlushTimeout(connection, JS_TIMEOUT);
    natsMsg_Destroy(reader->current);
    natsSubscription_Destroy(reader->subscription);
    if (reader->requests[0] != 0) {
        // The server also removes a consumer that has not been used for a minute.
        char subject[256];
        const char *consumer = reader->requests + strlen("$JS.API.CONSUMER.MSG.NEXT.");
        snprintf(subject, sizeof subject, "$JS.API.CONSUMER.DELETE.%s", consumer);
        natsConnection_PublishString(connection, subject, "");
        natsConnection_FlushTimeout(connection, JS_TIMEOUT);
    }
    natsInbox_Destroy(reader->inbox);
    free(reader);
}

int js_next(js_reader *reader, int timeout, js_delivery *delivery) {
    while (true) {
        natsMsg_Destroy(reader->current);
        reader->current = NULL;
        if (reader->requests[0] != 0 && reader->requested <= WINDOW / 2 && request(reader) != 0) return -1;
        natsStatus status = natsSubscription_NextMsg(&reader->current, reader->subscription, timeout);
        if (status == NATS_TIMEOUT) return 0;
        if (status != NATS_OK) return js_fail("reading", natsStatus_GetText(status));
        const char *text = NULL;
        if (natsMsgHeader_Get(reader->current, "Segue-Batch", &text) == NATS_OK) {
            reader->requested--;
            delivery->count = atoi(text);
            delivery->body = (const uint8_t *)natsMsg_GetData(reader->current);
            delivery->size = natsMsg_GetDataLength(reader->current);
            return 1;
        }
        // Another message is the end of a request: what is left of it will not come.
        if (natsMsgHeader_Get(reader->current, "Nats-Pending-Messages", &text) != NATS_OK)
            return js_fail("reading", "the server has lost the consumer");
        reader->requested -= atoi(text);
    }
}

// MARK: Messages of the bus

/// Skips a text or a blob: its length in `width` bytes, big-endian, then its bytes. Returns NULL if it is not whole.
static const uint8_t *skip(const uint8_t *bytes, const uint8_t *end, int width) {
    if (end - bytes < width) return NULL;
    uint32_t length = 0;
    for (int index = 0; index < width; index++) length = length << 8 | *bytes++;
    return (size_t)(end - bytes) < length ? NULL : bytes + length;
}

/// The places of a message in a body. Each part ends where the next one begins.
typedef struct {
    const uint8_t *header, *data, *end;
} place;

/// Finds the parts of the next message: topic, subject, key, header, data. Returns false if it is not whole.
static bool next_message(const uint8_t *bytes, const uint8_t *end, place *place) {
    for (int index = 0; index < 3 && bytes != NULL; index++) bytes = skip(bytes, end, 2);
    if (bytes == NULL || end - bytes < 4) return false;
    place->header = bytes + 4;
    bytes = skip(bytes, end, 4);
    if (bytes == NULL || end - bytes < 4) return false;
    place->data = bytes + 4;
    place->end = skip(bytes, end, 4);
    return place->end != NULL;
}

/// The attributes of a message that every header has.
static const char *const required[] = {"id", "source", "specversion", "time", "type"};
#define REQUIRED_COUNT (int)(sizeof required / sizeof required[0])

/// Finds the attributes in a header, a JSON object whose values are strings without escapes. Returns false if one of
/// the required attributes is missing.
static bool find_attributes(const uint8_t *bytes, const uint8_t *end) {
    int found = 0;
    const uint8_t *name = NULL;
    size_t name_length = 0;
    while ((bytes = memchr(bytes, '"', (size_t)(end - bytes))) != NULL) {
        const uint8_t *text = bytes + 1;
        const uint8_t *close = memchr(text, '"', (size_t)(end - text));
        if (close == NULL) return false;
        if (name == NULL) {
            name = text;
            name_length = (size_t)(close - text);
        } else {
            for (int index = 0; index < REQUIRED_COUNT; index++)
                if (strlen(required[index]) == name_length && memcmp(required[index], name, name_length) == 0) found++;
            name = NULL;
        }
        bytes = close + 1;
    }
    return found == REQUIRED_COUNT;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/// Counts a message.
/// @param last The number of the message before it.
/// @param number The first digit of its number.
static void tally_message(
    js_tally *tally, int64_t *last, const uint8_t *number, int digits, const uint8_t *end) {
    int64_t value = 0;
    for (int digit = 0; digit < digits && number + digit < end; digit++) value = value * 10 + number[digit] - '0';
    if (value <= *last) tally->misordered++;
    *last = value;
    tally->count++;
}

int js_count(
    js_reader *reader, int64_t expected, bool reads_attributes, int number_place, int digits, int patience,
    js_tally *tally) {
    int64_t last = 0;
    memset(tally, 0, sizeof *tally);
    while (tally->count < expected) {
        js_delivery delivery;
        int result = js_next(reader, patience, &delivery);
        if (result < 0) return -1;
        if (result == 0 && tally->count > 0) return 0;
        if (result == 0) continue;
        if (tally->count == 0) tally->begin = now();
        const uint8_t *bytes = delivery.body, *end = bytes + delivery.size;
        for (int index = 0; index < delivery.count && tally->count < expected; index++) {
            place place;
            if (!next_message(bytes, end, &place)) return js_fail("reading", "the body of a batch is damaged");
            if (reads_attributes && !find_attributes(place.header, place.data - 4))
                return js_fail("reading", "the header of a message is damaged");
            bytes = place.end;
            tally_message(tally, &last, place.data + number_place, digits, place.end);
        }
        tally->end = now();
    }
    return 0;
}

int js_count_plain(
    js_reader *reader, int64_t expected, int number_place, int digits, int patience, js_tally *tally) {
    int64_t last = 0;
    memset(tally, 0, sizeof *tally);
    while (tally->count < expected) {
        natsMsg *message = NULL;
        natsStatus status = natsSubscription_NextMsg(&message, reader->subscription, patience);
        if (status == NATS_TIMEOUT && tally->count > 0) return 0;
        if (status == NATS_TIMEOUT) continue;
        if (status != NATS_OK) return js_fail("reading", natsStatus_GetText(status));
        if (tally->count == 0) tally->begin = now();
        const uint8_t *body = (const uint8_t *)natsMsg_GetData(message);
        tally_message(tally, &last, body + number_place, digits, body + natsMsg_GetDataLength(message));
        natsMsg_Destroy(message);
        // Reading the clock takes time.
        if (tally->count % 16 == 0 || tally->count == expected) tally->end = now();
    }
    return 0;
}
