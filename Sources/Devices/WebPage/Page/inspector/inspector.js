// The inspector beside the devices: its parts, which are loaded when they are first shown.

import { current, go, withDevices } from '../address.js'
import { onResize, onTabKeys, selectTab } from '../elements/controls.js'
import { h } from '../elements/dom.js'
import { recall, remember } from '../memory.js'
import { MapPanel } from './map-panel.js'

/** The first tab has a switch to the other list. */
export const parts = { happenings: 'Activity', map: 'Map', story: 'Story', processes: 'Processes' }
const lists = { happenings: 'Happenings', messages: 'Messages' }
const labels = { ...parts, ...lists }
const narrowest = 280
const devicesWidth = 360

export function partNamed(name) {
  return name === 'message' ? 'messages' : Object.hasOwn(labels, name) ? name : null
}

export function tabOf(part) { return part === 'messages' ? 'happenings' : part }

export class Inspector {
  part = ''
  #connection
  #root = document.documentElement
  #panel = find('inspector-panel')
  #tabs = find('inspector-tabs')
  #toggle = find('inspector-toggle')
  #elements = new Map()
  #shown
  #session = 'default'
  #mapPanel
  #switch = h('div.list-switch', { role: 'group', 'aria-label': 'List' },
    ...Object.entries(lists).map(([part, label]) =>
      h('button', { 'data-part': part, onclick: () => go(`#/${part}`) }, label)))

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
    this.#panel.append(this.#switch)
    onTabKeys(this.#tabs)
    onResize(find('divider'), find('inspector'), width => {
      this.#resize(width)
      this.open(true)
    }, -1)
    this.#mapPanel = new MapPanel(() => {
      // The address of a closed map must not open it again.
      if (this.#mapPanel.isClosed && current().name === 'map') go('#/happenings', true)
      this.#placeMap()
    })
    this.#placeMap()
  }

  set session(session) {
    this.#session = session
    this.#withMap(map => { map.session = session })
  }

  mark(detail) { this.#withMap(map => map.mark?.(detail)) }

  #withMap(action) { this.#elements.get('map')?.then(action) }

  async #placeMap() {
    const isPossible = this.#mapPanel.isPossible
    find('tab-map').hidden = isPossible
    if (isPossible && this.part === 'map') this.#mapPanel.isOpen = true
    if (this.#mapPanel.isOpen) {
      if (this.part === 'map') this.show('happenings')
      this.#mapPanel.show(await this.#element('map'))
    } else if (current().name === 'map' && !isPossible) {
      this.show('map')
    }
  }

  open(isOpen) {
    this.#root.dataset.inspector = isOpen ? 'open' : 'closed'
    this.#toggle.ariaExpanded = String(isOpen)
    remember('local', 'inspector', { isOpen, width: this.#root.style.getPropertyValue('--inspector') })
  }

  async show(part) {
    if (part === 'map' && this.#mapPanel.isPossible) {
      this.#mapPanel.isOpen = true
      this.#withMap(map => { map.address = withDevices() })
      await this.#placeMap()
      if (!this.part) this.show('happenings')
      return
    }
    this.part = part
    this.#root.dataset.part = part
    for (const tab of this.#tabs.children) selectTab(tab, tab.id === `tab-${tabOf(part)}`)
    this.#panel.setAttribute('aria-labelledby', `tab-${tabOf(part)}`)
    this.#switch.hidden = !Object.hasOwn(lists, part)
    for (const item of this.#switch.children) item.ariaPressed = String(item.dataset.part === part)
    const element = await this.#element(part)
    if (this.part !== part) return
    if (partNamed(current().name) === part) element.address = withDevices()
    // The switch keeps the focus.
    if (element.parentElement !== this.#panel) {
      const hadFocus = this.#shown?.contains(document.activeElement)
      // The map may have moved to its own panel.
      if (this.#shown?.parentElement === this.#panel) this.#shown.remove()
      this.#panel.append(this.#shown = element)
      if (hadFocus) this.#panel.focus({ preventScroll: true })
    }
  }

  #element(part) {
    if (!this.#elements.has(part)) this.#elements.set(part, this.#load(part))
    return this.#elements.get(part)
  }

  async #load(part) {
    try {
      await import(`./segue-${part}.js`)
      const options = part === 'map' ? { session: this.#session, address: withDevices() } : {}
      return Object.assign(h(`segue-${part}`), { connection: this.#connection, ...options })
    } catch (error) {
      console.warn(error)
      return h('p.empty', `${labels[part]} cannot be shown, because a part of the page could not be loaded.`)
    }
  }

  #resize(width) {
    const fitting = Math.min(Math.max(width, narrowest), innerWidth - devicesWidth)
    this.#root.style.setProperty('--inspector', `${Math.round(fitting)}px`)
  }
}

function find(id) { return document.getElementById(id) }
