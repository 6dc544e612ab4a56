// @ts-check
import { adopt, button, fill, h, loadStyles, setText, uniqueID } from './dom.js'
import { count, kindOf, KINDS, nameOf, printable } from './text.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'messages.css')

/** The kinds that the bus records. Queries are not recorded, so no view shows them. */
const RECORDED = ['command', 'event', 'document', 'error']
/** The types that the panel lists at most; others can be written. */
const LISTED = 100

/** @typedef {import('./selection.js').Selection} Selection */

/**
 * The filters of the list of messages. The event `filter` has the new selection and text, after a short pause while
 * somebody writes.
 */
export class SegueFilters extends HTMLElement {
    /** @type {Selection} */
    #selection = {}
    #text = ''
    /** @type {Map<string, number>} */
    #counts = new Map()
    #timer = 0
    #panel = uniqueID('filters')
    /** @type {Record<string, HTMLElement>} */
    #kinds = {}
    #search = h('input', {
        type: 'search', class: 'field', placeholder: 'Search  /', 'aria-label': 'Search in summaries',
        autocomplete: 'off', spellcheck: 'false', oninput: () => this.#later(() => { this.#text = this.#search.value }),
    })
    #more = button('Filter', () => this.#toggle(), { class: 'button', 'aria-expanded': 'false', 'aria-controls': this.#panel })
    #chips = h('ul', { class: 'chips', 'aria-label': 'Active filters', hidden: true })
    #types = h('ul', { class: 'types', 'aria-label': 'Types' })
    #where = h('input', {
        class: 'field mono', 'aria-label': 'Condition', placeholder: 'data.playlistID == "calm"', autocomplete: 'off',
        spellcheck: 'false', 'aria-describedby': this.#panel + '-problem',
        oninput: () => this.#later(() => this.#set('where', this.#where.value.trim() ? [this.#where.value.trim()] : []), 600),
    })
    #problem = h('p', { class: 'problem', id: this.#panel + '-problem', role: 'status', hidden: true })
    #sessions = h('datalist', { id: this.#panel + '-sessions' })
    #inputs = /** @type {Record<string, HTMLInputElement>} */ ({})

    connectedCallback() {
        adopt(this, styles)
        if (this.#search.isConnected) return
        const kinds = h('div', { class: 'kinds', role: 'group', 'aria-label': 'Kinds' }, ...RECORDED.map(kind => {
            this.#kinds[kind] = h('button', { type: 'button', class: 'kind-filter', 'data-kind': kind, onclick: () => this.#toggleKind(kind) },
                h('span', { class: 'kind', 'data-kind': kind, 'aria-hidden': 'true' }, /** @type {any} */ (KINDS)[kind]),
                h('span', { class: 'visually-hidden' }, `${kind}s`), h('span', { class: 'number' }, '0'))
            return this.#kinds[kind]
        }))
        fill(this, h('div', { class: 'bar' }, kinds, this.#search, this.#more), this.#chips, this.#makePanel())
        this.#show()
    }

    #makePanel() {
        const field = (/** @type {string} */ label, /** @type {string} */ member, /** @type {string} */ placeholder, /** @type {object} */ more = {}) => {
            const input = h('input', {
                class: 'field mono', placeholder, autocomplete: 'off', spellcheck: 'false', ...more,
                oninput: () => this.#later(() => {
                    const value = input.value.trim()
                    const single = member === 'session' || member === 'story'
                    this.#set(member, single ? value : value.split(/[\s,]+/).filter(Boolean))
                }),
            })
            this.#inputs[member] = input
            return h('label', { class: 'labelled' }, label, input)
        }
        return h('div', { id: this.#panel, class: 'panel', hidden: true },
            h('div', { class: 'fields' },
                field('Types', 'types', 'command.*'), field('Hidden types', 'exclude', 'event.X document.*'),
                field('Session', 'session', 'every session', { list: this.#sessions.id }), field('Source', 'source', 'music-*'),
                field('Story', 'story', 'id of the first message'),
                h('label', { class: 'labelled' }, 'Condition', this.#where)),
            this.#problem, this.#sessions,
            h('p', { class: 'heading' }, 'Types'), this.#types)
    }

    /** @returns {{selection: Selection, text: string}} */
    get value() {
        return { selection: this.#selection, text: this.#text }
    }

    /** Shows a selection without an event. */
    set value(value) {
        this.#selection = structuredClone(value.selection)
        this.#text = value.text
        if (this.#search.isConnected) this.#show()
    }

    /** The number of messages of each type. @param {Map<string, number>} counts */
    set counts(counts) {
        this.#counts = counts
        const totals = /** @type {Record<string, number>} */ ({})
        for (const [type, number] of counts) totals[kindOf(type)] = (totals[kindOf(type)] ?? 0) + number
        for (const [kind, element] of Object.entries(this.#kinds)) setText(/** @type {Element} */ (element.lastElementChild), count(totals[kind] ?? 0))
        if (this.#open) this.#showTypes()
    }

    set sessions(/** @type {string[]} */ sessions) {
        fill(this.#sessions, ...sessions.map(session => h('option', { value: session })))
    }

    /** The complaint of the gateway about the condition or a pattern. */
    set problem(/** @type {string} */ text) {
        setText(this.#problem, text)
        this.#problem.hidden = !text
        if (text) this.#where.setAttribute('aria-invalid', 'true')
        else this.#where.removeAttribute('aria-invalid')
        if (text && !this.#open) this.#toggle()
    }

    focusSearch() {
        this.#search.focus()
        this.#search.select()
    }

    /** Adds or removes values, as the buttons of the detail do. */
    only(/** @type {string} */ member, /** @type {string} */ value) {
        if (member === 'exclude') {
            this.#set('exclude', [...new Set([...(this.#selection.exclude ?? []), value])])
            const types = (this.#selection.types ?? []).filter(type => type !== value)
            this.#set('types', types)
        } else {
            this.#set(member, member === 'session' || member === 'story' ? value : [value])
        }
        this.#changed()
    }

    get #open() {
        return this.#more.getAttribute('aria-expanded') === 'true'
    }

    #toggle() {
        const open = !this.#open
        this.#more.setAttribute('aria-expanded', String(open))
        const panel = this.querySelector('.panel')
        if (panel instanceof HTMLElement) panel.hidden = !open
        if (open) this.#showTypes()
    }

    #toggleKind(/** @type {string} */ kind) {
        const kinds = this.#selection.kinds ?? RECORDED
        const toggled = kinds.includes(kind) ? kinds.filter(other => other !== kind) : [...kinds, kind]
        // No kind at all would be an empty list; then the other kinds are more likely to be wanted.
        const wanted = toggled.length ? toggled : RECORDED.filter(other => other !== kind)
        this.#set('kinds', RECORDED.every(other => wanted.includes(other)) ? [] : wanted)
        this.#changed()
    }

    #set(/** @type {string} */ member, /** @type {string | string[]} */ value) {
        const selection = /** @type {any} */ ({ ...this.#selection })
        if (value.length) selection[member] = value
        else delete selection[member]
        this.#selection = selection
    }

    #later(/** @type {() => void} */ change, delay = 250) {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => {
            change()
            this.#changed()
        }, delay)
    }

    #changed() {
        clearTimeout(this.#timer)
        this.#show()
        this.dispatchEvent(new CustomEvent('filter', { detail: this.value }))
    }

    #show() {
        const kinds = this.#selection.kinds
        for (const [kind, element] of Object.entries(this.#kinds)) element.setAttribute('aria-pressed', String(!kinds || kinds.includes(kind)))
        const active = /** @type {HTMLElement | null} */ (document.activeElement)
        const write = (/** @type {HTMLInputElement} */ input, /** @type {string} */ text) => {
            // The field that somebody writes in keeps its text, or the caret would jump.
            if (input && input !== active && input.value !== text) input.value = text
        }
        write(this.#search, this.#text)
        write(this.#where, (this.#selection.where ?? []).join(' and '))
        for (const [member, input] of Object.entries(this.#inputs)) {
            const value = /** @type {any} */ (this.#selection)[member] ?? ''
            write(input, Array.isArray(value) ? value.join(' ') : value)
        }
        this.#showChips()
        if (this.#open) this.#showTypes()
    }

    #showChips() {
        const names = /** @type {Record<string, string>} */ ({ types: '', exclude: 'not ', session: 'session ', source: 'from ', story: 'story ', where: '' })
        const chips = Object.entries(names).flatMap(([member, prefix]) => {
            const values = [/** @type {any} */ (this.#selection)[member] ?? []].flat()
            return values.map((/** @type {string} */ value) => h('li', {}, h('button', {
                type: 'button', class: 'chip', onclick: () => {
                    this.#set(member, values.filter((/** @type {string} */ other) => other !== value))
                    this.#changed()
                    this.#more.focus()
                },
            }, h('span', { class: 'visually-hidden' }, 'Remove the filter '), h('bdi', {}, prefix + printable(value)), h('span', { 'aria-hidden': 'true' }, ' ✕'))))
        })
        fill(this.#chips, ...chips)
        this.#chips.hidden = !chips.length
        setText(this.#more, chips.length ? `Filter · ${chips.length}` : 'Filter')
    }

    #showTypes() {
        // A list that is being used with the keyboard must keep its buttons; only the numbers change then.
        const known = new Set([...this.#counts.keys(), ...(this.#selection.exclude ?? []).filter(type => !/[*?]/.test(type))])
        const types = [...known].sort().slice(0, LISTED)
        const key = JSON.stringify([types, this.#selection.exclude, this.#selection.types])
        if (this.#types.dataset.key === key) {
            types.forEach((type, index) => setText(this.#types.children[index].children[2], count(this.#counts.get(type) ?? 0)))
            return
        }
        const focused = document.activeElement?.getAttribute('aria-label')
        this.#types.dataset.key = key
        fill(this.#types, ...types.map(type => {
            const kind = kindOf(type)
            const hidden = this.#selection.exclude?.includes(type) ?? false
            const name = printable(type)
            return h('li', { class: hidden ? 'hidden-type' : '' },
                h('span', { class: 'kind', 'data-kind': kind in KINDS ? kind : 'other', 'aria-hidden': 'true' }, /** @type {any} */ (KINDS)[kind] ?? '?'),
                h('bdi', { class: 'type' }, nameOf(type)), h('span', { class: 'number' }, count(this.#counts.get(type) ?? 0)),
                button('Only', () => this.only('types', type), { class: 'button small', 'aria-label': `Only ${name}` }),
                button(hidden ? 'Show' : 'Hide', () => hidden
                    ? (this.#set('exclude', (this.#selection.exclude ?? []).filter(other => other !== type)), this.#changed())
                    : this.only('exclude', type), { class: 'button small', 'aria-label': `${hidden ? 'Show' : 'Hide'} ${name}` }))
        }))
        if (!types.length) fill(this.#types, h('li', { class: 'quiet' }, 'No message has been received yet.'))
        if (focused) {
            const same = [...this.#types.querySelectorAll('button')].find(element => element.getAttribute('aria-label') === focused)
            if (same instanceof HTMLElement) same.focus()
        }
    }
}

customElements.define('segue-filters', SegueFilters)
