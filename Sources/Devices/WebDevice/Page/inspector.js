// The inspector beside the devices: its parts, which are loaded when they are first shown, and its width.

import { current, go, withDevices } from './address.js'
import { onResize, onTabKeys, selectTab } from './elements/controls.js'
import { h } from './elements/dom.js'
import { recall, remember } from './memory.js'

export const parts = { messages: 'Messages', story: 'Story', processes: 'Processes' }
const narrowest = 280
const devicesWidth = 360

export function partNamed(name) {
  return name === 'message' ? 'messages' : Object.hasOwn(parts, name) ? name : null
}

export class Inspector {
  part = ''
  #connection
  #root = document.documentElement
  #panel = find('inspector-panel')
  #tabs = find('inspector-tabs')
  #toggle = find('inspector-toggle')
  #elements = new Map()

  constructor(connection) {
    this.#connection = connection
    const stored = recall('local', 'inspector')
    if (stored?.width) this.#resize(parseInt(stored.width, 10))
    this.open(stored?.isOpen !== false)
    this.#toggle.addEventListener('click', () => this.open(this.#root.dataset.inspector === 'closed'))
    this.#tabs.append(...Object.entries(parts).map(([part, label]) => h('button', {
      role: 'tab', id: `tab-${part}`, 'aria-controls': 'inspector-panel',
      onclick: () => go(`#/${part}`),
    }, label)))
    onTabKeys(this.#tabs)
    onResize(find('divider'), find('inspector'), width => {
      this.#resize(width)
      this.open(true)
    }, -1)
  }

  open(isOpen) {
    this.#root.dataset.inspector = isOpen ? 'open' : 'closed'
    this.#toggle.ariaExpanded = String(isOpen)
    remember('local', 'inspector', { isOpen, width: this.#root.style.getPropertyValue('--inspector') })
  }

  async show(part) {
    this.part = part
    for (const tab of this.#tabs.children) selectTab(tab, tab.id === `tab-${part}`)
    this.#panel.setAttribute('aria-labelledby', `tab-${part}`)
    if (!this.#elements.has(part)) this.#elements.set(part, this.#load(part))
    const element = await this.#elements.get(part)
    if (this.part !== part) return
    if (partNamed(current().name)) element.address = withDevices()
    if (element.parentElement !== this.#panel) this.#panel.replaceChildren(element)
  }

  async #load(part) {
    try {
      await import(`./elements/segue-${part}.js`)
      return Object.assign(h(`segue-${part}`), { connection: this.#connection })
    } catch (error) {
      console.warn(error)
      return h('p.empty', `${parts[part]} cannot be shown, because a part of the page could not be loaded.`)
    }
  }

  #resize(width) {
    const fitting = Math.min(Math.max(width, narrowest), innerWidth - devicesWidth)
    this.#root.style.setProperty('--inspector', `${Math.round(fitting)}px`)
  }
}

function find(id) { return document.getElementById(id) }
