// The last content of each screen as a few lines, for pictures outside the devices.

const mostLines = 4
const mostScreens = 500

/** Fires `change` with `platform` and `screen`. */
class Previews extends EventTarget {
  #texts = new Map()

  /** `{ lines, hasPrimary }`, or undefined for a screen that was not shown. */
  get(platform, screen) { return JSON.parse(this.#texts.get(`${platform} ${screen}`) ?? 'null') ?? undefined }

  put(platform, screen, content) {
    if (!content || content.loading) return
    const rows = content.sections.flatMap(section => section.rows.slice(0, mostLines)).slice(0, mostLines)
    const lines = rows.map(({ title }) => Math.min(title.length, 24) / 24), key = `${platform} ${screen}`
    const text = JSON.stringify({ lines, hasPrimary: content.actions.some(action => action.role === 'primary') })
    if (this.#texts.get(key) === text || this.#texts.size > mostScreens) return
    this.#texts.set(key, text)
    this.dispatchEvent(Object.assign(new Event('change'), { platform, screen }))
  }
}

export const previews = new Previews()
