// On a wide page, the map is in a panel below the devices.

import { onResize } from '../elements/controls.js'
import { recall, remember } from '../memory.js'

const [lowest, devicesHeight] = [220, 300]
const [root, wide] = [document.documentElement, matchMedia('(min-width: 1600px)')]

export class MapPanel {
  isClosed = false
  #panel = document.getElementById('map-panel')
  #toggle = document.getElementById('map-toggle')
  #isOpen

  /** Calls `changed` when the panel opens or closes, or the page becomes wide or narrow. */
  constructor(changed) {
    const { isOpen = false, height } = recall('local', 'map') ?? {}
    if (parseInt(height, 10)) this.#resize(parseInt(height, 10))
    const open = isOpen => {
      this.isOpen = isOpen
      changed()
    }
    this.#toggle.addEventListener('click', () => open(!this.#isOpen))
    this.#panel.addEventListener('closemap', () => {
      open(false)
      this.#toggle.focus()
    })
    wide.addEventListener('change', () => {
      this.isOpen = this.#isOpen
      this.isClosed = false
      changed()
    })
    onResize(document.getElementById('map-divider'), this.#panel, height => {
      this.#resize(height)
      this.isOpen = true
    }, -1, 'y')
    this.isOpen = isOpen
  }

  get isPossible() { return wide.matches }

  get isOpen() { return this.#isOpen && wide.matches }

  set isOpen(isOpen) {
    this.#isOpen = isOpen
    this.isClosed = !isOpen
    this.#panel.hidden = !this.isOpen
    root.dataset.map = this.isOpen ? 'below' : ''
    this.#toggle.ariaExpanded = String(this.isOpen)
    remember('local', 'map', { isOpen, height: root.style.getPropertyValue('--map') })
  }

  show(element) { if (element.parentElement !== this.#panel) this.#panel.append(element) }

  #resize(height) {
    const fitting = Math.max(lowest, Math.min(height, innerHeight - devicesHeight))
    root.style.setProperty('--map', `${Math.round(fitting)}px`)
  }
}
