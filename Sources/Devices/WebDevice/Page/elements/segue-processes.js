import { adopt, fill, h, loadStyles, setText } from './dom.js'
import { count, dateAndClock, duration, KINDS, plural, printable, problemOf } from './text.js'
import './segue-chart.js'
import './segue-dead-letters.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'processes.css')

const COLUMNS = ['Process', 'State', 'Handled', 'Failed', 'Lag', 'Last five minutes']
const NAMES = { total: 'All messages', command: 'Commands', event: 'Events', document: 'Documents', query: 'Queries', error: 'Errors' }
/** The seconds that a chart shows. */
const SECONDS = 300

/** The processes on the bus, the rates of messages, and the dead letters. `address`: `#/processes`. */
export class SegueProcesses extends HTMLElement {
    #connection = null
    #view = null
    #timer = 0
    /** What the gateway has sent so far. */
    #state = { processes: null, rates: {}, dead: null }
    /** The messages that each process has handled in each second since the view was opened. */
    #histories = new Map()
    #rows = new Map()
    #tiles = new Map()
    #rates = h('div', { class: 'rates', role: 'group', 'aria-label': 'Messages per second' })
    #table = h('div', { class: 'process-table', role: 'table', 'aria-label': 'Processes' },
        h('div', { class: 'process head', role: 'row' }, ...COLUMNS.map(name => h('span', { role: 'columnheader' }, name))))
    #note = h('p', { class: 'quiet padded late' }, 'Reading the processes…')
    #letters = h('segue-dead-letters')

    connectedCallback() {
        adopt(this, styles)
        if (!this.firstChild) fill(this, h('section', { 'aria-label': 'Rates' }, this.#rates), this.#table, this.#note, this.#letters)
        if (this.#connection) this.#open()
        this.#timer = setInterval(() => this.#tick(), 1000)
    }

    disconnectedCallback() {
        clearInterval(this.#timer)
        this.#view?.close()
        this.#view = null
    }

    get connection() { return this.#connection }

    set connection(connection) {
        this.#connection = connection
        this.#letters.connection = connection
        if (this.isConnected && !this.#view) this.#open()
    }

    get address() { return '#/processes' }
    set address(_) {}

    #open() {
        this.#letters.connection = this.#connection
        this.#view?.close()
        this.#view = this.#connection.open({ kind: 'processes' }, update => {
            if (update?.error) {
                this.#note.className = 'problem padded'
                setText(this.#note, problemOf(update))
                return
            }
            Object.assign(this.#state, update)
            this.#draw()
        })
    }

    /** The gateway sends only changes; a second without one is a second with no message. */
    #tick() {
        for (const process of this.#state.processes ?? []) {
            const key = keyOf(process)
            const history = this.#histories.get(key) ?? { last: process.handled ?? 0, values: [] }
            this.#histories.set(key, history)
            history.values.push(Math.max(0, (process.handled ?? 0) - history.last))
            history.last = process.handled ?? 0
            if (history.values.length > SECONDS) history.values.shift()
        }
        this.#draw()
    }

    #draw() {
        const { processes, rates, dead } = this.#state
        this.#drawRates(rates ?? {})
        if (processes) this.#drawProcesses(processes)
        if (typeof dead === 'number') this.#letters.total = dead
    }

    #drawRates(rates) {
        for (const name of Object.keys(NAMES)) {
            const values = rates[name]
            if (!Array.isArray(values)) continue
            let tile = this.#tiles.get(name)
            if (!tile) {
                tile = h('div', { class: 'rate', 'data-kind': name },
                    h('span', { class: 'rate-name' }, name === 'total' ? null : h('span', { class: 'kind', 'data-kind': name, 'aria-hidden': 'true' }, KINDS[name]), NAMES[name]),
                    h('span', { class: 'rate-now' }), h('segue-chart', { label: `${name} per second` }), h('span', { class: 'quiet rate-peak' }))
                this.#tiles.set(name, tile)
                this.#rates.append(tile)
            }
            const [, now, chart, peak] = tile.children
            setText(now, `${count(values.at(-1) ?? 0)}/s`)
            setText(peak, `peak ${count(Math.max(0, ...values))}/s`)
            chart.values = values
        }
    }

    #drawProcesses(processes) {
        this.#note.hidden = processes.length > 0
        setText(this.#note, 'No process is on the bus.')
        const keys = new Set(processes.map(keyOf))
        for (const [key, row] of this.#rows) {
            if (keys.has(key)) continue
            row.remove()
            this.#rows.delete(key)
            this.#histories.delete(key)
        }
        const sorted = processes.slice().sort((one, other) => (one.state === 'gone') - (other.state === 'gone') || String(one.label ?? one.name).localeCompare(String(other.label ?? other.name)))
        let previous = this.#table.firstElementChild
        for (const process of sorted) {
            const key = keyOf(process)
            let row = this.#rows.get(key)
            if (!row) this.#rows.set(key, row = makeRow())
            this.#writeRow(row, process)
            if (previous.nextSibling !== row) previous.after(row)
            previous = row
        }
    }

    #writeRow(row, process) {
        const [name, state, handled, failed, lag, chart] = row.children
        const gone = process.state === 'gone'
        row.classList.toggle('gone', gone)
        const label = printable(process.label || process.name || '(no name)')
        setText(name.children[0], label)
        setText(name.children[1], [process.instance && printable(process.instance), process.version && printable(process.version), process.pid && `pid ${printable(process.pid)}`].filter(Boolean).join(' · '))
        const since = Date.parse(process.since)
        setText(state.lastChild, (gone ? 'gone' : printable(process.state ?? 'unknown')) + (isNaN(since) ? '' : ` · ${duration(Math.max(0, Date.now() - since))}`))
        state.title = `since ${dateAndClock(process.since)}`
        for (const [cell, value] of [[handled, process.handled], [failed, process.failed], [lag, process.lag]]) setText(cell.lastChild, count(value))
        failed.classList.toggle('some', process.failed > 0)
        lag.classList.toggle('some', process.lag > 100)
        row.title = `${label} receives ${list(process.receives)} and sends ${list(process.sends)}`
        chart.firstElementChild.setAttribute('label', `${label}, messages handled per second`)
        chart.firstElementChild.values = Array.isArray(process.rates) ? process.rates : this.#histories.get(keyOf(process))?.values ?? []
    }
}

function keyOf(process) {
    return `${process.name}/${process.instance}`
}

function list(types) {
    return Array.isArray(types) && types.length ? plural(types.length, 'type') + ': ' + types.slice(0, 20).map(printable).join(', ') : 'nothing'
}

/** A cell of a number has its name beside it where the columns have no head. */
function makeRow() {
    const number = name => h('span', { role: 'cell', class: 'figure' }, h('span', { class: 'figure-name' }, `${name} `), h('span', { class: 'number' }))
    return h('div', { class: 'process', role: 'row' },
        h('span', { role: 'rowheader', class: 'name' }, h('bdi', { class: 'label' }), h('bdi', { class: 'quiet instance' })),
        h('span', { role: 'cell', class: 'state' }, h('span', { class: 'dot', 'aria-hidden': 'true' }), h('span')),
        number('Handled'), number('Failed'), number('Lag'),
        h('span', { role: 'cell', class: 'history' }, h('segue-chart')))
}

customElements.define('segue-processes', SegueProcesses)
