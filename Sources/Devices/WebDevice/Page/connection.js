// @ts-check
// The page's side of the gateway: views on the shared stream, and requests.

/** A request that the gateway refused, or that did not reach it (`status` 0). */
export class RequestError extends Error {
    /** @param {number} status @param {string} code @param {string} message */
    constructor(status, code, message) {
        super(message)
        this.status = status
        this.code = code
    }
}

/** @typedef {{id: string, close: () => void, post: (body: any) => Promise<any>}} OpenView */

/**
 * Fires `change` when `state` changes, and besides it `hello` (the stream is live), `bus` (the bus is connected or
 * away) and `away` (the stream is interrupted).
 */
export class Connection extends EventTarget {
    /** @type {import('./worker.js').StreamState} */
    state = { stream: null, hello: null, bus: 'away', live: false, signedOut: false }

    /** @type {Map<string, {options: Record<string, any>, onUpdate: (update: any) => void}>} */
    #views = new Map()
    #tab = Math.random().toString(36).slice(2, 10)
    #count = 0
    /** Messages to the hub before it is ready. @type {any[]} */
    #waiting = []
    /** @type {((message: any) => void) | null} */
    #send = null

    constructor() {
        super()
        this.#start()
        addEventListener('pagehide', () => this.#tell({ leave: true }))
        // A page that comes back from the browser's cache has lost its views.
        addEventListener('pageshow', event => { if (event.persisted) location.reload() })
    }

    get readOnly() { return this.state.hello?.readOnly === true }
    /** True if a message can be sent now. */
    get connected() { return this.state.live && this.state.bus === 'connected' }

    /**
     * Opens a view. `onUpdate` gets each update of the view, or `{error: {code, message}}` if the gateway refuses it.
     * The id of the view is chosen here: several tabs share the stream.
     * @param {Record<string, any>} options @param {(update: any) => void} onUpdate @returns {OpenView}
     */
    open(options, onUpdate) {
        const id = `${this.#tab}-${++this.#count}`
        const view = { options: { ...options, id }, onUpdate }
        this.#views.set(id, view)
        this.#tell({ open: view.options })
        return {
            id,
            close: () => { if (this.#views.delete(id)) this.#tell({ close: id }) },
            post: body => this.post(`/api/stream/${this.state.stream}/device/${id}`, body),
        }
    }

    /** @param {string} path @returns {Promise<any>} the JSON of the answer */
    get(path) {
        return this.#request(path, { headers: { Accept: 'application/json' } })
    }

    /** @param {string} path @param {any} body @returns {Promise<any>} the JSON of the answer; null if it is empty */
    post(path, body) {
        const text = JSON.stringify(body)
        const headers = { 'Content-Type': 'application/json', 'X-Segue': '1' }
        // Lets a report reach the gateway while the page is being closed; browsers limit such bodies to 64 KiB.
        return this.#request(path, { method: 'POST', headers, body: text, keepalive: text.length < 16384 })
    }

    async #request(path, options) {
        let answer
        try {
            answer = await fetch(path, options)
        } catch {
            throw new RequestError(0, 'unreachable', 'The gateway cannot be reached.')
        }
        const body = answer.status === 204 ? null : await answer.json().catch(() => null)
        if (answer.ok) return body
        const error = body?.error
        throw new RequestError(
            answer.status, String(error?.code ?? answer.status),
            String(error?.message ?? `The gateway answered with status ${answer.status}.`))
    }

    // MARK: The hub

    async #start() {
        const receive = message => this.#receive(message)
        try {
            const worker = new SharedWorker(new URL('worker.js', import.meta.url), { type: 'module', name: 'segue' })
            worker.onerror = () => { this.#startHere(receive) }
            worker.port.onmessage = ({ data }) => receive(data)
            this.#begin(message => worker.port.postMessage(message))
            this.#holdLock()
        } catch {
            this.#startHere(receive)
        }
    }

    /** Runs the hub in this tab, where the browser has no shared workers. */
    async #startHere(receive) {
        const { Hub } = await import('./worker.js')
        const hub = new Hub()
        const client = { post: receive }
        // A worker that could not be loaded has taken the messages so far with it.
        this.#waiting = [...this.#views.values()].map(view => ({ open: view.options }))
        this.#begin(message => hub.receive(client, message))
    }

    #begin(send) {
        this.#send = send
        send({})
        for (const message of this.#waiting.splice(0)) send(message)
    }

    /** The hub waits for this lock: the browser releases it when the tab ends, however that happens. */
    #holdLock() {
        const lock = `segue-tab-${this.#tab}`
        navigator.locks?.request(lock, () => {
            this.#tell({ lock })
            return new Promise(() => {})
        }).catch(() => {})
    }

    #tell(message) {
        if (this.#send) this.#send(message)
        else this.#waiting.push(message)
    }

    #receive(message) {
        if (message.view) {
            this.#views.get(message.view)?.onUpdate(message.value)
            return
        }
        const former = this.state
        this.state = message.state
        const { live, bus } = this.state
        if (live && !former.live) this.#fire('hello')
        if (!live && former.live) this.#fire('away')
        if (bus !== former.bus) this.#fire('bus')
        this.#fire('change')
    }

    #fire(name) {
        this.dispatchEvent(new CustomEvent(name, { detail: this.state }))
    }
}
