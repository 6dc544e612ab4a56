import { svg } from './dom.js'

/** A line chart of counts by the second, 120 × 24, as one path. Set `values`; the label says what they are. */
export class SegueChart extends HTMLElement {
    #line = svg('path', { class: 'chart-line' })
    #area = svg('path', { class: 'chart-area' })
    #picture = svg('svg', { viewBox: '0 0 120 24', preserveAspectRatio: 'none', role: 'img' }, this.#area, this.#line)

    connectedCallback() {
        if (!this.firstChild) this.append(this.#picture)
    }

    /** The newest value is the last, at the right edge. A chart has 300 places, however many values there are. */
    set values(values) {
        const points = (Array.isArray(values) ? values : []).slice(-300).map(value => Number(value) || 0)
        const highest = Math.max(1, ...points)
        const line = points.map((value, index) => {
            const x = 120 - (points.length - 1 - index) * 120 / 299
            return `${x.toFixed(1)} ${(23 - value / highest * 21).toFixed(1)}`
        }).join('L')
        this.#line.setAttribute('d', line && points.length > 1 ? 'M' + line : '')
        this.#area.setAttribute('d', line && points.length > 1 ? `M${(120 - (points.length - 1) * 120 / 299).toFixed(1)} 24L${line}L120 24Z` : '')
        this.#picture.setAttribute('aria-label', `${this.getAttribute('label') ?? 'Messages per second'}: now ${points.at(-1) ?? 0}, at most ${Math.max(0, ...points)} in five minutes`)
    }
}

customElements.define('segue-chart', SegueChart)
