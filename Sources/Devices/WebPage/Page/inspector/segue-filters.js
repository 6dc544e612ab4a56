import { button, fill, h, reconcile, setText, textField, uniqueID, unspoken } from '../elements/dom.js'
import { count, kindOf, KINDS, nameOf, printable } from '../elements/text.js'
import { badge, smallButton, spoken } from './inspector-element.js'
import { replacing, valuesOf } from './selection.js'

const RECORDED = Object.keys(KINDS)
const LISTED = 100
/** The member of the selection, its label, an example, and its prefix on a chip. */
const FIELDS = [
  ['types', 'Types', 'command.*', ''], ['exclude', 'Hidden types', 'event.X document.*', 'not '],
  ['session', 'Session', 'every session', 'session '], ['source', 'Source', 'music-*', 'from '],
  ['story', 'Story', 'id of the first message', 'story '], ['where', 'Condition', 'data.playlistID == "calm"', ''],
]
const WRITING_PAUSE = 350

export class SegueFilters extends HTMLElement {
  #value = { selection: {}, text: '' }
  #counts = new Map()
  #changed
  #search = this.#input('Search  /', text => { this.#value.text = text },
    { type: 'search', 'aria-label': 'Search in summaries' })
  #kinds = RECORDED.map(kind => h('button.kind-filter',
    { onclick: () => this.#toggle('kinds', kind) }, badge(kind), h('span.total', '0')))
  #problem = h('p.failure', { id: uniqueID(), role: 'status' })
  #inputs = FIELDS.map(([member, , example]) => this.#input(example, text => this.#set(member,
    (member === 'where' ? [text.trim()] : text.split(/[\s,]+/)).filter(Boolean)),
  { class: 'field code', 'aria-describedby': this.#problem.id }))
  #types = h('ul.types', { 'aria-label': 'Types' })
  #panel = h('div.filter-panel', { id: uniqueID(), hidden: true },
    h('div.fields', ...FIELDS.map(([, label], index) => h('label.labelled', label, this.#inputs[index]))),
    this.#problem, h('p.heading', 'Types'), this.#types)
  #more = button('Filter', () => this.#togglePanel(), { 'aria-expanded': 'false', 'aria-controls': this.#panel.id })
  #chips = h('ul.chips', { 'aria-label': 'Active filters' })

  constructor(changed) {
    super()
    this.#changed = changed
    fill(this, h('div.filter-bar', h('div.kinds', { role: 'group', 'aria-label': 'Kinds' }, ...this.#kinds),
      this.#search, this.#more), this.#chips, this.#panel)
  }

  set value(value) {
    this.#value = value
    this.#show()
  }

  set counts(counts) {
    this.#counts = counts
    const totals = new Map()
    for (const [type, number] of counts) totals.set(kindOf(type), (totals.get(kindOf(type)) ?? 0) + number)
    RECORDED.forEach((kind, index) => setText(this.#kinds[index].lastChild, count(totals.get(kind) ?? 0)))
    this.#showTypes()
  }

  set problem(text) {
    if (text === this.#problem.textContent) return
    this.#problem.textContent = text
    if (text && this.#panel.hidden) this.#togglePanel()
  }

  focusSearch() {
    this.#search.focus()
    this.#search.select()
  }

  only(member, value) {
    if (member === 'exclude') {
      this.#set('types', this.#values('types').filter(type => type !== value))
      this.#set('exclude', [...new Set(this.#values('exclude')).add(value)])
    } else this.#set(member, [value])
    this.#tell()
  }

  #values(member) {
    const values = valuesOf(this.#value.selection, member)
    return member === 'kinds' && !values.length ? RECORDED : values
  }

  #set(member, values) {
    const { selection, text } = this.#value
    this.#value = { selection: replacing(selection, member, values), text }
  }

  #toggle(member, value) {
    const values = new Set(this.#values(member))
    if (!values.delete(value)) values.add(value)
    this.#set(member, member === 'kinds' && values.size === RECORDED.length ? [] : [...values])
    this.#tell()
  }

  #tell() {
    this.#show()
    this.#changed(this.#value)
  }

  #input(placeholder, write, attributes) {
    let timer = 0
    const oninput = ({ target: { value } }) => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        write(value)
        this.#tell()
      }, WRITING_PAUSE)
    }
    return textField({ placeholder, oninput, ...attributes })
  }

  #togglePanel() {
    this.#panel.hidden = !this.#panel.hidden
    this.#more.ariaExpanded = String(!this.#panel.hidden)
    this.#showTypes()
  }

  #show() {
    // The field in use keeps its text, or the caret would jump.
    const write = (input, text) => { if (input !== document.activeElement) input.value = text }
    write(this.#search, this.#value.text)
    RECORDED.forEach((kind, index) => { this.#kinds[index].ariaPressed = this.#values('kinds').includes(kind) })
    const chips = FIELDS.flatMap(([member, , , prefix], index) => {
      write(this.#inputs[index], this.#values(member).join(member === 'where' ? ' and ' : ' '))
      return this.#values(member).map(value => h('li', h('button.chip.code', { onclick: () => {
        this.#toggle(member, value)
        this.#more.focus()
      } }, spoken('Remove the filter '), h('bdi', prefix + printable(value)), unspoken('span', ' ✕'))))
    })
    fill(this.#chips, ...chips)
    this.#chips.hidden = !chips.length
    setText(this.#more, chips.length ? `Filter · ${chips.length}` : 'Filter')
    this.#showTypes()
  }

  #showTypes() {
    if (this.#panel.hidden) return
    const excluded = this.#values('exclude')
    const types = new Set([...this.#counts.keys(), ...excluded.filter(type => !type.includes('*'))])
    reconcile(this.#types, [...types].sort().slice(0, LISTED), type => type, type => {
      const small = (label, action) => smallButton(label, action, { 'aria-label': `${label} ${printable(type)}` })
      return h('li', badge(kindOf(type)), h('bdi.type', nameOf(type)), h('span.total'),
        small('Only', () => this.only('types', type)),
        small('Hide', () => this.#values('exclude').includes(type) ? this.#toggle('exclude', type)
          : this.only('exclude', type)))
    }, ({ children: [, name, total, , hide] }, type) => {
      name.classList.toggle('hidden-type', excluded.includes(type))
      hide.ariaPressed = excluded.includes(type)
      setText(total, count(this.#counts.get(type) ?? 0))
    })
  }
}

customElements.define('segue-filters', SegueFilters)
