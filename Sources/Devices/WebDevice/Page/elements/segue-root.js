// @ts-check
import { onDrag, play } from './motion.js'
import { make, put, reconcile, setAttribute, uniqueID } from './render.js'

const narrowestColumn = 140
const keyStep = 16

/** What lies beneath all presentations: one stack, the columns of a split view, or tabs. */
export class SegueRoot extends HTMLElement {
    /** @type {any} */
    device = null
    kind = 'stack'
    /** @type {Map<string, any>} */
    #stacks = new Map()
    #cancelDrags = []
    /** The widths of all columns but the last that a person has chosen, by their names. */
    #widths = new Map()

    /** @param {'stack' | 'split' | 'tabs'} kind @param {any} device */
    build(kind, device) {
        this.kind = kind
        this.device = device
        this.className = `root ${kind}`
        if (kind === 'tabs') {
            this.extra = make('div', 'root-actions')
            this.panels = make('div', 'panels')
            this.bar = make('div', 'tab-bar', { role: 'tablist', 'aria-label': 'Tabs' })
            this.bar.addEventListener('keydown', event => this.#tabKey(event))
            this.append(this.extra, this.panels, this.bar)
        }
    }

    disconnectedCallback() { for (const cancel of this.#cancelDrags) cancel() }

    get stacks() { return [...this.#stacks.values()] }

    /**
     * @param {any} model @param {string | null} selected the tab to show
     * @param {(stack: number) => any} describe makes the function that describes the screens of a stack
     * @param {(name: string) => any} titleOf @param {any} rootContent the content of a root that has tabs
     * @returns {Promise<void>[]}
     */
    update(model, selected, describe, titleOf, rootContent) {
        const isTabs = this.kind === 'tabs'
        const host = isTabs ? this.panels : this
        const names = new Set(model.stacks.map(stack => stack.name))
        for (const [name, stack] of this.#stacks) {
            if (names.has(name)) continue
            stack.closest('.column, .tab-panel')?.remove()
            stack.remove()
            this.#stacks.delete(name)
        }
        const animations = model.stacks.map((entry, index) => {
            let stack = this.#stacks.get(entry.name)
            if (!stack) {
                stack = make('segue-stack')
                stack.device = this.device
                this.#stacks.set(entry.name, stack)
                host.append(this.kind === 'stack' ? stack : this.#frame(entry.name, stack))
            }
            return stack.update(entry.instances, describe(index))
        })
        if (this.kind === 'split') this.#drawColumns(model)
        if (isTabs) {
            this.#drawTabs(model, selected, titleOf)
            this.#drawRootActions(model, rootContent, describe)
        }
        return animations.filter(animation => animation !== null)
    }

    #frame(name, stack) {
        if (this.kind === 'split') return make('div', 'column', {}, stack)
        return make('div', 'tab-panel', { role: 'tabpanel', id: uniqueID() }, stack)
    }

    // MARK: Columns

    #drawColumns(model) {
        const columns = model.stacks.map(entry => this.#stacks.get(entry.name).parentElement)
        this.placeholder ??= make('div', 'column placeholder', {}, make('p', '', {}, 'Nothing selected'))
        if (columns.length < 2) columns.push(this.placeholder)
        else this.placeholder.remove()
        for (const separator of this.querySelectorAll(':scope > .separator')) separator.remove()
        columns.forEach((column, index) => {
            const isLast = index === columns.length - 1
            const name = model.stacks[index]?.name ?? ''
            column.classList.toggle('sidebar', index === 0)
            column.classList.toggle('last', isLast)
            if (this.children[2 * index] !== column) this.insertBefore(column, this.children[2 * index] ?? null)
            if (isLast) return
            this.#setWidth(column, name, this.#widths.get(name) ?? null)
            column.after(this.#separator(column, name))
        })
    }

    #separator(column, name) {
        column.separator ??= this.#makeSeparator(column, name)
        return column.separator
    }

    #makeSeparator(column, name) {
        column.id ||= uniqueID()
        const separator = make('div', 'separator', {
            role: 'separator', tabindex: '0', 'aria-orientation': 'vertical', 'aria-label': 'Width of the column',
            'aria-controls': column.id, 'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': '35',
        })
        const resize = width => {
            const largest = this.clientWidth - narrowestColumn
            this.#widths.set(name, Math.min(Math.max(width, narrowestColumn), Math.max(largest, narrowestColumn)))
            this.#setWidth(column, name, this.#widths.get(name))
            setAttribute(separator, 'aria-valuenow', String(Math.round(100 * column.offsetWidth / (this.clientWidth || 1))))
        }
        separator.addEventListener('keydown', event => {
            const step = { ArrowLeft: -keyStep, ArrowRight: keyStep }[event.key]
            if (!step) return
            event.preventDefault()
            resize(column.offsetWidth + step)
        })
        this.#cancelDrags.push(onDrag(separator, () => {
            const width = column.offsetWidth
            return { axis: 'x', moved: x => resize(width + x), ended: x => resize(width + x), cancelled: () => resize(width) }
        }))
        return separator
    }

    #setWidth(column, name, width) {
        if (width == null) column.style.removeProperty('--column')
        else column.style.setProperty('--column', `${width}px`)
    }

    // MARK: Tabs

    #drawTabs(model, selected, titleOf) {
        for (const entry of model.stacks) {
            const panel = this.#stacks.get(entry.name).parentElement
            panel.hidden = entry.name !== selected
        }
        reconcile(this.bar, model.stacks, entry => entry.name, entry => {
            const tab = make('button', 'tab', { type: 'button', role: 'tab', id: uniqueID() })
            tab.label = make('bdi')
            tab.append(tab.label)
            tab.addEventListener('click', () => this.device.selectTab(tab.tabName))
            const panel = this.#stacks.get(entry.name).parentElement
            tab.setAttribute('aria-controls', panel.id)
            panel.setAttribute('aria-labelledby', tab.id)
            return tab
        }, (tab, entry) => {
            tab.tabName = entry.name
            put(tab.label, titleOf(entry.name) ?? entry.name)
            setAttribute(tab, 'aria-disabled', this.device.readOnly ? 'true' : null)
            setAttribute(tab, 'aria-selected', String(entry.name === selected))
            setAttribute(tab, 'tabindex', entry.name === selected ? '0' : '-1')
        })
    }

    #tabKey(event) {
        const tabs = [...this.bar.children]
        const index = tabs.indexOf(document.activeElement)
        const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: tabs.length - 1 }[event.key]
        if (next == null || index < 0) return
        event.preventDefault()
        const tab = tabs[(next + tabs.length) % tabs.length]
        tab.focus()
        this.device.selectTab(tab.tabName)
    }

    /** A root with tabs may have actions of its own, which every tab shows. */
    #drawRootActions(model, content, describe) {
        const isShown = content?.actions?.length > 0
        this.extra.hidden = !isShown
        if (!isShown) return
        if (!this.rootScreen) {
            this.rootScreen = make('segue-screen', 'compact')
            this.rootScreen.device = this.device
            this.rootScreen.instance = model.root.id
            this.extra.append(this.rootScreen)
        }
        this.rootScreen.update({ ...describe(0)(model.root, null), back: false, close: false })
    }

    /** Fades in over the former root. */
    enter() { return play([[this, [{ opacity: 0 }, { opacity: 1 }], 'in']], 250) }
}

customElements.define('segue-root', SegueRoot)
