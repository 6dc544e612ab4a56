// @ts-check
// The stream from the gateway. A browser allows few connections to one origin, so all tabs share one stream: this file
// is a SharedWorker. Where SharedWorker is missing, connection.js imports it and runs a hub in the tab.

/**
 * @typedef {{stream: string | null, hello: Record<string, any> | null, bus: 'connected' | 'away', live: boolean,
 *   signedOut: boolean}} StreamState
 * @typedef {{post: (message: any) => void}} Client
 * @typedef {{options: Record<string, any>, client: Client, opened: boolean, launched: boolean}} View
 */

const firstDelay = 1000
const longestDelay = 15000
/** Statuses that the same request would get again. */
const refusals = new Set([400, 403, 409, 413])

/** Holds the one EventSource, opens the clients' views on it and passes each update to the client of its view. */
export class Hub {
    /** @type {Map<string, View>} */
    #views = new Map()
    /** @type {Set<Client>} */
    #clients = new Set()
    /** @type {StreamState} */
    #state = { stream: null, hello: null, bus: 'away', live: false, signedOut: false }
    /** @type {EventSource | null} */
    #source = null
    #delay = firstDelay
    /** Requests about views are sent one after the other, because the gateway may handle two at once in any order. */
    #requests = Promise.resolve()

    /** @param {Client} client @param {any} message */
    receive(client, message) {
        if (!this.#clients.has(client)) {
            this.#clients.add(client)
            client.post({ state: this.#state })
            if (!this.#source) this.#connect()
        }
        if (message.open) {
            const id = message.open.id
            this.#views.set(id, { options: message.open, client, opened: false, launched: false })
            if (this.#state.live) this.#open(id)
        }
        if (message.close) this.#close([message.close])
        if (message.lock) this.#leaveWith(client, message.lock)
        if (message.leave) this.#leave(client)
    }

    /** A tab that is closed, or crashes, releases its lock; then nobody needs its views. */
    #leaveWith(client, lock) {
        navigator.locks?.request(lock, () => this.#leave(client)).catch(() => {})
    }

    #leave(client) {
        this.#clients.delete(client)
        this.#close([...this.#views].filter(([, view]) => view.client === client).map(([id]) => id))
    }

    // MARK: The stream

    /** A new stream has a new id: the gateway then sends everything anew, whatever it knows of the former one. */
    #connect() {
        const stream = `s-${crypto.randomUUID()}`
        this.#change({ stream, live: false })
        const source = new EventSource(`/api/stream/${stream}`)
        this.#source = source
        source.addEventListener('hello', event => {
            const hello = parsed(event)
            if (!hello) return
            this.#delay = firstDelay
            this.#change({ hello, bus: hello.bus === 'connected' ? 'connected' : 'away', live: true, signedOut: false })
            for (const [id, view] of this.#views) {
                if (hello.resumed && view.opened) continue
                view.opened = false
                this.#open(id)
            }
        })
        source.addEventListener('update', event => this.#update(parsed(event)?.views))
        source.addEventListener('bus', event => {
            this.#change({ bus: parsed(event)?.bus === 'connected' ? 'connected' : 'away' })
        })
        source.addEventListener('error', () => {
            this.#change({ live: false })
            // The browser reconnects by itself, except after an answer that is not a stream.
            if (source.readyState === EventSource.CLOSED) this.#retry()
        })
    }

    async #retry() {
        this.#source?.close()
        const answer = await fetch('/api/types', { headers: { Accept: 'application/json' } }).catch(() => null)
        if (answer) this.#change({ signedOut: answer.status === 401 })
        const delay = this.#delay
        this.#delay = Math.min(2 * delay, longestDelay)
        setTimeout(() => this.#connect(), delay)
    }

    /** @param {Partial<StreamState>} change */
    #change(change) {
        this.#state = { ...this.#state, ...change }
        for (const client of this.#clients) client.post({ state: this.#state })
    }

    /** @param {Record<string, any> | undefined} views */
    #update(views) {
        for (const [id, value] of Object.entries(views ?? {})) {
            this.#views.get(id)?.client.post({ view: id, value })
        }
    }

    // MARK: Views

    #open(id) {
        this.#request(async () => {
            const view = this.#views.get(id)
            if (!view || view.opened || !this.#state.live) return
            // A device publishes that it was launched only once, also if the gateway has forgotten it.
            const resumed = view.options.resumed || view.launched
            const stream = this.#state.stream
            const answer = await this.#post({ open: [{ ...view.options, ...(view.launched && { resumed }) }] })
            if (this.#views.get(id) !== view || this.#state.stream !== stream) return
            if (answer?.ok) {
                view.opened = view.launched = true
            } else if (answer && refusals.has(answer.status)) {
                const body = await answer.json().catch(() => null)
                const error = body?.error ?? { code: String(answer.status), message: 'The gateway refused the view.' }
                view.client.post({ view: id, value: { error } })
            } else {
                // 404: the stream has ended, and its next `hello` opens the view; the others pass.
                setTimeout(() => this.#open(id), firstDelay)
            }
        })
    }

    /** @param {string[]} ids */
    #close(ids) {
        const open = ids.filter(id => this.#views.get(id)?.opened)
        for (const id of ids) this.#views.delete(id)
        if (open.length && this.#state.live) this.#request(() => this.#post({ close: open }))
    }

    /** @param {() => Promise<any>} request */
    #request(request) {
        this.#requests = this.#requests.then(request).catch(() => {})
    }

    #post(body) {
        return fetch(`/api/stream/${this.#state.stream}/views`, {
            method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Segue': '1' }, body: JSON.stringify(body),
        }).catch(() => null)
    }
}

/** The JSON of a server-sent event; null if it is malformed. */
function parsed(event) {
    try { return JSON.parse(event.data) } catch { return null }
}

if (typeof globalThis.SharedWorkerGlobalScope === 'function' && globalThis instanceof globalThis.SharedWorkerGlobalScope) {
    const hub = new Hub()
    globalThis.onconnect = event => {
        const port = event.ports[0]
        const client = { post: message => port.postMessage(message) }
        port.onmessage = ({ data }) => hub.receive(client, data)
    }
}
