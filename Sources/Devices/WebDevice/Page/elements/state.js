// @ts-check
// The navigation state of a scene in the form in which a device draws it. Unknown and missing members are tolerated:
// a screen without an id is left out, everything else gets a default.

/**
 * @typedef {{id: string, screen: string}} Instance
 * @typedef {{name: string, instances: Instance[]}} NamedStack
 * @typedef {{id: string, style: string, instances: Instance[], detents: string[], grabber: boolean, title: any,
 *   message: any, buttons: any[]}} Presentation
 * @typedef {{root: Instance, kind: 'stack' | 'split' | 'tabs', stacks: NamedStack[], selected: string | null,
 *   presentations: Presentation[], leaving: string[]}} Model
 */

const styles = ['sheet', 'fullScreen', 'popover', 'alert', 'dialog', 'window']
/** A chain of presentations ends here; a state of this depth is a mistake or an attack. */
const depthLimit = 50

/** @param {any} state @returns {Model | null} null if the state has no root */
export function read(state) {
    const root = instance(state?.root)
    if (!root) return null
    const path = [root, ...instances(state.path)]
    const container = containerOf(state.root.container)
    const leaving = instances(state.leaving).map(screen => screen.id)
    const presentations = presentationsOf(state.presented)
    const common = { root, presentations, leaving }
    if (container?.kind === 'split') {
        const stacks = [{ name: '', instances: path }, ...container.stacks]
        return { ...common, kind: 'split', stacks, selected: null }
    }
    if (container?.kind === 'tabs' && container.stacks.length) {
        return { ...common, kind: 'tabs', stacks: container.stacks, selected: container.selected }
    }
    return { ...common, kind: 'stack', stacks: [{ name: '', instances: path }], selected: null }
}

/**
 * The model without what a person has already taken away: screens together with those above them, presentations
 * together with those over them in the same window.
 * @param {Model} model @param {Set<string>} gone @returns {Model}
 */
export function without(model, gone) {
    if (!gone.size) return model
    const cut = list => {
        const index = list.findIndex(screen => gone.has(screen.id))
        return index < 1 ? list : list.slice(0, index)
    }
    const presentations = []
    let dropping = false
    for (const presentation of model.presentations) {
        if (presentation.style === 'window') dropping = false
        if (gone.has(presentation.id)) dropping = true
        if (!dropping) presentations.push({ ...presentation, instances: cut(presentation.instances) })
    }
    const stacks = model.stacks.map(stack => ({ ...stack, instances: cut(stack.instances) }))
    return { ...model, stacks, presentations }
}

/** The ids of all open instances. @param {Model} model */
export function standing(model) {
    const lists = [...model.stacks, ...model.presentations].map(stack => stack.instances)
    return new Set([model.root.id, ...lists.flat().map(screen => screen.id)])
}

/** The screen in front: of the topmost presentation, else of the last column or the selected tab. @param {Model} model */
export function front(model) {
    const stack = model.presentations.at(-1)
        ?? (model.kind === 'tabs' ? model.stacks.find(tab => tab.name === model.selected) : model.stacks.at(-1))
    return stack?.instances.at(-1) ?? model.root
}

/** @returns {Instance | null} */
function instance(value) {
    const id = value?.instance ?? value?.id
    return typeof id === 'string' && id ? { id, screen: String(value.screen ?? '') } : null
}

function instances(list) {
    return Array.isArray(list) ? list.map(instance).filter(found => found !== null) : []
}

function stackOf(value) {
    const first = instance(value)
    return first ? [first, ...instances(value.path)] : null
}

/** Reads `{kind: "split", columns}` and `{split: {columns}}`, and the same of tabs. */
function containerOf(value) {
    if (!value || typeof value !== 'object') return null
    const split = value.kind === 'split' ? value : value.split
    if (split) {
        const stacks = Object.keys(split.columns ?? {}).sort().flatMap(name => {
            const instances = stackOf(split.columns[name])
            return instances ? [{ name, instances }] : []
        })
        return { kind: 'split', stacks, selected: null }
    }
    const tabs = value.kind === 'tabs' ? value : value.tabs
    const list = Array.isArray(tabs?.tabs) ? tabs.tabs : []
    const stacks = list.flatMap(tab => {
        const instances = stackOf(tab)
        return instances ? [{ name: String(tab.name ?? instances[0].screen), instances }] : []
    })
    const selected = stacks.some(tab => tab.name === tabs?.selected) ? tabs.selected : stacks[0]?.name ?? null
    return { kind: 'tabs', stacks, selected }
}

/** @returns {Presentation[]} */
function presentationsOf(value) {
    const found = []
    for (let next = value; next && found.length < depthLimit; next = next.presented) {
        const instances = stackOf(next)
        if (!instances) continue
        found.push({
            id: instances[0].id, instances,
            style: styles.includes(next.style) ? next.style : 'sheet',
            detents: Array.isArray(next.detents) && next.detents.length ? next.detents : ['large'],
            grabber: next.dragIndicator === true,
            title: next.title, message: next.message,
            buttons: Array.isArray(next.buttons) ? next.buttons.filter(item => item && typeof item === 'object') : [],
        })
    }
    return found
}
