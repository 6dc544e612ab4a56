// The SharedWorker with the stream of all tabs: browsers allow few connections. connection.js can run it in a tab.

const firstDelay = 1000
const longestDelay = 15000
/** A repeated request would get these again. */
const refusals = [400, 403, 409, 413]

/** Opens the clients' views on the one EventSource, and passes updates to them. */
export class SharedStream {
  #views = new Map()
  #clients = new Set()
  #state = { stream: '', hello: null, bus: 'away', live: false, signedOut: false }
  #delay = firstDelay
  /** They go one after the other, because the gateway may handle two at once in any order. */
  #requests = Promise.resolve()

  receive(client, { open, close, lock, leave }) {
    if (!this.#clients.has(client)) {
      const isFirst = !this.#state.stream
      this.#clients.add(client)
      client.post({ state: this.#state })
      if (isFirst) this.#connect()
    }
    if (open) {
      this.#views.set(open.id, { options: open, client, opened: false, launched: false })
      if (this.#state.live) this.#open(open.id)
    }
    if (close) this.#close([close])
    // The browser releases the lock of a tab that is closed or crashes.
    if (lock) navigator.locks.request(lock, () => this.#leave(client))
    if (leave) this.#leave(client)
  }

  #leave(client) {
    this.#clients.delete(client)
    this.#close([...this.#views].filter(([, view]) => view.client === client).map(([id]) => id))
  }

  /** With a new id, the gateway sends everything anew. */
  #connect() {
    // `randomUUID` is missing on addresses that are neither encrypted nor loopback.
    const stream = `s-${crypto.getRandomValues(new Uint32Array(4)).join('-').slice(0, 37)}`
    this.#change({ stream, live: false })
    const source = new EventSource(`/api/stream/${stream}`)
    const on = (name, receive) => source.addEventListener(name, event => receive(JSON.parse(event.data)))
    on('hello', hello => {
      this.#delay = firstDelay
      this.#change({ hello, bus: hello.bus, live: true, signedOut: false })
      for (const [id, view] of this.#views) {
        view.opened &&= hello.resumed
        this.#open(id)
      }
    })
    on('update', ({ views }) => {
      for (const [id, value] of Object.entries(views)) this.#views.get(id)?.client.post({ view: id, value })
    })
    on('bus', ({ bus }) => this.#change({ bus }))
    source.onerror = () => {
      this.#change({ live: false })
      // The browser reconnects, except after an answer that is not a stream.
      if (source.readyState === EventSource.CLOSED) this.#retry()
    }
  }

  async #retry() {
    const answer = await fetch('/api/flows').catch(() => null)
    if (answer) this.#change({ signedOut: answer.status === 401 })
    setTimeout(() => this.#connect(), this.#delay)
    this.#delay = Math.min(2 * this.#delay, longestDelay)
  }

  #change(change) {
    this.#state = { ...this.#state, ...change }
    for (const client of this.#clients) client.post({ state: this.#state })
  }

  #open(id) {
    this.#request(async () => {
      const view = this.#views.get(id)
      const { live, stream } = this.#state
      if (!view || view.opened || !live) return
      // A device is launched only once, also if the gateway has forgotten it.
      const answer = await this.#post({ open: [{ ...view.options, ...(view.launched && { resumed: true }) }] })
      if (this.#state.stream !== stream) return
      if (this.#views.get(id) !== view) {
        // It was closed meanwhile, or replaced by a view that opens next.
        if (!this.#views.has(id)) await this.#post({ close: [id] })
        return
      }
      if (answer?.ok) {
        view.opened = view.launched = true
      } else if (answer && refusals.includes(answer.status)) {
        const { error } = await answer.json()
        view.client.post({ view: id, value: { error } })
      } else {
        // 404: the stream has ended, and its next `hello` opens the view; the others pass.
        setTimeout(() => this.#open(id), firstDelay)
      }
    })
  }

  #close(ids) {
    const close = ids.filter(id => this.#views.get(id)?.opened)
    for (const id of ids) this.#views.delete(id)
    if (close.length && this.#state.live) this.#request(() => this.#post({ close }))
  }

  #request(request) { this.#requests = this.#requests.then(request).catch(() => {}) }

  #post(body) {
    return fetch(`/api/stream/${this.#state.stream}/views`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Segue': '1' }, body: JSON.stringify(body),
    }).catch(() => null)
  }
}

if (globalThis.constructor.name === 'SharedWorkerGlobalScope') {
  const shared = new SharedStream()
  globalThis.onconnect = ({ ports: [port] }) => {
    const client = { post: message => port.postMessage(message) }
    port.onmessage = ({ data }) => shared.receive(client, data)
  }
}
