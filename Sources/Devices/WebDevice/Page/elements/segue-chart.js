/** The values that fill the width of a chart. */
const PLACES = 300

/** A line chart of counts by the second, 120 × 24, as an SVG path. Set `values`, the newest last. */
export class SegueChart extends HTMLElement {
    #picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
    #paths = ['chart-area', 'chart-line'].map(name => {
        const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
        path.setAttribute('class', name)
        return path
    })

    connectedCallback() {
        this.#picture.setAttribute('viewBox', '0 0 120 24')
        this.#picture.setAttribute('preserveAspectRatio', 'none')
        this.#picture.setAttribute('role', 'img')
        this.#picture.replaceChildren(...this.#paths)
        this.replaceChildren(this.#picture)
    }

    set values(values) {
        const points = values.slice(-PLACES).map(value => Number(value) || 0)
        const highest = Math.max(0, ...points)
        const place = index => (120 - (points.length - 1 - index) * 120 / (PLACES - 1)).toFixed(1)
        const height = value => (23 - value / Math.max(highest, 1) * 21).toFixed(1)
        const line = points.map((value, index) => `${place(index)} ${height(value)}`).join('L')
        this.#paths[0].setAttribute('d', points.length > 1 ? `M${place(0)} 24L${line}L120 24Z` : '')
        this.#paths[1].setAttribute('d', points.length > 1 ? 'M' + line : '')
        this.#picture.setAttribute('aria-label',
            `${this.getAttribute('label')}: now ${points.at(-1) ?? 0}, at most ${highest} in the last five minutes`)
    }
}

customElements.define('segue-chart', SegueChart)
