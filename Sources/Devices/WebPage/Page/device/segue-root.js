import { onResize, onTabKeys, selectTab } from '../elements/controls.js'
import { h, put, reconcile, uniqueID } from '../elements/dom.js'
import { durations, fadeIn, play } from './motion.js'

const narrowestColumn = 140

/** What is below all presentations: one stack, the columns of a split view, or tabs. */
class SegueRoot extends HTMLElement {
  #device
  #kind = 'stack'
  #instance = ''
  #panes = this

  build({ kind, root }, device) {
    this.#kind = kind
    this.#instance = root.id
    this.#device = device
    this.className = `root ${kind}`
    if (kind !== 'tabs') return
    this.actions = Object.assign(h('segue-screen'), { device })
    this.#panes = h('div.panels')
    this.bar = h('div.tab-bar', { role: 'tablist', 'aria-label': 'Tabs' })
    onTabKeys(this.bar)
    this.append(h('div.root-actions', this.actions), this.#panes, this.bar)
  }

  shows({ kind, root }) { return kind === this.#kind && root.id === this.#instance }

  get stacks() { return [...this.#panes.querySelectorAll('segue-stack')] }

  update(model, selected) {
    const animations = []
    const isSplit = this.#kind === 'split'
    const stacks = isSplit && model.stacks.length < 2 ? [...model.stacks, null] : model.stacks
    reconcile(this.#panes, stacks, entry => entry ? `stack ${entry.name}` : 'none', entry => this.#newPane(entry),
      (pane, entry, index) => {
        if (!entry) return
        const beside = isSplit ? stacks[index + 1]?.instances.at(-1) : undefined
        const describe = (screen, below) => this.#device.describe(screen, below, beside)
        animations.push(...pane.stack.update(entry.instances, describe))
        pane.hidden = this.#kind === 'tabs' && entry.name !== selected
      })
    if (this.#kind === 'tabs') this.#drawTabs(model, selected)
    return animations
  }

  #newPane(entry) {
    if (!entry) return h('div.column.placeholder', h('p', 'Nothing selected'))
    const stack = Object.assign(h('segue-stack'), { device: this.#device })
    const pane = Object.assign(h('div', { id: uniqueID() }, stack), { stack })
    if (this.#kind !== 'split') {
      pane.className = 'pane'
      if (this.#kind === 'tabs') pane.role = 'tabpanel'
      return pane
    }
    pane.className = entry.name ? 'column' : 'column sidebar'
    const separator = h('div.separator', {
      role: 'separator', tabindex: 0, 'aria-orientation': 'vertical', 'aria-label': 'Width of the column',
      'aria-controls': pane.id, 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': 0,
    })
    onResize(separator, pane, width => {
      const widest = Math.max(this.clientWidth - narrowestColumn, narrowestColumn)
      pane.style.setProperty('--column', `${Math.min(Math.max(width, narrowestColumn), widest)}px`)
    })
    pane.append(separator)
    return pane
  }

  #drawTabs(model, selected) {
    reconcile(this.bar, model.stacks, entry => entry.name, entry => {
      const label = h('bdi')
      const select = () => this.#device.selectTab(entry.name)
      const tab = h('button.tab', { role: 'tab', id: uniqueID(), onclick: select }, label)
      return Object.assign(tab, { label })
    }, (tab, entry, index) => {
      const pane = this.#panes.children[index]
      tab.setAttribute('aria-controls', pane.id)
      pane.setAttribute('aria-labelledby', tab.id)
      put(tab.label, this.#device.tabTitle(entry.name))
      tab.ariaDisabled = this.#device.readOnly ? 'true' : null
      selectTab(tab, entry.name === selected)
    })
    // A root with tabs may have actions that every tab shows.
    const description = this.#device.describe(model.root, null)
    this.actions.parentElement.hidden = !description.content?.actions.length
    this.actions.update(description)
  }

  enter() { return play([fadeIn(this)], durations.fade) }
}

customElements.define('segue-root', SegueRoot)
