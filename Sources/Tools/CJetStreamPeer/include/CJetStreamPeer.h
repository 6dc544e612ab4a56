#ifndef SEGUE_CJETSTREAMPEER_H
#define SEGUE_CJETSTREAMPEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The baselines of the benchmarks that use NATS: a client on libnats alone.
///
/// With JetStream it stores the same messages as the bus, with the same subjects, headers and bodies, and at most one
/// message of a lane is under way. A function that fails returns -1 or NULL; then js_error() has the reason, in one line.

#define JS_LANES 64

/// A connection. One thread at a time uses it.
typedef struct js_peer js_peer;

/// @param url The address of the server: nats://HOST:PORT.
/// @param producer The first part of the ids of the messages.
/// @param sends_at_once True to send each message at once, as the bus does. False to let libnats collect messages.
js_peer *js_open(const char *url, const char *producer, bool sends_at_once);
void js_close(js_peer *peer);

/// The reason of the last failure on this thread.
const char *js_error(void);

/// Messages of the bus that are stored, or sent, as one message of NATS.
typedef struct {
    const char *subject;
    /// 0 to JS_LANES - 1.
    int lane;
    /// The number of messages in the body.
    int count;
    const void *body;
    int size;
} js_batch;

/// Stores batches, in the order of each lane. Returns when the server has acknowledged all of them.
/// @param window The maximum number of batches that are not acknowledged.
int js_publish(js_peer *peer, const js_batch *batches, int count, int window);

/// Stores one batch, and waits for the acknowledgement.
int js_store(js_peer *peer, const js_batch *batch);

/// Sends batches that no stream stores. Returns when the server has received them.
int js_send(js_peer *peer, const js_batch *batches, int count);

/// Sends messages of the bus without JetStream, each as one message of NATS without headers. Returns when the server has
/// received them.
/// @param body The first message. The number in it is that of the next message afterwards.
/// @param number_place The index of the number's first digit in the body.
/// @param digits The number of digits.
int js_send_plain(
    js_peer *peer, const char *subject, uint8_t *body, int size, int number_place, int digits, int64_t count);

/// A subscription: to the journal by a pull consumer, or to a subject without a stream.
typedef struct js_reader js_reader;

/// Makes a pull consumer with the settings of the bus: in memory, without acknowledgements.
/// @param from_beginning False for a consumer of later messages only.
js_reader *js_read_stream(
    js_peer *peer, const char *stream, const char *const *filters, int filter_count, bool from_beginning);
js_reader *js_read_subject(js_peer *peer, const char *subject);
void js_stop_reading(js_reader *reader);

/// A message of NATS. Its body is valid until the next call.
typedef struct {
    /// The number of messages of the bus in the body.
    int count;
    const uint8_t *body;
    int size;
} js_delivery;

/// Waits for the next message.
/// @param timeout In milliseconds.
/// @return 1, 0 after the timeout, or -1.
int js_next(js_reader *reader, int timeout, js_delivery *delivery);

/// The messages that a reader has counted.
typedef struct {
    /// The times of the first and of the last message, in nanoseconds of CLOCK_MONOTONIC.
    int64_t begin, end;
    int64_t count;
    /// The number of messages that did not come after a message with a lower number.
    int64_t misordered;
} js_tally;

/// Counts messages of the bus until `expected` have arrived, or, after the first one, none arrives for a time.
/// @param reads_attributes True to find the attributes in the header of each message, as a reader needs them. False to
/// read only the number of each message.
/// @param number_place The index of the number's first digit in the data of a message.
/// @param digits The number of digits.
/// @param patience In milliseconds.
int js_count(
    js_reader *reader, int64_t expected, bool reads_attributes, int number_place, int digits, int patience,
    js_tally *tally);

/// Does the same for messages that js_send_plain() has sent.
int js_count_plain(
    js_reader *reader, int64_t expected, int number_place, int digits, int patience, js_tally *tally);

#endif
