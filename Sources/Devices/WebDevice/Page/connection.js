// @ts-check
// The page's side of the gateway: views on the shared stream, and requests.

/** A request that the gateway refused, or that did not reach it (`status` 0). */
export class RequestError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/** @typedef {{id: string, close: () => void, post: (body: any) => Promise<any>}} OpenView */

/** Fires `change` when `state` changes, and `hello` when the stream is live. */
export class Connection extends EventTarget {
  /** @type {import('./worker.js').StreamState} */
  state = { stream: '', hello: null, bus: 'away', live: false, signedOut: false }

  /** @type {Map<string, {options: Record<string, any>, onUpdate: (update: any) => void}>} */
  #views = new Map()
  #tab = Math.random().toString(36).slice(2, 10)
  #count = 0
  /** Sends a message to the hub. @type {(message: any) => void} */
  #tell = () => {}

  constructor() {
    super()
    this.#start()
    addEventListener('pagehide', () => this.#tell({ leave: true }))
    // A page that comes back from the browser's cache has lost its views.
    addEventListener('pageshow', event => { if (event.persisted) location.reload() })
  }

  get readOnly() { return this.state.hello?.readOnly === true }

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
  get(path) { return this.#request(path) }

  /** @param {string} path @param {any} body @returns {Promise<any>} the JSON of the answer; null if it is empty */
  post(path, body) {
    const text = JSON.stringify(body)
    const headers = { 'Content-Type': 'application/json', 'X-Segue': '1' }
    // Lets a report reach the gateway while the page is being closed; browsers limit such bodies to 64 KiB.
    return this.#request(path, { method: 'POST', headers, body: text, keepalive: text.length < 16384 })
  }

  async #request(path, options = {}) {
    let answer
    try {
      answer = await fetch(path, options)
    } catch {
      throw new RequestError(0, 'The gateway cannot be reached.')
    }
    const body = answer.status === 204 ? null : await answer.json().catch(() => null)
    if (answer.ok) return body
    const message = body?.error?.message ?? `The gateway answered with status ${answer.status}.`
    throw new RequestError(answer.status, message)
  }

  // MARK: The hub

  #start() {
    try {
      const worker = new SharedWorker(new URL('worker.js', import.meta.url), { type: 'module', name: 'segue' })
      worker.onerror = () => { this.#startHere() }
      worker.port.onmessage = ({ data }) => this.#receive(data)
      this.#begin(message => worker.port.postMessage(message))
      this.#holdLock()
    } catch {
      this.#startHere()
    }
  }

  /** Runs the hub in this tab, where the browser has no shared workers. */
  async #startHere() {
    const { Hub } = await import('./worker.js')
    const hub = new Hub()
    const client = { post: message => this.#receive(message) }
    this.#begin(message => hub.receive(client, message))
  }

  #begin(tell) {
    this.#tell = tell
    tell({})
    // The views that were opened before, or on a worker that could not be loaded.
    for (const view of this.#views.values()) tell({ open: view.options })
  }

  /** The hub waits for this lock: the browser releases it when the tab ends, however that happens. */
  #holdLock() {
    const lock = `segue-tab-${this.#tab}`
    navigator.locks?.request(lock, () => {
      this.#tell({ lock })
      return new Promise(() => {})
    })
  }

  #receive(message) {
    if (message.view) return this.#views.get(message.view)?.onUpdate(message.value)
    const wasLive = this.state.live
    this.state = message.state
    if (this.state.live && !wasLive) this.dispatchEvent(new Event('hello'))
    this.dispatchEvent(new Event('change'))
  }
}
