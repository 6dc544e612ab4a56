import { badge, button, fill, h, InspectorElement, kindOfRow, link, navigate } from './dom.js'
import { messageAddress, messagesAddress, readAddress, storyAddress } from './selection.js'
import { planStory } from './story-plan.js'
import { count, dateAndClock, duration, nameOf, plural, printable, problemOf, processOf } from './text.js'

/** A story that goes on is read again after this time, in milliseconds. */
const AGAIN = 500

/** A story as a waterfall: the messages that one message has caused, in all processes. `address`: `#/story/ID`. */
export class SegueStory extends InspectorElement {
    #id = ''
    #timer = 0
    #body = h('div')

    get address() { return this.#id ? storyAddress(this.#id) : '#/story' }

    set address(address) {
        const id = readAddress(address).path[1] ?? ''
        // Without an id, such as for the tab, the last story stays.
        if (!id || id === this.#id) return
        this.#id = id
        fill(this.#body)
        if (this.isConnected && this.connection) this.start()
    }

    build() {
        fill(this, this.#body)
    }

    start() {
        if (!this.#id) return fill(this.#body, h('p.quiet.padded', 'Choose a message, then “Story”.'))
        if (!this.#body.firstChild) fill(this.#body, h('p.quiet.padded.late', 'Reading the story…'))
        this.openView({ kind: 'messages', selection: { story: this.#id }, from: 'now' }, update => {
            if (update.rows?.length) this.#timer ||= setTimeout(() => this.#read(), AGAIN)
        })
        this.#read()
    }

    stop() {
        clearTimeout(this.#timer)
        this.#timer = 0
    }

    async #read() {
        this.#timer = 0
        const id = this.#id
        try {
            const story = await this.connection.get('/api/story/' + encodeURIComponent(id))
            if (id === this.#id) this.#draw(story)
        } catch (failure) {
            if (id === this.#id) fill(this.#body, h('div.padded', h('p.failure', { role: 'alert' }, problemOf(failure)),
                button('Try again', () => this.#read())))
        }
    }

    #draw({ messages, complete }) {
        if (!messages.length) return fill(this.#body, h('p.quiet.padded', 'The journal has no message of this story.'))
        const focused = this.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
        const { steps, path, scale, sums } = planStory(messages)
        const { row } = steps[0]
        const paused = scale.pauses.reduce((sum, pause) => sum + pause.length, 0)
        fill(this.#body, h('div.padded.story-header',
            h('div', h('h2', 'Story of ', h('bdi', nameOf(row.type))), h('p.quiet', [
                dateAndClock(row.time), plural(messages.length, 'message'), plural(sums.length, 'process', 'processes'),
                duration(scale.end - scale.start) + (paused ? `, of which ${duration(paused)} are pauses` : ''),
            ].join(' · '))), button('Show as a list', () => navigate(this, messagesAddress({ story: this.#id })))),
        complete === false && h('p.banner',
            `The story is longer; its first ${count(messages.length)} messages are shown.`),
        h('div.waterfall', { role: 'table', 'aria-label': 'Messages of the story' },
            h('div.step.head', { role: 'row' }, ...['Message', 'Process', 'After',
                'Took'].map(name => h(`span.at-${name.toLowerCase()}`, { role: 'columnheader' }, name)),
                h('span.at-track', { role: 'columnheader' }, h('span.visually-hidden', 'Timeline'),
                    ...scale.pauses.map(pause =>
                    place('span.pause', pause.from, pause.to, h('span.pause-label', { title: 'Pause' },
                        duration(pause.length)))))),
            ...steps.map(step => stepOf(step, scale))), sumsOf(sums, path))
        if (focused) [...this.querySelectorAll('a')].find(anchor => anchor.getAttribute('href') === focused)?.focus()
    }
}

function stepOf({ row, sent, end, known, critical, depth }, scale) {
    const from = scale.at(sent), to = scale.at(end)
    const handled = (row.handledBy
        ?? []).map(({ source, at }) => `${processOf(source)} after ${duration(Date.parse(at) - sent)}`).join(', ')
    const title = `${printable(row.type)}: ${handled ? 'handled by ' + handled : 'no report of a process that handled it'}`
    const message = h('span.at-message', { role: 'cell' }, badge(kindOfRow(row)),
        link('a', messageAddress(row.position), h('bdi', nameOf(row.type))),
        critical && h('span.critical-mark', { title: 'On the critical path' },
            h('span', { 'aria-hidden': 'true' }, '◆'), h('span.visually-hidden', 'on the critical path, ')),
        depth > 0 && h('span.visually-hidden', `level ${depth + 1}`))
    message.style.setProperty('--depth', Math.min(depth, 12))
    return h(critical ? 'div.step.critical' : 'div.step', { role: 'row', 'data-kind': kindOfRow(row), title }, message,
        h('span.at-process', { role: 'cell' }, h('bdi', processOf(row.source))),
            h('span.at-after', { role: 'cell' }, `+${duration(sent - scale.start)}`),
        h('span.at-took', { role: 'cell' }, end > sent ? duration(end - sent) : '–'),
        h('span.at-track', { role: 'cell' }, h('span.visually-hidden', handled && 'handled by ' + handled),
            place(known ? 'span.duration-bar' : 'span.duration-bar.derived', from, to),
            ...scale.pauses.map(pause => place('span.fold', pause.from, pause.to))))
}

function sumsOf(sums, path) {
    const total = path.at(-1).sent - path[0].sent
    return h('section.padded.sums', { 'aria-label': 'Critical path' },
        h('h3.heading', `Critical path: ${plural(path.length, 'message')}, ${duration(total)}`),
        h('p.quiet', 'The chain of causes to the last visible change (◆). A process has the time from a cause to its effect.'),
        h('table', h('thead', h('tr', ...['Process', 'Messages', 'Time',
            'Share'].map(name => h('th', { scope: 'col' }, name)))),
            h('tbody', ...sums.map(({ name, messages, time }) => h('tr',
                h('th', { scope: 'row' }, h('bdi', processOf(name))), h('td', count(messages)),
                h('td', time ? duration(time) : '–'), h('td',
                    h('span.visually-hidden', `${Math.round(time / total * 100) || 0} %`),
                    place('span.share', 0, time / total || 0)))))))
}

function place(spec, from, to, ...children) {
    const element = h(spec, ...children)
    // The last message of a story takes no time, but has to be seen.
    element.style.setProperty('left', `min(${from * 100}%, 100% - 4px)`)
    element.style.setProperty('width', `${(to - from) * 100}%`)
    return element
}

customElements.define('segue-story', SegueStory)
