// What the gateway says about flows: their drawings, the present screens, and their changes.

import { problemOf, shortened } from '../../elements/text.js'
import { readDrawing } from './read-drawing.js'

const retryDelay = 5000

export class MapFeed {
  flows
  session
  here
  taken
  isCounted
  since
  #connection
  #views = []
  #hashes = new Map()
  #actions

  /** `actions` are `flows`, `drawing`, `failure`, `here`, `taken`, `moves` and `rows`. */
  constructor(connection, actions) {
    this.#connection = connection
    this.#actions = actions
  }

  open(session) {
    this.close()
    if (session !== this.session) Object.assign(this, { session, here: {}, taken: {}, isCounted: false })
    let isFirst = true
    this.#views = [
      this.#connection.open({ kind: 'map', session }, update => this.#receive(update)),
      this.#connection.open({ kind: 'happenings' }, ({ rows = [] }) => {
        this.#actions.rows(rows.filter(row => session === null || row.session === session), isFirst)
        isFirst = false
      })]
    this.#connection.addEventListener('hello', this.#readAll)
  }

  close() {
    for (const view of this.#views.splice(0)) view.close()
    this.#connection.removeEventListener('hello', this.#readAll)
  }

  #receive({ error, reset, flows, here, taken, counted, moves }) {
    // Another gateway may have begun.
    if (reset) Object.assign(this, { here: {}, taken: {}, isCounted: false })
    if (error) this.#actions.failure(null, problemOf({ error }))
    if (flows) {
      const hashOf = (list, platform) => list?.find(flow => flow.platform === platform)?.hash
      // The counts are of one version of a flow.
      for (const platform of Object.keys(this.taken)) {
        if (hashOf(flows, platform) !== hashOf(this.flows, platform)) delete this.taken[platform]
      }
      this.flows = flows
      this.#actions.flows()
      for (const platform of this.#hashes.keys()) {
        if (!flows.some(flow => flow.platform === platform)) this.#hashes.delete(platform)
      }
      this.#readAll()
    }
    if (here) {
      Object.assign(this.here, here)
      this.#actions.here(Object.keys(here))
    }
    // Null: another journal has begun.
    if (counted === null) this.taken = {}
    if (counted !== undefined) Object.assign(this, { isCounted: !!counted, since: counted?.since })
    for (const [platform, rules] of Object.entries(taken ?? {})) {
      this.taken[platform] = { __proto__: null, ...this.taken[platform], ...rules }
    }
    if (taken || reset || counted !== undefined) this.#actions.taken()
    if (moves) this.#actions.moves(moves)
  }

  /** Drawings may be new, or could not be read while the gateway was away. */
  #readAll = () => { for (const flow of this.flows ?? []) this.#read(flow) }

  async #read({ platform, hash }) {
    if (this.#hashes.get(platform) === hash) return
    this.#hashes.set(platform, hash)
    let line
    try {
      const json = await this.#connection.get(`/api/flows/${encodeURIComponent(platform)}`)
      line = `The flow of ${shortened(platform)} cannot be drawn.`
      const drawing = readDrawing(json)
      if (this.#hashes.get(platform) === hash) this.#actions.drawing(platform, drawing)
    } catch (failure) {
      if (this.#hashes.get(platform) !== hash) return
      // A flow that cannot be drawn (422) stays so; everything else may pass.
      if (!line && failure.status !== 422) {
        this.#hashes.delete(platform)
        setTimeout(() => this.#views.length && this.#readAll(), retryDelay)
      }
      this.#actions.failure(platform, line ?? problemOf(failure))
    }
  }

  rule(platform, key) {
    const session = this.session === null ? '' : `&session=${encodeURIComponent(this.session)}`
    const path = `/api/flows/${encodeURIComponent(platform)}/rule?key=${encodeURIComponent(key)}`
    return this.#connection.get(path + session)
  }

  async types() { return (await this.#connection.get('/api/types')).types }
}
