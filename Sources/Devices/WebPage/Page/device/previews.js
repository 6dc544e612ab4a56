// The last content of each screen, reduced to a few lines, for the pictures of screens outside the devices.

const mostLines = 4
const mostScreens = 500

/** Fires `change`, with `platform` and `screen`, when a screen shows something else. */
class Previews extends EventTarget {
  #previews = new Map()

  /** @returns `{ lines, hasPrimary }`; undefined if no device on this page has shown the screen */
  get(platform, screen) { return this.#previews.get(`${platform} ${screen}`) }

  put(platform, screen, content) {
    if (!content || content.loading) return
    const rows = content.sections.flatMap(section => section.rows.slice(0, mostLines)).slice(0, mostLines)
    // A line is as wide as its text, up to 24 characters.
    const lines = rows.map(({ title }) => Math.min(title?.length ?? 0, 24) / 24)
    const preview = { lines, hasPrimary: content.actions.some(action => action.role === 'primary') }
    const key = `${platform} ${screen}`
    if (JSON.stringify(this.#previews.get(key)) === JSON.stringify(preview)) return
    this.#previews.delete(key)
    this.#previews.set(key, preview)
    if (this.#previews.size > mostScreens) this.#previews.delete(this.#previews.keys().next().value)
    this.dispatchEvent(Object.assign(new Event('change'), { platform, screen }))
  }
}

export const previews = new Previews()
