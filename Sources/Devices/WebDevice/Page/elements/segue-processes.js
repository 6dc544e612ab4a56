import { badge, fill, h, InspectorElement, setText } from './dom.js'
import { count, dateAndClock, duration, printable, problemOf } from './text.js'
import './segue-chart.js'
import './segue-dead-letters.js'

const COLUMNS = ['Process', 'State', 'Handled', 'Failed', 'Lag', 'Last five minutes']
const RATES = {
    total: 'All messages', command: 'Commands', event: 'Events', document: 'Documents', query: 'Queries', error: 'Errors',
}
/** The seconds that a chart shows. */
const SECONDS = 300

/** The processes on the bus, the rates of messages, and the dead letters. `address`: `#/processes`. */
export class SegueProcesses extends InspectorElement {
    /** What the gateway has sent so far. */
    #state = { processes: null, rates: {}, dead: null }
    /** By process: the messages that it has handled in each second since the view was opened. */
    #histories = new Map()
    #rows = new Map()
    #tiles = new Map()
    #timer = 0
    #rates = h('div.rates', { role: 'group', 'aria-label': 'Messages per second' })
    #table = h('div', { role: 'table', 'aria-label': 'Processes' }, h('div.process.head', { role: 'row' },
        ...COLUMNS.map(name => h('span', { role: 'columnheader' }, name))))
    #note = h('p.quiet.padded.late', 'Reading the processes…')
    #letters = h('segue-dead-letters')

    get address() { return '#/processes' }
    set address(_) {}

    build() {
        // Without dead letters nothing else in here takes the focus, which the keyboard needs to scroll.
        this.tabIndex = 0
        this.role = 'region'
        this.ariaLabel = 'Processes'
        fill(this, this.#rates, this.#table, this.#note, this.#letters)
    }

    start() {
        this.#letters.connection = this.connection
        this.openView({ kind: 'processes' }, update => {
            if (update.error) setText(this.#note, problemOf(update))
            else Object.assign(this.#state, update)
            this.#draw()
        })
        // What was handled while the element was hidden belongs to no second that is shown.
        for (const history of this.#histories.values()) history.last = NaN
        clearInterval(this.#timer)
        this.#timer = setInterval(() => this.#tick(), 1000)
    }

    stop() {
        clearInterval(this.#timer)
    }

    /** The gateway sends only changes: a second without one is a second with no message. */
    #tick() {
        for (const process of this.#state.processes ?? []) {
            const handled = Number(process.handled) || 0
            const history = this.#histories.get(keyOf(process)) ?? { last: handled, values: [] }
            this.#histories.set(keyOf(process), history)
            history.values.push(Math.max(0, handled - history.last) || 0)
            history.last = handled
            if (history.values.length > SECONDS) history.values.shift()
        }
        this.#draw()
    }

    #draw() {
        const { processes, rates, dead } = this.#state
        for (const [name, title] of Object.entries(RATES)) {
            if (Array.isArray(rates[name])) this.#drawRate(name, title, rates[name])
        }
        if (processes) this.#drawProcesses(processes)
        if (dead !== null) this.#letters.total = dead
    }

    #drawRate(name, title, values) {
        if (!this.#tiles.has(name)) {
            const tile = h('div.rate', { 'data-kind': name }, h('span.rate-name', name !== 'total' && badge(name),
                title), h('span.rate-now'),
                h('segue-chart', { label: `${title} per second` }), h('span.quiet.rate-peak'))
            this.#tiles.set(name, tile)
            this.#rates.append(tile)
        }
        const [, now, chart, peak] = this.#tiles.get(name).children
        setText(now, `${count(values.at(-1) ?? 0)}/s`)
        setText(peak, `peak ${count(Math.max(0, ...values))}/s`)
        chart.values = values
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
        const order = process => `${process.state === 'gone' ? 1 : 0}${process.label || process.name}`
        let previous = this.#table.firstChild
        for (const process of processes.toSorted((one, other) => order(one).localeCompare(order(other)))) {
            const row = this.#rows.get(keyOf(process)) ?? makeRow(process)
            this.#rows.set(keyOf(process), row)
            writeRow(row, process, this.#histories.get(keyOf(process))?.values ?? [])
            if (previous.nextSibling !== row) previous.after(row)
            previous = row
        }
    }
}

function keyOf(process) {
    return `${process.name}/${process.instance}`
}

function labelOf(process) {
    return printable(process.label || process.name || '(no name)')
}

/** The name of a figure is beside it where the columns have no head. */
function makeRow(process) {
    const figure = name => h('span.figure', { role: 'cell' }, h('span.figure-name', `${name} `), h('span'))
    return h('div.process', { role: 'row' }, h('span.name', { role: 'rowheader' },
        h('bdi.process-label', labelOf(process)), h('bdi.quiet.instance')),
        h('span.presence', { role: 'cell' }, h('span.presence-dot', { 'aria-hidden': 'true' }), h('span')),
            figure('Handled'), figure('Failed'), figure('Lag'),
        h('span.history', { role: 'cell' }, h('segue-chart',
            { label: `${labelOf(process)}, messages handled per second` })))
}

function writeRow(row, process, values) {
    const [name, state, handled, failed, lag, history] = row.children
    const gone = process.state === 'gone', since = Date.parse(process.since)
    row.classList.toggle('gone', gone)
    const { instance, version, pid, receives, sends } = process
    setText(name.lastChild, [instance, version, pid && `pid ${pid}`].filter(Boolean).map(printable).join(' · '))
    const types = list => Array.isArray(list) && list.length ? list.slice(0, 20).map(printable).join(', ') : 'nothing'
    name.title = `receives ${types(receives)}; sends ${types(sends)}`
    setText(state.lastChild, printable(process.state ?? 'unknown') + (isNaN(since) ? ''
        : ` · ${duration(Math.max(0, Date.now() - since))}`))
    state.title = `since ${dateAndClock(process.since)}`
    setText(handled.lastChild, count(process.handled))
    setText(failed.lastChild, count(process.failed))
    setText(lag.lastChild, count(process.lag))
    failed.classList.toggle('some', process.failed > 0)
    history.firstChild.values = values
}

customElements.define('segue-processes', SegueProcesses)
