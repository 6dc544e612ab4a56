// @ts-check
// The inspector beside the devices: its parts, which are loaded when they are first shown, and its width.

import { current, go, withoutDevices } from './address.js'
import { onDrag } from './elements/motion.js'
import { make, reconcile, setAttribute } from './elements/render.js'
import { recall, remember } from './memory.js'

export const parts = { messages: 'Messages', story: 'Story', processes: 'Processes' }
/** The parts by the first segments of their addresses. */
const partOf = { messages: 'messages', message: 'messages', story: 'story', processes: 'processes' }
const narrowest = 280
const devicesWidth = 360
const keyStep = 24

/** The part that an address names; null if it names none. @param {string} name */
export function partNamed(name) { return Object.hasOwn(partOf, name) ? partOf[name] : null }

export class Inspector {
    /** The part that is shown; empty at first. */
    part = ''
    #connection
    #element = find('inspector')
    #panel = find('inspector-panel')
    #tabs = find('inspector-tabs')
    #divider = find('divider')
    #toggle = find('inspector-toggle')
    /** @type {Map<string, any>} */
    #elements = new Map()

    /** @param {import('./connection.js').Connection} connection */
    constructor(connection) {
        this.#connection = connection
        const stored = recall('local', 'inspector')
        if (stored?.width) this.#resize(parseInt(stored.width, 10) || 400)
        this.open(stored?.isOpen !== false)
        this.#toggle.addEventListener('click', () => this.open(document.documentElement.dataset.inspector === 'closed'))
        this.#tabs.addEventListener('keydown', event => this.#tabKey(event))
        this.#divider.addEventListener('keydown', event => {
            const step = { ArrowLeft: keyStep, ArrowRight: -keyStep }[event.key]
            if (!step) return
            event.preventDefault()
            this.#resize(this.#element.offsetWidth + step)
            this.open(true)
        })
        onDrag(this.#divider, () => {
            const width = this.#element.offsetWidth
            return {
                axis: 'x', moved: x => this.#resize(width - x), ended: () => this.open(true),
                cancelled: () => this.#resize(width),
            }
        })
    }

    /** Opens or closes the inspector and remembers it. @param {boolean} isOpen */
    open(isOpen) {
        const root = document.documentElement
        root.dataset.inspector = isOpen ? 'open' : 'closed'
        setAttribute(this.#toggle, 'aria-expanded', String(isOpen))
        remember('local', 'inspector', { isOpen, width: root.style.getPropertyValue('--inspector') })
    }

    /** @param {string} part */
    async show(part) {
        this.part = part
        this.#drawTabs()
        let element = this.#elements.get(part)
        if (!element) {
            try {
                await import(`./elements/segue-${part}.js`)
                element = make(`segue-${part}`)
                element.connection = this.#connection
            } catch (error) {
                console.warn(error)
                element = make('p', 'empty', {}, `${parts[part]} cannot be shown, because a part of the page could not be loaded.`)
            }
            this.#elements.set(part, element)
        }
        if (this.part !== part) return
        if (partNamed(current().name)) element.address = withoutDevices()
        if (element.parentElement !== this.#panel) this.#panel.replaceChildren(element)
    }

    #drawTabs() {
        reconcile(this.#tabs, Object.keys(parts), part => part, part => {
            const tab = make('button', '', { type: 'button', role: 'tab', id: `tab-${part}`, 'aria-controls': 'inspector-panel' }, parts[part])
            tab.addEventListener('click', () => go(`#/${part}`))
            return tab
        }, (tab, part) => {
            setAttribute(tab, 'aria-selected', String(part === this.part))
            setAttribute(tab, 'tabindex', part === this.part ? '0' : '-1')
        })
        this.#panel.setAttribute('aria-labelledby', `tab-${this.part}`)
    }

    #tabKey(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
        if (!step) return
        const names = Object.keys(parts)
        const next = names[(names.indexOf(this.part) + step + names.length) % names.length]
        go(`#/${next}`)
        find(`tab-${next}`).focus()
    }

    #resize(width) {
        const fitting = Math.min(Math.max(width, narrowest), innerWidth - devicesWidth)
        document.documentElement.style.setProperty('--inspector', `${Math.round(fitting)}px`)
        setAttribute(this.#divider, 'aria-valuenow', String(Math.round(100 * fitting / innerWidth)))
    }
}

/** @param {string} id @returns {any} */
function find(id) { return document.getElementById(id) }
