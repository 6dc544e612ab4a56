#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The batches of one call of js_publish(). The mutex protects all that changes.
typedef struct {
    js_peer *peer;
    const js_batch *batches;
    int count, window;
    /// The subject for acknowledgements, without the number of the batch.
    const char *inbox;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /// The first batch that is not sent.
    int next;
    int under_way, acknowledged;
    bool is_busy[JS_LANES];
    char failure[512];
} publication;

/// Sends batches as long as the window and their lanes permit it. The mutex is locked.
static void send_next(publication *publication) {
    while (publication->failure[0] == 0 && publication->next < publication->count
           && publication->under_way < publication->window
           && !publication->is_busy[publication->batches[publication->next].lane]) {
        const js_batch *batch = &publication->batches[publication->next];
        char reply[128];
        snprintf(reply, sizeof reply, "%s.%d", publication->inbox, publication->next);
        natsMsg *message = js_message(publication->peer, batch, reply);
        natsStatus status = NATS_ERR;
        if (message != NULL) {
            status = natsConnection_PublishMsg(publication->peer->connection, message);
            if (status != NATS_OK) js_fail("publishing", natsStatus_GetText(status));
            natsMsg_Destroy(message);
        }
        if (status != NATS_OK) {
            snprintf(publication->failure, sizeof publication->failure, "%s", js_error());
            return;
        }
        publication->is_busy[batch->lane] = true;
        publication->under_way++;
        publication->next++;
    }
}

/// Handles an acknowledgement, on the thread of the subscription, which also sends the next batch.
static void take(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)connection;
    (void)subscription;
    publication *publication = context;
    int index = atoi(natsMsg_GetSubject(message) + strlen(publication->inbox) + 1);
    pthread_mutex_lock(&publication->mutex);
    if (js_check(message) != 0) {
        snprintf(publication->failure, sizeof publication->failure, "%s", js_error());
    } else if (index >= 0 && index < publication->next) {
        publication->is_busy[publication->batches[index].lane] = false;
        publication->under_way--;
        publication->acknowledged++;
        send_next(publication);
    }
    if (publication->failure[0] != 0 || publication->acknowledged == publication->count)
        pthread_cond_signal(&publication->changed);
    pthread_mutex_unlock(&publication->mutex);
    natsMsg_Destroy(message);
}

/// Signals the end of a subscription: its handler will not be called again.
static void complete(void *context) {
    publication *publication = context;
    pthread_mutex_lock(&publication->mutex);
    publication->inbox = NULL;
    pthread_cond_signal(&publication->changed);
    pthread_mutex_unlock(&publication->mutex);
}

int js_publish(js_peer *peer, const js_batch *batches, int count, int window) {
    natsInbox *inbox = NULL;
    natsSubscription *subscription = NULL;
    if (natsInbox_Create(&inbox) != NATS_OK) return js_fail("publishing", "no memory");
    publication publication = {.peer = peer, .batches = batches, .count = count, .window = window, .inbox = inbox};
    pthread_mutex_init(&publication.mutex, NULL);
    pthread_cond_init(&publication.changed, NULL);
    char subject[128];
    snprintf(subject, sizeof subject, "%s.*", inbox);
    natsStatus status = natsConnection_Subscribe(&subscription, peer->connection, subject, take, &publication);
    if (status == NATS_OK) status = natsSubscription_SetOnCompleteCB(subscription, complete, &publication);
    if (status == NATS_OK) status = natsSubscription_SetPendingLimits(subscription, -1, -1);
    pthread_mutex_lock(&publication.mutex);
    if (status == NATS_OK) send_next(&publication);
    while (status == NATS_OK && publication.failure[0] == 0 && publication.acknowledged < count)
        pthread_cond_wait(&publication.changed, &publication.mutex);
    pthread_mutex_unlock(&publication.mutex);

    if (subscription != NULL) {
        natsSubscription_Unsubscribe(subscription);
        pthread_mutex_lock(&publication.mutex);
        while (publication.inbox != NULL) pthread_cond_wait(&publication.changed, &publication.mutex);
        pthread_mutex_unlock(&publication.mutex);
        natsSubscription_Destroy(subscription);
    }
    natsInbox_Destroy(inbox);
    pthread_cond_destroy(&publication.changed);
    pthread_mutex_destroy(&publication.mutex);
    if (status != NATS_OK) return js_fail("publishing", natsStatus_GetText(status));
    return publication.failure[0] == 0 ? 0 : js_fail("publishing", publication.failure);
}

int js_store(js_peer *peer, const js_batch *batch) {
    natsMsg *message = js_message(peer, batch, NULL);
    if (message == NULL) return -1;
    natsMsg *acknowledgement = NULL;
    natsStatus status = natsConnection_RequestMsg(&acknowledgement, peer->connection, message, JS_TIMEOUT);
    natsMsg_Destroy(message);
    if (status != NATS_OK) return js_fail("publishing", natsStatus_GetText(status));
    int result = js_check(acknowledgement);
    natsMsg_Destroy(acknowledgement);
    return result;
}

int js_send(js_peer *peer, const js_batch *batches, int count) {
    for (int index = 0; index < count; index++) {
        natsMsg *message = js_message(peer, &batches[index], NULL);
        if (message == NULL) return -1;
        natsStatus status = natsConnection_PublishMsg(peer->connection, message);
        natsMsg_Destroy(message);
        if (status != NATS_OK) return js_fail("sending", natsStatus_GetText(status));
    }
    natsStatus status = natsConnection_FlushTimeout(peer->connection, JS_TIMEOUT);
    return status == NATS_OK ? 0 : js_fail("sending", natsStatus_GetText(status));
}

int js_send_plain(
    js_peer *peer, const char *subject, uint8_t *body, int size, int number_place, int digits, int64_t count) {
    for (int64_t index = 0; index < count; index++) {
        natsStatus status = natsConnection_Publish(peer->connection, subject, body, size);
        if (status != NATS_OK) return js_fail("sending", natsStatus_GetText(status));
        int digit = number_place + digits - 1;
        while (digit > number_place && body[digit] == '9') body[digit--] = '0';
        body[digit]++;
    }
    natsStatus status = natsConnection_FlushTimeout(peer->connection, JS_TIMEOUT);
    return status == NATS_OK ? 0 : js_fail("sending", natsStatus_GetText(status));
}
