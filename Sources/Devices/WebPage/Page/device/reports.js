const attempts = 4
const retryDelay = 500
/** Statuses of requests that the gateway has not taken. 404: it was restarted and has the view in a moment. */
const notTaken = [404, 429, 503]
/** These, and the statuses of requests that it may have carried out. */
const perhapsTaken = [...notTaken, 0, 502]

/**
 * What a device sends, one request after the other: the end of a swipe never overtakes its start. Reports are
 * idempotent and repeated if the gateway cannot be reached. Choices are not: they could be taken twice. Both are
 * repeated if the gateway cannot take them yet.
 */
export class Reports {
  #view
  #queue = Promise.resolve()
  #displayed = -1
  #gone = new Set()

  constructor(view) { this.#view = view }

  report(body) { return this.#then(() => this.#send(body, perhapsTaken)) }

  /** A tap on the selected tab, which the gateway must not take twice. */
  tapped(tab, instance) { return this.#then(() => this.#send({ tab, instance }, notTaken)) }

  choose(choice, fields) { return this.#then(() => this.#send({ choose: choice }, notTaken, fields)) }

  /** A later revision replaces one that could not be reported yet. */
  displayed(revision) {
    if (revision === this.#displayed) return
    this.#displayed = revision
    this.#then(async () => {
      if (revision === this.#displayed) await this.#send({ displayed: revision }, perhapsTaken)
    }).catch(() => {})
  }

  gone(leaving) {
    const fresh = leaving.filter(id => !this.#gone.has(id))
    this.#gone = new Set(leaving)
    if (fresh.length) this.report({ gone: fresh }).catch(() => {})
  }

  settled() { return this.#queue }

  #then(request) {
    const result = this.#queue.then(request)
    this.#queue = result.catch(() => {})
    return result
  }

  async #send(body, repeated, fields) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#view.post(body, fields)
      } catch (error) {
        if (attempt === attempts || !repeated.includes(error.status)) throw error
        await new Promise(resolve => setTimeout(resolve, retryDelay * attempt))
      }
    }
  }
}
