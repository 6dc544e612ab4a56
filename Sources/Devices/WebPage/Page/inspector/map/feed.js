// What the gateway says about flows: which there are, their drawings, the present screens, and what moves them.

import { problemOf, shortened } from '../../elements/text.js'
import { readDrawing } from './drawing.js'

export class MapFeed {
  flows
  here = {}
  taken = {}
  isCounted = false
  since = null
  session = null
  #connection
  #views = []
  #hashes = new Map()
  #actions

  /** @param actions `flows`, `drawing`, `failure`, `here`, `taken`, `moves` and `rows`: called when they have changed */
  constructor(connection, actions) {
    this.#connection = connection
    this.#actions = actions
  }

  /** @param session null for all */
  open(session) {
    this.close()
    if (session !== this.session) Object.assign(this, { here: {}, taken: {}, isCounted: false, since: null })
    this.session = session
    const options = session === null ? { kind: 'map' } : { kind: 'map', session }
    let isFirst = true
    this.#views = [this.#connection.open(options, update => this.#receive(update)),
      this.#connection.open({ kind: 'happenings' }, ({ rows = [] }) => {
        const shown = rows.filter(row => session === null || row.session === session)
        // The first rows have happened before.
        this.#actions.rows(shown, isFirst)
        isFirst = false
      })]
    this.#connection.addEventListener('hello', this.#retry)
  }

  close() {
    for (const view of this.#views.splice(0)) view.close()
    this.#connection.removeEventListener('hello', this.#retry)
  }

  #receive({ error, flows, here, taken, counted, moves }) {
    if (error) return this.#actions.failure(null, problemOf({ error }))
    if (flows) {
      this.flows = flows
      this.#actions.flows()
      for (const platform of this.#hashes.keys()) {
        if (!flows.some(flow => flow.platform === platform)) this.#hashes.delete(platform)
      }
      for (const flow of flows) this.#read(flow)
    }
    if (here) {
      Object.assign(this.here, here)
      this.#actions.here(Object.keys(here))
    }
    if (counted) Object.assign(this, { isCounted: true, since: counted.since })
    for (const [platform, rules] of Object.entries(taken ?? {})) {
      this.taken[platform] = { __proto__: null, ...this.taken[platform], ...rules }
    }
    if (taken || counted) this.#actions.taken(counted ? null : taken)
    if (moves) this.#actions.moves(moves)
  }

  /** Drawings that could not be read are read again when the gateway is back. */
  #retry = () => { for (const flow of this.flows ?? []) this.#read(flow) }

  async #read({ platform, hash }) {
    if (this.#hashes.get(platform) === hash) return
    this.#hashes.set(platform, hash)
    const isCurrent = () => this.#hashes.get(platform) === hash
    try {
      const json = await this.#connection.get(`/api/flows/${encodeURIComponent(platform)}`)
      if (!isCurrent()) return
      let drawing
      try { drawing = readDrawing(json) } catch {
        return this.#actions.failure(platform, `The flow of ${shortened(platform)} cannot be drawn.`)
      }
      this.#actions.drawing(platform, drawing)
    } catch (failure) {
      if (!isCurrent()) return
      // A flow that cannot be drawn stays so; everything else may pass.
      if (failure.status !== 422) this.#hashes.delete(platform)
      this.#actions.failure(platform, problemOf(failure))
    }
  }

  /** The rule's lines and its last uses. */
  rule(platform, key) {
    const session = this.session === null ? '' : `&session=${encodeURIComponent(this.session)}`
    return this.#connection.get(
      `/api/flows/${encodeURIComponent(platform)}/rule?key=${encodeURIComponent(key)}${session}`)
  }

  /** The messages that are known on the bus. */
  async types() { return (await this.#connection.get('/api/types')).types }
}
