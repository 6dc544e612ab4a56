// On a wide page, the map is in a panel below the devices, so that the inspector beside it shows what happens.

import { onResize } from '../elements/controls.js'
import { recall, remember } from '../memory.js'

const [lowest, devicesHeight] = [220, 300]

export class MapPanel {
  /** A person has closed the panel. */
  isClosed = false
  #root = document.documentElement
  #panel = document.getElementById('map-panel')
  #toggle = document.getElementById('map-toggle')
  #isOpen = recall('local', 'map')?.isOpen === true
  #wide = matchMedia('(min-width: 1600px)')

  /** @param changed is called when the panel is opened or closed, or the page becomes wide or narrow */
  constructor(changed) {
    const height = parseInt(recall('local', 'map')?.height, 10)
    if (height) this.#resize(height)
    this.#toggle.addEventListener('click', () => {
      this.isOpen = !this.#isOpen
      changed()
    })
    this.#panel.addEventListener('closemap', () => {
      this.isOpen = false
      changed()
      this.#toggle.focus()
    })
    this.#wide.addEventListener('change', () => {
      this.isClosed = false
      this.#draw()
      changed()
    })
    onResize(document.getElementById('map-divider'), this.#panel, height => {
      this.#resize(height)
      this.#remember()
    }, -1, 'y')
    this.#draw()
  }

  /** The page is wide enough for the panel; then the map has no tab. */
  get isPossible() { return this.#wide.matches }

  get isOpen() { return this.#isOpen && this.isPossible }

  set isOpen(isOpen) {
    this.#isOpen = isOpen
    this.isClosed = !isOpen
    this.#remember()
    this.#draw()
  }

  show(element) { if (element.parentElement !== this.#panel) this.#panel.append(element) }

  #draw() {
    this.#panel.hidden = !this.isOpen
    this.#root.dataset.map = this.isOpen ? 'below' : ''
    this.#toggle.ariaExpanded = String(this.isOpen)
  }

  #resize(height) {
    const fitting = Math.max(lowest, Math.min(height, innerHeight - devicesHeight))
    this.#root.style.setProperty('--map', `${Math.round(fitting)}px`)
  }

  #remember() {
    remember('local', 'map', { isOpen: this.#isOpen, height: this.#root.style.getPropertyValue('--map') })
  }
}
