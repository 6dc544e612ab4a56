// @ts-check

/** The time in which the gateway's scene must follow a report, in milliseconds. */
const followLimit = 3000

/**
 * The changes that a person has made before the scene follows: screens and presentations that were taken away, by
 * their instances, and the selected tab. If the scene does not follow in time, or the report is refused, the change is
 * undone.
 */
export class Departures {
  /** @type {Map<string, {timer?: any}>} */
  #gone = new Map()
  /** @type {{name: string, root: string, timer?: any} | null} */
  #tab = null
  #undone

  /** @param {() => void} undone called when a change is taken back */
  constructor(undone) { this.#undone = undone }

  /** The ids of the instances that were taken away. */
  get ids() { return new Set(this.#gone.keys()) }
  has(instance) { return this.#gone.has(instance) }
  /** The name of the selected tab; null if the scene's tab is shown. */
  get tab() { return this.#tab?.name ?? null }

  /** Hides an instance. Its time begins with the report. */
  add(instance) { this.#gone.set(instance, {}) }

  /** @param {string} instance @param {Promise<any>} report */
  reported(instance, report) {
    const change = this.#gone.get(instance)
    this.#limit(report, () => change && this.#gone.get(instance) === change && this.#gone.delete(instance))
  }

  /** @param {string} name @param {string} root @param {Promise<any>} report */
  select(name, root, report) {
    const change = this.#tab = { name, root }
    this.#limit(report, () => {
      if (this.#tab !== change) return false
      this.#tab = null
      return true
    })
  }

  /** Forgets the changes that the scene has followed. @param {Set<string>} open */
  follow(open, model) {
    for (const id of this.#gone.keys()) if (!open.has(id)) this.#gone.delete(id)
    if (model?.selected === this.#tab?.name || model?.root.id !== this.#tab?.root) this.#tab = null
  }

  stop() { this.follow(new Set(), null) }

  /** @param {Promise<any>} report @param {() => any} forget false if the change has been followed or replaced */
  #limit(report, forget) {
    const undo = () => { if (forget()) this.#undone() }
    setTimeout(undo, followLimit)
    report.catch(undo)
  }
}
