import { svg } from '../elements/dom.js'

export const SECONDS = 300

/** A line chart of counts by the second. Set `values`, the newest last. */
export class SegueChart extends HTMLElement {
  #label
  #area = svg('path', { class: 'chart-area' })
  #line = svg('path', { class: 'chart-line' })
  #picture = svg('svg', { viewBox: '0 0 120 24', preserveAspectRatio: 'none', role: 'img' })

  constructor(label) {
    super()
    this.#label = label
    this.#picture.append(this.#area, this.#line)
    this.append(this.#picture)
  }

  set values(values) {
    const points = values.slice(-SECONDS), highest = Math.max(0, ...points)
    const place = index => (120 - (points.length - 1 - index) * 120 / (SECONDS - 1)).toFixed(1)
    const height = value => (23 - value / Math.max(highest, 1) * 21).toFixed(1)
    const line = points.map((value, index) => `${place(index)} ${height(value)}`).join('L')
    this.#area.setAttribute('d', points.length > 1 ? `M${place(0)} 24L${line}L120 24Z` : '')
    this.#line.setAttribute('d', points.length > 1 ? 'M' + line : '')
    this.#picture.setAttribute('aria-label',
      `${this.#label}: now ${points.at(-1) ?? 0}, at most ${highest} in the last five minutes`)
  }
}

customElements.define('segue-chart', SegueChart)
