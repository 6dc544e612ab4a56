// The page's side of the gateway: views on the shared stream, and requests.

import { ownSession } from './memory.js'

/** The `status` is 0 if the request did not reach the gateway. */
class RequestError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

function bodyOf(body, texts = {}) {
  const members = Object.entries(texts).filter(([, text]) => text !== undefined)
  return `${JSON.stringify(body).slice(0, -1)}${members.map(([name, text]) => `,"${name}":${text}`).join('')}}`
}

/** Fires `change` when `state` changes, and `hello` when the stream is live. */
export class Connection extends EventTarget {
  state = { stream: '', hello: null, bus: 'away', live: false, signedOut: false }

  #views = new Map()
  #tab = Math.random().toString(36).slice(2, 10)
  #count = 0
  #tell = () => {}

  constructor() {
    super()
    this.#start()
    addEventListener('pagehide', () => this.#tell({ leave: true }))
    // A page that comes back from the browser's cache has lost its views.
    addEventListener('pageshow', event => { if (event.persisted) location.reload() })
  }

  get readOnly() { return this.state.hello?.readOnly === true }

  /** `onUpdate` gets updates or `{error: {code, message}}`. The id is chosen here: tabs share the stream. */
  open(options, onUpdate) {
    const id = `${this.#tab}-${++this.#count}`
    const view = { options: { ...options, id }, onUpdate }
    this.#views.set(id, view)
    this.#tell({ open: view.options })
    return {
      id,
      close: () => { if (this.#views.delete(id)) this.#tell({ close: id }) },
      // `fields` is the text of a JSON object.
      post: (body, fields) => this.#post(`/api/stream/${this.state.stream}/device/${id}`, bodyOf(body, { fields })),
    }
  }

  get(path, parse = JSON.parse) { return this.#request(path, {}, parse) }

  post(path, body) { return this.#post(path, bodyOf(body)) }

  /** `data` is the text of a JSON object. */
  publish(body, data) { return this.#post('/api/messages', bodyOf(body, { data })) }

  #post(path, text) {
    const headers = { 'Content-Type': 'application/json', 'X-Segue': '1' }
    // The report of a page that is being closed arrives; browsers limit such bodies to 64 KiB.
    return this.#request(path, { method: 'POST', headers, body: text, keepalive: text.length < 16384 })
  }

  async #request(path, options = {}, parse = JSON.parse) {
    let answer
    try {
      answer = await fetch(path, options)
    } catch {
      throw new RequestError(0, 'The gateway cannot be reached.')
    }
    const body = answer.status === 204 ? null : await answer.text().then(parse).catch(() => null)
    if (answer.ok) return body
    const message = body?.error?.message ?? `The gateway answered with status ${answer.status}.`
    throw new RequestError(answer.status, message)
  }

  #start() {
    try {
      // The worker of a session named "null" is not an operator's.
      const name = `segue ${JSON.stringify(ownSession)}`
      const worker = new SharedWorker(new URL('shared-stream.js', import.meta.url), { type: 'module', name })
      worker.onerror = () => { this.#startHere() }
      worker.port.onmessage = ({ data }) => this.#receive(data)
      this.#begin(message => worker.port.postMessage(message))
      this.#holdLock()
    } catch {
      this.#startHere()
    }
  }

  async #startHere() {
    const { SharedStream } = await import('./shared-stream.js')
    const shared = new SharedStream()
    const client = { post: message => this.#receive(message) }
    this.#begin(message => shared.receive(client, message))
  }

  #begin(tell) {
    this.#tell = tell
    tell({})
    // They were opened before, or on a worker that could not be loaded.
    for (const view of this.#views.values()) tell({ open: view.options })
  }

  /** The shared stream waits for this lock, which the browser releases however the tab ends. */
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
