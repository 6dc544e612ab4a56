/** The scene must follow a report in this time, in milliseconds. */
const followLimit = 3000

/** What a person has changed before the scene follows. Without it, or after a refusal, the change is undone. */
export class Departures {
  #gone = new Map()
  #tab = null
  #undone

  constructor(undone) { this.#undone = undone }

  get ids() { return new Set(this.#gone.keys()) }
  has(instance) { return this.#gone.has(instance) }
  get tab() { return this.#tab?.name ?? null }

  add(instance) { this.#gone.set(instance, {}) }

  reported(instance, report) {
    const change = this.#gone.get(instance)
    this.#limit(report, () => change && this.#gone.get(instance) === change && this.#gone.delete(instance))
  }

  select(name, root, report) {
    const change = this.#tab = { name, root }
    this.#limit(report, () => {
      if (this.#tab !== change) return false
      this.#tab = null
      return true
    })
  }

  follow(open, model) {
    for (const id of this.#gone.keys()) if (!open.has(id)) this.#gone.delete(id)
    if (model?.selected === this.#tab?.name || model?.root.id !== this.#tab?.root) this.#tab = null
  }

  stop() { this.follow(new Set(), null) }

  #limit(report, forget) {
    const undo = () => { if (forget()) this.#undone() }
    setTimeout(undo, followLimit)
    report.catch(undo)
  }
}
