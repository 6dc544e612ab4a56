import { fill, h, reconcile, setText, unspoken } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'
import { count, dateAndClock, duration, joined, printable, problemOf } from '../elements/text.js'
import { badge, InspectorElement } from './inspector-element.js'
import { SECONDS, SegueChart } from './segue-chart.js'
import { SegueDeadLetters } from './segue-dead-letters.js'

await addStyles('processes', import.meta.url)

const COLUMNS = ['Process', 'State', 'Handled', 'Failed', 'Lag', 'Last five minutes']
const RATES = { total: 'All messages', command: 'Commands', event: 'Events', document: 'Documents', error: 'Errors' }

/** The processes, the rates of messages, and the dead letters. `address`: `#/processes`. */
class SegueProcesses extends InspectorElement {
  #state = { processes: null, rates: {}, dead: null }
  #histories = new Map()
  #timer = 0
  #rates = h('div.rates', { role: 'group', 'aria-label': 'Messages per second' })
  #rows = h('div', { role: 'rowgroup' })
  #note = h('p.quiet.padded.late', 'Reading the processes…')
  #letters = new SegueDeadLetters()

  build() {
    // The keyboard needs a focus to scroll, also without dead letters.
    this.tabIndex = 0
    this.role = 'region'
    this.ariaLabel = 'Processes'
    const head = h('div.process.head', { role: 'row' },
      ...COLUMNS.map(name => h('span', { role: 'columnheader' }, name)))
    fill(this, this.#rates, h('div', { role: 'table', 'aria-label': 'Processes' }, head, this.#rows), this.#note,
      this.#letters)
  }

  start() {
    this.#letters.connection = this.connection
    this.openView({ kind: 'processes' }, update => {
      if (update.error) setText(this.#note, problemOf(update))
      else Object.assign(this.#state, update)
      this.#draw()
    })
    // What was handled while the element was hidden belongs to no second.
    for (const history of this.#histories.values()) history.last = NaN
    this.#timer = setInterval(() => this.#tick(), 1000)
  }

  stop() { clearInterval(this.#timer) }

  #tick() {
    const former = this.#histories
    this.#histories = new Map(this.#state.processes?.map(process => {
      const { last, values } = former.get(keyOf(process)) ?? { last: NaN, values: [] }
      // Null: the process has not reported it.
      const total = process.handled ?? NaN
      const handled = Math.max(0, total - last) || 0
      return [keyOf(process), { last: total, values: [...values, handled].slice(-SECONDS) }]
    }))
    this.#draw()
  }

  #draw() {
    const { processes, rates, dead } = this.#state
    reconcile(this.#rates, Object.keys(RATES).filter(name => rates[name]), name => name, makeRate, (tile, name) => {
      const [, now, chart, peak] = tile.children, values = rates[name]
      setText(now, `${count(values.at(-1))}/s`)
      setText(peak, `peak ${count(Math.max(...values))}/s`)
      chart.values = values
    })
    if (processes) {
      this.#note.hidden = processes.length > 0
      setText(this.#note, 'No process is on the bus.')
      const order = process => `${process.state === 'gone' ? 1 : 0}${labelOf(process)}`
      const sorted = processes.toSorted((one, other) => order(one).localeCompare(order(other)))
      reconcile(this.#rows, sorted, keyOf, makeRow,
        (row, process) => writeRow(row, process, this.#histories.get(keyOf(process))?.values ?? []))
    }
    if (dead !== null) this.#letters.total = dead
  }
}

function keyOf(process) { return `${process.name}/${process.instance}` }

function labelOf(process) { return printable(process.label || process.name) }

function makeRate(name) {
  return h('div.rate', { 'data-kind': name }, h('span.rate-name', name !== 'total' && badge(name), RATES[name]),
    h('span.rate-now'), new SegueChart(`${RATES[name]} per second`), h('span.quiet'))
}

function makeRow(process) {
  const cell = (spec, ...children) => h(spec, { role: 'cell' }, ...children)
  const figure = name => cell('span.figure', h('span.figure-name', `${name} `), h('span'))
  return h('div.process', { role: 'row' },
    h('span.name', { role: 'rowheader' }, h('bdi.process-label', labelOf(process)), h('bdi.quiet')),
    cell('span.presence', unspoken('span.presence-dot', ''), h('span')),
    figure('Handled'), figure('Failed'), figure('Lag'),
    cell('span.history', new SegueChart(`${labelOf(process)}, messages handled per second`)))
}

function writeRow(row, { instance, version, pid, state, since, handled, failed, lag }, values) {
  const [name, presence, ...cells] = row.children
  row.classList.toggle('gone', state === 'gone')
  setText(name.lastChild, joined(instance, version, `pid ${pid}`))
  setText(presence.lastChild, joined(state, duration(Math.max(0, Date.now() - Date.parse(since)))))
  presence.title = `since ${dateAndClock(since)}`
  const shown = value => value === null ? '–' : count(value)
  // The bus counts a lag up to this limit.
  const figures = [shown(handled), shown(failed), shown(lag) + (lag >= 10_000 ? '+' : '')]
  figures.forEach((figure, index) => setText(cells[index].lastChild, figure))
  cells[1].classList.toggle('some', failed > 0)
  cells[3].firstChild.values = values
}

customElements.define('segue-processes', SegueProcesses)
