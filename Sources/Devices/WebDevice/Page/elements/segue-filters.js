// @ts-check
import { button, fill, h, reconcile, setText, uniqueID } from './dom.js'
import { badge, smallButton } from './inspector-element.js'
import { replacing, valuesOf } from './selection.js'
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
/** The pause in writing after which a field is read, in milliseconds. */
const PAUSE = 350

/** The filters of the list of messages. */
export class SegueFilters extends HTMLElement {
    /** @type {import('./selection.js').Selection} */
    #selection = {}
    #text = ''
    #counts = new Map()
    #timer = 0
    #id = uniqueID()
    #changed
    #search = this.#input('Search  /', text => { this.#text = text },
        { type: 'search', class: 'field', 'aria-label': 'Search in summaries' })
    #more = button('Filter', () => this.#toggle(), { 'aria-expanded': 'false', 'aria-controls': this.#id })
    #chips = h('ul.chips', { 'aria-label': 'Active filters' })
    #types = h('ul.types', { 'aria-label': 'Types' })
    #problem = h('p.failure', { id: uniqueID(), role: 'status' })
    #kinds = RECORDED.map(kind => h('button.kind-filter', { type: 'button', onclick: () => this.#toggleKind(kind) },
        badge(kind), h('span.total', '0')))
    #inputs = FIELDS.map(([member, , example]) => this.#input(example, text => this.#set(member,
        (member === 'where' ? [text.trim()] : text.split(/[\s,]+/)).filter(Boolean)),
    { class: 'field code', 'aria-describedby': this.#problem.id }))
    #panel = h('div.filter-panel', { id: this.#id, hidden: true },
        h('div.fields', ...FIELDS.map(([, label], index) => h('label.labelled', label, this.#inputs[index]))),
        this.#problem, h('p.heading', 'Types'), this.#types)

    /** @param {(value: {selection: import('./selection.js').Selection, text: string}) => void} changed */
    constructor(changed) {
        super()
        this.#changed = changed
        fill(this, h('div.filter-bar', h('div.kinds', { role: 'group', 'aria-label': 'Kinds' }, ...this.#kinds),
            this.#search, this.#more), this.#chips, this.#panel)
    }

    /** Shows a selection without telling it. */
    set value({ selection, text }) {
        this.#selection = selection
        this.#text = text
        this.#show()
    }

    /** The number of messages of each type. @param {Map<string, number>} counts */
    set counts(counts) {
        this.#counts = counts
        const totals = new Map()
        for (const [type, number] of counts) totals.set(kindOf(type), (totals.get(kindOf(type)) ?? 0) + number)
        RECORDED.forEach((kind, index) => setText(this.#kinds[index].lastChild, count(totals.get(kind) ?? 0)))
        if (!this.#panel.hidden) this.#showTypes()
    }

    /** The complaint of the gateway about a condition or a pattern. */
    set problem(text) {
        if (text === this.#problem.textContent) return
        this.#problem.textContent = text
        if (text && this.#panel.hidden) this.#toggle()
    }

    focusSearch() {
        this.#search.focus()
        this.#search.select()
    }

    /** Selects a value alone, or adds a type to those that are hidden. */
    only(member, value) {
        if (member === 'exclude') {
            this.#remove('types', value)
            this.#set('exclude', [...new Set([...valuesOf(this.#selection, 'exclude'), value])])
        } else this.#set(member, [value])
        this.#tell()
    }

    #toggleType(type) {
        if (!valuesOf(this.#selection, 'exclude').includes(type)) return this.only('exclude', type)
        this.#remove('exclude', type)
        this.#tell()
    }

    #remove(member, value) {
        this.#set(member, valuesOf(this.#selection, member).filter(other => other !== value))
    }

    #set(member, values) { this.#selection = replacing(this.#selection, member, values) }

    #tell() {
        this.#show()
        this.#changed({ selection: this.#selection, text: this.#text })
    }

    #input(placeholder, write, attributes) {
        const changed = () => {
            write(input.value)
            this.#tell()
        }
        const input = h('input', { placeholder, autocomplete: 'off', spellcheck: 'false', ...attributes, oninput: () => {
            clearTimeout(this.#timer)
            this.#timer = setTimeout(changed, PAUSE)
        } })
        return input
    }

    #toggle() {
        this.#panel.hidden = !this.#panel.hidden
        this.#more.setAttribute('aria-expanded', String(!this.#panel.hidden))
        this.#showTypes()
    }

    get #shownKinds() { return this.#selection.kinds ?? RECORDED }

    #toggleKind(kind) {
        const kinds = RECORDED.filter(other => this.#shownKinds.includes(other) !== (other === kind))
        this.#set('kinds', kinds.length === RECORDED.length ? [] : kinds)
        this.#tell()
    }

    #show() {
        // The field that somebody writes in keeps its text, or the caret would jump.
        const write = (input, text) => { if (input !== document.activeElement) input.value = text }
        write(this.#search, this.#text)
        this.#kinds.forEach((filter, index) =>
            filter.setAttribute('aria-pressed', String(this.#shownKinds.includes(RECORDED[index]))))
        const chips = FIELDS.flatMap(([member, , , prefix], index) => {
            const values = valuesOf(this.#selection, member)
            write(this.#inputs[index], values.join(member === 'where' ? ' and ' : ' '))
            return values.map(value => h('li', h('button.chip.code', { type: 'button', onclick: () => {
                this.#remove(member, value)
                this.#tell()
                this.#more.focus()
            } }, h('span.visually-hidden', 'Remove the filter '), h('bdi', prefix + printable(value)),
            h('span', { 'aria-hidden': 'true' }, ' ✕'))))
        })
        fill(this.#chips, ...chips)
        this.#chips.hidden = !chips.length
        setText(this.#more, chips.length ? `Filter · ${chips.length}` : 'Filter')
        if (!this.#panel.hidden) this.#showTypes()
    }

    #showTypes() {
        const excluded = valuesOf(this.#selection, 'exclude')
        const types = new Set([...this.#counts.keys(), ...excluded.filter(type => !type.includes('*'))])
        reconcile(this.#types, [...types].sort().slice(0, LISTED), type => type, type => {
            const small = (label, action) => smallButton(label, action, { 'aria-label': `${label} ${printable(type)}` })
            return h('li', badge(kindOf(type)), h('bdi.type', nameOf(type)), h('span.total'),
                small('Only', () => this.only('types', type)), small('Hide', () => this.#toggleType(type)))
        }, ({ children: [, name, total, , hide] }, type) => {
            name.classList.toggle('hidden-type', excluded.includes(type))
            hide.setAttribute('aria-pressed', excluded.includes(type))
            setText(total, count(this.#counts.get(type) ?? 0))
        })
    }
}

customElements.define('segue-filters', SegueFilters)
