import { adopt, badge, button, fill, h, setText, uniqueID } from './dom.js'
import { isSingle } from './selection.js'
import { count, kindOf, nameOf, printable } from './text.js'

/** The kinds that the bus records. Queries are not recorded, so no list shows them. */
const RECORDED = ['command', 'event', 'document', 'error']
/** The types that the panel lists at most; others can be written. */
const LISTED = 100
/** The fields of the panel: the member of the selection, its label, an example, and its prefix on a chip. */
const FIELDS = [
    ['types', 'Types', 'command.*', ''], ['exclude', 'Hidden types', 'event.X document.*', 'not '],
    ['session', 'Session', 'every session', 'session '], ['source', 'Source', 'music-*', 'from '],
    ['story', 'Story', 'id of the first message', 'story '], ['where', 'Condition', 'data.playlistID == "calm"', ''],
]

/** The filters of the list of messages. The event `filter` has the new selection and text, after a pause in writing. */
export class SegueFilters extends HTMLElement {
    /** @type {import('./selection.js').Selection} */
    #selection = {}
    #text = ''
    #counts = new Map()
    #timer = 0
    #id = uniqueID()
    #kinds = {}
    #inputs = {}
    #search = this.#input('Search  /', () => { this.#text = this.#search.value },
        { type: 'search', class: 'field', 'aria-label': 'Search in summaries' })
    #more = button('Filter', () => this.#toggle(), { 'aria-expanded': 'false', 'aria-controls': this.#id })
    #chips = h('ul.chips', { 'aria-label': 'Active filters', hidden: true })
    #types = h('ul.types', { 'aria-label': 'Types' })
    #problem = h('p.failure', { id: this.#id + '-problem', role: 'status' })
    #panel = h('div.filter-panel', { id: this.#id, hidden: true })

    connectedCallback() {
        adopt(this)
        if (this.firstChild) return
        for (const kind of RECORDED) {
            this.#kinds[kind] = h('button.kind-filter', { type: 'button', onclick: () => this.#toggleKind(kind) },
                badge(kind), h('span.total', '0'))
        }
        fill(this.#panel, h('div.fields', ...FIELDS.map(([member, label, example]) => {
            this.#inputs[member] = this.#input(example, () => {
                const value = this.#inputs[member].value.trim()
                const values = (member === 'where' ? [value] : value.split(/[\s,]+/)).filter(Boolean)
                this.#set(member, isSingle(member) ? value : values)
            }, { class: 'field code', 'aria-describedby': this.#problem.id })
            return h('label.labelled', label, this.#inputs[member])
        })), this.#problem, h('p.heading', 'Types'), this.#types)
        fill(this, h('div.filter-bar', h('div.kinds', { role: 'group', 'aria-label': 'Kinds' },
            ...Object.values(this.#kinds)), this.#search, this.#more), this.#chips, this.#panel)
        this.#show()
    }

    get value() {
        return { selection: this.#selection, text: this.#text }
    }

    /** Shows a selection without an event. */
    set value({ selection, text }) {
        this.#selection = selection
        this.#text = text
        if (this.firstChild) this.#show()
    }

    /** The number of messages of each type. */
    set counts(counts) {
        this.#counts = counts
        for (const kind of RECORDED) {
            let total = 0
            for (const [type, number] of counts) if (kindOf(type) === kind) total += number
            setText(this.#kinds[kind].lastChild, count(total))
        }
        if (!this.#panel.hidden) this.#showTypes()
    }

    /** The complaint of the gateway about a condition or a pattern. */
    set problem(text) {
        setText(this.#problem, text)
        if (text && this.#panel.hidden) this.#toggle()
    }

    focusSearch() {
        this.#search.focus()
        this.#search.select()
    }

    /** Selects a value alone, or adds a type to those that are hidden. */
    only(member, value) {
        if (member === 'exclude') {
            this.#set('types', (this.#selection.types ?? []).filter(type => type !== value))
            this.#set('exclude', [...new Set([...(this.#selection.exclude ?? []), value])])
        } else this.#set(member, isSingle(member) ? value : [value])
        this.#changed()
    }

    #input(placeholder, change, attributes) {
        return h('input', { placeholder, autocomplete: 'off', spellcheck: 'false', ...attributes, oninput: () => {
            clearTimeout(this.#timer)
            this.#timer = setTimeout(() => {
                change()
                this.#changed()
            }, 350)
        } })
    }

    #toggle() {
        this.#panel.hidden = !this.#panel.hidden
        this.#more.setAttribute('aria-expanded', !this.#panel.hidden)
        this.#showTypes()
    }

    #toggleKind(kind) {
        const kinds = this.#selection.kinds ?? RECORDED
        const others = RECORDED.filter(other => kinds.includes(other) !== (other === kind))
        this.#set('kinds', others.length === RECORDED.length ? [] : others)
        this.#changed()
    }

    #set(member, value) {
        const { [member]: _, ...others } = this.#selection
        this.#selection = value.length ? { ...others, [member]: value } : others
    }

    #changed() {
        this.#show()
        this.dispatchEvent(new CustomEvent('filter', { detail: this.value }))
    }

    #show() {
        // The field that somebody writes in keeps its text, or the caret would jump.
        const write = (input, text) => { if (input !== document.activeElement) input.value = text }
        write(this.#search, this.#text)
        const kinds = this.#selection.kinds ?? RECORDED
        for (const kind of RECORDED) this.#kinds[kind].setAttribute('aria-pressed', kinds.includes(kind))
        const chips = []
        for (const [member, , , prefix] of FIELDS) {
            const values = [this.#selection[member] ?? []].flat()
            write(this.#inputs[member], values.join(member === 'where' ? ' and ' : ' '))
            for (const value of values) {
                chips.push(h('li', h('button.chip', { type: 'button', onclick: () => {
                    this.#set(member, values.filter(other => other !== value))
                    this.#changed()
                    this.#more.focus()
                } }, h('span.visually-hidden', 'Remove the filter '), h('bdi', prefix + printable(value)),
                    h('span', { 'aria-hidden': 'true' }, ' ✕'))))
            }
        }
        fill(this.#chips, ...chips)
        this.#chips.hidden = !chips.length
        setText(this.#more, chips.length ? `Filter · ${chips.length}` : 'Filter')
        if (!this.#panel.hidden) this.#showTypes()
    }

    #showTypes() {
        const exclude = this.#selection.exclude ?? []
        const types = [...new Set([...this.#counts.keys(), ...exclude.filter(type => !type.includes('*'))])]
            .sort().slice(0, LISTED)
        // The buttons are made again only if the types have changed, so that a button keeps the focus.
        const key = JSON.stringify([types, exclude])
        if (this.#types.dataset.key !== key) {
            const focused = this.#types.contains(document.activeElement)
                ? [...this.#types.querySelectorAll('button')].indexOf(document.activeElement) : -1
            this.#types.dataset.key = key
            fill(this.#types, ...types.map(type => {
                const hidden = exclude.includes(type)
                const show = () => {
                    this.#set('exclude', exclude.filter(other => other !== type))
                    this.#changed()
                }
                const name = printable(type), verb = hidden ? 'Show' : 'Hide'
                return h('li', { class: hidden ? 'hidden-type' : '' }, badge(kindOf(type)), h('bdi.type', nameOf(type)),
                    h('span.total'),
                    button('Only', () => this.only('types', type),
                        { class: 'button small', 'aria-label': `Only ${name}` }),
                    button(verb, () => hidden ? show() : this.only('exclude', type),
                        { class: 'button small', 'aria-label': `${verb} ${name}` }))
            }))
            this.#types.querySelectorAll('button')[focused]?.focus()
        }
        types.forEach((type, index) => setText(this.#types.children[index].children[2],
            count(this.#counts.get(type) ?? 0)))
    }
}

customElements.define('segue-filters', SegueFilters)
