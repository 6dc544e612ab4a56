import { adopt, button, fill, h, link, loadStyles, navigate, setText } from './dom.js'
import { messageAddress, messagesAddress, readAddress } from './selection.js'
import { planStory } from './story-plan.js'
import { count, dateAndClock, duration, kindOf, KINDS, nameOf, plural, printable, problemOf, processOf } from './text.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'story.css')

/** A story as a waterfall: the messages that one message has caused, across all processes. `address`: `#/story/ID`. */
export class SegueStory extends HTMLElement {
    #connection = null
    #id = ''
    #view = null
    #timer = 0
    #body = h('div', { class: 'story-body' })

    connectedCallback() {
        adopt(this, styles)
        if (!this.firstChild) fill(this, this.#body)
        if (this.#id && this.#connection) this.#open()
    }

    disconnectedCallback() {
        this.#view?.close()
        this.#view = null
        clearTimeout(this.#timer)
    }

    get connection() { return this.#connection }

    set connection(connection) {
        this.#connection = connection
        if (this.isConnected && this.#id && !this.#view) this.#open()
    }

    get address() { return this.#id ? '#/story/' + encodeURIComponent(this.#id) : '#/story' }

    set address(address) {
        const id = readAddress(address).path[1] ?? ''
        if (id === this.#id && this.#view) return
        this.#id = id
        fill(this.#body, h('p', { class: 'quiet padded late' }, id ? 'Reading the story…' : 'Choose a message, then “Story”.'))
        if (this.isConnected && this.#connection) this.#open()
    }

    /** A story that goes on is read again, not more than twice a second. */
    #open() {
        this.#view?.close()
        this.#view = null
        if (!this.#id) return
        this.#view = this.#connection.open({ kind: 'messages', selection: { story: this.#id }, from: 'now' }, update => {
            if (update?.rows?.length) this.#later()
        })
        this.#read()
    }

    #later() {
        this.#timer ||= setTimeout(() => {
            this.#timer = 0
            this.#read()
        }, 500)
    }

    async #read() {
        const id = this.#id
        try {
            const story = await this.#connection.get('/api/story/' + encodeURIComponent(id))
            if (id === this.#id) this.#draw(story ?? {})
        } catch (failure) {
            if (id === this.#id) fill(this.#body, h('div', { class: 'padded' }, h('p', { class: 'problem', role: 'alert' }, problemOf(failure)), button('Try again', () => this.#read())))
        }
    }

    #draw({ messages = [], complete = true }) {
        if (!messages.length) {
            fill(this.#body, h('p', { class: 'quiet padded' }, 'The journal has no message of this story.'))
            return
        }
        const focused = this.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null
        const { steps, path, scale, sums } = planStory(messages)
        const first = steps[0].row
        const paused = scale.pauses.reduce((sum, pause) => sum + pause.end - pause.start, 0)
        fill(this.#body,
            h('header', { class: 'padded story-header' },
                h('div', {}, h('h2', {}, 'Story of ', h('bdi', {}, nameOf(first.type))),
                    h('p', { class: 'quiet' }, [dateAndClock(first.time), plural(messages.length, 'message'), plural(sums.length, 'process').replace('processs', 'processes'),
                        duration(scale.end - scale.start) + (paused ? `, of which ${duration(paused)} pauses` : '')].join(' · '))),
                button('Show as a list', () => navigate(this, messagesAddress({ story: this.#id })))),
            complete ? null : h('p', { class: 'banner' }, `The story is longer; its first ${count(messages.length)} messages are shown.`),
            this.#waterfall(steps, scale), this.#sums(sums, path))
        if (focused) [...this.querySelectorAll('a')].find(element => element.getAttribute('href') === focused)?.focus()
    }

    #waterfall(steps, scale) {
        const pauses = scale.pauses.map(pause => place(h('span', { class: 'pause', title: `Pause of ${duration(pause.end - pause.start)}` },
            h('span', { class: 'pause-label' }, duration(pause.end - pause.start))), pause.from, pause.to))
        return h('div', { class: 'waterfall', role: 'table', 'aria-label': 'Messages of the story' },
            h('div', { class: 'step head', role: 'row' }, ...['Message', 'Process', 'After', 'Took'].map(name => h('span', { role: 'columnheader', class: name.toLowerCase() }, name)),
                h('span', { role: 'columnheader', class: 'track' }, h('span', { class: 'visually-hidden' }, 'Timeline'), ...pauses)),
            ...steps.map(step => this.#step(step, scale)))
    }

    #step(step, scale) {
        const { row } = step
        const kind = row.kind ?? kindOf(row.type)
        const took = step.end - step.sent
        const from = scale.at(step.sent), to = scale.at(step.end)
        const handled = (row.handledBy ?? []).map(({ source, at }) => `${processOf(source)} after ${duration(Date.parse(at) - step.sent)}`).join(', ')
        const title = `${printable(row.type)}: ${handled ? `handled by ${handled}` : step.children.length ? `caused ${plural(step.children.length, 'message')}` : 'no effect in this story'}`
        const bar = place(h('span', { class: 'bar', 'data-derived': step.known ? null : 'true' }), from, to)
        const folds = scale.pauses.filter(pause => pause.from < to && pause.to > from).map(pause => place(h('span', { class: 'fold' }), pause.from, pause.to))
        const name = h('span', { role: 'cell', class: 'message' },
            h('span', { class: 'kind', 'data-kind': kind in KINDS ? kind : 'other', 'aria-hidden': 'true' }, KINDS[kind] ?? '?'),
            link(messageAddress(row.position), { title }, h('span', { class: 'visually-hidden' }, `${printable(kind)} `), h('bdi', {}, nameOf(row.type))),
            step.critical && h('span', { class: 'mark', title: 'On the critical path' }, '◆', h('span', { class: 'visually-hidden' }, 'on the critical path, ')),
            step.depth > 0 && h('span', { class: 'visually-hidden' }, `level ${step.depth + 1}`))
        name.style.setProperty('--depth', String(Math.min(step.depth, 12)))
        return h('div', { class: step.critical ? 'step critical' : 'step', role: 'row', 'data-kind': kind, title },
            name, h('span', { role: 'cell', class: 'process' }, h('bdi', {}, processOf(row.source))),
            h('span', { role: 'cell', class: 'after' }, step.sent > scale.start ? `+${duration(step.sent - scale.start)}` : '0 ms'),
            h('span', { role: 'cell', class: 'took' }, took > 0 ? duration(took) : '–'),
            h('span', { role: 'cell', class: 'track' }, h('span', { class: 'visually-hidden' }, handled ? `handled by ${handled}` : ''), bar, ...folds))
    }

    #sums(sums, path) {
        const total = sums.reduce((sum, one) => sum + one.critical, 0)
        return h('section', { class: 'padded sums', 'aria-label': 'Critical path' },
            h('h3', { class: 'heading' }, `Critical path: ${plural(path.length, 'message')}, ${duration(total)}`),
            h('p', { class: 'quiet' }, 'The chain of causes to the last visible change (◆). The time of a process is that from a cause to its effect.'),
            h('table', {}, h('thead', {}, h('tr', {}, ...['Process', 'Messages', 'Time', 'Share'].map(name => h('th', { scope: 'col' }, name)))),
                h('tbody', {}, ...sums.map(sum => {
                    const share = total ? sum.critical / total : 0
                    const bar = h('span', { class: 'share' })
                    bar.style.setProperty('inline-size', `${share * 100}%`)
                    return h('tr', {}, h('th', { scope: 'row' }, h('bdi', {}, printable(sum.name) || '(no source)')), h('td', {}, count(sum.messages)),
                        h('td', {}, sum.critical ? duration(sum.critical) : '–'), h('td', { class: 'share-cell' }, h('span', { class: 'visually-hidden' }, `${Math.round(share * 100)} %`), bar))
                }))))
    }
}

function place(element, from, to) {
    element.style.setProperty('left', `${from * 100}%`)
    element.style.setProperty('width', `${(to - from) * 100}%`)
    return element
}

customElements.define('segue-story', SegueStory)
